"""The recall log: one JSON line a prompt in ``$CHITTA_HOME/state/recall-log.jsonl``.

It says what each lane answered, what was admitted, and what was dropped for which cause, so that
`chitta explain` can say why a prompt got what it got. The prompt's own words are in it only with
CHITTA_LOG_PROMPTS=1. A log that has grown large becomes ``recall-log.1.jsonl``, in place of the one before.
"""

from __future__ import annotations

import os
import time
from collections.abc import Collection, Iterable, Sequence
from typing import Any

from chitta.admission import policy
from chitta.admission.verdict import ADMITTED, SHADOW, Verdict
from chitta.bounded_log import put_aside, size_of, write_line
from chitta.folders import make_private
from chitta.safety.screen import screened
from chitta.settings import Settings
from chitta.wire import codec
from chitta.wire.request import Request
from chitta.wire.rows import LaneResult, Row

NAME = "recall-log.jsonl"
#: The log before this one.
PREVIOUS = "recall-log.1.jsonl"
#: Bytes from which on a log is put aside: some two thousand prompts.
MOST_BYTES = 8_000_000
#: Candidates of which a line keeps the evidence. The shipped lanes bring up to 70; a stranger's may bring 200.
MOST_TRACED = 150
_LOCK = "recall-log.lock"
#: The largest prime that twelve hex digits hold.
_BLOCKS = 2**48 - 59


#: What the log says besides of a note whose text the session has: only its title was shown.
_POINTED: dict[bool, dict[str, bool]] = {True: {"pointer": True}, False: {}}


def entry(
    request: Request,
    results: Sequence[LaneResult],
    verdict: Verdict,
    *,
    settings: Settings,
    total_ms: float,
    now: float,
    threshold: float | None = None,
    problems: Iterable[str] = (),
    chars: int = 0,
) -> dict[str, Any]:
    """The line as a dict. ``verdict`` is the one shown: narrowed to what the block had room for.

    ``threshold`` is what raw maxrel has to reach to be KNOWN, ``chars`` the length of the block.
    """
    with_words = settings.flag("CHITTA_LOG_PROMPTS")
    words = screened(request.prompt) if with_words else ""
    by_cause: dict[str, int] = {}
    for (_, cause), count in verdict.dropped.items():
        by_cause[cause] = by_cause.get(cause, 0) + count
    line: dict[str, Any] = {
        "time": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(now)),
        "block": block_id(request, now),
        "session": request.session,
        "realm": request.realm,
        "harness": request.harness,
        "turn": request.turn,
        "tokens": len(request.tokens),
        **({"anchored": True} if request.anchor else {}),
        "band": verdict.band,
        "maxrel": verdict.maxrel,
        "threshold": threshold,
        "percent": verdict.percent,
        "admitted": [
            {"id": item.row.id, "tag": item.tag, "conf": _conf(item.row), **_POINTED[item.pointer]}
            for item in verdict.admitted
        ],
        **({"chars": chars} if chars else {}),
        "dropped": by_cause,
        **_terms(verdict),
        "trace": _trace(verdict, frozenset(request.tokens), words.lower()),
        "lanes": {result.lane: _lane(result, verdict) for result in sorted(results, key=lambda r: r.lane)},
        "degraded": [*degraded(results), *problems],
        "total_ms": round(total_ms, 1),
    }
    if with_words:
        line["prompt"] = words
    return line


def block_id(request: Request, now: float) -> str:
    """Twelve hex digits that name this prompt's block, the same for the same time, session and turn.

    It keeps blocks apart and hides nothing, so it is a remainder: a digest would have to be imported
    while a person waits.
    """
    words = f"{now!r} {request.turn} {request.session}"
    return f"{int.from_bytes(words.encode('utf-8', 'surrogatepass'), 'big') % _BLOCKS:012x}"


