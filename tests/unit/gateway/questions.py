"""Questions that tests ask, and the notes that they are asked about."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from chitta.gateway.answer import Answer, answer
from chitta.gateway.engine import Engine
from chitta.gateway.question import Question
from chitta.notes.note import Note

NOW = datetime(2026, 6, 1, 12)
NOTES = (
    Note("pool", title="Connection pool", text="The connection pool has a size of ten.", created="2026-03-01"),
    Note("queue", title="Worker queue", text="A worker has a timeout and may retry.", kind="episode"),
    Note("both", title="Timeout", text="The pool and the queue have a timeout.", confidence=0.3),
    Note("apart", title="Colours", text="Blue is calm."),
)


def asked(engine: Engine, query: str = "pool size", **changes: Any) -> Answer:
    return answer(engine, Question(query, **changes), NOW)


def ids(found: Answer) -> list[str]:
    return [row.id for row in found.rows]
