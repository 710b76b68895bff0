"""A home of its own, notes to put in it, and an embedder that needs no model file."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence

import numpy as np
import pytest
from numpy.typing import NDArray

from chitta import settings as settings_module
from chitta.index.snapshot import Snapshot, open_snapshot
from chitta.notes.note import Note
from chitta.notes.store import NoteStore
from chitta.settings import Settings

Matrix = NDArray[np.float32]


class WordEmbedder:
    """A deterministic embedder: each word adds one of ``dim`` directions. Keeps what it was asked."""

    instruction = ""

    def __init__(self, name: str = "words-32", dim: int = 32) -> None:
        self.name = name
        self.dim = dim
        self.asked: list[str] = []

    def embed_query(self, text: str) -> Matrix:
        vector = np.full(self.dim, 1e-3, np.float32)
        for word in text.lower().split():
            vector[int(hashlib.sha256(word.encode("utf-8", "replace")).hexdigest()[:8], 16) % self.dim] += 1
        return np.asarray(vector / np.linalg.norm(vector), np.float32)

    def embed_notes(self, texts: Sequence[str], progress: Callable[[int, int], None] | None = None) -> Matrix:
        self.asked += texts
        if progress is not None:
            progress(len(texts), len(texts))
        return np.stack([self.embed_query(text) for text in texts])


@pytest.fixture
def embedder() -> WordEmbedder:
    return WordEmbedder()


@pytest.fixture
def make_embedder() -> type[WordEmbedder]:
    return WordEmbedder


@pytest.fixture
def settings() -> Settings:
    return settings_module.load()


@pytest.fixture
def store(settings: Settings) -> NoteStore:
    return NoteStore(settings.notes_dir)


@pytest.fixture
def some_notes() -> list[Note]:
    """Twelve notes in two realms, one of them a correction."""
    about = ["redis cache", "docker compose", "rails routes", "git rebase", "vim macro", "ssh tunnel"]
    notes = [
        Note(id=f"note-{number:02d}", title=topic, text=f"How {topic} works, part {number}", realm=realm)
        for number, (topic, realm) in enumerate(
            (topic, realm) for realm in ("global", "project:h/o/n") for topic in about
        )
    ]
    notes[3] = notes[3]._replace(kind="correction", triggers=("git push --force",), wrong="git push --force")
    return notes


@pytest.fixture
def opened(settings: Settings, request: pytest.FixtureRequest) -> Callable[[], Snapshot]:
    """Opens snapshots of the test's index, and closes them after the test."""

    def open_one() -> Snapshot:
        snapshot = open_snapshot(settings.index_dir)
        assert snapshot is not None
        request.addfinalizer(snapshot.close)
        return snapshot

    return open_one
