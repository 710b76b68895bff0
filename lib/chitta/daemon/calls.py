"""The operations of ``call``: what people and tests ask of a running daemon, JSON in and out."""

from __future__ import annotations

import os
import resource
import sys
import time
from typing import TYPE_CHECKING, Any

from chitta import __version__, edition
from chitta.daemon import questions
from chitta.daemon.logbook import sentence_of
from chitta.daemon.questions import PATIENCE_S
from chitta.daemon.refusal import Refusal
from chitta.daemon.server import Answer
from chitta.daemon.writing import Job, joined
from chitta.settings import Settings
from chitta.wire import codec
from chitta.wire.codec import MISUSE, OK, UNAVAILABLE

if TYPE_CHECKING:
    from chitta.daemon.service import Service

#: Seconds that a sync waits for vectors when nobody says otherwise; the words are found before.
VECTORS_S = 10.0
_MAX_TEXTS = 1024


def call(service: Service, operation: str, body: bytes, settings: Settings) -> Answer:
    """Answer one ``call OP``. Raises ``Refusal``."""
    operations = {
        "ping": _ping,
        "status": _status,
        "sync": _sync,
        "recall": questions.recall,
        "expand": questions.expand,
        "analogy": questions.analogy,
        "similar": questions.similar,
        "embed": _embed,
        "stop": _stop,
    }
    if operation not in operations:
        raise Refusal(MISUSE, f"no operation {operation[:40]!r}")
    try:
        asked = codec.loads(body) if body.strip() else {}
    except ValueError as problem:
        raise Refusal(MISUSE, str(problem)) from None
    if not isinstance(asked, dict):
        raise Refusal(MISUSE, "the body of a call is a JSON object")
    answer = operations[operation](service, asked, settings)
    afterwards = (lambda: service.leave("asked to stop")) if operation == "stop" else None
    return Answer(codec.encode_reply_payload(OK, codec.dumps(answer)), afterwards)


def _ping(service: Service, asked: dict[str, Any], settings: Settings) -> dict[str, Any]:
    up = round(time.monotonic() - service.started, 1)
    return {"pid": os.getpid(), "version": __version__, "edition": edition.own(), "uptime_s": up}


def _stop(service: Service, asked: dict[str, Any], settings: Settings) -> dict[str, Any]:
    return {"pid": os.getpid()}


def _status(service: Service, asked: dict[str, Any], settings: Settings) -> dict[str, Any]:
    parts = service.parts
    problems = [*settings.problems, *service.index_problems()]
    counts = {"generation": "", "notes": 0, "vectors": 0, "pending": 0, "index_model": ""}
    with parts.library.reading() as snapshot:
        if snapshot is not None:
            counts = {
                "generation": snapshot.generation,
                "notes": snapshot.catalog.count(None),
                "vectors": snapshot.vectors.count if snapshot.vectors is not None else 0,
                "pending": snapshot.catalog.pending(),
                "index_model": snapshot.model,
            }
            problems += snapshot.problems
    states = parts.models.states()
    problems += [f"{part} {state.name}: {state.reason}" for part, state in states.items() if state.state == "failed"]
    return {
        **_ping(service, asked, settings),
        "home": parts.environment.home,
        **counts,
        "models": {part: state._asdict() for part, state in states.items()},
        "rss_bytes": _resident_bytes(),
        "requests": service.requests,
        "syncing": parts.writer.busy(),
        "problems": list(dict.fromkeys(problems)),
    }


def _sync(service: Service, asked: dict[str, Any], settings: Settings) -> dict[str, Any]:
    """Bring the index level by words, and by vectors as far as they are made within ``patience_s`` seconds."""
    parts = service.parts
    full = asked.get("full") is True
    patience = asked.get("patience_s", None if full else VECTORS_S)
    if isinstance(patience, bool) or not isinstance(patience, (int, float, type(None))):
        raise Refusal(MISUSE, "patience_s is a number of seconds")
    service.want_models(settings)
    try:
        report = parts.writer.words(Job(settings, full=full)).wait()
        if report is not None:
            parts.models.wait_for_embedder(PATIENCE_S if patience is None else patience)
            report = joined(report, parts.writer.vectors(settings).wait(patience))
    except Exception as problem:
        raise Refusal(UNAVAILABLE, sentence_of(problem)) from None
    return report._asdict() if report is not None else {}


def _embed(service: Service, asked: dict[str, Any], settings: Settings) -> dict[str, Any]:
    """Vectors of texts, as queries; with ``"as": "notes"`` as notes are embedded."""
    texts = asked.get("texts")
    if not isinstance(texts, list) or len(texts) > _MAX_TEXTS or not all(isinstance(text, str) for text in texts):
        raise Refusal(MISUSE, f"embed takes at most {_MAX_TEXTS} texts")
    service.want_models(settings)
    service.parts.models.wait_for_embedder(PATIENCE_S)
    embedder = service.parts.models.loaded().embedder
    if embedder is None:
        state = service.parts.models.states()["embedder"]
        raise Refusal(UNAVAILABLE, state.reason or "the model is still loading")
    if asked.get("as") == "notes":
        vectors = embedder.embed_notes(texts).tolist() if texts else []
    else:
        vectors = [embedder.embed_query(text).tolist() for text in texts]
    return {"model": embedder.name, "dim": embedder.dim, "vectors": vectors}


def _resident_bytes() -> int:
    """Memory in use; where the system does not tell it simply, the most there ever was."""
    try:
        with open("/proc/self/statm", "rb") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError, IndexError):
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        return peak if sys.platform == "darwin" else peak * 1024
