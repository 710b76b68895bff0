"""Measures of rankings by hand, and intervals that hold what they should."""

from __future__ import annotations

from math import log2

import pytest

from chitta.evaluate.scores import MEASURES, Interval, interval, paired, per_query, ratio_difference, ratio_interval


def test_a_right_document_in_second_place() -> None:
    values = per_query({"q": ["wrong", "right"]}, {"q": {"right": 1}})
    assert {name: values[name]["q"] for name in MEASURES} == {
        "recall@5": 1.0,
        "recall@10": 1.0,
        "hit@3": 1.0,
        "nDCG@10": pytest.approx(1 / log2(3)),
        "nDCG@20": pytest.approx(1 / log2(3)),
        "MRR": 1 / 2,
    }


def test_grades_weigh_in_ndcg_and_recall_is_a_share() -> None:
    values = per_query({"q": ["low", "high"]}, {"q": {"high": 3, "low": 1, "never found": 1}})
    gained, best = 1 / log2(2) + 3 / log2(3), 3 / log2(2) + 1 / log2(3) + 1 / log2(4)
    assert values["nDCG@10"]["q"] == pytest.approx(gained / best)
    assert values["recall@5"]["q"] == pytest.approx(2 / 3)


def test_cut_offs() -> None:
    ranked = [f"wrong-{place}" for place in range(10)] + ["right"]
    values = per_query({"q": ranked}, {"q": {"right": 1}})
    assert (values["recall@10"]["q"], values["hit@3"]["q"], values["nDCG@10"]["q"]) == (0.0, 0.0, 0.0)
    assert values["nDCG@20"]["q"] == pytest.approx(1 / log2(12)) and values["MRR"]["q"] == pytest.approx(1 / 11)


@pytest.mark.parametrize("run", [{"q": ["right"]}, {"q": ["right"], "none": [], "unjudged": ["right"]}])
def test_a_query_without_results_counts_0_and_one_without_judgements_not(run: dict[str, list[str]]) -> None:
    values = per_query(run, {"q": {"right": 1}, "none": {"right": 1}})
    assert values["MRR"] == {"q": 1.0, "none": 0.0}


@pytest.mark.parametrize("run", [{}, {"q": []}])
def test_a_run_that_found_nothing_at_all(run: dict[str, list[str]]) -> None:
    assert per_query(run, {"q": {"right": 1}}) == {name: {"q": 0.0} for name in MEASURES}


def test_an_interval_holds_its_mean_and_is_the_same_twice() -> None:
    values = [0.0, 1.0, 1.0, 0.0, 1.0, 0.5, 0.25, 1.0]
    found = interval(values)
    assert found.mean == pytest.approx(sum(values) / 8) and found.low < found.mean < found.high
    assert 0.0 <= found.low and found.high <= 1.0
    assert interval(values) == found


def test_more_cases_of_the_same_kind_narrow_it() -> None:
    few, many = interval([0.0, 1.0] * 8), interval([0.0, 1.0] * 80)
    assert few.mean == many.mean == 0.5 and many.high - many.low < few.high - few.low


@pytest.mark.parametrize(("values", "mean"), [([], 0.0), ([0.5], 0.5), ([1.0, 1.0, 1.0], 1.0), ([0.0] * 4, 0.0)])
def test_what_cannot_be_resampled_has_no_width(values: list[float], mean: float) -> None:
    assert interval(values) == Interval(mean, mean, mean)


def test_a_ratio_is_of_sums_not_of_means_of_ratios() -> None:
    found = ratio_interval([1, 0, 3], [1, 2, 3])
    assert found is not None and found.mean == pytest.approx((1 + 0 + 3) / (1 + 2 + 3))
    assert found.low <= found.mean <= found.high and found == ratio_interval([1, 0, 3], [1, 2, 3])
    assert ratio_interval([0, 0], [0, 0]) is None and ratio_interval([], []) is None


def test_the_change_of_a_ratio() -> None:
    now, before = [(1, 1), (2, 3), (0, 0)], [(1, 2), (1, 3), (0, 1)]
    found = ratio_difference(now, before)
    assert found.mean == pytest.approx((1 + 2) / (1 + 3) - (1 + 1) / (2 + 3 + 1))
    assert found.low <= found.mean <= found.high
    assert ratio_difference(now, now) == Interval(0.0, 0.0, 0.0)


def test_a_ratio_of_nothing_counts_0() -> None:
    assert ratio_difference([(0, 0), (0, 0)], [(1, 2), (1, 2)]).mean == pytest.approx(0 - 2 / 4)


def test_paired_differences_are_over_the_queries_that_both_have() -> None:
    found = paired({"a": 1.0, "b": 0.5, "c": 1.0}, {"b": 0.25, "a": 0.0, "d": 1.0})
    assert found.mean == pytest.approx(((1.0 - 0.0) + (0.5 - 0.25)) / 2)
    assert paired({"a": 1.0}, {"b": 1.0}) == Interval(0.0, 0.0, 0.0)


def test_a_shift_that_is_the_same_for_all_is_certain() -> None:
    now = {str(place): place / 8 + 0.125 for place in range(5)}
    found = paired(now, {name: value - 0.125 for name, value in now.items()})
    assert found == Interval(0.125, 0.125, 0.125)


def test_how_they_are_written() -> None:
    assert str(Interval(0.5, 0.25, 0.75)) == "0.500 [0.250, 0.750]"
    assert Interval(0.5, -0.25, 0.75).signed() == "+0.500 [-0.250, +0.750]"
    assert Interval(0.0, 0.0, 0.0).signed() == "same"
    assert Interval(0.0, -0.25, 0.25).signed() == "+0.000 [-0.250, +0.250]"


def test_the_change_of_a_ratio_over_no_cases() -> None:
    assert ratio_difference([], []) == Interval(0.0, 0.0, 0.0)
