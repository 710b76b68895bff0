"""What holds of the gate whatever the lanes answer."""

import itertools
import random

from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from chitta.admission import policy
from chitta.admission.gate import CHECKS
from chitta.admission.verdict import Verdict
from chitta.notes.note import BOOKKEEPING_KINDS, KNOWLEDGE_KINDS
from chitta.wire.request import Request
from chitta.wire.rows import LaneResult, Row

from .conftest import ANCHORED, ASKED, LONE, STRANGER, judge, lane, row, shown


def rows() -> st.SearchStrategy[Row]:
    return st.builds(
        row,
        st.sampled_from("abcdef"),
        st.sampled_from([0.1, 0.5, 0.9]),
        conf=st.sampled_from([-1.0, 0.05, 0.2, 0.34, 0.4, 0.55, 0.7, 0.95]),
        cos=st.sampled_from([-1.0, 0.3, 0.9]),
        bm25=st.sampled_from([0.0, 4.0]),
        shared=st.sampled_from([(), ("postgres",), ("stranger",)]),
        why=st.sampled_from(["", "npm", "npm install"]),
        only_mentioned=st.sampled_from([False, False, True]),
        valid_until=st.sampled_from(["", "", "2026-06-14", "2026-06-16"]),
        kind=st.sampled_from(["insight", "correction", "episode", "diary"]),
        quarantine=st.booleans(),
        superseded_by=st.sampled_from(["", "z"]),
        realm=st.sampled_from([ASKED.realm, "global", STRANGER]),
    )


def pages() -> st.SearchStrategy[list[LaneResult]]:
    def page(name: str) -> st.SearchStrategy[LaneResult]:
        measures = name in policy.MEASURING_LANES.values()
        relevance = st.sampled_from([None, 0.2, 0.8]) if measures else st.none()
        return st.builds(
            lambda rows, maxrel, warming, size: lane(name, *rows, maxrel=maxrel, warming=warming, size=size),
            st.lists(rows(), max_size=5),
            relevance,
            st.sampled_from([False, False, measures]),
            st.sampled_from([0, 50, 5_000]) if measures else st.just(0),
        )

    names = [*policy.BY_LANE, "temporal"]
    return st.lists(st.sampled_from(names), unique=True).flatmap(lambda found: st.tuples(*map(page, found)).map(list))


#: A plain turn, a lone one, and each as one that leans on the turn before.
turns = st.sampled_from([ASKED, LONE, ANCHORED, LONE._replace(anchor="before")])
names_seen = st.sets(st.sampled_from("abcdef")).map(sorted)
CHECKED = {cause for cause, _ in CHECKS}


@given(pages(), turns, names_seen, names_seen, st.integers(0, 2**32))
def test_the_order_of_answers_changes_nothing(
    results: list[LaneResult], request: Request, seen: list[str], recent: list[str], seed: int
) -> None:
    chance = random.Random(seed)
    shuffled = [r._replace(rows=tuple(chance.sample(r.rows, len(r.rows)))) for r in results]
    chance.shuffle(shuffled)
    one = judge(*results, request=request, seen=seen, recent=recent)
    assert judge(*shuffled, request=request, seen=seen[::-1], recent=recent[::-1]) == one


@given(pages(), turns, names_seen, names_seen)
def test_every_row_is_admitted_or_counted_once(
    results: list[LaneResult], request: Request, seen: list[str], recent: list[str]
) -> None:
    verdict = judge(*results, request=request, seen=seen, recent=recent)
    assert len(verdict.admitted) + sum(verdict.dropped.values()) == sum(len(r.rows) for r in results)
    assert {cause for _, cause in verdict.dropped} <= {*policy.CAUSES, "shadow"}
    assert len({item.row.id for item in verdict.admitted}) == len(verdict.admitted) <= 3
    admitted = [j for j in verdict.trace if j.outcome == "admitted"]
    assert {(j.tag, j.row) for j in admitted} == {(item.tag, item.row) for item in verdict.admitted}


@given(pages())
def test_without_a_lane_only_candidates_of_the_others_enter(results: list[LaneResult]) -> None:
    for kept in itertools.combinations(results, max(len(results) - 1, 0)):
        held = {(policy.BY_LANE[r.lane].tag, one) for r in kept if r.lane in policy.BY_LANE for one in r.rows}
        assert {(item.tag, item.row) for item in judge(*kept).admitted} <= held


@given(pages())
@hypothesis_settings(max_examples=50)
def test_silence_only_takes_away(results: list[LaneResult]) -> None:
    """Under UNKNOWN nothing passes the checks of a single row that would not pass without silence."""
    loud = {(j.tag, j.row) for j in judge(*results, CHITTA_UNKNOWN_SILENCE="0").trace if j.outcome not in CHECKED}
    quiet = {(j.tag, j.row) for j in judge(*results).trace if j.outcome not in CHECKED}
    assert quiet <= loud


