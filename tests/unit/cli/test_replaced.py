"""Notes whose successor is forgotten: they are named, handed on, and brought back."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from chitta import settings as table
from chitta.cli import replaced
from chitta.notes.imprint import imprinted
from chitta.notes.note import Note
from chitta.notes.store import NoteStore

Run = Callable[..., Any]


def keep(*notes: Note) -> None:
    for note in notes:
        NoteStore(table.load().notes_dir).write(note)


@pytest.fixture
def chain(chitta: Run) -> None:
    """Three notes, each in the place of the one before."""
    chitta("remember", "The lamp is red.", "--id", "red")
    chitta("remember", "The lamp is green.", "--id", "green", "--supersedes", "red")
    chitta("remember", "The lamp is blue.", "--id", "blue", "--supersedes", "green")


def heir(chitta: Run, name: str) -> str:
    return str(chitta("show", name, "--json").value["superseded_by"])


@pytest.mark.usefixtures("chain")
def test_forgetting_names_what_it_had_replaced_and_restore_brings_it_back(chitta: Run) -> None:
    ran = chitta("forget", "blue", "--yes")
    assert "green was replaced by blue and still stays out of answers" in ran.err and "red" not in ran.err
    assert "`chitta archive --restore green`" in ran.err
    asked = ("recall", "green lamp", "--strategy", "keyword", "--json")
    assert chitta(*asked).value["rows"] == []
    assert chitta("archive", "--restore", "green").out == "restored green  The lamp is green.\n"
    assert [row["id"] for row in chitta(*asked).value["rows"]] == ["green"]
    note = chitta("show", "green", "--json").value
    assert (note["superseded_by"], note["valid_until"], note["state"]) == ("", "", "")


@pytest.mark.usefixtures("chain")
def test_what_was_replaced_itself_hands_its_place_on(chitta: Run) -> None:
    ran = chitta("forget", "green", "--yes")
    assert "red" not in ran.err and heir(chitta, "red") == "blue"
    assert "red" in chitta("show", "blue", "--json").value["supersedes"]
    assert replaced.without_heir(table.load()) == []


@pytest.mark.usefixtures("chain")
def test_of_several_that_go_together_only_what_is_left_is_named(chitta: Run) -> None:
    ran = chitta("forget", "blue", "green", "--yes")
    assert "red was replaced by green" in ran.err and ran.err.count("was replaced by") == 1
    assert "replaced" not in chitta("forget", "red", "--yes").err


@pytest.mark.usefixtures("chain")
def test_what_still_has_a_successor_is_not_brought_back(chitta: Run) -> None:
    ran = chitta("archive", "--restore", "red")
    assert ran.code == 1 and "red was replaced by green" in ran.err and heir(chitta, "red") == "green"
    assert "chitta merge green red --replace" in ran.err
    assert chitta("archive", "--restore", "blue").code == 1, "it is neither archived nor replaced"


def test_of_many_some_are_named(chitta: Run) -> None:
    notes = [Note(f"n{number}", text=f"text {number}", superseded_by="gone") for number in range(7)]
    told = replaced.sentences(notes)
    assert len(told) == replaced.MOST_TOLD + 1 and told[-1].startswith("2 more notes")


def test_notes_without_a_successor(chitta: Run) -> None:
    lost = Note("lost", text="text", superseded_by="gone")
    keep(
        lost,
        lost._replace(id="nobody", superseded_by="none"),
        lost._replace(id="replaced", superseded_by="current"),
        Note("current", text="other"),
        lost._replace(id="away", extra=(("status", "archived"),)),
        imprinted(lost._replace(id="as-its-source-says"), "0123456789abcdef"),
    )
    assert replaced.without_heir(table.load()) == [], "there is no index yet"
    chitta("list")
    assert [note.id for note in replaced.without_heir(table.load())] == ["lost"]
