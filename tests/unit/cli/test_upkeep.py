from __future__ import annotations

from pathlib import Path

import pytest

from chitta import settings as table
from chitta.cli import bookshelf, upkeep
from chitta.cli.upkeep import Levelled
from chitta.index import IndexBusy
from chitta.notes.note import Note
from chitta.notes.store import NoteStore


@pytest.fixture(autouse=True)
def words_only(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CHITTA_NO_DAEMON", "1")
    monkeypatch.setenv("CHITTA_EMBED_MODEL", "/no/such/model")


def write(name: str) -> Path:
    return NoteStore(table.load().notes_dir).write(Note(name, text=f"words of {name}"))


def indexed() -> int:
    with bookshelf.opened(table.load()) as snapshot:
        return snapshot.catalog.count() if snapshot is not None else 0


def test_level_brings_everything_in_and_says_why_there_is_no_meaning() -> None:
    write("one"), write("two")
    done = upkeep.level(table.load())
    assert (done.added, done.pending, indexed()) == (2, 2, 2)
    assert "/no/such/model" in done.no_meaning and "/no/such/model" in done.findable


def test_level_paths_looks_at_these_files_alone() -> None:
    write("one")
    upkeep.level(table.load())
    two, _ = write("two"), write("three")
    upkeep.level_paths(table.load(), [two])
    assert indexed() == 2


def test_level_paths_takes_out_what_was_removed() -> None:
    path = write("one")
    upkeep.level(table.load())
    path.unlink()
    assert upkeep.level_paths(table.load(), [path]).removed == 1 and indexed() == 0


def test_freshen_brings_words_level_and_never_stops_a_command(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    write("one")
    upkeep.freshen(table.load())
    assert indexed() == 1
    write("two")

    def busy(*_: object, **__: object) -> Levelled:
        raise IndexBusy("another process writes", "wait")

    monkeypatch.setattr(upkeep, "level_here", busy)
    upkeep.freshen(table.load())
    assert "another process writes" in capsys.readouterr().err and indexed() == 1


def test_findable_in_words() -> None:
    assert Levelled().findable == "findable now, by its words and by its meaning"
    assert "later (the model is busy)" in Levelled(pending=1).findable
    assert "later (no disk)" in Levelled(pending=1, no_meaning="no disk").findable
