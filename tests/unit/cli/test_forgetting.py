"""Forgetting leaves nothing of a note in the store's folder."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from chitta import recall_log
from chitta import settings as table
from chitta.cli import forgetting
from chitta.curation.supersede import supersede
from chitta.index.snapshot import open_snapshot
from chitta.index.terms import analyse
from chitta.notes.note import Note
from chitta.notes.store import NoteStore
from chitta.sessions import Held

Run = Callable[..., Any]
WORD = "quokkazinc"


def places(word: str) -> list[str]:
    """Files of the store that hold the word, by name or content, in any case."""
    found = []
    for folder, _, names in os.walk(table.load().home):
        for name in names:
            path = os.path.join(folder, name)
            if word in name.lower() or word.encode() in Path(path).read_bytes().lower():
                found.append(path)
    return found


def keep(*notes: Note) -> None:
    for note in notes:
        NoteStore(table.load().notes_dir).write(note)


def test_forget_leaves_no_word_in_notes_index_logs_or_sessions(chitta: Run) -> None:
    keep(*(Note(f"n{number}", title=f"other {number}", text=f"plain words {number}") for number in range(20)))
    name = chitta("remember", f"The {WORD} alloy melts at 9 degrees.", "--json").value["id"]
    assert WORD in name, "an id says what the note is about"
    state = table.load().state_dir
    with Held(state, "s") as held:
        held.record(turn=1, topic="melting points", injected=[name, "n1"])
    recall_log.append(state, {"time": "2026-01-01T00:00:00Z", "admitted": [{"id": name}], "trace": [["kw", name]]})
    before = Path(state, recall_log.NAME).stat().st_size
    assert len(places(WORD)) >= 4
    ran = chitta("forget", name, "--yes")
    assert ran.code == 0 and places(WORD) == []
    snapshot = open_snapshot(table.load().index_dir)
    assert (
        snapshot is not None
        and len(snapshot.catalog.page(limit=99)) == 20
        and not snapshot.keyword.search(analyse(WORD))
    )
    assert Path(state, recall_log.NAME).stat().st_size == before and '"n1"' in next(
        Path(state, "sessions").glob("*.json")
    ).read_text(encoding="utf-8")


def test_forget_takes_the_older_versions_along(chitta: Run) -> None:
    old = Note("rule", title="rule", text=f"first {WORD} text", created="2025-01-01")
    keep(old)
    supersede(NoteStore(table.load().notes_dir), old, old._replace(text="second text"), "2025-02-01")
    chitta("reindex")
    assert places(WORD)
    ran = chitta("forget", "rule", "--yes")
    assert ran.code == 0 and "rule." in ran.out and places(WORD) == []


def test_a_captured_note_is_refused_without_its_name(chitta: Run) -> None:
    keep(Note(f"{WORD}-1f", text=WORD, authority="captured", extra=(("captured", "fix"),)))
    assert chitta("forget", f"{WORD}-1f", "--yes").code == 0 and places(WORD) == []
    keep(Note(f"{WORD}-2f", text=WORD, authority="captured", extra=(("captured", "fix"),)))
    chitta("reindex")
    assert chitta("review", "--forget", f"{WORD}-2f").code == 0 and places(WORD) == []


def test_a_history_that_cannot_be_forgotten_is_named(chitta: Run) -> None:
    keep(Note("a", text="b"))
    Path(table.load().notes_dir, ".git").mkdir()
    assert "history" in chitta("forget", "a", "--yes").err


@pytest.mark.parametrize("name", ["a", "text", 'ab"c\\d', "naïve-日本", "x" * 190])
def test_ids_are_written_over_in_place(tmp_path: Path, name: str) -> None:
    log = tmp_path / "log.jsonl"
    recall_log.append(str(tmp_path), {"id": name, "text": "a word about ab and x"})
    path = tmp_path / recall_log.NAME
    size = path.stat().st_size
    assert forgetting.unname(str(tmp_path), [name]) == [] and not log.exists()
    data = path.read_text(encoding="utf-8")
    assert path.stat().st_size == size and "a word about ab and x" in data and f'"id":"{name}"' not in data
