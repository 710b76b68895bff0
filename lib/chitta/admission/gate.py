"""The gate: which candidate rows of all lanes are admitted, and why each other one is dropped.

Every row is decided by absolute evidence on its own (:data:`CHECKS`, in order), then the rows that
are left share the slots. Pure: equal inputs give equal verdicts, in whatever order lanes answer.
docs/admission.md is the same in words.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from typing import NamedTuple, Protocol

from chitta.admission import policy
from chitta.admission.policy import LanePolicy
from chitta.notes.note import BOOKKEEPING_KINDS, KNOWLEDGE_KINDS
from chitta.settings import Settings
from chitta.wire.request import Request
from chitta.wire.rows import NOT_MEASURED, Header, LaneResult, Row

KNOWN = "KNOWN"
UNKNOWN = "UNKNOWN"
#: Cause under which the rows of a lane without a policy are counted.
SHADOW = "shadow"
ADMITTED = "admitted"


class Bands(Protocol):
    """What the gate needs of a calibration."""

    @property
    def threshold(self) -> float: ...

    def percent(self, maxrel: float) -> int: ...


class Admitted(NamedTuple):
    """A row that enters the context: the lane it came from and the evidence that let it in.

    ``pointer``: the session has its text already, so it is only pointed to.
    """

    row: Row
    tag: str
    reason: str
    reserved: bool = False
    pointer: bool = False


class Judged(NamedTuple):
    """One candidate and what became of it: ``admitted`` or a drop cause."""

    tag: str
    row: Row
    outcome: str


class Terms(NamedTuple):
    """On what terms a prompt's rows were judged.

    ``lone``: the turn has too few distinctive tokens. Of the roles (what a lane recalls from), ``silent``
    are those whose measure says UNKNOWN, with silence switched on; ``unmeasured`` those that nothing was
    measured for; ``small`` those that look among few notes. ``least_bm25`` is what a lone turn asks of
    some lanes' words. ``foreign``: most tokens are of an alphabet that the calibration has not seen, where
    the model finds everything alike.
    """

    lone: bool = False
    silent: frozenset[str] = frozenset()
    small: frozenset[str] = frozenset()
    least_bm25: float = 0.0
    unmeasured: frozenset[str] = frozenset()
    foreign: bool = False


class Verdict(NamedTuple):
    """The gate's answer.

    ``maxrel`` and ``band`` are of this realm, or of all realms where all that was admitted is from beyond.
    ``dropped`` counts rows by (tag, cause); rows of a shadow lane under (lane name, ``shadow``).
    ``maxrel`` is raw (0–1), ``percent`` is for people; both are None, and so is ``band``, when
    relevance was not measured. Every row of a lane that answered is in ``trace`` once.
    """

    admitted: tuple[Admitted, ...]
    dropped: dict[tuple[str, str], int]
    band: str | None = None
    maxrel: float | None = None
    percent: int | None = None
    trace: tuple[Judged, ...] = ()
    terms: Terms = Terms()


class _Candidate(NamedTuple):
    lane: LanePolicy
    row: Row


class _Situation(NamedTuple):
    """What a check may look at besides the row."""

    tokens: frozenset[str]
    realms: frozenset[str]
    terms: Terms
    now: float


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
    situation = _Situation(
        tokens=frozenset(request.tokens),
        realms=frozenset((request.realm, policy.SHARED_REALM)),
        terms=terms,
        now=now,
    )
    candidates = _candidates(results)
    causes = [_first_cause(candidate, situation) for candidate in candidates]
    _yield_to_scoped(candidates, causes)
    _drop_seen(candidates, causes, frozenset(seen))
    pointed = ""
    if request.anchor:
        _drop_leftovers(candidates, causes, frozenset(seen), situation)
        pointed = _point_back(candidates, causes, frozenset(recent) & frozenset(seen))
    _drop_doubles(candidates, causes)
    _drop_lesser(candidates, causes)
    admitted = _share_slots(candidates, causes, settings.integer("CHITTA_MAX_MEMORIES"), situation, pointed)
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


def narrowed(verdict: Verdict, keep: int) -> Verdict:
    """The verdict when the block has room for the first ``keep`` rows only; the others count as ``cap``."""
    left_out = {item.row.id for item in verdict.admitted[keep:]}
    if not left_out:
        return verdict
    dropped = dict(verdict.dropped)
    for item in verdict.admitted[keep:]:
        dropped[item.tag, "cap"] = dropped.get((item.tag, "cap"), 0) + 1
    trace = tuple(
        judged._replace(outcome="cap") if judged.outcome == ADMITTED and judged.row.id in left_out else judged
        for judged in verdict.trace
    )
    return verdict._replace(admitted=verdict.admitted[:keep], dropped=dropped, trace=trace)


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


def _quarantined(candidate: _Candidate, situation: _Situation) -> bool:
    lane, row = candidate
    stray = lane.role != policy.BEYOND and row.realm not in situation.realms
    return row.quarantine or stray or not (row.title.strip() or row.text.strip())


def _superseded(candidate: _Candidate, situation: _Situation) -> bool:
    return bool(candidate.row.superseded_by.strip()) or expired(candidate.row.valid_until, situation.now)


def _bookkeeping(candidate: _Candidate, situation: _Situation) -> bool:
    kind = "".join(letter for letter in candidate.row.kind.lower() if letter.isalpha() or letter == "-")
    return kind in BOOKKEEPING_KINDS or (candidate.lane.knowledge_only and kind not in KNOWLEDGE_KINDS)


def _unsure(candidate: _Candidate, situation: _Situation) -> bool:
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


def _among_few(candidate: _Candidate, situation: _Situation) -> bool:
    """Whether the row is of a small realm that is the turn's own: a stranger's note has to earn its place."""
    lane, row = candidate
    return lane.role in situation.terms.small and (lane.role != policy.BEYOND or row.realm == policy.SHARED_REALM)


def _baseless(candidate: _Candidate, situation: _Situation) -> bool:
    lane, row = candidate
    if row.only_mentioned and not lane.certain:
        return True
    by_words = row.bm25 > 0.0 and bool(_shared(row, situation))
    by_meaning = row.cos >= policy.COS_FLOOR and not situation.terms.foreign
    return not (lane.certain or by_words or by_meaning)


def _noise(candidate: _Candidate, situation: _Situation) -> bool:
    lane, row = candidate
    if lane.role not in situation.terms.silent or lane.under_unknown == policy.PASS:
        return False
    if _among_few(candidate, situation) and lane.role != policy.CORRECTION:
        return not _shared(row, situation)  # few notes: a tie and the usual floor are enough, for every lane
    tied = lane.under_unknown == policy.TOKEN and bool(_shared(row, situation))
    return not (tied and row.conf >= lane.unknown_conf_floor)


#: What drops a row by itself: cause and check, in order. The first that holds is the one counted.
CHECKS: tuple[tuple[str, Callable[[_Candidate, _Situation], bool]], ...] = (
    ("quar", _quarantined),
    ("sup", _superseded),
    ("meta", _bookkeeping),
    ("conf", _unsure),
    ("floor", _baseless),
    ("unk", _noise),
)


def _first_cause(candidate: _Candidate, situation: _Situation) -> str:
    """The first cause that drops this row, or nothing."""
    return next((cause for cause, drops in CHECKS if drops(candidate, situation)), "")


def _shared(row: Row, situation: _Situation) -> list[str]:
    """The turn's own tokens among those that a lane says the note holds."""
    return [token for token in row.shared if token in situation.tokens]


