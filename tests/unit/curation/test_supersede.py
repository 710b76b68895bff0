from __future__ import annotations

from datetime import datetime
from pathlib import Path

from chitta.curation.supersede import VERSION_OF, says_the_same, supersede, superseded
from chitta.notes.imprint import imprint_of, imprinted, is_edited
from chitta.notes.note import Note
from chitta.notes.store import NoteStore
from chitta.recall.filters import is_retired
from chitta.recall.validity import keep, successors_of

OLD = Note("sessions", title="Auth uses sessions", text="Cookies.", created="2025-01-10")
NEW = Note("tokens", title="Auth uses tokens", text="JWT.")


def test_the_newer_says_what_it_replaces_and_the_older_until_when_it_held() -> None:
    older, newer = superseded(OLD, NEW, "2025-06-01")
    assert (older.superseded_by, older.valid_until, older.text) == ("tokens", "2025-06-01", "Cookies.")
    assert (newer.supersedes, newer.created) == (("sessions",), "2025-06-01")
    assert is_retired(older) and not is_retired(newer)


def test_dates_and_successors_that_are_there_stay() -> None:
    old = OLD._replace(valid_until="2025-03-01", superseded_by="other")
    older, newer = superseded(old, NEW._replace(created="2025-05-05", supersedes=("a",)), "2025-06-01")
    assert (older.valid_until, older.superseded_by) == ("2025-03-01", "other")
    assert (newer.created, newer.supersedes) == ("2025-05-05", ("a", "sessions"))


def test_a_question_of_then_is_answered_by_the_older_one() -> None:
    older, newer = superseded(OLD, NEW, "2025-06-01")
    successors = successors_of([older, newer])
    spring, summer = datetime(2025, 3, 1), datetime(2025, 7, 1)
    assert keep(older, known_as_of=spring, successors=successors) is None
    assert keep(newer, known_as_of=spring, successors=successors) == "unknown then"
    assert keep(older, known_as_of=summer, successors=successors) == "superseded"
    assert keep(newer, as_of=summer, successors=successors) is None


def test_one_id_keeps_its_file_and_the_older_version_gets_one_of_its_own(tmp_path: Path) -> None:
    store = NoteStore(tmp_path)
    path = store.write(OLD._replace(extra=(("imported", f"{'a' * 16} {'b' * 16}"),)))
    older, newer = supersede(store, OLD, OLD._replace(text="Cookies, rotated."), "2025-06-01")
    assert store.read(path) == newer and newer.text == "Cookies, rotated." and newer.supersedes == (older.id,)
    assert newer.created == "2025-06-01", "the date on which this version came to be known"
    place = store.find(older.id, older.realm)
    assert place is not None and place != path and store.read(place) == older
    assert older.id.startswith("sessions.") and dict(older.extra)[VERSION_OF] == "sessions"
    assert "imported" not in dict(older.extra) and older.superseded_by == "sessions"


def test_what_takes_the_place_of_an_imported_note_of_its_id_counts_as_edited() -> None:
    old = imprinted(OLD, "0123456789abcdef")
    _, newer = superseded(old, OLD._replace(text="Cookies, rotated."), "2025-06-01")
    imprint = imprint_of(newer)
    assert imprint is not None and imprint.source == "0123456789abcdef" and is_edited(newer)
    assert imprint_of(superseded(old, NEW, "2025-06-01")[1]) is None, "another id is another note"


def test_versions_make_a_chain(tmp_path: Path) -> None:
    store = NoteStore(tmp_path)
    store.write(OLD)
    now = OLD
    for day in ("2025-02-01", "2025-03-01", "2025-04-01"):
        _, now = supersede(store, now, OLD._replace(text=day), day)
    notes = [store.read(fact.path) for fact in store.scan()]
    assert len(notes) == 4 and [note.text for note in notes if not is_retired(note)] == ["2025-04-01"]
    successors = successors_of(notes)
    for day, text in (("2025-01-20", "Cookies."), ("2025-02-20", "2025-02-01"), ("2025-03-20", "2025-03-01")):
        then = datetime.fromisoformat(day)
        known = [note.text for note in notes if keep(note, known_as_of=then, successors=successors) is None]
        assert known == [text]


def test_the_same_words_again_write_nothing(tmp_path: Path) -> None:
    store = NoteStore(tmp_path)
    path = store.write(OLD)
    before = path.read_bytes()
    assert supersede(store, OLD, OLD._replace(text="Cookies. ", created="2025-09-09"), "2025-06-01") == (OLD, OLD)
    assert path.read_bytes() == before and len(list(store.scan())) == 1
    assert not says_the_same(OLD, OLD._replace(right="x"))
