"""Fits on made-up signals, and errors of probabilities by hand."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any, NamedTuple

import pytest

from chitta.admission import calibration
from chitta.admission.calibration import Calibration, logit, sigmoid
from chitta.evaluate import fitting
from chitta.evaluate.fitting import (
    FOLDS,
    NOTE_SIGNALS,
    PROMPT_SIGNALS,
    WORDS_ONLY_SIGNALS,
    TooFew,
    as_is,
    expected_error,
    fit,
    held_out,
    reliability,
    threshold_for,
    without_display,
)
from chitta.evaluate.golden import ANSWERABLE, UNANSWERABLE, Case
from chitta.evaluate.labels import Labelled


def labelled(answerable: int = 40, unanswerable: int = 40, seed: int = 3) -> list[Labelled]:
    """Prompts whose signals are higher where the store holds an answer, with some overlap."""
    dice = random.Random(seed)
    found = []
    for number in range(answerable + unanswerable):
        good = number < answerable
        case = Case(str(number), ANSWERABLE if good else UNANSWERABLE, "", ("?",), frozenset({"n"} if good else ()))
        right = good and dice.random() < 0.8
        notes = tuple((_signals(dice, right and place == 0), right and place == 0) for place in range(3))
        found.append(Labelled(case, _signals(dice, good), good, right, notes, notes[:2]))
    return found


def _signals(dice: random.Random, good: bool) -> dict[str, float]:
    names = {*PROMPT_SIGNALS, *NOTE_SIGNALS, *WORDS_ONLY_SIGNALS}
    return {name: 0.3 * good + 0.7 * dice.random() for name in sorted(names)}


# Errors of probabilities


def test_expected_error_by_hand() -> None:
    points = [(0.15, False), (0.15, True), (0.85, True), (0.95, True)]
    bins = [(0.15, 1 / 2, 2), (0.85, 1.0, 1), (0.95, 1.0, 1)]
    for found, expected in zip(reliability(points), bins, strict=True):
        assert found == pytest.approx(expected)
    by_hand = 2 / 4 * abs(0.15 - 1 / 2) + 1 / 4 * (1 - 0.85) + 1 / 4 * (1 - 0.95)
    assert expected_error(points) == pytest.approx(by_hand)
    assert expected_error(points, bins=1) == pytest.approx(abs((0.15 + 0.15 + 0.85 + 0.95) / 4 - 3 / 4))


def test_probabilities_that_come_true_have_no_error() -> None:
    assert expected_error([(0.25, True), (0.25, False), (0.25, False), (0.25, False)]) == 0.0
    assert expected_error([(1.0, True), (0.0, False)]) == 0.0 and expected_error([]) == 0.0


def test_certainty_falls_into_the_last_bin() -> None:
    (found,) = reliability([(1.0, True), (0.9, False)])
    assert found == pytest.approx((0.95, 0.5, 2))


def test_raw_maxrel_as_if_it_were_displayed() -> None:
    judged = [fitting.Judged(0.7, 0.5, True, False, True, 0)]
    assert without_display(judged) == [(0.7, False)]


# The band threshold


def test_the_lowest_threshold_that_calls_few_unanswerable_prompts_known() -> None:
    empty = [0.02, 0.12, 0.12, 0.12, 0.12, 0.12, 0.12, 0.22, 0.32, 0.72]  # one of ten may be KNOWN
    assert threshold_for([*empty, 0.01], [False] * 10 + [True]) == 7 / 20
    assert threshold_for(empty, [False] * 10, allowed=0.2) == 5 / 20
    assert threshold_for(empty, [False] * 10, allowed=0.0) == 15 / 20


def test_a_threshold_where_nothing_or_everything_is_unanswerable() -> None:
    assert threshold_for([0.9, 0.9], [True, True]) == 1 / 20
    assert threshold_for([1.0, 1.0], [False, False]) == 19 / 20
    assert threshold_for([0.05], [False]) == 2 / 20, "at the threshold is KNOWN"


# Fits


def test_a_fit_gives_higher_numbers_for_more_evidence() -> None:
    found = fit(labelled(), name="made up", model="words")
    assert (found.name, found.model) == ("made up", "words")
    assert tuple(found.note.weights) == NOTE_SIGNALS and tuple(found.prompt.weights) == PROMPT_SIGNALS
    assert tuple(found.note_words_only.weights) == WORDS_ONLY_SIGNALS
    for logistic in (found.note, found.note_words_only, found.prompt):
        low, high = (logistic.probability(dict.fromkeys(logistic.weights, value)) for value in (0.1, 0.9))
        assert low < 0.5 < high
    assert found.display[1] > 0 and 0.05 <= found.threshold <= 0.95
    assert fit(labelled(), name="made up", model="words") == found


def test_weights_are_on_the_signals_own_scale() -> None:
    rows = [({"cos": value}, value > 0.5) for value in (0.0, 0.25, 0.5, 0.75, 1.0, 0.4, 0.6)]
    small = fitting._logistic(("cos",), rows)
    large = fitting._logistic(("cos",), [({"cos": 100 * signals["cos"]}, right) for signals, right in rows])
    assert large.weights["cos"] == pytest.approx(small.weights["cos"] / 100, abs=1e-4)
    assert large.bias == pytest.approx(small.bias, abs=1e-3)


def test_a_signal_that_is_absent_counts_0() -> None:
    rows: list[tuple[dict[str, float], bool]] = [({}, False), ({"cos": 0.0}, False), ({"cos": 1.0}, True)]
    assert fitting._logistic(("cos",), rows).weights["cos"] > 0


def test_the_display_is_a_logistic_over_the_logit_of_maxrel() -> None:
    maxrel = [0.2] * 10 + [0.8] * 10
    right = [True] + [False] * 9 + [True] * 6 + [False] * 4  # 10 % and 60 % came true
    bias, slope = fitting._display(maxrel, right)
    assert sigmoid(bias + slope * logit(0.2)) == pytest.approx(1 / 10, abs=0.01)
    assert sigmoid(bias + slope * logit(0.8)) == pytest.approx(6 / 10, abs=0.01)


def test_the_threshold_is_set_by_prompts_that_the_fit_has_not_seen() -> None:
    cases = labelled()
    maxrel = fitting._out_of_fold(cases, 5)
    assert fit(cases, name="", model="").threshold == threshold_for(maxrel, [one.answerable for one in cases])


# Quality


class HeldOut(NamedTuple):
    """What held-out judging gave, which prompts each fold's fit had, and which it judged."""

    quality: fitting.Quality
    seen: list[set[str]]
    judged: list[list[str]]


