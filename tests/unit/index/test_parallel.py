"""Many readers while a writer commits: none fails, none waits for the writer."""

from __future__ import annotations

import subprocess
import sys
import threading
from typing import Any

from chitta.index.indexer import quick_sync_paths, sync
from chitta.index.snapshot import open_snapshot
from chitta.index.terms import analyse
from chitta.notes.note import Note
from chitta.notes.store import NoteStore
from chitta.settings import Settings

READER = """
from chitta.index.snapshot import open_snapshot
from chitta.index.terms import analyse
from chitta.settings import load
for _ in range(10):
    snapshot = open_snapshot(load().index_dir)
    hits = snapshot.keyword.search(analyse("redis"), realm="global")
    assert [hit.id for hit in hits] == ["note-00"], hits
    assert len(snapshot.catalog.notes(["note-00", "note-05"])) == 2
    assert "catalog" not in snapshot.damaged and "vectors" not in snapshot.damaged, snapshot.problems
    snapshot.close()
print("ok")
"""


def test_twenty_processes_read_while_one_writes(
    settings: Settings, store: NoteStore, some_notes: list[Note], embedder: Any
) -> None:
    for note in some_notes:
        store.write(note)
    sync(settings, embedder)
    readers = [
        subprocess.Popen([sys.executable, "-c", READER], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        for _ in range(20)
    ]
    written = 0
    while any(reader.poll() is None for reader in readers):
        path = store.write(Note(id=f"new-{written % 5}", title="kafka", text=f"version {written}"))
        if written % 7 == 6:
            sync(settings, embedder, full=True)
        else:
            quick_sync_paths(settings, [path], embedder)
        written += 1
    for reader in readers:
        out, err = reader.communicate(timeout=60)
        assert (reader.returncode, out) == (0, "ok\n"), err
    assert written > 1


def test_threads_share_a_snapshot(settings: Settings, store: NoteStore, some_notes: list[Note], embedder: Any) -> None:
    for note in some_notes:
        store.write(note)
    sync(settings, embedder)
    snapshot = open_snapshot(settings.index_dir)
    assert snapshot is not None and snapshot.vectors is not None
    vectors = snapshot.vectors
    failures: list[BaseException] = []

    def ask(note: Note) -> None:
        try:
            for _ in range(20):
                hits = snapshot.keyword.search(analyse(note.title), limit=20)
                assert note.id in snapshot.catalog.notes([hit.id for hit in hits])
                best = vectors.search(embedder.embed_query(f"{note.title}\n{note.text}"), limit=1)
                assert best[0].id == note.id
                assert snapshot.fresh()
        except BaseException as problem:
            failures.append(problem)

    threads = [threading.Thread(target=ask, args=(note,)) for note in some_notes]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    snapshot.close()
    assert failures == []
