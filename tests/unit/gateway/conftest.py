"""A small real store with a real index, and an embedder that is quick because it only counts words."""

import hashlib
from pathlib import Path

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