@pytest.fixture(scope="module")
def once() -> HeldOut:
    """Held-out judging of the made-up prompts, watched: it is what takes time here."""
    seen: list[set[str]] = []
    judged: list[list[str]] = []
    real_fit, real_judge = fitting._fit, fitting._judge

    def spy_fit(given: Sequence[Labelled]) -> Calibration:
        seen.append({one.case.id for one in given})
        return real_fit(given)

    def spy_judge(held: Sequence[Labelled], fitted: Calibration, fold: int) -> list[fitting.Judged]:
        judged.append([one.case.id for one in held])
        return real_judge(held, fitted, fold)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(fitting, "_fit", spy_fit)
        patch.setattr(fitting, "_judge", spy_judge)
        return HeldOut(held_out(labelled()), seen, judged)


def test_no_prompt_is_judged_by_a_fit_that_saw_it(once: HeldOut) -> None:
    everyone = {one.case.id for one in labelled()}
    assert len(once.seen) == len(once.judged) == FOLDS * fitting.DEALS
    for seen, judged in zip(once.seen, once.judged, strict=True):
        assert judged and seen == everyone - set(judged)
    deals = [sum(once.judged[at : at + FOLDS], []) for at in range(0, len(once.judged), FOLDS)]
    assert all(sorted(deal) == sorted(everyone) for deal in deals)
    assert len({tuple(deal) for deal in deals}) == fitting.DEALS, "each deal is another one"


