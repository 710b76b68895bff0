"""The display fitted to feedback: which way it bends, what it leaves alone, and when it is not to be had."""

from __future__ import annotations

import pytest

from chitta.admission import calibration
from chitta.admission.calibration import Calibration, logit, sigmoid
from chitta.evaluate import own_feedback
from chitta.evaluate.fitting import TooFew, expected_error
from chitta.evaluate.own_feedback import refit
from chitta.feedback import Judgement

CURRENT = calibration.shipped()
NEEDED = "it takes 20 judged blocks with 5 of either verdict; so far "


def judgement(
    block: int, verdict: str, maxrel: float | None = 0.5, conf: float | None = 0.5, name: str = "n"
) -> Judgement:
    return Judgement("2026-01-02T03:04:05Z", f"{block:012x}", "s", name, verdict, conf, maxrel, "sem")


def opinions(share_low: float, share_high: float, each: int = 20) -> list[Judgement]:
    """Blocks at a low and a high maxrel, of which these shares helped; the notes' conf is the same."""
    found = []
    for half, (value, share) in enumerate(((0.3, share_low), (0.7, share_high))):
        for place in range(each):
            verdict = "up" if place < round(share * each) else "down"
            found.append(judgement(half * each + place, verdict, value, value))
    return found


def shown(fit: Calibration, maxrel: float) -> float:
    return fit.percent(maxrel) / 100


def test_it_bends_towards_how_often_blocks_helped() -> None:
    good, poor = refit(opinions(0.7, 0.95), CURRENT), refit(opinions(0.1, 0.4), CURRENT)
    for maxrel in (0.3, 0.7):
        assert shown(good.calibration, maxrel) > shown(poor.calibration, maxrel)
    assert shown(good.calibration, 0.7) == pytest.approx(0.95, abs=0.1)
    assert shown(poor.calibration, 0.3) == pytest.approx(0.1, abs=0.1)


def test_scaling_is_a_logistic_over_the_logit() -> None:
    pairs = [(0.2, place < 20) for place in range(100)] + [(0.8, place < 80) for place in range(100)]
    bias, slope = own_feedback._platt(pairs)  # came true as told: next to nothing is bent
    assert bias == pytest.approx(0.0, abs=0.01) and slope == pytest.approx(1.0, abs=0.05)
    overconfident = [(0.2, place < 40) for place in range(100)] + [(0.8, place < 60) for place in range(100)]
    bias, slope = own_feedback._platt(overconfident)
    assert 0 < slope < 1 and sigmoid(bias + slope * logit(0.8)) == pytest.approx(0.6, abs=0.02)


def test_equal_feedback_gives_an_equal_fit_however_often_it_is_made() -> None:
    given = opinions(0.2, 0.6)
    once = refit(given, CURRENT)
    again = refit(given, once.calibration)
    assert again.calibration == once.calibration and again.points_after == once.points_after
    assert once.calibration.display != CURRENT.display


def test_what_feedback_cannot_know_stays() -> None:
    found = refit(opinions(0.2, 0.8), CURRENT)
    assert found.blocks == 40 and found.calibration.display != CURRENT.display
    assert found.calibration._replace(display=CURRENT.display) == CURRENT


def test_what_a_note_by_itself_was_told_to_be_is_no_matter() -> None:
    given = opinions(0.2, 0.8)
    assert refit([one._replace(conf=None) for one in given], CURRENT) == refit(given, CURRENT)


def test_a_block_helped_when_any_of_its_notes_did() -> None:
    given = [judgement(1, "down", name="a"), judgement(1, "up", name="b"), judgement(1, "down", name="c")]
    assert own_feedback._blocks(given) == [(0.5, True)]
    assert own_feedback._blocks([*given[::2], judgement(2, "up", None)]) == [(0.5, False)]


def test_figures_before_are_of_the_percent_in_use_and_after_out_of_fold() -> None:
    given = opinions(0.2, 0.8)
    found = refit(given, CURRENT)
    told = [(shown(CURRENT, one.maxrel or 0.0), one.verdict == "up") for one in given]
    assert list(found.points_before) == told and found.ece_before == expected_error(told)
    assert found.brier_before == pytest.approx(sum((p - right) ** 2 for p, right in told) / len(told))
    assert len(found.points_after) == 40 and found.ece_after == expected_error(found.points_after)
    after = [(p - right) ** 2 for p, right in found.points_after]
    assert found.brier_after == pytest.approx(sum(after) / len(after))
    assert refit(given, CURRENT) == found


def test_no_block_is_judged_by_a_fit_that_saw_it(monkeypatch: pytest.MonkeyPatch) -> None:
    pairs = [(place / 41, place % 3 != 0 or place > 30) for place in range(1, 41)]  # each probability once
    trained: list[set[float]] = []
    real = own_feedback._platt

    def spy(given: own_feedback.Pairs) -> tuple[float, float]:
        trained.append({value for value, _ in given})
        return real(given)

    monkeypatch.setattr(own_feedback, "_platt", spy)
    found = own_feedback._out_of_fold(pairs)
    assert len(trained) == 5 and len(found) == 40
    for value, _ in pairs:
        assert sum(value not in names for names in trained) == 1


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ([], f"{NEEDED}0 helped and 0 did not"),
        (opinions(0.2, 0.8, each=9), f"{NEEDED}9 helped and 9 did not"),
        ([one._replace(maxrel=None) for one in opinions(0.2, 0.8)], f"{NEEDED}0 helped and 0 did not"),
        (opinions(0.0, 0.2), f"{NEEDED}4 helped and 36 did not"),
        (opinions(1.0, 0.8), f"{NEEDED}36 helped and 4 did not"),
        ([one._replace(maxrel=0.5) for one in opinions(0.2, 0.8)], "shown with the same percent, so there is nothing"),
        (opinions(0.8, 0.2), "higher percent helped less often than the others"),
    ],
)
def test_too_little_or_contrary_feedback_is_refused(given: list[Judgement], said: str) -> None:
    with pytest.raises(TooFew, match=said):
        refit(given, CURRENT)


def test_twenty_blocks_with_five_of_a_verdict_are_enough() -> None:
    assert refit(opinions(0.0, 0.5, each=10), CURRENT).blocks == 20
