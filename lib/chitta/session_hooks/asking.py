"""Asking the store as a session starts: of the daemon where it answers in time, else of this process by words."""

from __future__ import annotations

import os
import time
from typing import Any, NamedTuple

from chitta.admission import policy
from chitta.admission.tokens import distinctive
from chitta.gateway.question import Question, as_fields
from chitta.notes.note import BOOKKEEPING_KINDS
from chitta.notes.realms import GLOBAL
from chitta.recall.fuse import surest_first
from chitta.recall.overlap import coverage
from chitta.settings import Settings
from chitta.wire.rows import Header, LaneResult, Row

#: Share of the budget that a daemon may use, starting and loading included; the rest is for words alone.
DAEMON_SHARE = 0.6
#: Least share of the query's words, weighed by rarity, in a row that its probability does not let in (reflect's
#: min-overlap): loading context is no question, so the gate asks a little less of it than of an answer to one.
LEAST_COVERAGE = 0.2
#: Telling words that a row and the query must share then.
LEAST_SHARED = 2
#: A row's least probability is this share of a prompt's.
LENIENCY = 0.5
#: Seconds between two looks for a daemon that is starting.
_LOOK_S = 0.05


class Found(NamedTuple):
    """One answer: the lane that the log counts it under, its tag, its rows, and what went wrong ("" for nothing)."""

    result: LaneResult
    tag: str
    problem: str = ""

    @property
    def rows(self) -> tuple[Row, ...]:
        return self.result.rows


class Asker:
    """Questions within one budget. ``end`` is the monotonic time at which the last answer must be there."""

    def __init__(self, settings: Settings, end: float) -> None:
        self._settings = settings
        self._end = end
        now = time.monotonic()
        self._daemon_until = now + (end - now) * DAEMON_SHARE
        self._wanted = self._with_daemon = not settings.flag("CHITTA_NO_DAEMON")
        self.problem = ""

    def ask(self, question: Question, own: str | None = None) -> Found:
        """This realm's rows and, after them by probability, those of ``global``. Never raises.

        ``own`` is what this realm is asked where that is not the query itself; for "" it is not asked.
        """
        began = time.monotonic()
        answers: list[list[Row]] = []
        strategy, note = question.strategy, ""
        for realm in dict.fromkeys((question.realm, GLOBAL)):
            text = question.query if own is None or realm == GLOBAL else own
            if not text:
                continue
            strategy, note, found = self._one(question._replace(realm=realm, query=text))
            answers.append(found)
        rows = surest_first(answers)
        lane = policy.BY_LANE[strategy]
        ms = (time.monotonic() - began) * 1000
        header = Header(
            lane.lane, n=len(rows), k=question.limit, warming=self._wanted and strategy != question.strategy, note=note
        )
        return Found(LaneResult(lane.lane, "ok", ms, header, tuple(rows)), lane.tag, self.problem)

    def _one(self, question: Question) -> tuple[str, str, list[Row]]:
        if self._with_daemon:
            try:
                return ("hybrid", *_read(self._of_daemon(question)))
            except Exception as problem:  # whatever it is, words alone still answer
                self._with_daemon = False
                self.problem = f"no answer of the daemon: {problem}"[:200]
        try:
            return "keyword", "", self._of_words(question)
        except Exception as problem:
            self.problem = f"no answer by words: {problem}"[:200]
            return "keyword", self.problem, []

    def _of_daemon(self, question: Question) -> dict[str, Any]:
        """Wait for a daemon that is starting; raises ``DaemonAway`` or ``DaemonRefused``."""
        from chitta import daemon_client
        from chitta.daemon import lifecycle

        lock = os.path.join(self._settings.run_dir, lifecycle.LOCK_NAME)
        while True:
            left = self._daemon_until - time.monotonic()
            try:
                return daemon_client.call(self._settings, "recall", as_fields(question), timeout=max(left, 0.05))
            except daemon_client.DaemonAway:
                if left <= _LOOK_S or not lifecycle.is_locked(lock):  # nobody is there, or on the way
                    raise
                time.sleep(_LOOK_S)

    def _of_words(self, question: Question) -> list[Row]:
        from chitta.gateway import recall

        answer, _ = recall.recall(self._settings, question._replace(strategy="keyword"))
        return list(answer.rows)


def supported(row: Row, about: str) -> bool:
    """Whether a row may enter: by its probability, or by words that it shares with what the session is ``about``.

    Either one whose rarity makes it a good part of the query, or two that are as much of it by count: in a store
    where every note speaks of the same, no word is rare.
    """
    if not _may_enter(row):
        return False
    if row.conf >= floor_of(row) * LENIENCY:
        return True
    telling = frozenset(distinctive(about))
    shared = [word for word in row.shared if word in telling]
    if row.bm25 <= 0 or not shared:
        return False
    if row.coverage >= LEAST_COVERAGE:
        return True
    return len(shared) >= LEAST_SHARED and coverage(about, f"{row.title}\n{row.text}") >= LEAST_COVERAGE


def relevant(row: Row) -> bool:
    """Whether a prompt would take the row by its probability alone."""
    return _may_enter(row) and row.conf >= floor_of(row)


def _may_enter(row: Row) -> bool:
    kept_out = row.quarantine or row.superseded_by or row.only_mentioned
    return not kept_out and row.kind not in BOOKKEEPING_KINDS


def floor_of(row: Row) -> float:
    """The gateway's least probability: without a cosine it has to be larger."""
    terms = policy.BY_LANE[policy.MEASURING_LANE]
    return terms.conf_floor if row.cos >= 0 else terms.words_conf_floor


def _read(value: dict[str, Any]) -> tuple[str, list[Row]]:
    """Note and rows of a daemon's reply, through the reader that takes any bytes. Raises ``ValueError``."""
    header, rows = value.get("header"), value.get("rows")
    if not isinstance(header, dict) or not isinstance(rows, list):
        raise ValueError("the daemon's answer could not be read")
    from chitta.wire import codec
    from chitta.wire.rows import parse_rows

    lines = [codec.dumps(part) for part in (header, *rows) if isinstance(part, dict)]
    result = parse_rows("hybrid", "ok", 0.0, b"\n".join(lines))
    note = result.header.note if result.header is not None else ""
    return note, list(result.rows)
