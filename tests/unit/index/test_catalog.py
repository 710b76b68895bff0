"""The catalog's read side: what it answers, damage, and stores that cannot be written."""

from __future__ import annotations

import os
import shutil
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from chitta.index import IndexDamaged, generation
from chitta.index import catalog as catalog_module
from chitta.index.catalog import Catalog, Model
from chitta.index.indexer import sync
from chitta.index.ledger import Ledger
from chitta.index.terms import terms_of
from chitta.notes.note import Note
from chitta.notes.store import MAX_NOTE_BYTES, NoteStore
from chitta.settings import Settings


def write(path: Path, notes: list[Note]) -> None:
    ledger = Ledger(str(path), create=not path.exists())
    for note in notes:
        ledger.put_note(note, note.id, f"{note.id}.md", "sha", None)
    ledger.commit()
    ledger.close()


@pytest.fixture
def path(tmp_path: Path, some_notes: list[Note]) -> Path:
    write(tmp_path / "catalog.sqlite", some_notes)
    return tmp_path / "catalog.sqlite"


@pytest.fixture
def catalog(path: Path, request: pytest.FixtureRequest) -> Catalog:
    catalog = Catalog(str(path))
    request.addfinalizer(catalog.close)
    return catalog


def test_notes_come_whole_and_in_the_order_asked(catalog: Catalog, some_notes: list[Note]) -> None:
    assert list(catalog.notes(["note-07", "absent", "note-03"]).values()) == [some_notes[7], some_notes[3]]
    assert catalog.notes([]) == {}
    assert len(catalog.notes([note.id for note in some_notes] * 200)) == 12


def test_notes_come_with_what_is_weighed_of_them(catalog: Catalog, some_notes: list[Note]) -> None:
    found = catalog.with_terms(["note-07", "absent", "note-03"])
    wanted = [some_notes[7], some_notes[3]]
    assert list(found.values()) == [(note, terms_of(note.title, note.text)) for note in wanted]
    assert list(found) == ["note-07", "note-03"]
    assert len(catalog.with_terms([note.id for note in some_notes] * 200)) == 12


def test_notes_are_found_by_pieces_of_their_stored_form(tmp_path: Path) -> None:
    held, captured = Note("b", quarantine=True), Note("a", authority="captured", text="é")
    write(tmp_path / "own.sqlite", [Note("c", text="quarantine: true"), held, captured])
    found = Catalog(str(tmp_path / "own.sqlite"))
    assert found.holding(['"quarantine":true', '"authority":"captured"']) == [captured, held]
    assert found.holding(["é"]) == [captured] and found.holding([]) == found.holding(["nothing"]) == []
    found.close()


def test_terms_that_are_none_are_damage(path: Path) -> None:
    connection = sqlite3.connect(f"file:{path}", uri=True)
    connection.execute("UPDATE notes SET terms = 'one line'")
    connection.commit()
    connection.close()
    catalog = Catalog(str(path))
    with pytest.raises(IndexDamaged):
        catalog.with_terms(["note-03"])
    catalog.close()


def test_counts_and_realms(catalog: Catalog) -> None:
    assert catalog.count() == 12
    assert catalog.count("global") == 6
    assert catalog.count("absent") == 0
    assert catalog.realms() == {"global": 6, "project:h/o/n": 6}
    assert (catalog.pending(), len(catalog.waiting())) == (12, 12)
    assert catalog.model() == Model()


def test_corrections_of_the_realms_asked(catalog: Catalog, some_notes: list[Note]) -> None:
    assert catalog.corrections(["global", "absent"]) == [some_notes[3]]
    assert catalog.corrections(["project:h/o/n"]) == []
    assert catalog.corrections([]) == []


