"""The shipped embedder: unit vectors that depend on their own text alone."""

from __future__ import annotations

import numpy as np
import pytest

from chitta.models import onnx_embedder
from chitta.models.onnx_embedder import OnnxEmbedder
from chitta.models.onnx_model import OnnxModel
from chitta.models.protocol import ModelUnavailable

NOTES = ["Use redis as a cache", "Rebase onto main before merging", "", "日本語のメモ", "word " * 600]


def test_vectors_have_unit_length(embedder: OnnxEmbedder) -> None:
    vectors = embedder.embed_notes(NOTES)
    assert vectors.shape == (len(NOTES), embedder.dim)
    assert vectors.dtype == np.float32
    assert np.linalg.norm(vectors, axis=1) == pytest.approx(np.ones(len(NOTES)), abs=1e-5)
    query = embedder.embed_query("a cache")
    assert query.shape == (embedder.dim,)
    assert query.dtype == np.float32


def test_meaning_is_nearer_than_noise(embedder: OnnxEmbedder) -> None:
    vectors = embedder.embed_notes(NOTES[:2])
    scores = vectors @ embedder.embed_query("keep hot values in memory instead of asking the database")
    assert scores[0] > scores[1]


def test_a_vector_does_not_depend_on_its_neighbours(embedder: OnnxEmbedder) -> None:
    together = embedder.embed_notes(NOTES)
    for place, text in enumerate(NOTES):
        assert np.array_equal(embedder.embed_notes([text])[0], together[place])
        assert np.array_equal(embedder.embed_query(text), together[place])


def test_progress_is_told_for_each(embedder: OnnxEmbedder) -> None:
    seen: list[tuple[int, int]] = []
    embedder.embed_notes(NOTES[:3], lambda *at: seen.append(at))
    assert seen == [(1, 3), (2, 3), (3, 3)]


def test_no_notes_give_no_rows(embedder: OnnxEmbedder) -> None:
    assert embedder.embed_notes([]).shape == (0, embedder.dim)


def test_one_core_is_enough(embedder: OnnxEmbedder, monkeypatch: pytest.MonkeyPatch) -> None:
    spread = embedder.embed_notes(NOTES)
    monkeypatch.setattr(onnx_embedder, "cores", lambda: 1)
    assert np.array_equal(embedder.embed_notes(NOTES), spread)


def test_an_error_while_many_are_embedded_ends_it(embedder: OnnxEmbedder) -> None:
    def stop(done: int, total: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        embedder.embed_notes(NOTES, stop)


def test_pooling_by_its_definition(shipped_folders: dict[str, str]) -> None:
    model = OnnxModel(shipped_folders["embedder"], threads=1, max_tokens=256)
    tokens = model.run(model.encode("one two three"))
    for pooling, vector in (("cls", tokens[0]), ("mean", tokens.sum(axis=0) / len(tokens))):
        found = OnnxEmbedder(shipped_folders["embedder"], name="m", pooling=pooling).embed_query("one two three")
        assert found == pytest.approx(vector / np.sqrt((vector**2).sum()), abs=1e-5)


def test_a_prefix_is_for_queries_alone(shipped_folders: dict[str, str]) -> None:
    embedder = OnnxEmbedder(shipped_folders["embedder"], name="m", query_prefix="query: ")
    assert np.array_equal(embedder.embed_query("redis"), embedder.embed_notes(["query: redis"])[0])


def test_an_unknown_pooling_is_refused(shipped_folders: dict[str, str]) -> None:
    with pytest.raises(ModelUnavailable, match="pooling"):
        OnnxEmbedder(shipped_folders["embedder"], name="m", pooling="max")
