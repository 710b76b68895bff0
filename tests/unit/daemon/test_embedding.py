"""Sharing one embedding among all who ask for it."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np
import pytest

from chitta.daemon.embedding import SharedEmbedder


def in_threads(count: int, work: Any) -> list[Any]:
    """Run ``work`` in ``count`` threads that begin together; what each returned or raised."""
    barrier = threading.Barrier(count)
    results: list[Any] = [None] * count

    def run(place: int) -> None:
        barrier.wait()
        try:
            results[place] = work()
        except Exception as problem:
            results[place] = problem

    threads = [threading.Thread(target=run, args=(place,)) for place in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return results


def test_two_hundred_askers_one_computation(embedder: Any) -> None:
    shared = SharedEmbedder(embedder)
    embedder.gate.clear()
    threading.Timer(0.2, embedder.gate.set).start()
    vectors = in_threads(200, lambda: shared.embed_query("the same words"))
    assert embedder.queries == ["the same words"]
    assert all(vector is vectors[0] for vector in vectors)


def test_asked_again_it_is_remembered(embedder: Any) -> None:
    shared = SharedEmbedder(embedder)
    first = shared.embed_query("words")
    assert shared.embed_query("words") is first
    assert len(embedder.queries) == 1


def test_the_longest_unused_is_forgotten_first(embedder: Any) -> None:
    shared = SharedEmbedder(embedder, kept=2)
    for text in ("a", "b", "a", "c", "a", "b"):
        shared.embed_query(text)
    assert embedder.queries == ["a", "b", "c", "b"]


def test_shared_vectors_cannot_be_changed(embedder: Any) -> None:
    vector = SharedEmbedder(embedder).embed_query("words")
    with pytest.raises(ValueError):
        vector[0] = 1.0
    assert np.isclose(np.linalg.norm(vector), 1.0)


def test_failure_reaches_everyone_and_is_not_remembered(embedder: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    shared = SharedEmbedder(embedder)

    def fail(text: str) -> np.ndarray:
        embedder.gate.wait(60)
        raise MemoryError

    embedder.gate.clear()
    threading.Timer(0.2, embedder.gate.set).start()
    with monkeypatch.context() as patch:
        patch.setattr(embedder, "embed_query", fail)
        results = in_threads(8, lambda: shared.embed_query("words"))
    assert all(isinstance(result, Exception) for result in results)
    assert shared.embed_query("words").shape == (64,)


def test_lone_surrogates_are_texts_too(embedder: Any) -> None:
    assert SharedEmbedder(embedder).embed_query("odd \ud800 text").shape == (64,)


def test_it_is_the_embedder_it_holds(embedder: Any) -> None:
    shared = SharedEmbedder(embedder)
    assert (shared.name, shared.dim) == (embedder.name, embedder.dim)
    assert shared.embed_notes(["one", "two"]).shape == (2, 64)
