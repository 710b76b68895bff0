"""What people ask of a running daemon: a question, a note with what is around it, an analogy."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from chitta.daemon.desk import Busy
from chitta.daemon.logbook import sentence_of
from chitta.daemon.refusal import Refusal
from chitta.settings import Settings
from chitta.wire.codec import BUSY, MISUSE, UNAVAILABLE

if TYPE_CHECKING:
    from chitta.daemon.service import Service

#: Seconds that a person's question waits for a model that is still loading; a prompt waits far less.
PATIENCE_S = 60.0
_MOST_IDS = 100
_MOST_REALMS = 10


def recall(service: Service, asked: dict[str, Any], settings: Settings) -> dict[str, Any]:
    """The answer to one question (:mod:`chitta.gateway.question`), as JSON. Raises ``Refusal``."""
    from chitta.gateway.answer import answer, as_json
    from chitta.gateway.engine import Unavailable
    from chitta.gateway.question import from_fields
    from chitta.recall import rerank

    try:
        question = from_fields(asked)
    except ValueError as problem:
        raise Refusal(MISUSE, str(problem)) from None
    models = service.parts.models
    if question.strategy != "keyword":
        models.want(settings, rerank=question.strategy == "hybrid" and rerank.plan(question.query) is not None)
    service.wait_for_index(time.monotonic() + PATIENCE_S)
    service.parts.freshness.before_prompt(settings)
    if question.strategy != "keyword":
        models.wait_for_embedder(PATIENCE_S)
        models.wait_for_reranker(PATIENCE_S)
    with service.parts.library.reading() as snapshot:
        engine = service.engine(snapshot, settings)
        try:
            return service.desk.answer(
                repr((question, settings.as_line())),
                snapshot,
                lambda: as_json(engine, answer(engine, question), question),
                lambda given: not given["header"]["warming"] and not given["header"]["note"],
            )
        except Unavailable as problem:
            raise Refusal(UNAVAILABLE, sentence_of(problem)) from None
        except Busy as problem:
            raise Refusal(BUSY, f"{problem}; ask again in about {problem.again_in_s} s") from None


def expand(service: Service, asked: dict[str, Any], settings: Settings) -> dict[str, Any]:
    """Notes by id, whole, each with what is around it; unknown ids are left out. Raises ``Refusal``."""
    from chitta.gateway.surroundings import expanded

    ids = asked.get("ids")
    if not isinstance(ids, list) or len(ids) > _MOST_IDS or not all(isinstance(name, str) for name in ids):
        raise Refusal(MISUSE, f"expand takes at most {_MOST_IDS} ids")
    service.wait_for_index(time.monotonic() + PATIENCE_S)
    service.parts.freshness.before_prompt(settings)
    with service.parts.library.reading() as snapshot:
        return {"notes": expanded(snapshot, ids) if snapshot is not None else []}


def analogy(service: Service, asked: dict[str, Any], settings: Settings) -> dict[str, Any]:
    """The answer to ``a:b::c:?`` from what notes state. Raises ``Refusal``."""
    from chitta.gateway.surroundings import transferred_json

    text, realm = asked.get("analogy"), asked.get("realm")
    if not isinstance(text, str) or not isinstance(realm, (str, type(None))):
        raise Refusal(MISUSE, "an analogy is a text, and maybe a realm")
    service.wait_for_index(time.monotonic() + PATIENCE_S)
    service.parts.freshness.before_prompt(settings)
    with service.parts.library.reading() as snapshot:
        try:
            return transferred_json(snapshot, text, realm)
        except ValueError as problem:
            raise Refusal(MISUSE, str(problem)) from None


def similar(service: Service, asked: dict[str, Any], settings: Settings) -> dict[str, Any]:
    """``cosines`` by id of the notes nearest to a note's text in each realm; none while no model is loaded.

    Nothing is waited for: who asks is about to keep a note, and goes by words else. Raises ``Refusal``.
    """
    text, realms, limit = asked.get("text"), asked.get("realms"), asked.get("limit", 10)
    if not isinstance(text, str) or not isinstance(realms, list) or not all(isinstance(name, str) for name in realms):
        raise Refusal(MISUSE, "similar takes a text and a list of realms")
    if not isinstance(limit, int) or not 0 < limit <= _MOST_IDS:
        raise Refusal(MISUSE, f"limit is a number from 1 to {_MOST_IDS}")
    embedder = service.parts.models.loaded().embedder
    with service.parts.library.reading() as snapshot:
        if embedder is None or snapshot is None or snapshot.vectors is None or snapshot.model != embedder.name:
            return {"cosines": {}}
        near = snapshot.vectors.compare(embedder.embed_notes([text])[0])
        hits = [hit for realm in realms[:_MOST_REALMS] for hit in near.search(realm=realm, limit=limit)]
    return {"cosines": {hit.id: hit.score for hit in hits}}
