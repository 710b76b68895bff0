"""A file of the index that a power cut emptied, cut or took: the next sync puts it right, from the notes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from chitta.index.indexer import sync
from chitta.index.snapshot import open_snapshot
from chitta.notes.note import Note
from chitta.notes.store import NoteStore
from chitta.settings import Settings


def files_of(settings: Settings) -> list[str]:
    top = Path(settings.index_dir)
    return sorted(str(path.relative_to(top)) for path in top.rglob("*") if path.is_file() and "lock" not in path.name)


@pytest.mark.parametrize("harm", ["emptied", "cut", "gone"])
def test_fault_27_any_file_of_the_index_may_be_lost(
    settings: Settings, store: NoteStore, some_notes: list[Note], embedder: Any, harm: str
) -> None:
    for note in some_notes:
        store.write(note)
    sync(settings, embedder)
    for number in range(len(files_of(settings))):
        names = files_of(settings)
        if number >= len(names):
            break
        path = Path(settings.index_dir, names[number])
        content = path.read_bytes()
        path.unlink()
        if harm != "gone":  # a new file, as after a restart: one that is mapped must not shrink under its reader
            path.write_bytes(b"" if harm == "emptied" else content[: len(content) // 2])
        sync(settings, embedder)
        snapshot = open_snapshot(settings.index_dir)
        assert snapshot is not None
        assert snapshot.problems == [], names[number]
        assert snapshot.catalog.notes([note.id for note in some_notes]) == {note.id: note for note in some_notes}
        assert snapshot.vectors is not None and snapshot.vectors.count == len(some_notes)
        snapshot.close()