def test_no_maxrel_is_of_a_fit_that_saw_its_prompt(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[set[str]] = []
    real = fitting._prompt_fit

    def spy(given: Sequence[Labelled]) -> Any:
        seen.append({one.case.id for one in given})
        return real(given)

    monkeypatch.setattr(fitting, "_prompt_fit", spy)
    cases = labelled()
    fitting._out_of_fold(cases, 5)
    assert len(seen) == 5
    for one in cases:
        assert sum(one.case.id not in names for names in seen) == 1


def test_folds_hold_answerable_and_unanswerable_prompts_evenly() -> None:
    folds = fitting._folds(labelled(40, 20), FOLDS)
    assert [(sum(one.answerable for one in fold), len(fold)) for fold in folds] == [(4, 6)] * FOLDS
    assert folds == fitting._folds(labelled(40, 20), FOLDS)


def test_quality_is_what_it_says_it_is(once: HeldOut) -> None:
    found = once.quality
    assert len(found.judged) == len(labelled())
    assert 0 <= found.monotonic <= found.folds <= FOLDS * fitting.DEALS
    assert 0 <= found.ece <= 1 and 0 <= found.brier <= 1 and 0.5 < found.relevance_auc <= 1
    shown = [(one.shown, one.right) for one in found.judged]
    assert found.ece == expected_error(shown)
    assert found.brier == pytest.approx(sum((told - right) ** 2 for told, right in shown) / len(shown))
    squares = [(one.maxrel - one.answerable) ** 2 for one in found.judged]
    assert found.relevance_brier == pytest.approx(sum(squares) / len(squares))


def test_folds_in_which_known_is_right_more_often() -> None:
    def judged(fold: int, known: bool, right: bool) -> fitting.Judged:
        return fitting.Judged(0.5, 0.5, known, right, right, fold)

    folded = [
        *(judged(0, True, True), judged(0, False, False)),  # KNOWN right, UNKNOWN wrong
        *(judged(1, True, False), judged(1, False, True)),  # the other way round
        *(judged(2, True, True), judged(2, False, True)),  # no difference
        judged(3, True, True),  # only one band
    ]
    found = fitting._quality(folded[:2], folded)
    assert (found.monotonic, found.folds) == (1, 3)


def test_a_calibration_that_is_there_is_judged_as_it_is() -> None:
    cases, current = labelled(), calibration.shipped()
    found = as_is(cases, current)
    expected = {(current.prompt.probability(one.signals), one.right) for one in cases}
    assert {(one.maxrel, one.right) for one in found.judged} == expected
    assert all(one.known == (one.maxrel >= current.threshold) for one in found.judged)
    assert all(one.shown == current.percent(one.maxrel) / 100 for one in found.judged)


def test_a_prompt_that_found_nothing_has_no_relevance() -> None:
    (judged,) = fitting._judge([labelled()[0]._replace(signals={})], calibration.shipped(), 0)
    assert (judged.maxrel, judged.known) == (0.0, False)


@pytest.mark.parametrize(
    ("cases", "said"),
    [
        (labelled(19, 40), "19 answerable prompts, 40 unanswerable prompts"),
        (labelled(40, 19), "40 answerable prompts, 19 unanswerable prompts"),
        ([one._replace(right=False) for one in labelled()], "0 answerable prompts with a gold note in the top three"),
    ],
)
def test_too_few_labels_are_refused(cases: list[Labelled], said: str) -> None:
    with pytest.raises(TooFew, match=f"it takes 20 of each.*{said}"):
        fit(cases, name="", model="")
    with pytest.raises(TooFew, match=said):
        held_out(cases)
