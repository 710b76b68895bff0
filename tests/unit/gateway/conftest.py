"""A small real store with a real index, and an embedder that is quick because it only counts words."""

import hashlib
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from chitta.admission import calibration
from chitta.gateway.engine import Engine
from chitta.index.indexer import sync
from chitta.index.snapshot import open_snapshot
from chitta.notes.correction import make_correction
from chitta.notes.note import Note
from chitta.notes.store import NoteStore
from chitta.settings import Settings, load

SHOP = "project:example.com/acme/shop"
SYNONYMS = {"buyers": "customers", "billed": "charged", "double": "twice"}


class WordEmbedder:
    """Unit vectors of hashed words, with a few synonyms folded: meaning enough to test the paths."""

    name = "words"
    dim = 256
    instruction = ""

    def embed_query(self, text: str) -> np.ndarray:
        vector = np.zeros(self.dim, dtype=np.float32)
        for word in text.lower().split():
            word = SYNONYMS.get(word.strip(".,:?"), word.strip(".,:?"))
            vector[int.from_bytes(hashlib.sha256(word.encode()).digest()[:4], "big") % self.dim] += 1.0
        norm = float(np.linalg.norm(vector))
        return vector / norm if norm else vector

    def embed_notes(self, texts, progress=None) -> np.ndarray:  # type: ignore[no-untyped-def]
        return np.stack([self.embed_query(text) for text in texts])


NOTES = (
    Note("webhook-raw-body", kind="bug-fix", realm=SHOP, title="Webhook signature needs the raw body",
         text="construct_event must see request.body before the parser does.", created="2026-01-02"),
    Note("double-payment", kind="insight", realm=SHOP, title="Buyers billed double", text="Use an idempotency key."),
    Note("session-row", kind="session", realm=SHOP, title="session ended", text="webhook webhook webhook signature"),
    Note("kafka-lag", kind="wisdom", realm="project:example.com/acme/telemetry", title="Consumer lag after rebalance",
         text="Raise max.poll.interval.ms for slow batches."),
    Note("shell-quotes", kind="preference", realm="global", title="Quote shell variables", text="Always."),
)  # fmt: skip


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    found = load({"CHITTA_HOME": str(tmp_path / "home")})
    store = NoteStore(found.notes_dir)
    for note in NOTES:
        store.write(note)
    store.write(make_correction("npm install", "pnpm install", "the lockfile is pnpm's", realm=SHOP))
    sync(found, WordEmbedder())
    return found


@pytest.fixture
def engine(settings: Settings):  # type: ignore[no-untyped-def]
    snapshot = open_snapshot(settings.index_dir)
    assert snapshot is not None
    yield Engine(settings, snapshot, WordEmbedder(), None, calibration.shipped())
    snapshot.close()


class Instructed(WordEmbedder):
    """An embedder with an instruction, which turns the order of its search round: it looks for parsers."""

    name = "instructed"
    instruction = "parser parser parser parser parser parser parser parser "


class Judge:
    """A reranker that prefers passages with a given word, and counts what it is asked."""

    name = "judge"

    def __init__(self, word: str) -> None:
        self.word = word
        self.asked: list[str] = []

    def score(self, query: str, passages: Sequence[str], *, deadline: float | None = None) -> list[float]:
        self.asked.append(query)
        return [5.0 if self.word in passage.lower() else -5.0 for passage in passages]


Opened = Callable[..., Engine]


@pytest.fixture
def opened(tmp_path: Path, request: pytest.FixtureRequest) -> Opened:
    """An engine over these notes, in a store of its own; settings by name, without their prefix."""

    def with_notes(
        *notes: Note, embedder: Any = WordEmbedder, reranker: Any = None, warming: bool = False, **variables: object
    ) -> Engine:
        environ = {f"CHITTA_{name}": str(value) for name, value in variables.items()}
        found = load({"CHITTA_HOME": str(tmp_path / "store"), **environ})
        assert found.problems == []
        store = NoteStore(found.notes_dir)
        for note in notes:
            store.write(note)
        model = embedder() if isinstance(embedder, type) else embedder
        sync(found, model or WordEmbedder())
        snapshot = open_snapshot(found.index_dir)
        assert snapshot is not None
        request.addfinalizer(snapshot.close)
        return Engine(found, snapshot, model, reranker, calibration.shipped(), warming=warming)

    return with_notes
