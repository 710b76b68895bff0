"""The displayed percent fitted to a person's own feedback on the notes they were shown.

Feedback is on what was shown, so it says nothing of prompts that were met with silence: raw
maxrel, the band threshold and the notes' floors stay. What it can say is how often a block shown at
a given raw maxrel helped. That is two numbers (Platt's scaling), which dozens of answers can carry;
and since raw maxrel does not change by it, equal feedback gives an equal fit however often it is made.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from chitta.admission.calibration import Calibration, logit, sigmoid
from chitta.evaluate.fitting import TooFew, expected_error
from chitta.feedback import Judgement

#: Judged blocks, and verdicts of either kind, without which nothing is refitted.
LEAST_BLOCKS = 20
LEAST_OF_EACH = 5
_FOLDS = 5
_SEED = 1

Pairs = Sequence[tuple[float, bool]]


class Refit(NamedTuple):
    """The calibration with its new display fit, and how true the displayed percent was before and is after.

    The figures of the new one are out of fold (five folds).
    """

    calibration: Calibration
    blocks: int
    brier_before: float
    brier_after: float
    ece_before: float
    ece_after: float
    points_before: tuple[tuple[float, bool], ...]
    points_after: tuple[tuple[float, bool], ...]


def refit(judgements: Sequence[Judgement], current: Calibration) -> Refit:
    """Fit the display of ``current`` to the judgements. Raises :class:`TooFew` with what is still missing."""
    from sklearn.metrics import brier_score_loss

    blocks = _blocks(judgements)
    _enough(blocks)
    display = _platt(blocks)
    after = _out_of_fold(blocks)
    before = [(current.percent(maxrel) / 100, right) for maxrel, right in blocks]
    labels = [right for _, right in blocks]
    return Refit(
        current._replace(display=(round(display[0], 4), round(display[1], 4))),
        len(blocks),
        float(brier_score_loss(labels, [told for told, _ in before])),
        float(brier_score_loss([right for _, right in after], [told for told, _ in after])),
        expected_error(before),
        expected_error(after),
        tuple(before),
        tuple(after),
    )


def _blocks(judgements: Sequence[Judgement]) -> list[tuple[float, bool]]:
    """Raw maxrel of each judged block, and whether any of its notes helped."""
    found: dict[str, tuple[float, bool]] = {}
    for one in judgements:
        if one.maxrel is not None:
            helped = found.get(one.block, (0.0, False))[1] or one.verdict == "up"
            found[one.block] = (one.maxrel, helped)
    return list(found.values())


def _enough(blocks: Pairs) -> None:
    helped, did_not = _of_each(blocks)
    if len(blocks) < LEAST_BLOCKS or min(helped, did_not) < LEAST_OF_EACH:
        raise TooFew(
            f"it takes {LEAST_BLOCKS} judged blocks with {LEAST_OF_EACH} of either verdict; "
            f"so far {helped} helped and {did_not} did not"
        )
    if len({maxrel for maxrel, _ in blocks}) < 2:
        raise TooFew("every judged block was shown with the same percent, so there is nothing to tell apart")


def _of_each(pairs: Pairs) -> tuple[int, int]:
    helped = sum(right for _, right in pairs)
    return helped, len(pairs) - helped


def _platt(pairs: Pairs) -> tuple[float, float]:
    """Bias and slope of a logistic over the logit. Raises :class:`TooFew` where more told means less true."""
    from sklearn.linear_model import LogisticRegression

    fitted = LogisticRegression(C=1.0).fit([[logit(value)] for value, _ in pairs], [right for _, right in pairs])
    bias, slope = float(fitted.intercept_[0]), float(fitted.coef_[0][0])
    if slope <= 0:
        raise TooFew(
            "the notes that were shown with a higher percent helped less often than the others, "
            "which no percent can express; it takes more feedback"
        )
    return bias, slope


def _out_of_fold(pairs: Pairs) -> list[tuple[float, bool]]:
    from sklearn.model_selection import StratifiedKFold

    labels = [right for _, right in pairs]
    found = []
    for train, held in StratifiedKFold(_FOLDS, shuffle=True, random_state=_SEED).split(labels, labels):
        bias, slope = _platt([pairs[place] for place in train])
        found += [(sigmoid(bias + slope * logit(pairs[place][0])), pairs[place][1]) for place in held]
    return found
