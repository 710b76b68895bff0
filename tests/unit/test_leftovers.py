"""What killed processes leave is found by its name and age, and nothing else is."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

import pytest

from chitta import breadcrumb, leftovers, sessions, settings
from chitta.notes.note import Note
from chitta.notes.store import NoteStore
from chitta.settings import Settings

LATER = 2 * leftovers.ABANDONED_S


@pytest.fixture
def store() -> Settings:
    made = settings.load()
    NoteStore(made.notes_dir).write(Note(id="kept", text="words"))
    with sessions.Held(made.state_dir, "s") as held:
        held.record(turn=1, topic="words", injected=[])
    breadcrumb.leave(made.state_dir, "turn", "what")
    return made


def left_by_kills(store: Settings) -> list[str]:
    handle, note = tempfile.mkstemp(prefix=".", suffix=".tmp", dir=os.path.join(store.notes_dir, "global"))
    os.close(handle)
    state = Path(store.state_dir)
    session = next(state.joinpath("sessions").glob("*.json"))
    made = [Path(note), Path(f"{session}.71-9001"), state / "last-failure.json.71-9001", state / "gaps.jsonl.71"]
    made += [state / "drain-queue.jsonl.drain-71"]
    for path in made:
        path.touch()
    return sorted(map(str, made))


def test_fault_27_what_killed_writers_left_goes_once_it_is_old(store: Settings) -> None:
    left = left_by_kills(store)
    now = os.stat(left[0]).st_mtime
    assert leftovers.found(store, now + 60) == []
    assert leftovers.found(store, now + LATER) == left
    assert leftovers.sweep(store, now + LATER) == left
    assert leftovers.found(store, now + LATER) == []


def test_what_others_wrote_stays(store: Settings) -> None:
    notes, state = Path(store.notes_dir, "global"), Path(store.state_dir)
    (notes / ".obsidian").mkdir()
    kept = [notes / ".obsidian" / ".abcdefgh.tmp", notes / "mine.tmp", notes / ".hidden.md", notes / "a.md.1"]
    kept += [state / "own.txt.12", state / "recall-log.1.jsonl", state / "sessions" / "lock"]
    for path in kept:
        path.touch()
    link = notes / ".abcdefgi.tmp"
    link.symlink_to(notes / "kept.md")
    before = set(Path(store.home).rglob("*"))
    leftovers.sweep(store, os.stat(kept[0]).st_mtime + LATER)
    assert set(Path(store.home).rglob("*")) == before


def test_without_a_store_there_is_nothing() -> None:
    assert leftovers.sweep(settings.load()) == []
