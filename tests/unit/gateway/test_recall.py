"""A question asked in this process."""

from __future__ import annotations

from typing import Any

import pytest

from chitta.gateway.engine import Unavailable
from chitta.gateway.question import Question
from chitta.gateway.recall import recall
from chitta.models import registry
from chitta.models.registry import ModelUnavailable
from chitta.settings import load

from .conftest import Opened, WordEmbedder
from .questions import NOTES


def loading(monkeypatch: pytest.MonkeyPatch, embedder: Any, loads: list[str]) -> None:
    def load_embedder(settings: Any) -> Any:
        loads.append("embedder")
        if embedder is None:
            raise ModelUnavailable("no model file", "fetch it")
        return embedder

    monkeypatch.setattr(registry, "load_embedder", load_embedder)
    monkeypatch.setattr(registry, "load_reranker", lambda settings: loads.append("reranker"))


@pytest.mark.parametrize(
    ("strategy", "loaded"), [("hybrid", ["embedder", "reranker"]), ("semantic", ["embedder"]), ("keyword", [])]
)
def test_only_the_models_of_the_strategy_are_loaded(
    opened: Opened, monkeypatch: pytest.MonkeyPatch, strategy: str, loaded: list[str]
) -> None:
    loads: list[str] = []
    loading(monkeypatch, WordEmbedder(), loads)
    found, problem = recall(opened(*NOTES).settings, Question("connection pool", strategy=strategy))
    assert found.rows[0].id == "pool" and problem == "" and loads == loaded


def test_without_a_model_words_answer_and_the_reason_is_given(opened: Opened, monkeypatch: pytest.MonkeyPatch) -> None:
    loading(monkeypatch, None, [])
    settings = opened(*NOTES).settings
    found, problem = recall(settings, Question("connection pool"))
    assert found.rows[0].id == "pool" and "no model file" in problem
    with pytest.raises(Unavailable, match="no model is loaded"):
        recall(settings, Question("connection pool", strategy="semantic"))


def test_without_a_store(tmp_path: Any) -> None:
    found, _ = recall(load({"CHITTA_HOME": str(tmp_path)}), Question("pool", strategy="keyword"))
    assert found.rows == () and found.header.note == "the store is empty"
