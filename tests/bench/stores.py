"""Stores to measure on: real notes, and any number made of them. They are kept in ``.bench/``.

A large store is made of the small one: sentences of its notes dealt anew, so that words are as common as they are,
and vectors that are mixtures of its vectors, so that it takes minutes and not hours.
"""

from __future__ import annotations

import json
import random
import re
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from chitta.evaluate.bench_store import environment
from chitta.importing.plain import read_path
from chitta.index import neighbours
from chitta.index.indexer import sync
from chitta.index.snapshot import open_snapshot
from chitta.models.registry import load_embedder
from chitta.notes.note import Note
from chitta.notes.realms import GLOBAL
from chitta.notes.store import NoteStore
from chitta.settings import Settings, load

ROOT = Path(__file__).resolve().parents[2]
DATA = ROOT.parent / "shared" / "data"
SAMPLES = ROOT / "lib" / "chitta" / "samples"
_TIL, _GOLDEN = DATA / "til" / "notes.jsonl", DATA / "golden" / "answerable.jsonl"
NOTES = _TIL if _TIL.exists() else SAMPLES / "notes"
PROMPTS = _GOLDEN if _GOLDEN.exists() else SAMPLES / "prompts.json"


class Mixtures:
    """An embedder by name, whose vectors are mixtures of others."""

    instruction = ""

    def __init__(self, name: str, vectors: np.ndarray) -> None:
        self.name, self.dim = name, vectors.shape[1]
        self._vectors = vectors
        self._random = np.random.default_rng(7)

    def embed_query(self, text: str) -> np.ndarray:
        vector: np.ndarray = self.embed_notes([text])[0]
        return vector

    def embed_notes(self, texts: Sequence[str], progress: Any = None) -> np.ndarray:
        first, second = (self._vectors[self._random.integers(0, len(self._vectors), len(texts))] for _ in range(2))
        mixed = first + 0.6 * second + 0.02 * self._random.standard_normal((len(texts), self.dim)).astype(np.float32)
        unit: np.ndarray = (mixed / np.linalg.norm(mixed, axis=1, keepdims=True)).astype(np.float32)
        return unit


def real_notes(path: Path = NOTES) -> list[Note]:
    return [item.note._replace(realm=GLOBAL) for item in read_path(path, realm=GLOBAL) if item.note]


def small_store(path: Path = NOTES) -> Settings:
    """The store of the real notes, with their real vectors."""
    notes = real_notes(path)
    return _store(f"small-{len(notes)}", notes, load_embedder)


def large_store(size: int, path: Path = NOTES) -> Settings:
    """A store of ``size`` notes made of the real ones, with a graph of neighbours where one is worth it."""
    notes, small = real_notes(path), small_store(path)
    snapshot = open_snapshot(small.index_dir)
    assert snapshot is not None and snapshot.vectors is not None
    vectors = snapshot.vectors.of([note.id for note in notes])
    name = load_embedder(small).name
    large = _store(f"large-{size}", _dealt(notes, size), lambda settings: Mixtures(name, vectors))
    _with_graphs(large)
    return large


def store_of(size: int) -> Settings:
    """The small store where it has that size, else a large one."""
    return small_store() if size == len(real_notes()) else large_store(size)


def prompts(path: Path = PROMPTS, count: int = 0) -> list[str]:
    """Prompts from JSON lines or from the samples' file; ``count`` of them, repeated where there are fewer."""
    text = path.read_text(encoding="utf-8")
    rows = json.loads(text)["prompts"] if path.suffix == ".json" else [json.loads(line) for line in text.splitlines()]
    found = [row if isinstance(row, str) else row["prompt"] for row in rows]
    return (found * (count // len(found) + 1))[:count] if count else found


def _store(name: str, notes: Sequence[Note] | Iterator[Note], embedder: Callable[[Settings], Any]) -> Settings:
    home = ROOT / ".bench" / name
    settings = load(environment(home))
    if (home / "whole").exists():
        return settings
    print(f"making the store {name}", file=sys.stderr)
    store = NoteStore(settings.notes_dir)
    for note in notes:
        store.write(note)
    began = time.monotonic()
    sync(settings, embedder(settings))
    (home / "whole").write_text(f"{time.monotonic() - began:.1f}\n")
    return settings


def index_seconds(settings: Settings) -> float:
    """What indexing took when the store was made, embedding included (of a large one, its stand-in)."""
    return float((Path(settings.home) / "whole").read_text() or 0)


def _with_graphs(settings: Settings) -> None:
    snapshot = open_snapshot(settings.index_dir)
    assert snapshot is not None and snapshot.vectors is not None
    for file, rows in snapshot.vectors.files():
        if neighbours.is_stale(snapshot.vectors.folder, file, rows):
            print(f"making its graph of {rows:,} rows", file=sys.stderr)
            neighbours.build(snapshot.vectors.folder, file, snapshot.vectors.dim, threads=2)


def _dealt(notes: Sequence[Note], size: int) -> Iterator[Note]:
    deal = random.Random(7)
    sentences = [part for note in notes for part in re.split(r"(?<=[.!?])\s+|\n\n+", note.text) if part.strip()]
    for number in range(size):
        base = deal.choice(notes)
        text = "\n".join(deal.choice(sentences) for _ in range(deal.randint(4, 9)))
        yield base._replace(id=f"dealt-{number}", text=text, extra=(), source="")
