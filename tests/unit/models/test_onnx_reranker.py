"""The shipped reranker: logits in order, each pair for itself, and a prefix when time is short."""

from __future__ import annotations

import time

import pytest

from chitta.models.onnx_reranker import OnnxReranker

QUERY = "how do I undo the last commit"
PASSAGES = ["Bananas are yellow", "git reset --soft HEAD~1 undoes the last commit", "Commit often", "word " * 400]


def test_the_answer_has_the_highest_logit(reranker: OnnxReranker) -> None:
    scores = reranker.score(QUERY, PASSAGES)
    assert len(scores) == len(PASSAGES)
    assert scores.index(max(scores)) == 1
    assert min(scores) < 0  # raw logits, no probabilities


def test_a_pair_does_not_depend_on_its_neighbours(reranker: OnnxReranker) -> None:
    assert [reranker.score(QUERY, [passage])[0] for passage in PASSAGES] == reranker.score(QUERY, PASSAGES)


def test_no_time_gives_no_scores(reranker: OnnxReranker) -> None:
    assert reranker.score(QUERY, PASSAGES, deadline=time.monotonic() - 1) == []


def test_too_little_time_gives_a_prefix(reranker: OnnxReranker) -> None:
    whole = reranker.score(QUERY, PASSAGES[:3])
    reranker._token_seconds = 0.5
    assert reranker.score(QUERY, PASSAGES, deadline=time.monotonic() + 2) == []
    reranker._token_seconds = 0.0
    assert reranker.score(QUERY, PASSAGES[:3], deadline=time.monotonic() + 600) == whole


def test_the_pace_is_learned(reranker: OnnxReranker) -> None:
    reranker._token_seconds = 0.0
    reranker.score(QUERY, PASSAGES[:1])
    first = reranker._token_seconds
    assert first > 0
    reranker._learn(first * 2)
    assert reranker._token_seconds == pytest.approx(first * (1 + 0.3))


def test_no_passages(reranker: OnnxReranker) -> None:
    assert reranker.score(QUERY, []) == []
