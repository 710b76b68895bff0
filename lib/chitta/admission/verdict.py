"""The words of a verdict: what the gate looks at, and what it answers. Types, and what is true of them alone."""

from __future__ import annotations

from typing import NamedTuple, Protocol

from chitta.admission.policy import LanePolicy
from chitta.wire.rows import Row

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


class Candidate(NamedTuple):
    lane: LanePolicy
    row: Row


class Situation(NamedTuple):
    """What a check may look at besides the row."""

    tokens: frozenset[str]
    realms: frozenset[str]
    terms: Terms
    now: float


def shared(row: Row, situation: Situation) -> list[str]:
    """The turn's own tokens among those that a lane says the note holds."""
    return [token for token in row.shared if token in situation.tokens]


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