def append(state_dir: str, line: dict[str, Any]) -> None:
    """Add one line by one write, so that lines of parallel hooks never mix. Raises ``OSError``."""
    make_private(state_dir)
    path = os.path.join(state_dir, NAME)
    if size_of(path) >= MOST_BYTES:
        put_aside(path, os.path.join(state_dir, PREVIOUS), os.path.join(state_dir, _LOCK), MOST_BYTES)
    # Not waiting: a FIFO in the log's place would hold the prompt.
    flags = os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC | os.O_NONBLOCK
    file = os.open(path, flags, 0o600)
    try:
        write_line(file, codec.dumps(line))
    finally:
        os.close(file)


def degraded(results: Iterable[LaneResult]) -> list[str]:
    """One phrase for each lane that failed, or that answered with less than it can."""
    found: list[str] = []
    for result in sorted(results, key=lambda r: r.lane):
        header = result.header
        if result.state in policy.FAILED_STATES:
            found.append(f"{result.lane} {result.state}")
        elif header is not None and header.warming:
            found.append(f"{result.lane} warming")
        elif header is not None and header.maxrel is None and header.note and result.lane == policy.MEASURING_LANE:
            found.append(f"{result.lane}: {header.note}")
    return found


def _terms(verdict: Verdict) -> dict[str, Any]:
    """On what terms the candidates were judged; what a lone turn asks of words only where it counts."""
    terms = verdict.terms
    return {
        "lone": terms.lone,
        **({"least_bm25": terms.least_bm25} if terms.lone else {}),
        **({"foreign": True} if terms.foreign else {}),
        **{name: sorted(getattr(terms, name)) for name in ("silent", "small", "unmeasured")},
    }


def _trace(verdict: Verdict, tokens: Collection[str], words: str) -> list[list[Any]]:
    """Each candidate as ``[tag, id, conf, cos, bm25, count of shared tokens, outcome]``, -1 where not measured.

    Arrays, and an id only once: several lanes find the same note, and the later ones name the place of the entry
    that has the id. The shared tokens themselves are the person's words and come last, where ``words`` has them.
    """
    judged = verdict.trace
    if len(judged) > MOST_TRACED:
        judged = tuple(sorted(judged, key=lambda one: (one.outcome != ADMITTED, -one.row.conf))[:MOST_TRACED])
    places: dict[str, int] = {}
    entries: list[list[Any]] = []
    for tag, row, outcome in judged:
        here = len(entries)
        first = places.setdefault(row.id, here)
        shared = [token for token in row.shared if token in tokens]
        numbers = [_short(row.conf, 4), _short(row.cos, 4), _short(row.bm25, 1), len(shared)]
        entries.append(
            [
                tag,
                row.id if first == here else first,
                *numbers,
                outcome,
                *([[token for token in shared if token in words]] if words else []),
            ]
        )
    return entries


def _short(value: float, digits: int) -> float:
    """The number in few characters: rounded, and whole where it is whole."""
    rounded = round(float(value), digits)
    return int(rounded) if rounded.is_integer() else rounded


def _conf(row: Row) -> float | None:
    """The note's probability of helping; None where it was not measured."""
    return round(row.conf, 4) if row.conf >= 0 else None


def _lane(result: LaneResult, verdict: Verdict) -> dict[str, Any]:
    known = policy.BY_LANE.get(result.lane)
    tag = known.tag if known else result.lane
    drops = {
        cause: n for (name, cause), n in verdict.dropped.items() if name == tag and (cause == SHADOW) != bool(known)
    }
    facts: dict[str, Any] = {
        "state": "empty" if result.state == "ok" and not result.rows else result.state,
        "ms": round(result.ms, 1),
        "rows": len(result.rows),
        "bad": result.bad_rows,
        "admitted": sum(item.tag == tag for item in verdict.admitted) if known else 0,
        "dropped": drops,
    }
    if result.header is not None and result.header.note:
        facts["note"] = result.header.note
    return facts
