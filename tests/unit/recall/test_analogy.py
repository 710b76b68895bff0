"""Analogies by stated relations: read, answered with their edges, or declined with a reason."""

from __future__ import annotations

import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chitta.notes.triplet import Edge, name_key
from chitta.recall.analogy import Analogy, Answer, Solution, parse, solve

EDGES = (
    Edge("Shop", "stores_in", "Postgres", "n1"),
    Edge("shop", "stores_in", "postgres", "n2"),
    Edge("Shop", "is_tested_by", "Postgres", "n3"),
    Edge("Shop", "depends_on", "Redis", "n4"),
    Edge("Telemetry", "stores_in", "Click House", "n5"),
    Edge("Telemetry", "stores_in", "clickhouse", "n6"),
    Edge("telemetry", "stores_in", "Bucket", "n7"),
    Edge("Telemetry", "is_tested_by", "SQLite", "n8"),
    Edge("Telemetry", "depends_on", "Kafka", "n9"),
)


def edges(name: str) -> list[Edge]:
    return [edge for edge in EDGES if name_key(name) in (name_key(edge.source), name_key(edge.target))]


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("a:b::c:?", ("a", "b", "c")),
        (" the shop : post  gres :: c d : ? ", ("the shop", "post gres", "c d")),
        ("\"std::vector\" : 'a:b' :: it's : ?", ("std::vector", "a:b", "it's")),
    ],
)
def test_what_is_an_analogy(text: str, wanted: tuple[str, str, str]) -> None:
    assert parse(text) == Analogy(*wanted)


@pytest.mark.parametrize(
    "text", ["", "a", "a:b", "a:b::c", "a:b::c:d", "a:b:c:?", "a:?::c:?", "a: ::c:?", "a:b::c:? d",
             "x" * 2_000, '"a:b::c:?']
)  # fmt: skip
def test_what_is_none(text: str) -> None:
    with pytest.raises(ValueError, match="analogy"):
        parse(text)


@given(st.text(alphabet="ab:?\"' ", max_size=30))
def test_parsing_gives_names_or_a_sentence(text: str) -> None:
    with contextlib.suppress(ValueError):
        assert all(name.strip() == name != "" for name in parse(text))


def test_the_answer_follows_each_relation_and_shows_its_edges() -> None:
    answer = solve(Analogy("SHOP", "post gres", "telemetry"), edges)
    assert [(each.relation, each.target) for each in answer.solutions] == [
        ("is_tested_by", "SQLite"),
        ("stores_in", "Bucket"),
        ("stores_in", "Click House"),
    ]
    assert answer.solutions[2] == Solution(
        "stores_in",
        "Click House",
        given=(EDGES[0], EDGES[1]),
        found=(EDGES[4], EDGES[5]),
    )
    assert answer.reason == ""


@pytest.mark.parametrize(
    ("analogy", "reason"),
    [
        (Analogy("Shop", "Kafka", "Telemetry"), "no edge from Shop to Kafka"),
        (Analogy("Postgres", "Shop", "Telemetry"), "no edge from Postgres to Shop"),  # stated the other way round
        (Analogy("Shop", "Redis", "Postgres"), "Postgres has no outgoing depends_on"),
        (Analogy("Shop", "Postgres", "Redis"), "Redis has no outgoing is_tested_by or stores_in"),
        (Analogy("Shop", "Redis", "Billing"), "Billing is not known"),
    ],
)
def test_without_a_stated_relation_there_is_a_reason(analogy: Analogy, reason: str) -> None:
    assert solve(analogy, edges) == Answer((), reason)


def test_the_order_of_the_edges_does_not_matter() -> None:
    analogy = Analogy("shop", "postgres", "telemetry")
    assert solve(analogy, lambda name: reversed(edges(name))) == solve(analogy, edges)
