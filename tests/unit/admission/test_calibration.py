"""Probabilities from evidence, and the file they come from."""

import json
import math
from pathlib import Path

import pytest

from chitta.admission import calibration
from chitta.settings import load


def test_logistic_is_the_sigmoid_of_a_weighted_sum() -> None:
    fit = calibration.Logistic(-1.0, {"cos": 2.0, "coverage": 3.0})
    assert fit.probability({"cos": 0.5, "coverage": 0.25}) == pytest.approx(1 / (1 + math.exp(-(-1.0 + 1.0 + 0.75))))
    assert fit.probability({}) == pytest.approx(1 / (1 + math.exp(1.0)))


def test_odds_are_added_to_the_logarithmic_odds() -> None:
    fit = calibration.Logistic(-1.0, {"cos": 2.0})
    assert fit.probability({"cos": 0.5}, 0.75) == pytest.approx(1 / (1 + math.exp(-0.75)))


def test_fewer_notes_and_a_brief_one_are_likelier() -> None:
    assert calibration.prior_odds(0, 1_000) == 0.0, "how many is not told"
    assert calibration.prior_odds(calibration.ENOUGH_NOTES, 1_000) == 0.0
    assert calibration.prior_odds(2_643, 100) == calibration.BRIEF_WEIGHT
    halved = calibration.prior_odds(calibration.ENOUGH_NOTES // 2, 1_000)
    assert halved == pytest.approx(calibration.FEW_WEIGHT * math.log(2))
    few = [calibration.prior_odds(among, 1_000) for among in range(1, 100)]
    assert few == sorted(few, reverse=True) and few[0] == few[calibration.FEWEST_NOTES - 1]


def test_sigmoid_survives_extremes() -> None:
    assert calibration.sigmoid(1e9) == 1.0
    assert calibration.sigmoid(-1e9) == pytest.approx(0.0)


def test_displayed_percent_is_a_logistic_over_the_logit() -> None:
    fit = calibration.shipped()._replace(display=(-0.5, 0.5))
    expected = 1 / (1 + math.exp(-(-0.5 + 0.5 * math.log(0.8 / 0.2))))
    assert fit.percent(0.8) == round(100 * expected)


def test_displayed_percent_rises_with_maxrel() -> None:
    fit = calibration.shipped()
    shown = [fit.percent(step / 100) for step in range(101)]
    assert shown == sorted(shown)
    assert 1 <= shown[0] < shown[-1] <= 99


def test_stronger_evidence_never_lowers_a_notes_probability() -> None:
    fit = calibration.shipped()
    weak = {"cos": 0.6, "lift": 0.1, "density": 0.2, "coverage": 0.2, "title": 0.1, "shared": 0.2}
    for name in ("cos", "lift", "coverage"):
        assert fit.note.probability({**weak, name: weak[name] + 0.2}) >= fit.note.probability(weak)


def test_the_stores_own_calibration_wins_and_a_broken_one_does_not(tmp_path: Path) -> None:
    settings = load({"CHITTA_HOME": str(tmp_path)})
    shipped = calibration.shipped()
    assert calibration.load(settings) == shipped
    source = Path(calibration.__file__).with_name("calibration.json")
    value = json.loads(source.read_text())
    value["threshold"] = 0.123
    own = tmp_path / "calibration.json"
    own.write_text(json.dumps(value))
    assert calibration.load(settings).threshold == 0.123
    own.write_text(json.dumps(value)[:-40])
    assert calibration.load(settings) == shipped
    del value["note"]
    own.write_text(json.dumps(value))
    assert calibration.load(settings) == shipped
