"""Every switch of ranking, over a small real store."""

from __future__ import annotations

from pathlib import Path

import pytest

from chitta import settings as table
from chitta.evaluate import report, switches
from chitta.evaluate.dataset import Dataset, read_dataset
from chitta.settings import Settings


@pytest.fixture
def dataset(sample: Path) -> Dataset:
    return read_dataset(str(sample))


@pytest.fixture
def rows(word_store: Settings, dataset: Dataset) -> list[switches.Row]:
    return switches.measure(word_store, dataset)


def test_every_switch_is_a_setting_and_turns_it() -> None:
    for name, changes in switches.SWITCHES.items():
        assert changes, name
        for variable, value in changes.items():
            setting = table.BY_NAME[variable]
            assert table.parse(setting, value) != setting.default, (name, variable)


def test_the_ranking_as_shipped_comes_first_and_every_switch_follows(rows: list[switches.Row]) -> None:
    assert [row.switch for row in rows] == [switches.DEFAULT, *switches.SWITCHES]
    first = rows[0]
    assert all(interval == (0.0, 0.0, 0.0) for interval in first.changes.values())
    assert 0.0 < first.scores["nDCG@10"].mean <= 1.0


def test_a_change_is_the_difference_of_means(rows: list[switches.Row]) -> None:
    shipped = rows[0].scores
    for row in rows:
        for name in switches.SHOWN:
            difference = row.scores[name].mean - shipped[name].mean
            assert row.changes[name].mean == pytest.approx(difference, abs=1e-9)


def test_switches_change_what_is_found(rows: list[switches.Row]) -> None:
    assert any(interval.mean != 0.0 for row in rows for interval in row.changes.values())


def test_the_page_names_each_switch_and_its_settings(rows: list[switches.Row], tmp_path: Path) -> None:
    page = report.switches_page(tmp_path, rows, model="words").read_text(encoding="utf-8")
    assert "## sample" in page and "`CHITTA_GRAPH_WEIGHT=0.3`" in page
    assert all(f"| {name} |" in page for name in switches.SWITCHES)
