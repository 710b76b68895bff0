"""The gate: which candidate rows of all lanes are admitted, and why each other one is dropped.

Every row is decided by absolute evidence on its own (:data:`CHECKS`, in order), then the rows that
are left share the slots. Pure: equal inputs give equal verdicts, in whatever order lanes answer.
docs/admission.md is the same in words.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence

from chitta.admission import policy
from chitta.admission.replaced import replaced_below
from chitta.admission.slots import (
    drop_doubles,
    drop_leftovers,
    drop_lesser,
    drop_seen,
    drop_withheld,
    point_back,
    share_slots,
    yield_to_scoped,
)
from chitta.admission.verdict import (
    ADMITTED,
    KNOWN,
    SHADOW,
    UNKNOWN,
    Bands,
    Candidate,
    Judged,
    Situation,
    Terms,
    Verdict,
    shared,
)
from chitta.notes.note import BOOKKEEPING_KINDS, KNOWLEDGE_KINDS
from chitta.settings import Settings
from chitta.wire.request import Request
from chitta.wire.rows import NOT_MEASURED, Header, LaneResult


def admit(
    request: Request,
    results: Sequence[LaneResult],
    *,
    seen: Collection[str],
    recent: Collection[str] = (),
    settings: Settings,
    calibration: Bands,
    now: float = 0.0,
) -> Verdict:
    """Decide about every row of every lane that answered.

    ``seen`` are the ids that this session was already shown, ``recent`` those of its last turn;
    ``now`` is seconds since the epoch, 0 when the date is not to count (then nothing expires).
    """
    measured = {role: _maxrel(results, lane) for role, lane in policy.MEASURING_LANES.items()}
    if measured[policy.BEYOND] is None:
        measured[policy.BEYOND] = measured[policy.SCOPED]
    bands = {role: _band(maxrel, calibration) for role, maxrel in measured.items()}
    most = settings.integer("CHITTA_C2_SMALL_REALM_MAXN")
    terms = Terms(
        lone=len(set(request.tokens)) < policy.LONE_TOKENS and not request.anchor,
        silent=frozenset(
            role for role, band in bands.items() if band == UNKNOWN and settings.flag("CHITTA_UNKNOWN_SILENCE")
        ),
        unmeasured=frozenset(role for role, maxrel in measured.items() if maxrel is None),
        small=frozenset(role for role, lane in policy.MEASURING_LANES.items() if _is_small(results, lane, most)),
        least_bm25=settings.real("CHITTA_KW_SINGLE_TOKEN_MIN"),
        foreign=2 * sum(not token.isascii() for token in request.tokens) > len(request.tokens),
    )
    situation = Situation(
        tokens=frozenset(request.tokens),
        realms=frozenset((request.realm, policy.SHARED_REALM)),
        terms=terms,
        now=now,
    )
    candidates = _candidates(results)
    causes = [_first_cause(candidate, situation) for candidate in candidates]
    drop_withheld(candidates, causes)
    yield_to_scoped(candidates, causes)
    drop_seen(candidates, causes, frozenset(seen))
    pointed = ""
    if request.anchor:
        drop_leftovers(candidates, causes, frozenset(seen), situation)
        pointed = point_back(candidates, causes, frozenset(recent) & frozenset(seen))
    drop_doubles(candidates, causes)
    drop_lesser(candidates, causes)
    admitted = share_slots(candidates, causes, settings.integer("CHITTA_MAX_MEMORIES"), situation, pointed)
    if settings.flag("CHITTA_SETTLE_CONTRADICTIONS"):
        admitted = replaced_below(admitted)
    roles = {policy.BY_TAG[item.tag].role for item in admitted}
    told = policy.BEYOND if roles == {policy.BEYOND} else policy.SCOPED
    maxrel = measured[told]
    return Verdict(
        admitted,
        _count(candidates, causes, results),
        bands[told],
        maxrel,
        None if maxrel is None else calibration.percent(maxrel),
        tuple(Judged(c.lane.tag, c.row, cause or ADMITTED) for c, cause in zip(candidates, causes, strict=True)),
        terms,
    )


def expired(valid_until: str, now: float) -> bool:
    """Whether a note's ``valid_until`` has passed at ``now`` (seconds since the epoch, 0: never).

    A bare date is valid to the end of that day, an instant until just before it; both in UTC
    unless they name an offset. What is no date never expires.
    """
    if not valid_until or not now:
        return False
    from datetime import datetime, timedelta, timezone

    text = valid_until.strip()
    try:
        end = datetime.fromisoformat(text[:-1] + "+00:00" if text[-1:] in "zZ" else text)
        if end.tzinfo is None:
            end = end.replace(tzinfo=timezone.utc)
        return now >= (end + timedelta(days=1) if len(text) == len("2026-01-31") else end).timestamp()
    except (ValueError, OverflowError):
        return False


# One row by itself


def _quarantined(candidate: Candidate, situation: Situation) -> bool:
    lane, row = candidate
    stray = lane.role != policy.BEYOND and row.realm not in situation.realms
    return row.quarantine or stray or not (row.title.strip() or row.text.strip())


def _superseded(candidate: Candidate, situation: Situation) -> bool:
    return bool(candidate.row.superseded_by.strip()) or expired(candidate.row.valid_until, situation.now)


def _bookkeeping(candidate: Candidate, situation: Situation) -> bool:
    kind = "".join(letter for letter in candidate.row.kind.lower() if letter.isalpha() or letter == "-")
    return kind in BOOKKEEPING_KINDS or (candidate.lane.knowledge_only and kind not in KNOWLEDGE_KINDS)


def _unsure(candidate: Candidate, situation: Situation) -> bool:
    lane, row = candidate
    floor = lane.words_conf_floor if row.cos == NOT_MEASURED else lane.conf_floor
    if lane.role in situation.terms.unmeasured and not lane.certain and row.cos != NOT_MEASURED:
        floor = max(floor, policy.UNMEASURED_CONF_FLOOR)
    if situation.terms.lone:
        few = _among_few(candidate, situation)
        if lane.single_token_min and not few and row.bm25 < situation.terms.least_bm25:
            return True
        floor = max(floor, min(lane.lone_conf_floor, policy.SMALL_LONE_CONF_FLOOR) if few else lane.lone_conf_floor)
    return row.conf < floor


def _among_few(candidate: Candidate, situation: Situation) -> bool:
    """Whether the row is of a small realm that is the turn's own: a stranger's note has to earn its place."""
    lane, row = candidate
    return lane.role in situation.terms.small and (lane.role != policy.BEYOND or row.realm == policy.SHARED_REALM)


def _baseless(candidate: Candidate, situation: Situation) -> bool:
    lane, row = candidate
    if row.only_mentioned and not lane.certain:
        return True
    by_words = row.bm25 > 0.0 and bool(shared(row, situation))
    by_meaning = row.cos >= policy.COS_FLOOR and not situation.terms.foreign
    return not (lane.certain or by_words or by_meaning)


def _noise(candidate: Candidate, situation: Situation) -> bool:
    lane, row = candidate
    if lane.role not in situation.terms.silent or lane.under_unknown == policy.PASS:
        return False
    if row.kind == "correction" and lane.under_unknown != policy.PASS:
        return True  # a wrong correction costs more than a missed one, whichever lane brings it
    if _among_few(candidate, situation) and lane.role != policy.CORRECTION:
        return not shared(row, situation)  # few notes: a tie and the usual floor are enough, for every lane
    tied = lane.under_unknown == policy.TOKEN and bool(shared(row, situation))
    return not (tied and row.conf >= lane.unknown_conf_floor)


#: What drops a row by itself: cause and check, in order. The first that holds is the one counted.
CHECKS: tuple[tuple[str, Callable[[Candidate, Situation], bool]], ...] = (
    ("quar", _quarantined),
    ("sup", _superseded),
    ("meta", _bookkeeping),
    ("conf", _unsure),
    ("floor", _baseless),
    ("unk", _noise),
)


def _first_cause(candidate: Candidate, situation: Situation) -> str:
    """The first cause that drops this row, or nothing."""
    return next((cause for cause, drops in CHECKS if drops(candidate, situation)), "")


# The rows, and what their lanes say


def _candidates(results: Iterable[LaneResult]) -> list[Candidate]:
    """Every row of the lanes that the policy names: by fairness order, then score, trigger length, id."""
    found = [
        Candidate(policy.BY_LANE[result.lane], row)
        for result in results
        if result.state == "ok" and result.lane in policy.BY_LANE
        for row in result.rows
    ]
    found.sort(key=lambda c: (policy.ORDER[c.lane.tag], -c.row.score, -len(c.row.why), c.row.id, c.row))
    return found


def _headers(results: Iterable[LaneResult], lane: str) -> list[Header]:
    return [r.header for r in results if r.lane == lane and r.state == "ok" and r.header is not None]


def _maxrel(results: Iterable[LaneResult], lane: str) -> float | None:
    """Raw maxrel as the lane measured it; None when it was absent, warming, or did not measure."""
    found = [header.maxrel for header in _headers(results, lane) if not header.warming and header.maxrel is not None]
    return max(found, default=None)


def _is_small(results: Iterable[LaneResult], lane: str, most: int) -> bool:
    return any(0 < header.size <= most for header in _headers(results, lane))


def _band(maxrel: float | None, calibration: Bands) -> str | None:
    return None if maxrel is None else UNKNOWN if maxrel < calibration.threshold else KNOWN


def _count(candidates: list[Candidate], causes: list[str], results: Iterable[LaneResult]) -> dict[tuple[str, str], int]:
    counts: dict[tuple[str, str], int] = {}
    for candidate, cause in zip(candidates, causes, strict=True):
        if cause:
            counts[candidate.lane.tag, cause] = counts.get((candidate.lane.tag, cause), 0) + 1
    shadows = sorted((r.lane, len(r.rows)) for r in results if r.lane not in policy.BY_LANE and r.state == "ok")
    for lane, rows in shadows:
        if rows:
            counts[lane, SHADOW] = counts.get((lane, SHADOW), 0) + rows
    return counts
