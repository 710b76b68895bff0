"""Figures are SVG, and equal numbers give equal bytes."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from xml.etree import ElementTree

import pytest

from chitta.evaluate import figures
from chitta.evaluate.ablation import ALL, Row
from chitta.evaluate.admission import Scores
from chitta.evaluate.replay import Point
from chitta.evaluate.retrieval import SYSTEMS, Measured
from chitta.evaluate.scores import MEASURES, Interval

MEASURED = [
    Measured(name, system, {"q": ["a"]}, {measure: {"q1": place / 4, "q2": 1.0} for measure in MEASURES}, 10.0)
    for name in ("one", "two")
    for place, system in enumerate(SYSTEMS)
]
CURVES = [("before", [(0.2, False), (0.9, True), (1.0, True)]), ("after", [(0.5, True), (0.5, False)]), ("none", [])]
POINTS = [Point(step / 4, 1 - step / 4, 0.5, 0.25) for step in range(5)]
CHANGE = Interval(-0.1, -0.2, 0.05)
ROWS = [Row(name, Scores(()), *[CHANGE] * 6) for name in (ALL, "without kw", "kw alone")]

DRAWN: dict[str, Callable[[Path], None]] = {
    "ranking": lambda path: figures.ranking_dots(path, MEASURED, "nDCG@10"),
    "reliability": lambda path: figures.reliability_diagram(path, CURVES),
    "thresholds": lambda path: figures.threshold_curve(path, POINTS, 0.45),
    "latency": lambda path: figures.latency_histogram(path, [80.0, 90.0, 120.0], 90.0, 117.0),
    "ablation": lambda path: figures.ablation_bars(path, ROWS),
}


@pytest.mark.parametrize("name", DRAWN)
def test_equal_numbers_give_equal_bytes(tmp_path: Path, name: str) -> None:
    first, second = tmp_path / "first" / "a.svg", tmp_path / "b.svg"
    DRAWN[name](first)
    DRAWN[name](second)
    assert first.read_bytes() == second.read_bytes()
    root = ElementTree.parse(first).getroot()
    assert root.tag == "{http://www.w3.org/2000/svg}svg" and root.find(".//{*}path") is not None


def test_other_numbers_give_another_figure(tmp_path: Path) -> None:
    figures.threshold_curve(tmp_path / "a.svg", POINTS, 0.45)
    figures.threshold_curve(tmp_path / "b.svg", POINTS, 0.5)
    assert (tmp_path / "a.svg").read_bytes() != (tmp_path / "b.svg").read_bytes()


def test_a_bootstrap_whose_edge_lies_beyond_the_mean_has_no_negative_reach() -> None:
    assert figures._errors([Interval(0.5, 0.25, 1.0), Interval(0.5, 0.75, 0.25)]) == [[0.25, 0.0], [0.5, 0.0]]
