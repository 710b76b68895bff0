"""A person's question asked in this process, for when no daemon can be had."""

from __future__ import annotations

from typing import NamedTuple

from chitta.admission import calibration
from chitta.gateway.engine import Engine
from chitta.index.snapshot import open_snapshot
from chitta.models.protocol import Embedder, Reranker
from chitta.settings import Settings
from chitta.wire.rows import Header, Row


class RecallResult(NamedTuple):
    """The rows, best first, the header, and what a person should know about how they were found."""

    rows: tuple[Row, ...]
    header: Header
    note: str


def recall(settings: Settings, query: str, *, strategy: str, limit: int, realm: str | None) -> RecallResult:
    """Answer a question with models loaded here. ``realm`` None means all realms.

    Without a model, hybrid answers from words alone and says so; semantic raises
    :class:`chitta.gateway.engine.Unavailable`.
    """
    embedder, reranker, problem = _models(settings, strategy)
    snapshot = open_snapshot(settings.index_dir)
    try:
        engine = Engine(settings, snapshot, embedder, reranker, calibration.load(settings))
        header, rows = engine.recall(query, strategy=strategy, limit=limit, realm=realm)
    finally:
        if snapshot is not None:
            snapshot.close()
    return RecallResult(tuple(rows), header, problem or header.note)


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
