"""One open snapshot for all, exchanged while it is being read."""

from __future__ import annotations

import gc
import shutil
import weakref
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from chitta import settings as table
from chitta.daemon import library
from chitta.daemon.library import Library
from chitta.daemon.logbook import Logbook
from chitta.index.indexer import sync
from chitta.settings import Settings

Write = Callable[..., None]


@pytest.fixture
def settings() -> Settings:
    return table.load()


@pytest.fixture
def write(settings: Settings) -> Write:
    def write(name: str, *, full: bool = False) -> None:
        folder = Path(settings.notes_dir) / "global"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / f"{name}.md").write_text(f"The note called {name}.\n")
        sync(settings, None, full=full)

    return write


def opened(settings: Settings, tmp_path: Path) -> Library:
    made = Library(Logbook(str(tmp_path / "log")))
    made.refresh(settings)
    return made


def names(found: Any) -> list[str]:
    return sorted(note.id for note in found.catalog.page(limit=100))


def test_without_an_index_there_is_nothing_to_read(settings: Settings, tmp_path: Path, write: Write) -> None:
    shelf = opened(settings, tmp_path)
    with shelf.reading() as found:
        assert found is None
    assert not shelf.opened.is_set()
    write("one")
    shelf.refresh(settings)
    assert shelf.opened.is_set()
    with shelf.reading() as found:
        assert names(found) == ["one"]


@pytest.mark.parametrize("full", [False, True])
def test_reader_keeps_its_snapshot_while_a_newer_one_comes(
    settings: Settings, tmp_path: Path, write: Write, full: bool
) -> None:
    write("one")
    shelf = opened(settings, tmp_path)
    with shelf.reading() as old:
        assert old is not None
        write("two", full=full)
        shelf.refresh(settings)
        with shelf.reading() as new:
            assert new is not old
            assert names(new) == ["one", "two"]
        assert old.generation >= 1 and "one" in names(old)  # still open


def test_last_reader_closes_the_old_one(
    settings: Settings, tmp_path: Path, write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    closed: list[Any] = []
    monkeypatch.setattr("chitta.index.snapshot.Snapshot.close", lambda snapshot: closed.append(snapshot))
    write("one")
    shelf = opened(settings, tmp_path)
    with shelf.reading() as old:
        with shelf.reading():
            write("two")
            shelf.refresh(settings)
        assert closed == []
    assert closed == [old]


def test_snapshot_that_is_fresh_is_kept(settings: Settings, tmp_path: Path, write: Write) -> None:
    write("one")
    shelf = opened(settings, tmp_path)
    with shelf.reading() as before:
        shelf.refresh(settings)
        with shelf.reading() as after:
            assert after is before


def test_damage_is_seen_and_not_opened_over_and_over(
    settings: Settings, tmp_path: Path, write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    write("one")
    shutil.rmtree(next(Path(settings.index_dir).glob("gen-*/tantivy")))
    shelf = opened(settings, tmp_path)
    assert shelf.damaged()
    opens: list[str] = []
    monkeypatch.setattr("chitta.index.snapshot.open_snapshot", lambda folder: opens.append(folder))
    shelf.refresh(settings)
    assert opens == []
    monkeypatch.setattr(library, "REST_AFTER_FAILURE_S", 0.0)
    monkeypatch.setattr("chitta.index.snapshot.Snapshot.fresh", lambda snapshot: False)
    shelf.refresh(settings)
    assert opens == [settings.index_dir]


def test_index_that_cannot_be_opened_leaves_the_one_we_have(
    settings: Settings, tmp_path: Path, write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    write("one")
    shelf = opened(settings, tmp_path)
    write("two")

    def fail(folder: str) -> Any:
        raise RuntimeError("odd")

    monkeypatch.setattr("chitta.index.snapshot.open_snapshot", fail)
    shelf.refresh(settings)
    with shelf.reading() as found:
        assert found is not None and "one" in names(found)


def test_lanes_share_readings_for_as_long_as_their_snapshot_is_the_newest(
    settings: Settings, tmp_path: Path, write: Write
) -> None:
    write("one")
    shelf = opened(settings, tmp_path)
    with shelf.reading() as old:
        shared = shelf.readings(old)
        assert shared is not None and shared.snapshot is old
        assert shelf.readings(old) is shared
        reading = shared.of("one", ())
        gone = weakref.ref(shared)
        write("two")
        shelf.refresh(settings)
        assert shelf.readings(old) is None
        with shelf.reading() as new:
            fresh = shelf.readings(new)
            assert fresh is not None and fresh.snapshot is new
            assert fresh.of("one", ()) is not reading
    del shared, reading, old
    gc.collect()
    assert gone() is None


def test_without_an_index_nothing_is_shared(settings: Settings, tmp_path: Path) -> None:
    shelf = opened(settings, tmp_path)
    assert shelf.readings(None) is None
    shelf.forget_readings()
