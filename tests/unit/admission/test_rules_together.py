"""The rules of docs/admission.md by which rows, each good by itself, stand against each other."""

import itertools
from typing import Any

import pytest

from chitta.admission import policy
from chitta.admission.verdict import ADMITTED, UNKNOWN, Verdict
from chitta.wire.rows import LaneResult

from .conftest import ANCHORED, ASKED, STRANGER, judge, lane, outcome, outcomes, row, shown

MEASURED = lane("hybrid", maxrel=0.9)
SCOPED = [terms.lane for terms in policy.LANES if terms.role == policy.SCOPED]
JUST = 0.001


def pointed(verdict: Verdict) -> list[str]:
    return [item.row.id for item in verdict.admitted if item.pointer]


# Scoped before beyond


@pytest.mark.parametrize("name", SCOPED)
def test_what_this_realm_holds_keeps_other_projects_out(name: str) -> None:
    far = lane("cross-realm", row("far", realm=STRANGER), maxrel=0.9)

    def came(**found: Any) -> tuple[str, str]:
        verdict = judge(lane(name, row("near", **found), maxrel=0.9), far)
        return outcome(verdict, policy.BY_LANE[name].tag, "near"), outcome(verdict, "xr", "far")

    assert came() == (ADMITTED, "cap")
    assert came(conf=0.0) == ("conf", ADMITTED)
    assert came(kind="episode") == ("meta", ADMITTED)


def test_a_correction_keeps_nobody_out() -> None:
    far = lane("cross-realm", row("far", realm=STRANGER), maxrel=0.9)
    for name in ("correction", "correction-key"):
        assert ("xr", "far") in shown(judge(lane(name, row("c", kind="correction")), far, MEASURED))


# Once in a session


@pytest.mark.parametrize("terms", policy.LANES, ids=lambda terms: terms.tag)
def test_a_session_is_shown_a_note_once_but_for_a_mistake_made_again(terms: policy.LanePolicy) -> None:
    found = lane(terms.lane, row("a", kind="correction"), maxrel=0.9)
    assert outcome(judge(found, seen=["b"]), terms.tag) == ADMITTED
    assert outcome(judge(found, seen=["a"]), terms.tag) == (ADMITTED if terms.certain else "dup")


# Leftovers of a subject


@pytest.mark.parametrize(
    ("conf", "came"), [(0.8 - JUST, "dup"), (0.8, ADMITTED), (0.8 + JUST, ADMITTED)], ids=["less", "equal", "more"]
)
@pytest.mark.parametrize("name", ["semantic", "cross-realm"])
def test_what_is_less_sure_than_what_was_shown_of_its_subject_is_a_leftover(name: str, conf: float, came: str) -> None:
    found = (lane(name, row("shown", conf=0.8), row("a", conf=conf), maxrel=0.9), MEASURED)
    tag = policy.BY_LANE[name].tag
    assert outcome(judge(*found, request=ANCHORED, seen=["shown"]), tag) == came
    assert outcome(judge(*found, request=ASKED, seen=["shown"]), tag) == ADMITTED, "a turn that stands alone"
    assert outcome(judge(*found, request=ANCHORED, seen=["other"]), tag) == ADMITTED, "shown, but found by no lane now"


def test_the_subject_is_known_by_a_shown_note_whatever_drops_it_now() -> None:
    found = lane("semantic", row("shown", conf=0.8, superseded_by="x"), row("a", conf=0.7)), MEASURED
    assert outcome(judge(*found, request=ANCHORED, seen=["shown"]), "sem") == "dup"


def test_a_mistake_made_again_is_no_leftover_and_makes_none() -> None:
    again = lane("correction-key", row("c", kind="correction", conf=1.0))
    less = lane("correction-key", row("c", kind="correction", conf=0.1))
    found = lane("semantic", row("a", conf=0.7)), MEASURED
    assert shown(judge(again, *found, request=ANCHORED, seen=["c"])) == [("corrk", "c"), ("sem", "a")]
    best = lane("semantic", row("shown", conf=0.9)), MEASURED
    assert outcome(judge(less, *best, request=ANCHORED, seen=["shown"]), "corrk", "c") == ADMITTED


# Pointing back


TWO = lane("semantic", row("a", conf=0.8), row("b", conf=0.9)), MEASURED


def test_a_turn_that_leans_on_the_last_one_is_pointed_to_the_surest_that_it_showed() -> None:
    verdict = judge(*TWO, request=ANCHORED, seen=["a", "b"], recent=["a", "b"])
    assert pointed(verdict) == ["b"] and outcomes(verdict) == [("sem", "a", "dup"), ("sem", "b", ADMITTED)]
    assert pointed(judge(*TWO, request=ANCHORED, seen=["a", "b"], recent=["a"])) == ["a"]


@pytest.mark.parametrize(
    ("request_", "seen", "recent"),
    [(ASKED, ["a", "b"], ["a", "b"]), (ANCHORED, ["a", "b"], []), (ANCHORED, ["a", "b"], ["c"])],
    ids=["a turn that stands alone", "shown long ago", "shown last, but not found now"],
)
def test_nothing_is_pointed_to(request_: Any, seen: list[str], recent: list[str]) -> None:
    assert judge(*TWO, request=request_, seen=seen, recent=recent).admitted == ()


def test_what_is_new_is_shown_whole_beside_what_is_pointed_to() -> None:
    found = lane("semantic", row("a", conf=0.8), row("new", conf=0.9)), MEASURED
    verdict = judge(*found, request=ANCHORED, seen=["a"], recent=["a"])
    assert {name for _, name in shown(verdict)} == {"a", "new"} and pointed(verdict) == ["a"]


