"""Notes that nothing shows any more are named, with the command that brings them back."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from chitta import settings as table
from chitta.cli import doctor_replaced
from chitta.cli.finding import WARN
from chitta.notes.note import Note
from chitta.notes.store import NoteStore

Run = Callable[..., Any]


def keep(*notes: Note) -> None:
    for note in notes:
        NoteStore(table.load().notes_dir).write(note)


def test_a_store_where_every_replaced_note_has_a_successor_is_in_order(chitta: Run) -> None:
    keep(Note("old", text="old", superseded_by="new"), Note("new", text="new"))
    chitta("list")
    assert list(doctor_replaced.lone(table.load())) == []


def test_a_note_whose_successor_was_removed_is_named(chitta: Run) -> None:
    keep(Note("old", text="old", superseded_by="new"))
    chitta("list")
    (found,) = doctor_replaced.lone(table.load())
    assert found.state == WARN and "old" in found.detail and "new" in found.detail
    assert "`chitta archive --restore old`" in found.todo
    assert chitta("archive", "--restore", "old").code == 0
    assert list(doctor_replaced.lone(table.load())) == []


def test_of_many_the_first_are_named(chitta: Run) -> None:
    keep(*(Note(f"old{number:02}", text=f"old {number}", superseded_by="new") for number in range(11)))
    chitta("list")
    found = list(doctor_replaced.lone(table.load()))
    assert len(found) == 11 and found[-1].detail.startswith("1 more note was")
