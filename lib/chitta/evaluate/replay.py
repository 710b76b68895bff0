"""Golden prompts answered in this process, so that one recall serves many questions to the gate.

The same turn, engine, gate and block as in the hook, without processes: the curve over thresholds
needs each prompt's rows once.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from chitta.admission import calibration
from chitta.admission.calibration import Calibration
from chitta.admission.gate import admit
from chitta.cli.bookshelf import opened
from chitta.evaluate.golden import ANSWERABLE, Case
from chitta.gateway.engine import LANES, Engine, Unavailable
from chitta.index.indexer import Progress
from chitta.models.registry import load_embedder
from chitta.notes.realms import GLOBAL
from chitta.render.block import compose
from chitta.settings import Settings
from chitta.turn import prepare
from chitta.wire import codec
from chitta.wire.request import Request
from chitta.wire.rows import LaneResult


class Recalled(NamedTuple):
    """A case's last prompt as the lanes answered it; no request where there was nothing to ask."""

    case: Case
    request: Request | None
    results: tuple[LaneResult, ...]


class Point(NamedTuple):
    """The shares at one band threshold; precision is 0 where nothing is shown."""

    threshold: float
    hit: float
    precision: float
    false_injection: float


def recall_all(
    store: Settings, cases: Sequence[Case], realm: str = GLOBAL, progress: Progress | None = None
) -> list[Recalled]:
    """Every lane's answer to each single-turn case, typed in ``realm``.

    Raises ``ModelUnavailable`` and what the index raises.
    """
    with opened(store) as snapshot:
        engine = Engine(store, snapshot, load_embedder(store), None, calibration.load(store))
        found = []
        for done, case in enumerate(cases, start=1):
            found.append(_recall(engine, store, case, realm))
            if progress:
                progress("prompts", done, len(cases))
    return found


def shown(recalled: Recalled, settings: Settings, fit: Calibration) -> tuple[str, ...]:
    """The ids that the block would hold with this calibration."""
    if recalled.request is None:
        return ()
    verdict = admit(recalled.request, recalled.results, seen=(), settings=settings, calibration=fit)
    return tuple(item.row.id for item in compose(verdict, recalled.results, settings).verdict.admitted)


def curve(
    recalled: Sequence[Recalled], settings: Settings, fit: Calibration, thresholds: Sequence[float]
) -> list[Point]:
    """Hit, precision and false injection with the band threshold moved, all else as it is."""
    return [_point(recalled, settings, fit._replace(threshold=threshold)) for threshold in thresholds]


def _point(recalled: Sequence[Recalled], settings: Settings, fit: Calibration) -> Point:
    hits, answerable, injected, unanswerable, good, counted = 0, 0, 0, 0, 0, 0
    for one in recalled:
        names = shown(one, settings, fit)
        if one.case.part == ANSWERABLE:
            answerable += 1
            hits += any(name in one.case.gold for name in names)
        else:
            unanswerable += 1
            injected += bool(names)
        judged = [name for name in names if name not in one.case.maybe]
        counted += len(judged)
        good += sum(name in one.case.gold for name in judged)
    return Point(
        fit.threshold,
        hits / answerable if answerable else 0.0,
        good / counted if counted else 0.0,
        injected / unanswerable if unanswerable else 0.0,
    )


def _recall(engine: Engine, store: Settings, case: Case, realm: str) -> Recalled:
    payload = codec.dumps({"session_id": "", "cwd": "/", "prompt": case.turns[-1]})
    turn = prepare(payload, settings=store, harness="claude")
    if turn.request is None:
        return Recalled(case, None, ())
    request = turn.request._replace(realm=realm)
    only = turn.facts.get("only", "").split()
    results = []
    for lane in LANES:
        if only and lane not in only:
            continue
        try:
            header, rows = engine.rows(lane, request, store)
            results.append(LaneResult(lane, "ok", 0.0, header, tuple(rows)))
        except Unavailable:
            results.append(LaneResult(lane, "unavailable", 0.0, None, ()))
    return Recalled(case, request, tuple(results))
