"""What became of each transcript: ``$CHITTA_HOME/state/drain.jsonl``, a line as a run of it begins and one as it ends.

From it the next run knows how far a transcript was read, how often it failed, and what the day has cost.
"""

from __future__ import annotations

import time
from calendar import timegm
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from chitta import bounded_log

NAME = "drain.jsonl"
#: Outcomes. A line of ``begun`` that is the last one of its transcript is a run that was killed before it did anything,
#: one of ``started`` a run that was killed after its agent or the writing of its notes had begun.
BEGUN, STARTED, DONE, FAILED, POISONED, RELEASED = "begun", "started", "done", "failed", "poisoned", "released"
#: Bytes of an agent's text that are counted as one token.
BYTES_A_TOKEN = 4


class Run(NamedTuple):
    """One line. ``start`` and ``end`` are the bytes of the transcript that were read, ``mark`` is the digest of what
    stands before ``end`` and ``digest`` that of all that was new. ``notes`` counts by outcome of keeping them.
    ``seconds``, ``asked`` and ``answered`` (bytes) are the cost of an agent's run; ``agent`` says that it was one."""

    ts: str
    transcript: str
    outcome: str
    start: int = 0
    end: int = 0
    mark: str = ""
    digest: str = ""
    notes: Mapping[str, int] = {}
    why: str = ""
    tries: int = 0
    agent: bool = False
    seconds: float = 0.0
    asked: int = 0
    answered: int = 0

    @property
    def tokens(self) -> int:
        """About how many tokens the agent read and wrote."""
        return (self.asked + self.answered) // BYTES_A_TOKEN


class Known(NamedTuple):
    """What the ledger says of one transcript: how far it was read (0: not at all), and how its last run ended."""

    end: int = 0
    mark: str = ""
    tries: int = 0
    last: str = ""
    outcome: str = ""
    kills: int = 0


class Cost(NamedTuple):
    """Of one day: transcripts that were read, of those by an agent; seconds, bytes and about how many tokens."""

    transcripts: int = 0
    agent_runs: int = 0
    seconds: float = 0.0
    tokens: int = 0


def append(state_dir: str, run: Run) -> None:
    """Add a line. Raises ``OSError``."""
    bounded_log.append(state_dir, NAME, {**run._asdict(), "notes": dict(run.notes)})


def read(state_dir: str) -> list[Run]:
    """Every line, oldest first; what is none is left out."""
    return [run for run in map(_run, bounded_log.read(state_dir, NAME)) if run is not None]


def known(runs: Iterable[Run], transcript: str) -> Known:
    """Where a transcript stands. A run that was killed counts as a try that failed where it had started anything;
    ``kills`` are the last ones in a row that had not.
    """
    found = Known()
    for run in runs:
        if run.transcript != transcript:
            continue
        if run.outcome == DONE:
            found = Known(run.end, run.mark, 0, run.ts, DONE)
        elif run.outcome == RELEASED:
            found = found._replace(tries=0, last="", outcome=RELEASED, kills=0)
        else:
            kills = found.kills + 1 if run.outcome == BEGUN else 0
            found = found._replace(tries=run.tries, last=run.ts, outcome=run.outcome, kills=kills)
    return found


def digests(runs: Iterable[Run]) -> frozenset[str]:
    """Digests of everything that was read to its end: the same under another name is not new."""
    return frozenset(run.digest for run in runs if run.outcome == DONE and run.digest)


def cost_of(runs: Iterable[Run], day: str) -> Cost:
    """What a day (``2026-01-31``, UTC) has cost. A run counts from its beginning: one that was killed has cost, too."""
    total = Cost()
    for run in runs:
        if not run.ts.startswith(day):
            continue
        if run.outcome == BEGUN:
            total = total._replace(
                transcripts=total.transcripts + 1, agent_runs=total.agent_runs + (1 if run.agent else 0)
            )
        total = total._replace(seconds=total.seconds + run.seconds, tokens=total.tokens + run.tokens)
    return total


def stamp(now: float) -> str:
    """Seconds since the epoch as ISO, UTC."""
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(now))


def seconds_of(moment: str) -> float:
    """The other way; 0 for what is no such time."""
    try:
        return float(timegm(time.strptime(moment, "%Y-%m-%dT%H:%M:%SZ")))
    except (ValueError, OverflowError):
        return 0.0


def _run(line: dict[str, Any]) -> Run | None:
    try:
        values = {name: _like(default, line[name]) for name, default in _PLAIN.items() if name in line}
        return Run(**values) if {"ts", "transcript", "outcome"} <= values.keys() else None
    except (TypeError, ValueError, OverflowError):
        return None


def _like(default: object, value: object) -> Any:
    """``value`` as what stands there is written; raises ``TypeError`` for another type."""
    if isinstance(default, dict):
        return {str(key): int(count) for key, count in dict(value).items()}  # type: ignore[call-overload]
    if isinstance(default, float) and isinstance(value, int | float):
        return float(value)
    if type(value) is not type(default):
        raise TypeError
    return value


_PLAIN: dict[str, object] = {"ts": "", "transcript": "", "outcome": "", **Run._field_defaults}
