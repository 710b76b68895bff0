"""A small data set and golden set, stores built of them in a cache of their own, and a quick embedder of words."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from chitta.cli import checkout
from chitta.evaluate import bench_store, labels, replay, retrieval
from chitta.evaluate.golden import read_notes
from chitta.models import registry
from chitta.settings import Settings, load

DATA = Path(__file__).with_name("data")


class WordEmbedder:
    """Unit vectors of hashed words: meaning enough to test the paths."""

    name = "words"
    dim = 256
    instruction = ""

    def embed_query(self, text: str) -> Any:
        vector = np.zeros(self.dim, dtype=np.float32)
        for word in text.lower().split():
            vector[int.from_bytes(hashlib.sha256(word.strip(".,:;?").encode()).digest()[:4], "big") % self.dim] += 1.0
        norm = float(np.linalg.norm(vector))
        return vector / norm if norm else vector

    def embed_notes(self, texts: Iterable[str], progress: object = None) -> Any:
        return np.stack([self.embed_query(text) for text in texts])


@pytest.fixture(scope="session", autouse=True)
def one_thread() -> Iterator[None]:
    """Fits of so few prompts are slowed down many times by threads where the cores are busy."""
    import sklearn.linear_model  # noqa: F401  (what is limited has to be loaded)
    from threadpoolctl import threadpool_limits

    with threadpool_limits(1):
        yield


@pytest.fixture(scope="session")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("cache")


@pytest.fixture(autouse=True)
def own_cache(own_home: Path, cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Stores are built once for all tests of a process, and never in the person's cache."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(cache))


@pytest.fixture
def sample() -> Path:
    """A retrieval data set of twelve notes and six queries."""
    return DATA / "sample"


@pytest.fixture
def golden_folder() -> Path:
    """Golden prompts about the same notes."""
    return DATA / "golden"


@pytest.fixture
def words(monkeypatch: pytest.MonkeyPatch) -> WordEmbedder:
    """Measurements in this process have the quick embedder."""
    embedder = WordEmbedder()
    for module in (bench_store, labels, replay, retrieval):
        monkeypatch.setattr(module, "load_embedder", lambda settings: embedder)
    monkeypatch.setattr(bench_store, "embedder_name", lambda settings: embedder.name)
    return embedder


@pytest.fixture
def word_store(words: WordEmbedder, sample: Path) -> Settings:
    """The sample's notes with vectors of words."""
    return bench_store.build_store("sample", read_notes(sample / "notes.jsonl"))


@pytest.fixture
def shipped_models() -> None:
    """Skips where the hook or the shipped models are not there."""
    if checkout.root() is None:
        pytest.skip("the hook is not here")
    problems = [fact.problem for fact in registry.describe(load()) if fact.problem]
    if problems:
        pytest.skip("; ".join(problems))


@pytest.fixture
def store(shipped_models: None, sample: Path) -> Settings:
    """The sample's notes with vectors of the shipped embedder."""
    return bench_store.build_store("sample", read_notes(sample / "notes.jsonl"))
