"""What `chitta recall` keeps of a question for `chitta gaps` and `chitta stats`: never the answer's business."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from chitta.settings import Settings

if TYPE_CHECKING:
    from collections.abc import Sequence

    from chitta.cli.asking import Answer
    from chitta.gateway.question import Question


def keep(settings: Settings, question: Question, answer: Answer, shown: Sequence[str], place: str | None) -> None:
    """The question, what it was shown, and the gap where that is nothing. Never raises for a store that is full."""
    from chitta import gaps, searches

    now = time.time()
    try:
        searches.note(settings, question.query, place, shown, now)
        if not shown and shows_gap(settings, question, answer):
            gaps.note_question(settings, question.query, place or "", now)
    except OSError:
        return  # `chitta doctor` says that the home cannot be written


def shows_gap(settings: Settings, question: Question, answer: Answer) -> bool:
    """Whether an empty answer says that the store does not know: it was asked in full, and holds notes."""
    from chitta.cli import bookshelf, recall_empty
    from chitta.gateway.arms import NOTHING_ASKED, OFF, OK

    narrowed = recall_empty.left_out(question, answer) or recall_empty.held_back(answer)
    searched = not (answer.warming or answer.newest or answer.note or narrowed)
    if answer.persona is not None or not searched or question.strategy != "hybrid":
        return False
    if any(health not in (OK, OFF, NOTHING_ASKED) for health in answer.health.values()):
        return False
    with bookshelf.opened(settings) as snapshot:
        return snapshot is not None and snapshot.catalog.count(None) > 0
