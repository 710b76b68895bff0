"""Fusion, with its formulas written out."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chitta.recall.fuse import convex, min_max, ordered, reciprocal_rank, surest_first
from chitta.wire.rows import Row

rankings = st.dictionaries(st.text("abcdef", min_size=1, max_size=2), st.floats(-5, 5), max_size=8).map(ordered)


def test_min_max_stretches_to_zero_and_one() -> None:
    assert min_max([("a", 9.0), ("b", 6.0), ("c", 5.0)]) == {
        "a": 1.0,
        "b": (6.0 - 5.0) / (9.0 - 5.0),
        "c": 0.0,
    }


def test_min_max_of_equal_scores_is_one_each() -> None:
    assert min_max([("a", 2.0), ("b", 2.0)]) == {"a": 1.0, "b": 1.0}
    assert min_max([]) == {}


def test_convex_weighs_the_arms() -> None:
    dense = [("a", 0.9), ("b", 0.7), ("c", 0.5)]
    sparse = [("b", 12.0), ("d", 8.0), ("a", 4.0)]
    joined = dict(convex([dense, sparse], [0.4, 0.6]))
    assert joined["a"] == pytest.approx(0.4 * 1.0 + 0.6 * 0.0)
    assert joined["b"] == pytest.approx(0.4 * 0.5 + 0.6 * 1.0)
    assert joined["c"] == pytest.approx(0.0)
    assert joined["d"] == pytest.approx(0.4 * 0.0 + 0.6 * 0.5)


def test_convex_with_one_arm_keeps_its_order_at_full_weight() -> None:
    sparse = [("b", 12.0), ("a", 4.0)]
    assert convex([[], sparse], [0.4, 0.6]) == [("b", 1.0), ("a", 0.0)]
    assert convex([sparse, []], [0.4, 0.6]) == [("b", 1.0), ("a", 0.0)]


def test_reciprocal_rank_sums_over_arms() -> None:
    joined = dict(reciprocal_rank([[("a", 3.0), ("b", 2.0)], [("b", 9.0)]], k=60, weights=[1.0, 2.0]))
    assert joined["a"] == pytest.approx(1 / (60 + 1))
    assert joined["b"] == pytest.approx(1 / (60 + 2) + 2 / (60 + 1))


def test_ties_are_broken_by_id() -> None:
    assert ordered({"b": 1.0, "a": 1.0, "c": 2.0}) == [("c", 2.0), ("a", 1.0), ("b", 1.0)]


@given(rankings, rankings, st.floats(0, 1))
def test_convex_is_bounded_complete_and_sorted(dense, sparse, alpha) -> None:  # type: ignore[no-untyped-def]
    joined = convex([dense, sparse], [alpha, 1 - alpha])
    found = {name for name, _ in dense if alpha > 0} | {name for name, _ in sparse if alpha < 1}
    assert {name for name, _ in joined} == found
    assert all(-1e-9 <= score <= 1 + 1e-9 for _, score in joined)
    assert joined == sorted(joined, key=lambda item: (-item[1], item[0]))


@given(rankings, rankings, rankings)
def test_an_arm_without_weight_changes_nothing(dense, sparse, other) -> None:  # type: ignore[no-untyped-def]
    assert convex([dense, sparse, other], [0.5, 0.5, 0.0]) == convex([dense, sparse], [0.5, 0.5])


def test_three_arms_share_by_weight() -> None:
    joined = dict(convex([[("a", 2.0), ("b", 1.0)], [("b", 5.0)], [("c", 1.0)]], [1.0, 2.0, 1.0]))
    assert joined == {"a": 0.25, "b": 0.5, "c": 0.25}


def row(name: str, conf: float) -> Row:
    return Row(name, 0.0, conf=conf)


def test_answers_are_merged_by_their_surer_first_rows_and_keep_their_own_order() -> None:
    near, wide = [row("a", 0.4), row("b", 0.9)], [row("c", 0.5), row("d", 0.1)]
    assert [one.id for one in surest_first([near, wide])] == ["c", "a", "b", "d"]
    assert [one.id for one in surest_first([[row("x", 0.5)], [], [row("y", 0.5)]])] == ["x", "y"]
    assert surest_first([]) == [] and near[0].id == "a", "what was given stays as it was"