@given(pages(), st.integers(1, 6))
def test_more_slots_never_take_a_note_away(results: list[LaneResult], slots: int) -> None:
    few = shown(judge(*results, CHITTA_MAX_MEMORIES=str(slots)))
    many = shown(judge(*results, CHITTA_MAX_MEMORIES=str(slots + 1)))
    assert many[: len(few)] == few


@given(pages(), turns, names_seen, names_seen)
def test_a_note_seen_before_comes_again_by_its_trigger_or_as_a_pointer(
    results: list[LaneResult], request: Request, seen: list[str], recent: list[str]
) -> None:
    verdict = judge(*results, request=request, seen=seen, recent=recent)
    again = [item for item in verdict.admitted if item.row.id in seen]
    assert all(item.pointer or item.tag == "corrk" for item in again)
    assert sum(item.pointer for item in verdict.admitted) <= bool(request.anchor)
    assert all(item.row.id in seen and item.row.id in recent for item in verdict.admitted if item.pointer)


@given(pages())
def test_better_evidence_never_costs_a_row_its_check(results: list[LaneResult]) -> None:
    better = [r._replace(rows=tuple(one._replace(conf=1.0, cos=1.0) for one in r.rows)) for r in results]
    passed = {(j.tag, j.row.id) for j in judge(*results).trace if j.outcome not in CHECKED}
    assert passed <= {(j.tag, j.row.id) for j in judge(*better).trace if j.outcome not in CHECKED}


@given(pages(), turns, names_seen)
def test_a_lane_more_or_less_never_mends_another_lanes_row(
    results: list[LaneResult], request: Request, seen: list[str]
) -> None:
    """What a row is dropped for by itself holds whoever else answers; only the measuring lanes set terms for others.

    What had no slot, or was another lane's double, may take what is free now; and what any lane knows to be
    quarantined or replaced, none may show.
    """
    whole = judge(*results, request=request, seen=seen)
    withheld = {j.row.id for j in whole.trace if j.row.quarantine or j.row.superseded_by.strip()}

    def dropped(verdict: Verdict) -> dict[tuple[str, Row], str]:
        return {(j.tag, j.row): j.outcome for j in verdict.trace if j.outcome in CHECKED and j.row.id not in withheld}

    assert not withheld & {item.row.id for item in whole.admitted}
    by_itself = dropped(whole)
    for gone in results:
        if gone.lane not in policy.MEASURING_LANES.values():
            less = judge(*(r for r in results if r is not gone), request=request, seen=seen)
            tag = policy.BY_LANE[gone.lane].tag if gone.lane in policy.BY_LANE else gone.lane
            kept = {key: cause for key, cause in by_itself.items() if key[0] != tag}
            assert dropped(less) == kept
            assert less.terms == whole.terms


@given(pages(), turns, names_seen, st.integers(1, 6))
def test_without_hybrid_what_enters_is_sure_of_itself(
    results: list[LaneResult], request: Request, seen: list[str], slots: int
) -> None:
    for lost in (None, LaneResult("hybrid", "late"), lane("hybrid", maxrel=0.9, warming=True)):
        left = [r for r in results if r.lane != policy.MEASURING_LANE] + ([lost] if lost else [])
        verdict = judge(*left, request=request, seen=seen, CHITTA_MAX_MEMORIES=str(slots))
        assert len(verdict.admitted) <= slots and {policy.SCOPED, policy.CORRECTION} <= verdict.terms.unmeasured
        for item in verdict.admitted:
            terms = policy.BY_TAG[item.tag]
            beyond = terms.role == policy.BEYOND and policy.BEYOND not in verdict.terms.unmeasured
            worded = item.row.cos < 0
            least = terms.words_conf_floor if worded else terms.conf_floor if beyond else policy.UNMEASURED_CONF_FLOOR
            assert terms.certain or item.row.conf >= max(least, terms.conf_floor)


@given(pages(), turns, names_seen)
def test_what_is_shown_has_what_its_lane_asks(results: list[LaneResult], request: Request, seen: list[str]) -> None:
    verdict = judge(*results, request=request, seen=seen, CHITTA_MAX_MEMORIES="20")
    for row_, tag, *_ in verdict.admitted:
        terms = policy.BY_TAG[tag]
        assert not (row_.quarantine or row_.superseded_by) and row_.valid_until != "2026-06-14"
        assert row_.kind not in BOOKKEEPING_KINDS and (row_.kind in KNOWLEDGE_KINDS or not terms.knowledge_only)
        assert terms.role == policy.BEYOND or row_.realm in (request.realm, policy.SHARED_REALM)
        own = row_.bm25 > 0 and bool(set(row_.shared) & set(request.tokens))
        assert terms.certain or ((own or row_.cos >= policy.COS_FLOOR) and not row_.only_mentioned)
