"""The recall log: one JSON line a prompt in ``$CHITTA_HOME/state/recall-log.jsonl``.

It says what each lane answered, what was admitted, and what was dropped for which cause, so that
a silent prompt can be explained. The prompt's own text is in it only with CHITTA_LOG_PROMPTS=1.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Sequence
from typing import Any

from chitta.admission import policy
from chitta.admission.gate import SHADOW, Verdict
from chitta.folders import make_private
from chitta.settings import Settings
from chitta.wire import codec
from chitta.wire.request import Request
from chitta.wire.rows import LaneResult, Row

NAME = "recall-log.jsonl"
#: The largest prime that twelve hex digits hold.
_BLOCKS = 2**48 - 59


def entry(
    request: Request,
    results: Sequence[LaneResult],
    verdict: Verdict,
    *,
    settings: Settings,
    total_ms: float,
    now: float,
    problems: Iterable[str] = (),
) -> dict[str, Any]:
    """The line as a dict. ``verdict`` is the one shown: narrowed to what the block had room for."""
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
        "band": verdict.band,
        "maxrel": verdict.maxrel,
        "percent": verdict.percent,
        "admitted": [{"id": item.row.id, "tag": item.tag, "conf": _conf(item.row)} for item in verdict.admitted],
        "dropped": by_cause,
        "lanes": {result.lane: _lane(result, verdict) for result in sorted(results, key=lambda r: r.lane)},
        "degraded": [*degraded(results), *problems],
        "total_ms": round(total_ms, 1),
    }
    if settings.flag("CHITTA_LOG_PROMPTS"):
        line["prompt"] = request.prompt
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
    flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC
    file = os.open(os.path.join(state_dir, NAME), flags, 0o600)
    try:
        os.write(file, codec.dumps(line) + b"\n")
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
