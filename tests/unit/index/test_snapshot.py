"""What a reader sees: the parts, what is damaged, and when there is something newer."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from chitta.index import generation
from chitta.index.catalog import Model
from chitta.index.indexer import quick_sync_paths, sync
from chitta.index.keyword import KeywordWriter
from chitta.index.ledger import Ledger
from chitta.index.snapshot import Snapshot, open_snapshot
from chitta.index.terms import analyse
from chitta.notes.note import Note
from chitta.notes.store import NoteStore
from chitta.settings import Settings

Opened = Callable[[], Snapshot]


@pytest.fixture
def current(settings: Settings, store: NoteStore, some_notes: list[Note], embedder: Any) -> generation.Generation:
    for note in some_notes:
        store.write(note)
    sync(settings, embedder)
    found = generation.current(settings.index_dir)
    assert found is not None
    return found


def test_all_is_well(current: generation.Generation, opened: Opened, embedder: Any) -> None:
    snapshot = opened()
    assert (snapshot.problems, snapshot.damaged) == ([], set())
    assert (snapshot.generation, snapshot.model) == (1, embedder.name)
    assert snapshot.catalog.realms() == {"global": 6, "project:h/o/n": 6}
    assert snapshot.catalog.pending() == 0


class TestFreshness:
    def test_until_something_is_committed(
        self, current: generation.Generation, opened: Opened, settings: Settings, store: NoteStore
    ) -> None:
        snapshot = opened()
        assert snapshot.fresh() and snapshot.fresh()
        quick_sync_paths(settings, [store.write(Note(id="new", title="kafka"))], None)
        assert not snapshot.fresh()
        assert snapshot.keyword.search(analyse("kafka")) == []
        later = opened()
        assert later.fresh()
        assert [hit.id for hit in later.keyword.search(analyse("kafka"))] == ["new"]

    def test_until_the_generation_is_another(
        self, current: generation.Generation, opened: Opened, settings: Settings
    ) -> None:
        snapshot = opened()
        sync(settings, None, full=True)
        assert not snapshot.fresh()
        assert len(snapshot.keyword.search(analyse("redis"))) == 2

    def test_vectors_count_as_a_commit(
        self, current: generation.Generation, opened: Opened, settings: Settings, make_embedder: Any
    ) -> None:
        snapshot = opened()
        sync(settings, make_embedder("other"))
        assert not snapshot.fresh()

    def test_also_of_a_damaged_index(self, current: generation.Generation, opened: Opened, settings: Settings) -> None:
        os.truncate(current.catalog, 10)
        snapshot = opened()
        assert snapshot.fresh()
        sync(settings, None)
        assert not snapshot.fresh()


class TestWithoutTheCatalog:
    @pytest.fixture(params=["missing", "empty", "cut short", "foreign"])
    def snapshot(
        self, request: pytest.FixtureRequest, current: generation.Generation, opened: Opened, settings: Settings
    ) -> Snapshot:
        if request.param == "missing":
            os.unlink(current.catalog)
        elif request.param == "foreign":
            Path(current.catalog).write_bytes(b"something else" * 1000)
        else:
            os.truncate(current.catalog, 0 if request.param == "empty" else 5000)
        return opened()

    def test_it_is_said(self, snapshot: Snapshot) -> None:
        assert snapshot.damaged == {"catalog"}
        assert "catalog.sqlite" in snapshot.problems[0]

    def test_words_still_find_whole_notes(self, snapshot: Snapshot, some_notes: list[Note]) -> None:
        hits = snapshot.keyword.search(analyse("redis"), realm="global")
        assert snapshot.catalog.notes([hits[0].id, "absent"]) == {"note-00": some_notes[0]}
        assert snapshot.keyword.idf(["redis"])["redis"] > 0

    def test_corrections_are_still_there(self, snapshot: Snapshot, some_notes: list[Note]) -> None:
        assert snapshot.catalog.corrections(["global"]) == [some_notes[3]]
        assert snapshot.catalog.corrections(["project:h/o/n"]) == []

    def test_lists_are_still_there(self, snapshot: Snapshot) -> None:
        assert (snapshot.catalog.count(), snapshot.catalog.count("global")) == (12, 6)
        assert snapshot.catalog.realms() == {"global": 6, "project:h/o/n": 6}
        assert len(snapshot.catalog.page("global", limit=4)) == 4
        assert snapshot.catalog.path_of("note-00") is None
        assert snapshot.vectors is None


def test_without_words_meaning_goes_on(current: generation.Generation, opened: Opened, embedder: Any) -> None:
    shutil.rmtree(current.keyword)
    snapshot = opened()
    assert snapshot.damaged == {"keyword"}
    assert snapshot.keyword.search(analyse("redis")) == []
    assert snapshot.keyword.idf(["redis"]) == {"redis": 1.0}
    assert snapshot.vectors is not None
    assert len(snapshot.vectors.search(embedder.embed_query("redis"), limit=5)) == 5
    assert len(snapshot.catalog.notes(["note-00"])) == 1


def test_who_asks_by_words_alone_reads_no_vectors(current: generation.Generation, settings: Settings) -> None:
    shutil.rmtree(current.vectors)
    snapshot = open_snapshot(settings.index_dir, with_vectors=False)
    assert snapshot is not None
    assert (snapshot.vectors, snapshot.damaged) == (None, set())
    assert len(snapshot.keyword.search(analyse("redis"))) == 2
    snapshot.close()


@pytest.mark.parametrize("harm", ["missing", "cut short"])
def test_without_some_vectors_the_others_and_the_words_go_on(
    current: generation.Generation, opened: Opened, embedder: Any, harm: str
) -> None:
    first = sorted(Path(current.vectors).iterdir())[0]
    if harm == "missing":
        first.unlink()
    else:
        os.truncate(first, 100)
    snapshot = opened()
    assert snapshot.damaged == {"vectors"}
    assert "rows are missing" in snapshot.problems[0]
    assert snapshot.vectors is not None and snapshot.vectors.count in (6, 7)
    assert len(snapshot.keyword.search(analyse("redis"))) == 2


def test_fault_11_without_any_vectors_there_are_none(current: generation.Generation, opened: Opened) -> None:
    shutil.rmtree(current.vectors)
    snapshot = opened()
    assert snapshot.vectors is None
    assert snapshot.damaged == {"vectors"}


def test_without_anything_it_still_opens(current: generation.Generation, opened: Opened) -> None:
    for entry in os.scandir(current.folder):
        shutil.rmtree(entry.path) if entry.is_dir() else os.unlink(entry.path)
    snapshot = opened()
    assert snapshot.damaged == {"catalog", "keyword"}
    assert snapshot.catalog.notes(["note-00"]) == {}
    assert (snapshot.catalog.count(), snapshot.catalog.page(), snapshot.catalog.corrections(["global"])) == (0, [], [])


def test_fault_11_words_and_catalog_that_disagree(
    current: generation.Generation, opened: Opened, monkeypatch: pytest.MonkeyPatch
) -> None:
    slept: list[float] = []
    monkeypatch.setattr("time.sleep", slept.append)
    writer = KeywordWriter(current.keyword)
    writer.drop("note-00")
    writer.commit()
    snapshot = opened()
    assert snapshot.damaged == {"keyword"}
    assert slept  # it may have been the moment between two commits
    assert len(snapshot.keyword.search(analyse("redis"))) == 1


@pytest.mark.parametrize("model", [Model("other", 32), Model("words-32", 48)])
def test_fault_41_vectors_of_another_model_are_not_used(
    current: generation.Generation, settings: Settings, model: Model, embedder: Any
) -> None:
    snapshot = open_snapshot(settings.index_dir, model)
    assert snapshot is not None
    assert snapshot.vectors is None
    assert any(f"not {model.name}" in problem and "reindex" in problem for problem in snapshot.problems)
    assert len(snapshot.keyword.search(analyse("redis"))) == 2
    snapshot.close()
    same = open_snapshot(settings.index_dir, Model(embedder.name, embedder.dim))
    assert same is not None and same.vectors is not None and same.problems == []
    same.close()


READ_ONLY = """
import os, sys
from chitta.index.snapshot import open_snapshot
from chitta.index.terms import analyse
import chitta.index.keyword, tempfile, shutil, encodings.idna
if os.getuid() == 0:
    os.setgroups([])
    os.setgid(65534)
    os.setuid(65534)
