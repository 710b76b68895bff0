"""Why one candidate got what it got, in a phrase that says what would have changed it. Pure.

The gate names a cause; here the cause meets the row's own numbers and the lane's terms again, so that
a person reads "conf 0.11 is below the lane's floor 0.15" and not ``conf``. Nothing is decided here:
where the terms have changed since the prompt, the phrase says so.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import NamedTuple

from chitta.admission import policy
from chitta.admission.policy import LanePolicy
from chitta.admission.verdict import ADMITTED, SHADOW, Terms
from chitta.wire.rows import NOT_MEASURED


class Evidence(NamedTuple):
    """A row's numbers, as :class:`chitta.wire.rows.Row` has them (-1: not measured).

    ``shared`` counts the turn's tokens in the note; ``realm`` is the note's, "" where nobody knows it any more.
    """

    conf: float
    cos: float
    bm25: float
    shared: int
    realm: str = ""


class Company(NamedTuple):
    """What the other candidates of the prompt came to.

    ``holder``: tag of the lane that holds the same note, with ``held`` what became of it there; ``scoped``:
    whether a row of scoped recall came as far as the slots.
    """

    holder: str = ""
    held: str = ""
    scoped: bool = False


#: No other candidate has anything to do with this one.
ALONE = Company()


class _Case(NamedTuple):
    lane: LanePolicy
    row: Evidence
    terms: Terms
    company: Company

    @property
    def few(self) -> bool:
        return among_few(self.lane.tag, self.row.realm, self.terms.small)


def why(tag: str, outcome: str, row: Evidence, terms: Terms, company: Company = ALONE) -> str:
    """The phrase for a candidate of lane ``tag`` that came to ``outcome``: ``admitted`` or a drop cause.

    For a lane or a cause that is not of this policy it is what the cause means, else the bare word.
    """
    lane, phrase = policy.BY_TAG.get(tag), PHRASES.get(outcome)
    if lane is None or phrase is None:
        return (
            "this lane has no policy, so it is measured only"
            if outcome == SHADOW
            else policy.CAUSES.get(outcome, outcome)
        )
    return phrase(_Case(lane, row, terms, company))


def among_few(tag: str, realm: str, small: Collection[str]) -> bool:
    """Whether the terms of a small realm hold for a row: a note of another project does not profit from them."""
    lane = policy.BY_TAG.get(tag)
    return lane is not None and lane.role in small and (lane.role != policy.BEYOND or realm == policy.SHARED_REALM)


def eased(tag: str, realm: str, terms: Terms) -> bool:
    """Whether the terms of a small realm made it easier for a row: for a lone turn its floor, under UNKNOWN the tie."""
    lane = policy.BY_TAG.get(tag)
    if lane is None or lane.certain or not among_few(tag, realm, terms.small):
        return False
    return terms.lone or (lane.role in terms.silent and lane.role != policy.CORRECTION)


def conf_floor(tag: str, row: Evidence, terms: Terms) -> tuple[float, str]:
    """The least probability that was asked of a row of this lane, and whose floor that is."""
    lane = policy.BY_TAG[tag]
    floor, whose = lane.conf_floor, "the lane's floor"
    if row.cos == NOT_MEASURED:
        floor, whose = lane.words_conf_floor, "the words-only floor"
    elif lane.role in terms.unmeasured and not lane.certain and floor < policy.UNMEASURED_CONF_FLOOR:
        floor, whose = policy.UNMEASURED_CONF_FLOOR, "the floor where relevance was not measured,"
    if terms.lone:
        few = among_few(tag, row.realm, terms.small)
        lone = min(lane.lone_conf_floor, policy.SMALL_LONE_CONF_FLOOR) if few else lane.lone_conf_floor
        if lone > floor:
            floor, whose = lone, "a lone prompt's floor"
    return floor, whose


def _admitted(case: _Case) -> str:
    row = case.row
    evidence = ["the prompt repeats its trigger"] if case.lane.certain else []
    evidence += [f"conf {row.conf:.2f}"] if row.conf >= 0 else []
    evidence += [f"cosine {row.cos:.2f}"] if row.cos >= policy.COS_FLOOR else []
    evidence += [_words(row.shared)] if row.shared else []
    return ", ".join(evidence) or "it passed every check"


def _quar(case: _Case) -> str:
    here = "" if case.lane.role == policy.BEYOND else ", of a realm that this lane may not see"
    return f"the note is quarantined{here}, or has nothing to show; `chitta show ID` tells"


def _sup(case: _Case) -> str:
    return "superseded by another note, or past its valid_until; `chitta edit ID` can change either"


def _meta(case: _Case) -> str:
    if case.lane.knowledge_only:
        return "this lane admits knowledge kinds only; the note is of another kind"
    return "a bookkeeping kind, which never enters; `chitta edit ID` can give it another"


def _conf(case: _Case) -> str:
    conf = case.row.conf
    if conf < 0:
        return "its probability was not measured, which is below every floor"
    least = case.terms.least_bm25
    if case.terms.lone and case.lane.single_token_min and not case.few and case.row.bm25 < least:
        return f"a lone prompt needs a keyword score of {least:g} here (has {_apart(case.row.bm25, least)})"
    floor, whose = conf_floor(case.lane.tag, case.row, case.terms)
    if conf > floor:
        return f"conf {_apart(conf, floor)} was below the floor when it was judged (now {floor:g})"
    return f"conf {_apart(conf, floor)} is below {whose} {floor:g}"


def _floor(case: _Case) -> str:
    row = case.row
    if (row.shared and row.bm25 > 0) or row.cos > policy.COS_FLOOR:
        return "the prompt only mentions the wrong form, it does not order it"
    words = f"{_words(row.shared)} but no keyword score" if row.shared else "no shared word"
    if row.cos < 0:
        return f"{words}, and its cosine was not measured"
    return f"{words} and cosine {_apart(row.cos, policy.COS_FLOOR)} below {policy.COS_FLOOR:g}"


def _unk(case: _Case) -> str:
    lane, row = case.lane, case.row
    if case.few and lane.role != policy.CORRECTION:
        return "under UNKNOWN a note among few needs a shared word, and it has none"
    if lane.under_unknown != policy.TOKEN:
        return "UNKNOWN silences this lane; CHITTA_UNKNOWN_SILENCE=0 lets it speak"
    asked = f"under UNKNOWN this lane needs a shared token and conf ≥ {lane.unknown_conf_floor:g}"
    lacks = [] if row.shared else ["shares none"]
    lacks += [f"has {_apart(row.conf, lane.unknown_conf_floor)}"] if row.conf <= lane.unknown_conf_floor else []
    return f"{asked} ({', '.join(lacks)})" if lacks else asked


def _dup(case: _Case) -> str:
    holder, held = case.company.holder, case.company.held
    if not holder:
        return "was shown in this session already, or a surer note of the same subject was"
    if holder == case.lane.tag:
        return "this lane brought the same note twice"
    return f"lane {holder} brought the same note" + ("" if held == ADMITTED else f" ({held})")


def _cap(case: _Case) -> str:
    if case.lane.role == policy.BEYOND and case.company.scoped:
        return "this project had its own; notes from beyond it wait until it has none"
    return (
        f"less than {policy.RELATIVE_FLOOR:g} as sure as the surest, or no room left "
        "(CHITTA_MAX_MEMORIES, CHITTA_MAX_OUTPUT_CHARS)"
    )


#: The phrase of each outcome of a lane that the policy names.
PHRASES: dict[str, Callable[[_Case], str]] = {
    ADMITTED: _admitted,
    "quar": _quar,
    "sup": _sup,
    "meta": _meta,
    "conf": _conf,
    "floor": _floor,
    "unk": _unk,
    "dup": _dup,
    "cap": _cap,
}


def _apart(value: float, limit: float) -> str:
    """The value with as many digits as tell it from the limit."""
    shown = (f"{value:.{digits}f}" for digits in (2, 3, 4))
    return next((text for text in shown if float(text) != limit), f"just under {limit:g}")


def _words(count: int) -> str:
    return f"{count} shared word{'' if count == 1 else 's'}"