# Rows among each other


def _candidates(results: Iterable[LaneResult]) -> list[_Candidate]:
    """Every row of the lanes that the policy names: by fairness order, then score, trigger length, id."""
    found = [
        _Candidate(policy.BY_LANE[result.lane], row)
        for result in results
        if result.state == "ok" and result.lane in policy.BY_LANE
        for row in result.rows
    ]
    found.sort(key=lambda c: (policy.ORDER[c.lane.tag], -c.row.score, -len(c.row.why), c.row.id, c.row))
    return found


def _yield_to_scoped(candidates: list[_Candidate], causes: list[str]) -> None:
    """Rows from beyond this realm wait for scoped recall to find nothing.

    A scoped row that the session has seen already still counts as found: the subject is known here.
    """
    passed = {c.lane.role for c, cause in zip(candidates, causes, strict=True) if not cause}
    if policy.SCOPED in passed:
        for place, candidate in enumerate(candidates):
            if candidate.lane.role == policy.BEYOND and not causes[place]:
                causes[place] = "cap"


def _drop_seen(candidates: list[_Candidate], causes: list[str], seen: frozenset[str]) -> None:
    """A session is shown a note once; a certain match comes again, for the mistake did too."""
    for place, (lane, row) in enumerate(candidates):
        if not causes[place] and row.id in seen and not lane.certain:
            causes[place] = "dup"


def _drop_leftovers(
    candidates: list[_Candidate], causes: list[str], seen: frozenset[str], situation: _Situation
) -> None:
    """A turn that leans on the last one asks of the same subject: what is less sure than a note of it that the
    session was shown already is a leftover, not an answer; unless it shares more of the turn's own words."""
    told: dict[str, tuple[float, int]] = {}
    for lane, row in candidates:
        if row.id in seen and not lane.certain:
            told[lane.role] = max(told.get(lane.role, (policy.NO_CONF, 0)), (row.conf, len(_shared(row, situation))))
    for place, (lane, row) in enumerate(candidates):
        surest, words = told.get(lane.role, (policy.NO_CONF, 0))
        if not causes[place] and not lane.certain and row.conf < surest and len(_shared(row, situation)) <= words:
            causes[place] = "dup"


