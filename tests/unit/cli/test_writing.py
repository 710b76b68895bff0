from __future__ import annotations

import datetime
from pathlib import Path

import pytest

from chitta import settings as table
from chitta.cli.bookshelf import Found
from chitta.cli.writing import ADDED, UNCHANGED, UPDATED, put, take_in
from chitta.notes.imprint import is_edited
from chitta.notes.note import Note
from chitta.notes.store import NoteStore

TODAY = datetime.date.today().isoformat()


@pytest.fixture
def store() -> NoteStore:
    return NoteStore(table.load().notes_dir)


def standing(store: NoteStore, note: Note) -> Found:
    path = store.write(note)
    return Found(store.read(path), path)


def test_a_new_note_is_created_today_unless_it_says_otherwise(store: NoteStore) -> None:
    done = put(store, Note("one", text="a"), None)
    assert done.outcome == ADDED and done.path is not None and store.read(done.path).created == TODAY
    assert put(store, Note("two", text="a", created="2020-01-01"), None).note.created == "2020-01-01"


def test_an_equal_note_is_not_rewritten(store: NoteStore) -> None:
    old = standing(store, Note("one", text="a", created="2020-01-01", updated="2021-01-01"))
    before = old.path.stat().st_mtime_ns
    assert put(store, Note("one", text="a"), old).outcome == UNCHANGED
    assert old.path.stat().st_mtime_ns == before


def test_a_changed_note_keeps_its_date_and_place(store: NoteStore) -> None:
    old = standing(store, Note("one", text="a", created="2020-01-01"))
    moved = old.path.rename(old.path.with_name("by hand.md"))
    done = put(store, Note("one", text="b"), Found(old.note, moved))
    assert (done.outcome, done.path) == (UPDATED, moved)
    kept = store.read(moved)
    assert (kept.text, kept.created, kept.updated) == ("b", "2020-01-01", TODAY)


def test_a_dry_run_says_the_same_and_writes_nothing(store: NoteStore) -> None:
    assert put(store, Note("one", text="a"), None, dry_run=True).outcome == ADDED
    assert not store.root.exists()
    old = standing(store, Note("one", text="a"))
    assert put(store, Note("one", text="b"), old, dry_run=True).outcome == UPDATED
    assert store.read(old.path).text == "a"


def test_an_updated_note_keeps_what_it_said_before_where_that_is_asked_for(tmp_path: Path) -> None:
    store = NoteStore(tmp_path)
    first = take_in(store, Note("n", text="Fridays.", created="2024-05-01"), "a" * 16, None)
    assert first.path is not None
    changed = Note("n", text="Tuesdays.", created="2024-05-01", updated="2024-09-01")
    for dry in (True, False):
        done = take_in(store, changed, "b" * 16, Found(first.note, first.path), supersede=True, dry_run=dry)
        assert done.outcome == UPDATED
        assert len(list(store.scan())) == (1 if dry else 2)
    by_text = {note.text: note for note in (store.read(fact.path) for fact in store.scan())}
    older, newer = by_text["Fridays."], by_text["Tuesdays."]
    assert (newer.id, older.superseded_by, newer.supersedes) == ("n", "n", (older.id,))
    assert newer.created == older.valid_until == "2024-09-01"
    assert done.path is not None and not is_edited(newer)
    again = take_in(store, changed, "b" * 16, Found(newer, done.path), supersede=True)
    assert again.outcome == UNCHANGED
