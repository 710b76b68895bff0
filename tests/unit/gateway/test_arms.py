"""Each arm by itself, what it says of itself, and how the arms are joined."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import pytest

from chitta.gateway.arms import ARMS, NOTHING_ASKED, OFF, OK, POOL, Found, Search, joined, weights_of
from chitta.gateway.engine import Engine
from chitta.gateway.graph_arm import linked
from chitta.gateway.reading import Reading, read_prompt
from chitta.index import IndexDamaged
from chitta.notes.note import Note
from chitta.recall.fuse import convex, reciprocal_rank
from chitta.recall.query_class import MULTIPLIERS, classify
from chitta.settings import Settings, load

from .conftest import Opened

NOW = datetime(2026, 3, 12, 15)
NOTES = (
    Note("on-the-day", title="Retry policy", text="Retries back off.", created="2026-03-10"),
    Note("day-after", title="Retry budget", text="Retries are counted.", created="2026-03-11"),
    Note("undated", title="Retry queue", text="On March 10 retries go to a queue."),
    Note("hub", title="Gateway", text="The gateway rejects what it cannot read. See [[Spoke]].", created="2026-01-01"),
    Note("spoke", title="Spoke", text="Nothing in common here.", created="2026-01-02"),
)


def search_of(engine: Engine, text: str, realm: str | None = None) -> Search:
    assert engine.snapshot is not None
    return Search(text, realm, read_prompt(engine.snapshot, text, ()), POOL, NOW)


def found_by(engine: Engine, text: str, *arms: str) -> Found:
    return engine.ranker()._arms.find(search_of(engine, text), dict.fromkeys(arms, 1.0))


def names(found: Found, arm: str) -> list[str]:
    return [name for name, _ in found.rankings[arm]]


def test_time_finds_the_notes_of_a_named_day_and_no_undated_ones(opened: Opened) -> None:
    found = found_by(opened(*NOTES), "retries on March 10", "temporal")
    assert names(found, "temporal") == ["on-the-day"]
    assert found.health["temporal"] == OK
    assert names(found_by(opened(*NOTES), "retries yesterday", "temporal"), "temporal") == ["day-after"]


def test_a_text_without_a_time_does_not_ask_for_one(opened: Opened) -> None:
    found = found_by(opened(*NOTES), "retry policy", "temporal")
    assert found.health["temporal"] == NOTHING_ASKED == "not asked for by this text"
    assert found.rankings["temporal"] == []


def test_a_question_for_the_first_orders_what_the_arms_before_found(opened: Opened) -> None:
    text = "when did we first count retries?"
    by_age = found_by(opened(*NOTES, EVENT_ORDER=1), text, "keyword", "temporal")
    dated = [name for name in names(by_age, "temporal") if name in names(by_age, "keyword")]
    assert dated == ["on-the-day", "day-after"]
    assert found_by(opened(*NOTES), text, "keyword", "temporal").health["temporal"] == NOTHING_ASKED


def test_the_graph_finds_a_linked_note(opened: Opened) -> None:
    engine = opened(*NOTES)
    found = found_by(engine, "gateway rejects", "keyword", "graph")
    assert "spoke" not in names(found, "keyword")
    assert "spoke" in names(found, "graph")


def test_association_finds_what_is_near_to_the_nearest(opened: Opened) -> None:
    found = found_by(opened(*NOTES), "gateway rejects what it cannot read", "associative")
    assert names(found, "associative")[0] == "hub"
    assert found.health["associative"] == OK
    without = found_by(opened(*NOTES, embedder=None), "gateway", "associative")
    assert without.health["associative"] == "no model is loaded" and without.rankings["associative"] == []


def test_bundles_find_the_same_words_in_the_same_roles(opened: Opened) -> None:
    assert names(found_by(opened(*NOTES), "gateway rejects", "hyperdimensional"), "hyperdimensional")[0] == "hub"


def test_an_arm_without_a_weight_is_off(opened: Opened) -> None:
    found = found_by(opened(*NOTES), "retries on March 10", "keyword")
    assert found.health == {arm: OK if arm == "keyword" else OFF for arm in ARMS}
    assert set(found.rankings) == {"keyword"}


@pytest.mark.parametrize("arm", ARMS)
@pytest.mark.parametrize(
    ("problem", "said"), [(OSError("a private path"), "failed: OSError"), (IndexDamaged("it is damaged"), "damaged")]
)
def test_an_arm_that_throws_finds_nothing_and_the_others_answer(
    opened: Opened, monkeypatch: pytest.MonkeyPatch, arm: str, problem: Exception, said: str
) -> None:
    engine = opened(*NOTES)
    whole = found_by(engine, "gateway rejects on March 10", *ARMS)

    def broken(*arguments: Any) -> Any:
        raise problem

    monkeypatch.setitem(engine.ranker()._arms._run, arm, broken)
    found = found_by(engine, "gateway rejects on March 10", *ARMS)
    assert found.rankings[arm] == [] and said in found.health[arm]
    assert "private" not in found.health[arm]
    others = [other for other in ARMS if other != arm and not (arm in ("semantic", "keyword") and other == "graph")]
    assert {other: found.rankings[other] for other in others} == {other: whole.rankings[other] for other in others}
    assert {found.health[other] for other in others} == {OK}


def test_a_floor_that_cannot_be_weighed_stops_no_other_arm(opened: Opened, monkeypatch: pytest.MonkeyPatch) -> None:
    engine = opened(*NOTES, ARM_FLOORS="semantic=0.5")

    def broken(*arguments: Any, **options: Any) -> Any:
        raise OSError

    monkeypatch.setattr(Reading, "weigh", broken)
    found = found_by(engine, "gateway rejects", "semantic", "keyword")
    assert found.health["semantic"] == "failed: OSError"
    assert names(found, "keyword") == ["hub"]


def test_floors_leave_out_what_holds_too_few_of_the_words(opened: Opened) -> None:
    text = "gateway rejects retries"
    open_ = found_by(opened(*NOTES), text, "semantic", "keyword")
    assert {"hub", "undated"} <= set(names(open_, "keyword"))
    floored = found_by(opened(*NOTES, ARM_FLOORS="keyword=0.5, nonsense, graph=x"), text, "semantic", "keyword")
    assert names(floored, "keyword") == ["hub"]
    assert floored.rankings["semantic"] == open_.rankings["semantic"]


def test_a_damaged_catalog_is_the_graphs_to_say(opened: Opened, monkeypatch: pytest.MonkeyPatch) -> None:
    engine = opened(*NOTES)
    assert engine.snapshot is not None
    engine.snapshot.damaged.add("catalog")
    assert "chitta reindex" in found_by(engine, "gateway", "graph").health["graph"]


def test_word_damage_that_is_noticed_while_searching_is_said(opened: Opened, monkeypatch: pytest.MonkeyPatch) -> None:
    engine = opened(*NOTES)
    snapshot = engine.snapshot
    assert snapshot is not None
    search = search_of(engine, "gateway")

    def broken(*arguments: Any, **options: Any) -> list[Any]:
        snapshot.damaged.add("keyword")
        return []

    monkeypatch.setattr(snapshot.keyword, "search", broken)
    assert "damaged" in engine.ranker()._arms.find(search, {"keyword": 1.0}).health["keyword"]


def settings_of(**variables: object) -> Settings:
    return load({"CHITTA_HOME": "/nonexistent"} | {f"CHITTA_{name}": str(value) for name, value in variables.items()})


def test_weights_are_the_settings() -> None:
    weights = weights_of(settings_of(FUSION_ALPHA=0.7, TEMPORAL_WEIGHT=0, GRAPH_WEIGHT=0.4, HDC_WEIGHT=2), "anything")
    assert weights == pytest.approx(
        {"semantic": 0.7, "keyword": 0.3, "temporal": 0, "graph": 0.4, "associative": 0, "hyperdimensional": 2}
    )


@pytest.mark.parametrize("text", ["which of them do you prefer?", "how is auth connected to billing", "zap"])
def test_classes_multiply_the_weights(text: str) -> None:
    plain = settings_of(GRAPH_WEIGHT=1, ASSOCIATIVE_WEIGHT=1, HDC_WEIGHT=1)
    classed = settings_of(GRAPH_WEIGHT=1, ASSOCIATIVE_WEIGHT=1, HDC_WEIGHT=1, QUERY_CLASSES=1)
    semantic, keyword, _, temporal, graph, associative = MULTIPLIERS[classify(text).subject]
    factors = dict(zip(ARMS, (semantic, keyword, temporal, graph, associative, 1.0), strict=True))
    before = weights_of(plain, text)
    assert weights_of(classed, text) == pytest.approx({arm: before[arm] * factors[arm] for arm in ARMS})


FOUND = Found({"semantic": [("a", 0.9), ("b", 0.8), ("c", 0.1)], "keyword": [("c", 9.0), ("b", 1.0)]}, {})


def test_the_setting_chooses_the_fusion() -> None:
    arms, weights = [FOUND.rankings["semantic"], FOUND.rankings["keyword"]], {"semantic": 0.6, "keyword": 0.4}
    assert joined(FOUND, weights, settings_of()) == convex(arms, [0.6, 0.4])
    for k in (15, 60):
        chosen = settings_of(FUSION=" RRF ", RRF_K=k)
        assert joined(FOUND, weights, chosen) == reciprocal_rank(arms, k, [0.6, 0.4])


def test_only_arms_with_a_weight_are_joined() -> None:
    assert joined(FOUND, {"semantic": 1.0}, settings_of()) == convex([FOUND.rankings["semantic"]], [1.0])
    assert joined(Found({}, {}), {"semantic": 1.0}, settings_of()) == []


def test_which_arms_found_each_note() -> None:
    assert FOUND.arms_of() == {"a": ("semantic",), "b": ("semantic", "keyword"), "c": ("semantic", "keyword")}


def test_the_arm_is_the_graphs_own_ranking(opened: Opened) -> None:
    engine = opened(*NOTES)
    assert engine.snapshot is not None
    alone = found_by(engine, "[[Spoke]]", "graph")
    assert alone.rankings["graph"] == linked(engine.snapshot, "[[Spoke]]", None, POOL)
