"""Ranking and admission have not become worse than recorded, by more than the noise of so few cases.

A change for the better passes as well; ``python tests/eval/recorded.py`` then records it.
"""

from __future__ import annotations

import pytest
import recorded

from chitta.evaluate.dataset import read_dataset
from chitta.evaluate.retrieval import USUAL, Measured
from chitta.evaluate.runs import read_run
from chitta.evaluate.scores import MEASURES, interval, per_query


@pytest.fixture(scope="module")
def measured() -> dict[str, Measured]:
    return {one.system: one for one in recorded.measure_retrieval()}


@pytest.mark.parametrize("measure", MEASURES)
@pytest.mark.parametrize("system", USUAL)
def test_ranking(measured: dict[str, Measured], system: str, measure: str) -> None:
    one = measured[system]
    judgements = read_dataset(str(recorded.HERE / "til")).judgements
    before = per_query(read_run(recorded.run_file(system)), judgements)
    change = one.change(measure, before)
    assert change.high >= 0, f"{system} {measure}: {change.signed()}"


@pytest.fixture(scope="module")
def outcomes() -> dict[str, dict[str, bool]]:
    return recorded.outcomes(recorded.measure_admission())


@pytest.mark.parametrize("part", recorded.PARTS)
def test_admission(outcomes: dict[str, dict[str, bool]], part: str) -> None:
    before, now = recorded.recorded_outcomes()[part], outcomes[part]
    assert now.keys() == before.keys()
    better = 1 if recorded.WANTED[part] else -1
    change = interval([better * (now[name] - before[name]) for name in before])
    changed = sorted(name for name in before if now[name] != before[name])
    assert change.high >= 0, f"{part}: {change.signed()} by {changed}"