def _point_back(candidates: list[_Candidate], causes: list[str], recent: frozenset[str]) -> str:
    """The id of the surest note that the last turn was shown, where this turn, which leans on that one, finds it again.

    The session has it, so its row is let in again only to be pointed to.
    """
    found = [
        (c.row.conf, -place)
        for place, (c, cause) in enumerate(zip(candidates, causes, strict=True))
        if cause == "dup" and c.row.id in recent and not c.lane.certain
    ]
    if not found:
        return ""
    place = -max(found)[1]
    causes[place] = ""
    return candidates[place].row.id


def _drop_lesser(candidates: list[_Candidate], causes: list[str]) -> None:
    """A row far less sure than the surest from the same place would only dilute it."""
    surest: dict[str, float] = {}
    for (lane, row), cause in zip(candidates, causes, strict=True):
        if not cause and not lane.certain:
            surest[lane.role] = max(surest.get(lane.role, policy.NO_CONF), row.conf)
    for place, (lane, row) in enumerate(candidates):
        if not causes[place] and not lane.certain and row.conf < policy.RELATIVE_FLOOR * surest[lane.role]:
            causes[place] = "cap"


def _drop_doubles(candidates: list[_Candidate], causes: list[str]) -> None:
    """One row a lane for each note: of two rows with one id the better stays."""
    had: set[tuple[str, str]] = set()
    for place, (lane, row) in enumerate(candidates):
        if not causes[place]:
            if (lane.tag, row.id) in had:
                causes[place] = "dup"
            had.add((lane.tag, row.id))


def _share_slots(
    candidates: list[_Candidate], causes: list[str], slots: int, situation: _Situation, pointed: str
) -> tuple[Admitted, ...]:
    """Fill the slots and put a cause to every row that is left over.

    The best certain row has the first slot. Then the lanes take turns in fairness order, each
    giving its best note that is not in yet. A note is tagged by the first lane in that order that
    holds it; its rows from other lanes are doubles.
    """
    queues: dict[str, list[int]] = {}
    holder: dict[str, int] = {}
    for place, (lane, row) in enumerate(candidates):
        if not causes[place]:
            queues.setdefault(lane.tag, []).append(place)
            holder.setdefault(row.id, place)
    chosen: dict[str, bool] = {}
    for place in (p for p, c in enumerate(candidates) if c.lane.certain and not causes[p]):
        chosen[candidates[place].row.id] = True
        break
    while queues and len(chosen) < slots:
        for tag in list(queues):
            waiting = [place for place in queues[tag] if candidates[place].row.id not in chosen]
            queues[tag] = waiting[1:]
            if not waiting:
                del queues[tag]
            elif len(chosen) < slots:
                chosen[candidates[waiting[0]].row.id] = False
    for place, (_, row) in enumerate(candidates):
        if not causes[place]:
            own = place == holder[row.id]
            causes[place] = "dup" if not own else "" if row.id in chosen else "cap"
    shown = [(candidates[holder[name]], name == pointed, reserved) for name, reserved in chosen.items()]
    return tuple(
        _admitted(candidate, situation, reserved)._replace(pointer=again and not candidate.lane.certain)
        for candidate, again, reserved in shown
    )


def _admitted(candidate: _Candidate, situation: _Situation, reserved: bool) -> Admitted:
    row = candidate.row
    evidence = [f"trigger {row.why!r}"] if candidate.lane.certain and row.why else []
    evidence += [f"conf {row.conf:.2f}"] if row.conf >= 0 else []
    evidence += [f"cos {row.cos:.2f}"] if row.cos >= policy.COS_FLOOR else []
    shared = _shared(row, situation)
    evidence += [f"shares {' '.join(shared[:5])}"] if shared else []
    return Admitted(row, candidate.lane.tag, ", ".join(evidence), reserved)


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


def _count(
    candidates: list[_Candidate], causes: list[str], results: Iterable[LaneResult]
) -> dict[tuple[str, str], int]:
    counts: dict[tuple[str, str], int] = {}
    for candidate, cause in zip(candidates, causes, strict=True):
        if cause:
            counts[candidate.lane.tag, cause] = counts.get((candidate.lane.tag, cause), 0) + 1
    shadows = sorted((r.lane, len(r.rows)) for r in results if r.lane not in policy.BY_LANE and r.state == "ok")
    for lane, rows in shadows:
        if rows:
            counts[lane, SHADOW] = counts.get((lane, SHADOW), 0) + rows
    return counts