index = sys.argv[1]
if not os.path.isdir(index) or os.access(index, os.W_OK):
    print("no such store")
else:
    found = open_snapshot(index)
    print(found.problems, len(found.keyword.search(analyse("redis"))), found.catalog.count(), found.vectors.count)
"""


@pytest.fixture
def readable_by_all() -> Iterator[Path]:
    """A folder that another user can reach, for when the tests run as root."""
    folder = Path(tempfile.mkdtemp(prefix="chitta-test-"))
    folder.chmod(0o755)
    yield folder
    for below, _, _ in os.walk(folder):
        os.chmod(below, 0o755)
    shutil.rmtree(folder)


def leave_a_log(index: Path, kept: Path) -> None:
    """A copy of the index as a process leaves it that dies after a commit, without SQLite's shared memory file."""
    ledger = Ledger(str(index / "gen-000001" / "catalog.sqlite"))
    ledger.put_note(Note(id="note-00", title="changed"), "note-00", "x.md", "sha", None)
    ledger.commit()
    shutil.copytree(index, kept, symlinks=True)
    ledger.close()
    (kept / "gen-000001" / "catalog.sqlite-shm").unlink()


@pytest.mark.parametrize("died", [False, True])
def test_fault_39_a_store_that_this_user_cannot_write_is_read(
    current: generation.Generation, settings: Settings, readable_by_all: Path, died: bool
) -> None:
    copy = readable_by_all / "index"
    if died:
        leave_a_log(Path(settings.index_dir), copy)
    else:
        shutil.copytree(settings.index_dir, copy, symlinks=True)
    for folder, _, files in os.walk(copy):
        for path in (os.path.join(folder, name) for name in files):
            os.chmod(path, 0o444)
        os.chmod(folder, 0o555)
    done = subprocess.run([sys.executable, "-c", READ_ONLY, str(copy)], capture_output=True, text=True, check=False)
    if done.stdout.strip() == "no such store":
        pytest.skip("this user may write anywhere, or another one may not read the temporary folder")
    assert done.stdout.strip() == "[] 2 12 12", done.stderr
