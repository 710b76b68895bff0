from __future__ import annotations

from collections.abc import Iterator

import pytest

from chitta import settings as table
from chitta.cli import bookshelf
from chitta.cli.failure import Nothing
from chitta.index.indexer import sync
from chitta.notes.note import Note
from chitta.notes.store import NoteStore


@pytest.fixture
def store() -> NoteStore:
    return NoteStore(table.load().notes_dir)


def level() -> None:
    sync(table.load(), None)


@pytest.fixture
def shelf(store: NoteStore) -> Iterator[bookshelf.Shelf]:
    store.write(Note("plain", text="a"))
    store.write(Note("Odd id/ü", realm="project:x", text="b"))
    by_hand = store.root / "global" / "some name.md"
    by_hand.write_text("---\nid: by-hand\nrealm: project:y\n---\n\nc\n")
    level()
    with bookshelf.opened(table.load()) as snapshot:
        yield bookshelf.Shelf(table.load(), snapshot)


@pytest.mark.parametrize(
    ("name", "realm", "text"),
    [("plain", "global", "a"), ("Odd id/ü", "project:x", "b"), ("by-hand", "project:y", "c")],
)
def test_a_note_is_located_by_realm_and_id(shelf: bookshelf.Shelf, name: str, realm: str, text: str) -> None:
    found = shelf.locate(Note(name, realm=realm))
    assert found is not None and found.note.text == text and found.path.exists()
    assert shelf.locate(Note(name, realm="project:elsewhere")) is None


def test_without_an_index_the_usual_places_are_looked_at(store: NoteStore) -> None:
    store.write(Note("plain", text="a"))
    shelf = bookshelf.Shelf(table.load(), None)
    assert shelf.locate(Note("plain")) is not None and shelf.locate(Note("other")) is None


def test_find_works_with_an_index_and_without(store: NoteStore) -> None:
    path = store.write(Note("one", text="a"))
    assert bookshelf.find(table.load(), "one").path == path
    level()
    assert bookshelf.find(table.load(), "one").note.text == "a"


def test_find_sees_what_was_written_or_moved_since(store: NoteStore) -> None:
    path = store.write(Note("one", text="a"))
    level()
    store.write(Note("two", text="b"))
    moved = path.rename(path.with_name("moved.md"))
    assert bookshelf.find(table.load(), "two").note.text == "b"
    assert bookshelf.find(table.load(), "one").path == moved


def test_one_id_in_two_realms_is_told_apart_by_the_ids_that_list_shows(store: NoteStore) -> None:
    store.write(Note("same", realm="project:a", text="in a"))
    store.write(Note("same", realm="project:b", text="in b"))
    level()
    with bookshelf.opened(table.load()) as snapshot:
        assert snapshot is not None
        names = [note.id for note in snapshot.catalog.page()]
    assert len(set(names)) == 2
    assert {bookshelf.find(table.load(), name).note.text for name in names} == {"in a", "in b"}


@pytest.mark.parametrize("name", ["stripe-webhok", "webhook"])
def test_what_is_not_there_names_what_is_like_it(store: NoteStore, name: str) -> None:
    store.write(Note("stripe-webhook-raw-body", text="a"))
    level()
    with pytest.raises(Nothing) as problem:
        bookshelf.find(table.load(), name)
    assert "stripe-webhook-raw-body" in problem.value.hint


def test_an_empty_store_has_no_notes() -> None:
    with pytest.raises(Nothing):
        bookshelf.find(table.load(), "any")


@pytest.mark.parametrize("levelled", [True, False])
def test_the_beginning_of_one_id_alone_finds_it_and_of_several_lists_them(store: NoteStore, levelled: bool) -> None:
    for name in ("stripe-one", "stripe-two", "celery"):
        store.write(Note(name, text=name))
    if levelled:
        level()
    assert bookshelf.find(table.load(), "cel").note.id == "celery"
    with pytest.raises(Nothing) as problem:
        bookshelf.find(table.load(), "stripe")
    assert "stripe-one, stripe-two" in problem.value.hint
    with pytest.raises(Nothing):
        bookshelf.find(table.load(), "")
    store.write(Note("stripe", text="exactly"))
    assert bookshelf.find(table.load(), "stripe").note.text == "exactly"
