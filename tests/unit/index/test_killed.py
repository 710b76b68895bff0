"""A process killed at any step of a sync: the index stays readable, and the next sync puts it right."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from chitta.index.indexer import sync
from chitta.index.snapshot import open_snapshot
from chitta.index.terms import analyse
from chitta.notes.note import Note
from chitta.notes.store import NoteStore
from chitta.settings import Settings

#: Each step of a sync as the function that makes it, and whether to die before it, after it, or half-way.
STEPS = (
    "chitta.index.generation:begin:after",
    "chitta.index.keyword:KeywordWriter.put:after",
    "chitta.index.keyword:KeywordWriter.commit:before",
    "chitta.index.keyword:KeywordWriter.commit:after",
    "chitta.index.ledger:Ledger.put_note:after",
    "chitta.index.ledger:Ledger.commit:before",
    "chitta.index.ledger:Ledger.commit:after",
    "chitta.index.ledger:Ledger.close:before",
    "chitta.index.ledger:Ledger.set_model:after",
    "chitta.index.generation:finish:before",
    "os:rename:after",
    "os:symlink:after",
    "os:replace:after",
    "chitta.index.ledger:write_rows:before",
    "chitta.index.ledger:write_rows:half",
    "chitta.index.ledger:write_rows:after",
    "chitta.index.ledger:Ledger.add_vectors:after",
)

#: Those that a change inside the current generation does not come to.
ONLY_WHEN_BUILDING = tuple(
    step for step in STEPS if step.startswith(("chitta.index.generation:", "os:")) or "set_model" in step
)

#: Syncs, and dies the N-th time the step comes; says ``end`` when it never came.
CHILD = """
import importlib, os, signal, sys
step, nth, full = sys.argv[1], int(sys.argv[2]), sys.argv[3] == "full"
sys.path.insert(0, sys.argv[4])
from conftest import WordEmbedder
from chitta.index import embedding, indexer
from chitta.settings import load

module, _, rest = step.partition(":")
name, _, when = rest.partition(":")
owner = importlib.import_module(module)
while "." in name:
    first, _, name = name.partition(".")
    owner = getattr(owner, first)
real, calls = getattr(owner, name), 0

def die():
    os.kill(os.getpid(), signal.SIGKILL)

def hooked(*args, **how):
    global calls
    calls += 1
    if calls < nth:
        return real(*args, **how)
    if when == "half":
        path, dim, first, rows = args
        real(path, dim, first, rows[: len(rows) // 2 + 3])
    if when == "after":
        real(*args, **how)
    die()

setattr(owner, name, hooked)
embedding.STEP = 4
indexer.sync(load(), WordEmbedder(), full=full)
print("end")
"""


def run(step: str, nth: int, full: bool) -> bool:
    """Whether the child was killed at the step."""
    arguments = [step, str(nth), "full" if full else "changes", str(Path(__file__).parent)]
    done = subprocess.run([sys.executable, "-c", CHILD, *arguments], capture_output=True, text=True, check=False)
    if done.returncode == -signal.SIGKILL:
        return True
    assert done.stdout == "end\n", done.stderr
    return False


def still_found(settings: Settings, unchanged: list[Note]) -> None:
    """What was indexed and has not changed is found, by words, and no part of the index is damaged."""
    snapshot = open_snapshot(settings.index_dir)
    assert snapshot is not None
    assert snapshot.damaged <= {"keyword"}  # words and catalog may differ by what was being changed
    for note in unchanged:
        assert note.id in [hit.id for hit in snapshot.keyword.search(analyse(note.title), limit=50)]
    assert snapshot.catalog.notes([note.id for note in unchanged]) == {note.id: note for note in unchanged}
    snapshot.close()


def put_right(settings: Settings, embedder: Any, notes: list[Note]) -> None:
    report = sync(settings, embedder)
    assert report.pending == 0
    snapshot = open_snapshot(settings.index_dir)
    assert snapshot is not None
    assert snapshot.problems == []
    assert snapshot.catalog.notes([note.id for note in notes]) == {note.id: note for note in notes}
    assert snapshot.catalog.count() == len(notes)
    assert snapshot.vectors is not None and snapshot.vectors.count == len(notes)
    for note in notes:
        query = embedder.embed_query(f"{note.title}\n{note.text}")
        assert snapshot.vectors.cosines(query, [note.id])[note.id] == pytest.approx(1, abs=1e-2)
    snapshot.close()
    assert not [name for name in os.listdir(settings.index_dir) if name.endswith(".part")]


@pytest.mark.parametrize("step", STEPS)
def test_fault_27_killed_while_making_the_first_index(
    settings: Settings, store: NoteStore, some_notes: list[Note], embedder: Any, step: str
) -> None:
    for note in some_notes:
        store.write(note)
    assert run(step, 1, full=False)
    snapshot = open_snapshot(settings.index_dir)
    if snapshot is not None:
        assert snapshot.problems == []
        snapshot.close()
    put_right(settings, embedder, some_notes)


@pytest.mark.parametrize(
    ("step", "full"),
    [(step, True) for step in STEPS] + [(step, False) for step in STEPS if step not in ONLY_WHEN_BUILDING],
)
def test_fault_27_killed_while_changing_it(
    settings: Settings, store: NoteStore, some_notes: list[Note], embedder: Any, step: str, full: bool
) -> None:
    for note in some_notes:
        store.write(note)
    sync(settings, embedder)
    changed = [note._replace(text=f"new text of {note.id}") for note in some_notes[:6]]
    for note in changed:
        store.write(note)
    (store.find(some_notes[11].id) or Path()).unlink()
    added = Note(id="added", title="kafka", text="topics")
    store.write(added)
    assert run(step, 1, full)
    still_found(settings, some_notes[6:11])
    put_right(settings, embedder, [*changed, *some_notes[6:11], added])


def test_a_killed_import_goes_on_where_it_was(settings: Settings, store: NoteStore, embedder: Any) -> None:
    notes = [Note(id=f"n{number:02d}", title=f"title{number}") for number in range(20)]
    for note in notes:
        store.write(note)
    assert run("chitta.index.ledger:Ledger.add_vectors:before", 4, full=False)
    put_right(settings, embedder, notes)
    assert len(embedder.asked) == 8  # three steps of four were kept