@pytest.mark.parametrize("fields", [{"conf": 0.0}, {"quarantine": True}, {"kind": "episode"}])
def test_what_would_not_pass_now_is_not_pointed_to(fields: dict[str, Any]) -> None:
    found = lane("semantic", row("a", **fields)), MEASURED
    assert judge(*found, request=ANCHORED, seen=["a"], recent=["a"]).admitted == ()


def test_a_mistake_made_again_is_told_whole_whoever_finds_it_besides() -> None:
    fired = [row(name, kind="correction", conf=1.0, why=why) for name, why in (("c", "npm install"), ("d", "npm"))]
    results = lane("correction-key", *fired), lane("correction", *fired), MEASURED
    for name in ("c", "d"):
        verdict = judge(*results, request=ANCHORED, seen=["c", "d"], recent=[name])
        assert shown(verdict) == [("corrk", "c"), ("corrk", "d")] and pointed(verdict) == []


# Far less sure than the surest


@pytest.mark.parametrize("names", [("keyword", "hybrid"), ("semantic", "semantic"), ("hybrid", "keyword")])
def test_what_is_far_less_sure_than_the_surest_of_its_place_is_left_out(names: tuple[str, str]) -> None:
    best, least = 0.9, 0.9 * policy.RELATIVE_FLOOR
    for conf, came in ((least - JUST, "cap"), (least, ADMITTED)):
        results: dict[str, LaneResult] = {}
        for name, one in zip(names, (row("best", conf=best), row("a", conf=conf)), strict=True):
            rows = (*results[name].rows, one) if name in results else (one,)
            results[name] = lane(name, *rows, maxrel=0.9 if name == "hybrid" else None)
        others = [] if "hybrid" in results else [MEASURED]
        assert outcome(judge(*results.values(), *others), policy.BY_LANE[names[1]].tag) == came


def test_places_are_weighed_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    """A correction and a note of this realm each have a surest of their own, and a fired trigger counts for none."""
    low = row("a", conf=0.4)
    for sure in ("correction", "correction-key"):
        verdict = judge(lane(sure, row("c", kind="correction", conf=1.0)), lane("semantic", low), MEASURED)
        assert outcome(verdict, "sem") == ADMITTED
    monkeypatch.setattr(policy, "RELATIVE_FLOOR", 0.8)
    fuzzy = lane("correction", row("c", kind="correction", conf=0.7))
    key = lane("correction-key", row("k", kind="correction", conf=1.0))
    assert outcome(judge(fuzzy, key, MEASURED), "corr", "c") == ADMITTED
    weak = lane("correction-key", row("k", kind="correction", conf=-1.0))
    assert outcome(judge(lane("correction", row("c", kind="correction", conf=1.0)), weak), "corrk", "k") == ADMITTED


@pytest.mark.parametrize("better", [{"quarantine": True}, {"kind": "episode"}, {"cos": 0.0, "shared": ()}])
def test_what_is_dropped_by_itself_is_no_measure_for_others(better: dict[str, Any]) -> None:
    found = lane("semantic", row("best", conf=1.0, **better), row("a", conf=0.4)), MEASURED
    assert outcome(judge(*found), "sem") == ADMITTED
    assert outcome(judge(lane("semantic", row("best", conf=1.0), row("a", conf=0.4)), MEASURED), "sem") == "cap"


def test_what_was_shown_before_is_no_measure_either() -> None:
    found = lane("semantic", row("best", conf=1.0), row("a", conf=0.4)), MEASURED
    assert outcome(judge(*found, seen=["best"]), "sem") == ADMITTED


# Slots


@pytest.mark.parametrize("slots", range(1, 9))
def test_lanes_take_turns_in_fairness_order(slots: int) -> None:
    """Seven lanes but the one of beyond, two notes each: firsts before seconds, each in the table's order."""
    named = [terms for terms in policy.LANES if terms.role != policy.BEYOND]
    results = [
        lane(terms.lane, *(row(f"{terms.tag}{n}", 2.0 - n, kind="correction") for n in (0, 1)), maxrel=0.9)
        for terms in reversed(named)
    ]
    order = [f"{terms.tag}{n}" for n in (0, 1) for terms in named]
    order.insert(1, order.pop(order.index("corrk1")))  # the key's best has its slot before the turns begin
    verdict = judge(*results, CHITTA_MAX_MEMORIES=str(slots))
    assert [name for _, name in shown(verdict)] == order[:slots]
    assert sum(verdict.dropped.values()) == len(order) - slots
    assert {cause for _, cause in verdict.dropped} == {"cap"}


def test_a_lane_of_many_notes_leaves_room_for_the_others() -> None:
    flood = lane("keyword", *(row(f"k{n}", 100.0 - n) for n in range(50)))
    verdict = judge(flood, lane("hybrid", row("h", 0.01), maxrel=0.9))
    assert [tag for tag, _ in shown(verdict)] == ["kw", "hyb", "kw"]


def test_ties_go_to_the_longer_trigger_then_to_the_id() -> None:
    rows = [
        row("b", kind="correction", why="x"),
        row("a", kind="correction", why="x"),
        row("z", kind="correction", why="xy"),
    ]
    for some in itertools.permutations(rows):
        verdict = judge(lane("correction-key", *some))
        assert [name for _, name in shown(verdict)] == ["z", "a", "b"]


def test_beyonds_band_is_shown_only_where_all_that_is_shown_is_from_there() -> None:
    far = lane("cross-realm", row("far", realm=STRANGER), maxrel=0.9)
    correction = lane("correction-key", row("c", kind="correction"))
    low = lane("hybrid", maxrel=0.1)
    assert judge(far, low).maxrel == 0.9
    mixed = judge(far, correction, low)
    assert len(mixed.admitted) == 2 and (mixed.maxrel, mixed.band) == (0.1, UNKNOWN)
