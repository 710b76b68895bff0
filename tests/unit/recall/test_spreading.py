"""Spreading activation, the boost by links and the boost by agreement, with their formulas written out."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chitta.recall.fuse import ordered
from chitta.recall.spreading import (
    COMMON_NOTES,
    GATE,
    MAX_NEIGHBOURS,
    SEEDS,
    cross_channel,
    entity_boost,
    entity_shares,
    entity_weight,
    spread,
)

Links = Mapping[str, Sequence[tuple[str, float]]]


class Graph:
    """Neighbours by id, and what was asked."""

    def __init__(self, links: Links) -> None:
        self.links = links
        self.asked: list[list[str]] = []

    def __call__(self, ids: Sequence[str]) -> Links:
        self.asked.append(list(ids))
        return {name: self.links[name] for name in ids if name in self.links}


CHAIN = {"a": [("b", 1.0)], "b": [("a", 1.0), ("c", 0.5)], "c": [("b", 0.5)]}


def test_activation_is_kept_and_passed_on_by_weight_and_degree() -> None:
    found = dict(spread({"a": 1.0}, Graph(CHAIN), gate=0.0))
    b_first = 0.8 * 1.0 * 1.0 / 1
    assert found["a"] == pytest.approx(0.5 * (0.5 * 1.0) + 0.8 * 1.0 * b_first / 2)
    assert found["b"] == pytest.approx(0.5 * b_first + 0.8 * 1.0 * 0.5 / 1)
    assert found["c"] == pytest.approx(0.8 * 0.5 * b_first / 2)


def test_no_note_beyond_the_hops() -> None:
    assert set(dict(spread({"a": 1.0}, Graph(CHAIN), hops=1))) == {"a", "b"}
    assert spread({"a": 1.0}, Graph(CHAIN), hops=0) == [("a", 1.0)]


def test_the_gate_rejects() -> None:
    """A note of many neighbours says little of each; a sigmoid before the gate would keep them all."""
    wide = Graph({"a": [(f"n{number}", 1.0) for number in range(20)]})
    assert spread({"a": 1.0}, wide) == [("a", 0.25)]
    assert 0.8 / 20 * 0.5 < GATE


def test_only_the_heaviest_neighbours_are_given_anything_but_all_count() -> None:
    many = [(f"n{number:02d}", 1.0 if number >= 40 else 0.5) for number in range(50)]
    found = dict(spread({"a": 1.0}, Graph({"a": many}), hops=1, gate=0.0))
    assert len(found) == 1 + MAX_NEIGHBOURS
    assert found["n49"] == pytest.approx(0.8 * 1.0 / 50)
    assert "n20" not in found and "n19" in found


def test_the_strongest_seeds_start_and_each_note_is_asked_once() -> None:
    graph = Graph({})
    seeds = {f"s{number:02d}": 1.0 - number / 100 for number in range(20)}
    assert [name for name, _ in spread(seeds, graph)] == [f"s{number:02d}" for number in range(SEEDS)]
    assert graph.asked == [[f"s{number:02d}" for number in range(SEEDS)]]


names = st.sampled_from("abcdefgh")
graphs = st.dictionaries(names, st.lists(st.tuples(names, st.floats(-1, 2)), max_size=6))


@given(st.dictionaries(names, st.floats(-1, 2)), graphs, st.integers(0, 3))
def test_any_graph_gives_a_sorted_bounded_ranking(seeds: dict[str, float], links: Links, hops: int) -> None:
    found = spread(seeds, Graph(links), hops)
    assert found == spread(dict(reversed(seeds.items())), Graph(links), hops)
    assert found == ordered(dict(found))
    assert all(score >= GATE and math.isfinite(score) for _, score in found)
    # What a note keeps and gives away is at most 1.3 times what it had.
    assert (
        sum(score for _, score in found)
        <= 1.3**hops * sum(min(1.0, max(0.0, score)) for score in seeds.values()) + 1e-9
    )


def test_rare_entities_carry_more_and_common_ones_nothing() -> None:
    assert entity_weight(2, 1_000) == entity_weight(1, 1_000) == 1.0
    assert entity_weight(10, 1_000) == pytest.approx(math.log(1_000 / 10) / math.log(1_000 / 2))
    assert entity_weight(100, 1_000) > 0.0 == entity_weight(101, 1_000)
    assert entity_weight(COMMON_NOTES, 10**6) > 0.0 == entity_weight(COMMON_NOTES + 1, 10**6)
    assert entity_weight(5, 12) > 0.0 == entity_weight(6, 12)  # a tenth of a small realm is hardly a note
    assert entity_weight(0, 10) == entity_weight(5, 5) == 0.0


@given(st.integers(0, 500), st.integers(0, 5_000))
def test_weights_lie_between_nothing_and_one(count: int, total: int) -> None:
    assert 0.0 <= entity_weight(count + 1, total) <= 1.0
    if 3 <= count < min(total, COMMON_NOTES):
        assert entity_weight(count + 1, total) <= entity_weight(count, total)


def test_shares_fall_by_hop_and_follow_the_best_path() -> None:
    links = {"a": [("b", 1.0), ("c", 0.1)], "b": [("c", 1.0), ("a", 1.0)], "c": [("d", 1.0)]}
    shares = entity_shares(["a"], Graph(links))
    assert shares == {"a": 1.0, "b": 0.7, "c": pytest.approx(0.7 * 0.7)}


def test_the_boost_is_at_most_three_tenths() -> None:
    boosted = dict(entity_boost([("x", 1.0), ("y", 0.9), ("z", 0.8)], {"y": 1.0, "z": 0.7}, weight=0.5))
    assert boosted["x"] == 1.0
    assert boosted["y"] == pytest.approx(0.9 * (1 + 1.0 * 0.5 * 0.3))
    assert boosted["z"] == pytest.approx(0.8 * (1 + 0.7 * 0.5 * 0.3))
    assert entity_boost([("x", 1.0), ("y", 0.9)], {"y": 1.0})[0][0] == "y"


@pytest.mark.parametrize(
    ("arms", "factor"),
    [
        ((), 1.0),
        (("keyword",), 1.0),
        (("semantic", "context"), 1.0),  # two arms, one kind of evidence
        (("semantic", "keyword"), 1.5),
        (("temporal", "graph"), 1.8),
        (("temporal", "keyword"), 1.5),
        (("temporal", "spreading", "keyword"), 2.0),
        (("someone's own", "keyword"), 1.5),
    ],
)
def test_agreement_of_kinds_of_evidence(arms: tuple[str, ...], factor: float) -> None:
    ((name, score),) = cross_channel([("x", 0.4)], {"x": arms})
    assert name == "x"
    assert score == pytest.approx(0.4 * factor)


def test_agreement_reorders() -> None:
    assert [name for name, _ in cross_channel([("x", 1.0), ("y", 0.9)], {"y": ("semantic", "keyword")})] == ["y", "x"]
