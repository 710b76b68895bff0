"""Whether a transcript is worth reading now. Pure: facts in, verdict out."""

from __future__ import annotations

import os
import stat
from typing import NamedTuple

from chitta.drain import retry
from chitta.drain.ledger import POISONED, Known, seconds_of

#: Why a transcript is passed over. Those of ``LATER`` stay in the queue.
GONE, NOT_A_FILE, FOREIGN, LARGE = "gone", "not a file", "foreign", "too large"
NO_TRANSCRIPT = "no transcript"
OWN, NOTHING_NEW, SMALL, IS_POISONED = "own", "nothing new", "too small", "set aside"
DAILY, WAITING = "daily", "waiting"
LATER = frozenset({DAILY, WAITING})
#: Why a file that a person names cannot be read at all.
UNREADABLE = frozenset({GONE, NOT_A_FILE, FOREIGN, LARGE, NO_TRANSCRIPT})

WORDS = {
    GONE: "the file is gone",
    NOT_A_FILE: "it is no plain file",
    FOREIGN: "it belongs to somebody else",
    LARGE: "it is larger than CHITTA_DRAIN_MOST_BYTES",
    NO_TRANSCRIPT: "it is no transcript of an agent's session",
    OWN: "it is of an agent that chitta itself started",
    NOTHING_NEW: "nothing is new since it was read",
    SMALL: "too little is new (CHITTA_DRAIN_LEAST_BYTES)",
    IS_POISONED: "it failed too often; `chitta drain --retry-poisoned` tries it again",
    DAILY: "enough was read today (CHITTA_DRAIN_DAILY)",
    WAITING: "it failed a while ago and waits for its next try (`--now` tries it now)",
}


class Facts(NamedTuple):
    """What is known of a transcript before it is read. ``same`` says that what was read of it is still its beginning,
    ``seen`` that all of it was read under another name, ``own`` that a child of chitta wrote it."""

    status: os.stat_result | None
    user: int
    known: Known
    same: bool = True
    seen: bool = False
    own: bool = False


class Bounds(NamedTuple):
    """Bytes, and transcripts that may still be read today."""

    least: int
    most: int
    left_today: int


def plain(status: os.stat_result | None, user: int, most: int) -> str:
    """Why a file must not even be opened, or ""."""
    if status is None:
        return GONE
    if not stat.S_ISREG(status.st_mode):
        return NOT_A_FILE
    if status.st_uid != user:
        return FOREIGN
    return LARGE if status.st_size > most else ""


def begin_of(facts: Facts) -> int:
    """The byte from which on a transcript is new: all of it where its beginning has changed."""
    size = facts.status.st_size if facts.status is not None else 0
    return facts.known.end if facts.same and facts.known.end <= size else 0


def verdict(facts: Facts, bounds: Bounds, now: float, *, hurried: bool = False) -> str:
    """Why it is passed over, or "" where it is to be read. ``hurried`` does not wait after a failure."""
    why = plain(facts.status, facts.user, bounds.most)
    if why or facts.status is None:
        return why
    if facts.own:
        return OWN
    if facts.known.outcome == POISONED:
        return IS_POISONED
    new = facts.status.st_size - begin_of(facts)
    if new <= 0 or facts.seen:
        return NOTHING_NEW
    if new < bounds.least:
        return SMALL
    if not hurried and not retry.is_due(facts.known.tries, seconds_of(facts.known.last), now):
        return WAITING
    return DAILY if bounds.left_today <= 0 else ""
