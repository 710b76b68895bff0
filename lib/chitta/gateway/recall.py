"""A person's question asked in this process, for when no daemon can be had."""

from __future__ import annotations

from chitta.admission import calibration
from chitta.gateway.answer import Answer, answer
from chitta.gateway.engine import Engine
from chitta.gateway.question import Question
from chitta.index.snapshot import open_snapshot
from chitta.models.protocol import Embedder, Reranker
from chitta.settings import Settings


def recall(settings: Settings, question: Question) -> tuple[Answer, str]:
    """The answer, with models loaded here, and why one of them could not be ("" where all could).

    Without a model, hybrid answers from words alone and says so; semantic raises
    :class:`chitta.gateway.engine.Unavailable`.
    """
    embedder, reranker, problem = _models(settings, question.strategy)
    snapshot = open_snapshot(settings.index_dir)
    try:
        engine = Engine(settings, snapshot, embedder, reranker, calibration.load(settings))
        return answer(engine, question), problem
    finally:
        if snapshot is not None:
            snapshot.close()


def _models(settings: Settings, strategy: str) -> tuple[Embedder | None, Reranker | None, str]:
    """The models that this strategy can use, and why one is missing."""
    if strategy == "keyword":
        return None, None, ""
    from chitta.models.registry import ModelUnavailable, load_embedder, load_reranker

    try:
        embedder = load_embedder(settings)
        return embedder, load_reranker(settings) if strategy == "hybrid" else None, ""
    except ModelUnavailable as problem:
        return None, None, str(problem)
