"""Stores for measuring: built once, found again, copied, and nothing of a person's settings in them."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import pytest

from chitta import daemon_client
from chitta.admission import calibration
from chitta.evaluate import bench_store
from chitta.evaluate.bench_store import TODAY, build_store, cache_folder, environment, with_changes, working_copy
from chitta.evaluate.calibration_file import as_fields, write
from chitta.index.indexer import sync
from chitta.index.snapshot import open_snapshot
from chitta.notes.note import Note
from chitta.notes.store import NoteStore
from chitta.settings import Settings, load

NOTES = [Note("one", title="One", text="the first note"), Note("two", title="Two", text="the second note")]


@pytest.fixture
def empty_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    return tmp_path / "chitta" / "evaluate"


def test_the_environment_of_a_measurement(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CHITTA_FUSION_ALPHA", "0.9")
    monkeypatch.setenv("CHITTA_EMBED_MODEL", "/a/model")
    monkeypatch.setenv("OTHER", "kept")
    found = environment("/a/store", {"CHITTA_MAX_MEMORIES": "1"})
    assert {name: value for name, value in found.items() if name.startswith("CHITTA_")} == {
        "CHITTA_HOME": "/a/store",
        "CHITTA_EMBED_MODEL": "/a/model",
        "CHITTA_MAX_MEMORIES": "1",
        "CHITTA_TODAY": TODAY,
    }
    assert found["OTHER"] == "kept" and os.environ["CHITTA_FUSION_ALPHA"] == "0.9"


def test_where_stores_are_kept(monkeypatch: pytest.MonkeyPatch, own_home: Path) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", "/cache")
    assert cache_folder() == Path("/cache/chitta/evaluate")
    for nothing in ("", None):
        monkeypatch.delenv("XDG_CACHE_HOME") if nothing is None else monkeypatch.setenv("XDG_CACHE_HOME", nothing)
        assert cache_folder() == own_home / ".cache" / "chitta" / "evaluate"


def test_a_store_is_built_with_words_and_vectors(words: Any, empty_cache: Path) -> None:
    store = build_store("set", NOTES)
    assert Path(store.home).parent == empty_cache and Path(store.home).name.startswith("set-")
    snapshot = open_snapshot(store.index_dir)
    assert snapshot is not None and snapshot.model == "words" and snapshot.vectors is not None
    assert set(snapshot.catalog.notes(["one", "two"])) == {"one", "two"}
    snapshot.close()


def test_it_is_built_once_for_the_same_notes_and_model(
    words: Any, empty_cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = build_store("set", NOTES)
    monkeypatch.setattr(bench_store, "_build", lambda *args: pytest.fail("built again"))
    assert build_store("set", iter(NOTES)).home == first.home


@pytest.mark.parametrize(
    "changed",
    [
        [NOTES[0], NOTES[1]._replace(text="another text")],
        [NOTES[0], NOTES[1]._replace(title="Another")],
        [NOTES[0], NOTES[1]._replace(realm="project:x")],
        NOTES[:1],
    ],
)
def test_other_notes_are_another_store(words: Any, empty_cache: Path, changed: list[Note]) -> None:
    assert build_store("set", changed).home != build_store("set", NOTES).home


def test_another_model_is_another_store(words: Any, empty_cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = build_store("set", NOTES)
    monkeypatch.setattr(bench_store, "embedder_name", lambda settings: "other")
    assert build_store("set", NOTES).home != first.home


def test_an_interrupted_build_is_finished(words: Any, empty_cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patch:

        def killed(*args: object, **more: object) -> None:
            raise KeyboardInterrupt

        patch.setattr(bench_store, "sync", killed)
        with pytest.raises(KeyboardInterrupt):
            build_store("set", NOTES)
    (left,) = empty_cache.iterdir()
    assert not (left / "whole").exists()
    assert build_store("set", NOTES).home == str(left) and (left / "whole").exists()


def test_notes_without_vectors_are_no_store(words: Any, empty_cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bench_store, "sync", lambda settings, embedder, progress=None: sync(settings, None))
    with pytest.raises(OSError, match="of 2 notes have no vector"):
        build_store("set", NOTES)
    assert not list(empty_cache.glob("*/whole"))


def test_progress_counts_the_notes(words: Any, empty_cache: Path) -> None:
    seen: list[tuple[str, int, int]] = []
    build_store("set", NOTES, lambda *step: seen.append(step))
    assert seen[:2] == [("writing notes", 1, 2), ("writing notes", 2, 2)]


def test_changes_are_of_settings_not_of_the_store(word_store: Settings) -> None:
    changed = with_changes(word_store, {"CHITTA_FUSION_ALPHA": "0.25"})
    assert changed.home == word_store.home and changed.real("CHITTA_FUSION_ALPHA") == 0.25


@pytest.mark.parametrize("changes", [{}, {"CHITTA_MAX_MEMORIES": "1"}])
def test_a_measurement_over_a_persons_own_store_has_none_of_their_settings(
    own_home: Path, monkeypatch: pytest.MonkeyPatch, changes: dict[str, str]
) -> None:
    monkeypatch.setenv("CHITTA_FUSION_ALPHA", "0.9")
    own = load()
    found = with_changes(own, changes)
    assert own.real("CHITTA_FUSION_ALPHA") == 0.9 and found.home == own.home
    assert found.real("CHITTA_FUSION_ALPHA") == load({}).real("CHITTA_FUSION_ALPHA")


def test_a_copy_is_private_whole_and_gone_afterwards(word_store: Settings) -> None:
    Path(word_store.state_dir).mkdir(exist_ok=True)
    with working_copy(word_store, {"CHITTA_MAX_MEMORIES": "1"}) as copy:
        home = Path(copy.home)
        assert home != Path(word_store.home) and home.stat().st_mode & 0o777 == 0o700
        assert copy.integer("CHITTA_MAX_MEMORIES") == 1 and not Path(copy.state_dir).exists()
        assert calibration.load(copy) == calibration.shipped()
        NoteStore(copy.notes_dir).write(NOTES[0])
        snapshot = open_snapshot(copy.index_dir)
        assert snapshot is not None and snapshot.vectors is not None
        snapshot.close()
    assert not home.exists()
    assert not list(Path(word_store.notes_dir).rglob("one.md"))


def test_a_copy_goes_when_the_work_fails(word_store: Settings) -> None:
    with pytest.raises(ZeroDivisionError), working_copy(word_store) as copy:
        raise ZeroDivisionError
    assert not Path(copy.home).exists()


@pytest.fixture
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A temporary folder of its own for working copies."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return tmp_path


def test_what_killed_measurements_left_is_swept(word_store: Settings, temporary: Path) -> None:
    done = subprocess.Popen([sys.executable, "-c", ""])
    done.wait()
    assert not bench_store.is_alive(done.pid) and bench_store.is_alive(os.getpid())
    dead = temporary / f"{bench_store.COPY_PREFIX}{done.pid}-abc"
    others = [
        temporary / f"{bench_store.COPY_PREFIX}{os.getpid()}-def",
        temporary / f"{bench_store.COPY_PREFIX}nameless",
        temporary / f"other-{done.pid}-abc",
    ]
    for place in (dead, *others):
        (place / "notes").mkdir(parents=True)
    with working_copy(word_store) as copy:
        assert Path(copy.home).name.startswith(f"{bench_store.COPY_PREFIX}{os.getpid()}-")
        assert not dead.exists() and all(place.is_dir() for place in others)
    assert sorted(temporary.iterdir()) == sorted(others)


def test_the_daemon_of_a_swept_copy_is_stopped_first(
    word_store: Settings, temporary: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bench_store, "is_alive", lambda number: False)
    stays, goes = (temporary / f"{bench_store.COPY_PREFIX}{number}-abc" for number in (1, 2))
    for place in (stays, goes):
        place.mkdir()
    asked: list[str] = []

    def stop(settings: Settings) -> bool:
        asked.append(settings.home)
        if settings.home == str(stays):
            raise daemon_client.DaemonAway("the daemon does not leave")
        return True

    monkeypatch.setattr(daemon_client, "stop", stop)
    with working_copy(word_store):
        assert sorted(asked) == [str(stays), str(goes)] and stays.exists() and not goes.exists()


def test_a_copy_has_the_stores_own_calibration(words: Any, empty_cache: Path) -> None:
    store = build_store("set", NOTES)
    own = calibration.shipped()._replace(name="own", threshold=0.125)
    write(Path(store.home, "calibration.json"), as_fields(own, date="", data="", counts={}, quality={}))
    with working_copy(load({"CHITTA_HOME": store.home})) as copy:
        assert calibration.load(copy) == own
