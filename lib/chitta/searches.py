"""Recent questions to `chitta recall`, for statistics alone: ``$CHITTA_HOME/state/searches.jsonl``.

What is asked again at once was not answered; what is asked next about something else goes on from an answer. A line
holds the question's content terms and the ids that it was shown, and is kept only with CHITTA_GAP_LOG.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from chitta import bounded_log
from chitta.admission.tokens import clean_prompt, distinctive
from chitta.gaps import MOST_TERMS, session_here, terms_of
from chitta.safety.screen import keepable
from chitta.settings import Settings

NAME = "searches.jsonl"
#: Seconds within which a question has to do with the one before (reflect).
WINDOW_S = 30.0
MOST_BYTES = 200_000
#: Ids kept of one answer.
_MOST_IDS = 10

NEW, RETRY, FOLLOW_UP, REFINED = "new", "retry", "follow-up", "refined"
KINDS = (NEW, RETRY, FOLLOW_UP, REFINED)


def kind_of(terms: Sequence[str], ids: Sequence[str], before: Mapping[str, Any] | None, seconds: float) -> str:
    """What a question is to the one before it in its session, ``seconds`` ago (reflect).

    The same words again are a retry. Other words are a follow-up when both found something and nothing in common,
    and refine the question when they found some of the same, or when one of the two found nothing.
    """
    if before is None or not 0.0 <= seconds <= WINDOW_S:
        return NEW
    if list(terms) == list(before.get("terms", ())):
        return RETRY
    earlier = before.get("ids", ())
    return FOLLOW_UP if ids and earlier and not set(ids) & set(earlier) else REFINED


def note(settings: Settings, question: str, realm: str | None, ids: Sequence[str], now: float) -> str:
    """Keep one question and what it is to the one before; its kind, "" where none is kept. Raises ``OSError``."""
    if not settings.flag("CHITTA_GAP_LOG"):
        return ""
    terms = terms_of(distinctive(clean_prompt(keepable(question))))[:MOST_TERMS]
    session = session_here() or time.strftime("unknown-%Y-%m-%d", time.gmtime(now))
    recent = bounded_log.last(settings.state_dir, NAME)
    before = next((line for line in reversed(recent) if line.get("session") == session), None)
    shown = list(ids[:_MOST_IDS])
    kind = kind_of(terms, shown, before, now - _seconds(before))
    line: dict[str, Any] = {
        "ts": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(now)),
        "session": session,
        "realm": realm or "",
        "terms": list(terms),
        "ids": shown,
        "kind": kind,
    }
    bounded_log.append(settings.state_dir, NAME, line, MOST_BYTES)
    return kind


def read(state_dir: str) -> list[dict[str, Any]]:
    """The log's well-formed lines, oldest first."""
    return [line for line in bounded_log.read(state_dir, NAME) if line.get("kind") in KINDS and line.get("ts")]


def _seconds(line: Mapping[str, Any] | None) -> float:
    """When a line was written, in seconds since the epoch; long ago where it does not say."""
    try:
        return datetime.fromisoformat(str((line or {}).get("ts", "")).replace("Z", "+00:00")).timestamp()
    except ValueError:
        return 0.0
