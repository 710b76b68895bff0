"""The gate asked again in this process: the curve over thresholds, by hand and over a small store."""

from __future__ import annotations

from pathlib import Path

import pytest

from chitta.admission import calibration
from chitta.evaluate import replay
from chitta.evaluate.golden import ANSWERABLE, UNANSWERABLE, Case, Golden, read_golden
from chitta.evaluate.replay import Point, Recalled, curve, recall_all, shown
from chitta.gateway.engine import LANES
from chitta.settings import Settings, load

FIT = calibration.shipped()


@pytest.fixture
def recalled(word_store: Settings, golden_folder: Path) -> list[Recalled]:
    golden: Golden = read_golden(golden_folder)
    return recall_all(word_store, golden.of(ANSWERABLE, UNANSWERABLE))


def test_every_lane_answers_every_prompt_once(recalled: list[Recalled]) -> None:
    by_id = {one.case.id: one for one in recalled}
    assert [result.lane for result in by_id["a1"].results] == list(LANES)
    assert {result.lane: result.state for result in by_id["a1"].results}["keyword"] == "ok"
    assert [one.request.realm for one in recalled if one.request is not None] == ["global"] * len(recalled)


def test_a_prompt_without_a_word_of_its_own_asks_only_the_certain_lanes(recalled: list[Recalled]) -> None:
    (thanks,) = (one for one in recalled if one.case.id == "u1")
    assert {result.lane for result in thanks.results} <= {"correction-key"}


def test_nothing_is_shown_where_nothing_was_asked(word_store: Settings) -> None:
    (found,) = recall_all(word_store, [Case("c", UNANSWERABLE, "", ("/clear",))])
    assert found.request is None and shown(found, word_store, FIT) == ()


def test_a_higher_threshold_never_shows_more(word_store: Settings, recalled: list[Recalled]) -> None:
    points = curve(recalled, word_store, FIT, [0.0, 0.5, 1.0])
    assert [point.threshold for point in points] == [0.0, 0.5, 1.0]
    for before, after in zip(points, points[1:], strict=False):
        assert after.hit <= before.hit and after.false_injection <= before.false_injection
    assert points == curve(recalled, word_store, FIT, [0.0, 0.5, 1.0])


def test_shares_by_hand(monkeypatch: pytest.MonkeyPatch) -> None:
    names = {"a1": ("gold", "maybe"), "a2": ("wrong",), "a3": (), "u1": ("wrong", "wrong too"), "u2": ()}

    def case(name: str) -> Case:
        part = ANSWERABLE if name.startswith("a") else UNANSWERABLE
        return Case(name, part, "", ("?",), frozenset({"gold"}), frozenset({"maybe"}))

    monkeypatch.setattr(replay, "shown", lambda one, settings, fit: names[one.case.id])
    recalled = [Recalled(case(name), None, ()) for name in names]
    (point,) = curve(recalled, load({}), FIT, [0.25])
    # one of three answerable prompts hit; one of four notes that count is gold; one of two was injected
    assert point == Point(0.25, hit=1 / 3, precision=1 / 4, false_injection=1 / 2)
    assert curve([], load({}), FIT, [0.5]) == [Point(0.5, 0.0, 0.0, 0.0)]
