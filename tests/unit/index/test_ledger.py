"""The write side of the catalog, read back through the read side."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest

from chitta.index import IndexDamaged
from chitta.index.catalog import Catalog, Model
from chitta.index.ledger import FileRow, Ledger, NewVector, text_key
from chitta.notes.note import Note

DIM = 4
ROW = np.array([1, 0, 0, 0], "<f2").tobytes()


@pytest.fixture
def path(tmp_path: Path) -> str:
    return str(tmp_path / "a folder?#%" / "catalog.sqlite")


@pytest.fixture
def ledger(path: str, request: pytest.FixtureRequest) -> Ledger:
    os.mkdir(os.path.dirname(path))
    ledger = Ledger(path, create=True)
    ledger.set_model(Model("m", DIM))
    request.addfinalizer(ledger.close)
    return ledger


def put(ledger: Ledger, *notes: Note) -> None:
    for note in notes:
        before = ledger.placed(note.id).get(note.id)
        ledger.put_note(note, note.id, f"{note.id}.md", "sha", before)


def add(ledger: Ledger, folder: Path, *notes: Note) -> int:
    return ledger.add_vectors(str(folder), [NewVector(note.id, text_key(note), ROW) for note in notes])


def test_nothing_is_seen_before_the_commit(ledger: Ledger, path: str) -> None:
    ledger.commit()
    reader = Catalog(path)
    before = reader.version()
    put(ledger, Note(id="a"))
    assert (reader.count(), reader.version()) == (0, before)
    ledger.commit()
    assert reader.count() == 1
    assert reader.version() != before
    put(ledger, Note(id="b"))
    ledger.close()
    assert reader.count() == 1
    reader.close()


def test_file_rows_come_back(ledger: Ledger) -> None:
    rows = [FileRow("a.md", 1, 2, "s", "a", "global", True), FileRow("b.md", 3, 4, "", None, None, False)]
    for row in rows:
        ledger.put_file(row)
    assert ledger.files() == {row.path: row for row in rows}
    assert ledger.file("a.md") == rows[0]
    ledger.drop_file("a.md")
    assert ledger.file("a.md") is None


def test_doubles_are_files_of_one_realm_with_one_id(ledger: Ledger) -> None:
    for path, realm in (("x/a.md", "x"), ("x/b.md", "x"), ("y/a.md", "y")):
        ledger.put_file(FileRow(path, 1, 1, "s", "a", realm, False))
    assert ledger.doubles() == [("x", "a")]
    assert ledger.claims("a") == [("x/a.md", "x", "s"), ("x/b.md", "x", "s"), ("y/a.md", "y", "s")]


def test_a_vector_stays_until_text_or_realm_changes(ledger: Ledger, tmp_path: Path) -> None:
    note = Note(id="a", title="t", text="x")
    put(ledger, note)
    assert add(ledger, tmp_path, note) == 1
    put(ledger, note._replace(confidence=0.1, tags=("new",)))
    assert ledger.waiting() == []
    put(ledger, note._replace(text="y"))
    assert [name for name, _ in ledger.waiting()] == ["a"]
    assert add(ledger, tmp_path, note._replace(text="y")) == 1
    put(ledger, note._replace(text="y", realm="other"))
    assert [name for name, _ in ledger.waiting()] == ["a"]


def test_a_vector_for_another_text_or_a_second_one_is_not_stored(ledger: Ledger, tmp_path: Path) -> None:
    note = Note(id="a", text="x")
    put(ledger, note)
    assert add(ledger, tmp_path, note._replace(text="older"), Note(id="gone")) == 0
    assert add(ledger, tmp_path, note, note) == 1
    assert add(ledger, tmp_path, note) == 0


def test_rows_are_numbered_within_their_realm(ledger: Ledger, path: str, tmp_path: Path) -> None:
    notes = [Note(id=name, realm=realm) for name, realm in (("a", "x"), ("b", "y"), ("c", "x"))]
    put(ledger, *notes)
    assert add(ledger, tmp_path, *notes) == 3
    ledger.drop_note("a")
    late = Note(id="d", realm="x")
    put(ledger, late)
    add(ledger, tmp_path, late)
    ledger.commit()
    reader = Catalog(path)
    places = {row.id: row.row for row in reader.vector_rows()}
    assert places == {"b": 0, "c": 1, "d": 2}  # the row of a note that is gone is not used again
    assert {(file.realm, file.rows) for file in reader.matrices()} == {("x", 3), ("y", 1)}
    reader.close()


def test_another_model_forgets_the_vectors(ledger: Ledger, tmp_path: Path) -> None:
    note = Note(id="a")
    put(ledger, note)
    add(ledger, tmp_path / "vectors", note)
    ledger.set_model(Model("m", DIM))
    assert ledger.has_vectors()
    ledger.set_model(Model("m", DIM * 2))
    assert not ledger.has_vectors()
    assert ledger.tidy_vectors(str(tmp_path / "vectors")) == 0
    assert os.listdir(tmp_path / "vectors") == []


def test_lost_rows_are_forgotten_and_the_rest_kept(ledger: Ledger, tmp_path: Path) -> None:
    notes = [Note(id=name) for name in "abc"]
    put(ledger, *notes)
    add(ledger, tmp_path / "vectors", *notes)
    (file,) = (tmp_path / "vectors").iterdir()
    os.truncate(file, len(ROW) * 2)
    assert ledger.tidy_vectors(str(tmp_path / "vectors")) == 1
    assert [name for name, _ in ledger.waiting()] == ["c"]
    file.unlink()
    assert ledger.tidy_vectors(str(tmp_path / "vectors")) == 2


def test_a_closed_ledger_leaves_no_log(ledger: Ledger, path: str) -> None:
    put(ledger, Note(id="a"))
    ledger.commit()
    ledger.close()
    assert os.listdir(os.path.dirname(path)) == ["catalog.sqlite"]


def test_what_is_no_database_is_damage(tmp_path: Path) -> None:
    (tmp_path / "catalog.sqlite").write_bytes(b"no database at all" * 100)
    with pytest.raises(IndexDamaged):
        Ledger(str(tmp_path / "catalog.sqlite"))
    with pytest.raises(IndexDamaged):
        Ledger(str(tmp_path / "absent"))