def test_pages_are_newest_first(tmp_path: Path) -> None:
    days = {"a": ("2024-01-02", ""), "b": ("2023-01-01", "2024-01-03"), "c": ("", ""), "d": ("2024-01-02", "")}
    notes = [Note(id=name, created=created, updated=updated) for name, (created, updated) in days.items()]
    write(tmp_path / "catalog.sqlite", notes)
    catalog = Catalog(str(tmp_path / "catalog.sqlite"))
    assert [note.id for note in catalog.page()] == ["b", "a", "d", "c"]
    assert [note.id for note in catalog.page("global", "insight", limit=2, offset=1)] == ["a", "d"]
    assert catalog.page(kind="episode") == []
    assert catalog.waiting() == ["b", "a", "d", "c"]
    catalog.close()


def test_the_file_of_a_note(catalog: Catalog) -> None:
    assert catalog.path_of("note-01") == "note-01.md"
    assert catalog.path_of("absent") is None


@pytest.mark.parametrize("part", [0, 0.5, 0.9])
def test_a_catalog_cut_short_is_damage(path: Path, part: float) -> None:
    os.truncate(path, int(path.stat().st_size * part))
    with pytest.raises(IndexDamaged):
        Catalog(str(path)).notes([f"note-{number:02d}" for number in range(12)])


def test_a_missing_or_foreign_catalog_is_damage(tmp_path: Path) -> None:
    with pytest.raises(IndexDamaged, match="missing"):
        Catalog(str(tmp_path / "absent"))
    sqlite3.connect(tmp_path / "other").execute("CREATE TABLE meta (key, value)").connection.close()
    with pytest.raises(IndexDamaged, match="another version"):
        Catalog(str(tmp_path / "other"))


def test_another_version_of_the_tables_is_damage(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(catalog_module, "SCHEMA_VERSION", "999")
    with pytest.raises(IndexDamaged, match="another version"):
        Catalog(str(path))
    catalog = Catalog(str(path), any_version=True)
    assert len(catalog.digests()) == 12
    catalog.close()


KILLED = """
import os, signal, sys
from chitta.index.ledger import Ledger
from chitta.notes.note import Note
ledger = Ledger(sys.argv[1])
ledger.put_note(Note(id="late"), "late", "late.md", "sha", None)
ledger.commit()
os.kill(os.getpid(), signal.SIGKILL)
"""


def kill_after_commit(path: Path) -> None:
    """Leave the log of a process that died after its commit."""
    subprocess.run([sys.executable, "-c", KILLED, str(path)], check=False)
    assert path.with_name("catalog.sqlite-wal").stat().st_size > 0


def test_a_commit_of_a_process_that_died_is_read(path: Path) -> None:
    kill_after_commit(path)
    catalog = Catalog(str(path))
    assert catalog.count() == 13
    catalog.close()


@pytest.mark.parametrize("died", [False, True])
def test_a_store_that_cannot_be_written_is_read(path: Path, monkeypatch: pytest.MonkeyPatch, died: bool) -> None:
    """As on a read-only mount, where SQLite cannot make its files. Tests may run as root, whom modes do not stop."""
    if died:
        kill_after_commit(path)
    real = catalog_module._open
    monkeypatch.setattr(catalog_module, "_open", lambda uri: _Refusing() if uri.endswith("?mode=ro") else real(uri))
    before = sorted(os.listdir(path.parent))
    catalog = Catalog(str(path))
    assert catalog.count() == (13 if died else 12)
    assert sorted(os.listdir(path.parent)) == before
    version = catalog.version()
    shutil.copyfile(path, path.with_name("copy"))
    os.replace(path.with_name("copy"), path)
    assert catalog.version() != version
    catalog.close()


class _Refusing:
    """A connection that SQLite could not make usable."""

    def execute(self, statement: str) -> None:
        raise sqlite3.OperationalError("unable to open database file")

    def close(self) -> None:
        return


def test_files_that_were_passed_over_are_named(settings: Settings, store: NoteStore) -> None:
    big = store.write(Note("big", text="t"))
    store.write(Note("fine", text="t"))
    big.write_bytes(b"x" * (MAX_NOTE_BYTES + 1))
    sync(settings, None)
    current = generation.current(settings.index_dir)
    assert current is not None
    catalog = Catalog(current.catalog)
    assert catalog.passed_over() == ["global/big.md"]
    catalog.close()
