"""The short-lived process that answers from words pays for nothing else."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import pytest

from chitta.index.indexer import sync
from chitta.notes.note import Note
from chitta.notes.store import NoteStore
from chitta.settings import Settings

HEAVY = ("numpy", "onnxruntime", "tokenizers", "filelock", "yaml", "tempfile", "shutil", "asyncio")

ANSWER = """
import sys
from chitta.index.snapshot import open_snapshot
from chitta.index.terms import analyse
from chitta.settings import load
snapshot = open_snapshot(load().index_dir)
assert snapshot.catalog.notes([hit.id for hit in snapshot.keyword.search(analyse("redis"))])
assert snapshot.vectors.count
"""


def loaded(code: str) -> set[str]:
    done = subprocess.run(
        [sys.executable, "-c", f"{code}\nimport sys\nprint(*sys.modules)"], capture_output=True, text=True, check=True
    )
    return set(done.stdout.split())


@pytest.mark.parametrize("module", ["catalog", "generation", "keyword", "snapshot", "stored", "terms", "vectors"])
def test_reading_parts_import_nothing_heavy(module: str) -> None:
    assert not set(HEAVY) & loaded(f"import chitta.index.{module}")


def test_nor_does_an_answer_from_words(
    settings: Settings, store: NoteStore, some_notes: list[Note], embedder: Any
) -> None:
    for note in some_notes:
        store.write(note)
    sync(settings, embedder)
    assert not set(HEAVY) & loaded(ANSWER)


def test_the_room_does_not_load_models() -> None:
    assert not any(name.startswith("chitta.models") for name in loaded("import chitta.index.indexer"))
