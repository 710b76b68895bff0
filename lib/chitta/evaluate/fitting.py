"""Fitting a calibration, and how true its numbers are on prompts that it was not fitted on.

Every figure of quality is out of fold: the golden prompts are dealt into ten folds (ten
times), and each prompt (with its notes) is judged by fits that have not seen it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from chitta.admission.calibration import Calibration, Logistic, logit
from chitta.evaluate.labels import Labelled, Signals

#: The signals that each fit uses: those that carried weight beside the others, out of fold, on the golden set.
NOTE_SIGNALS = ("cos", "coverage", "shared")
WORDS_ONLY_SIGNALS = ("coverage", "density", "shared")
PROMPT_SIGNALS = ("best_cos", "mean_three_cos", "first_cos", "first_coverage", "terms", "idf_mass")

FOLDS = 10
#: Prompts of either answer without which nothing is fitted: two in each fold.
LEAST = 2 * FOLDS
#: Times that the prompts are dealt into folds.
DEALS = 10
_INNER_FOLDS = 5
#: Draws of the noise floor.
_DRAWS = 200
_SEED = 1
#: Share of unanswerable prompts that may be called KNOWN, out of fold: sets the band threshold.
FALSE_KNOWN = 0.10
#: Equal-width bins of the calibration error.
BINS = 10


class TooFew(ValueError):
    """The labels do not carry a fit; the sentence says what is missing."""


class Judged(NamedTuple):
    """A prompt as a calibration judged it: raw maxrel, displayed share, band, and whether the store was right."""

    maxrel: float
    shown: float
    known: bool
    right: bool
    answerable: bool
    fold: int


class Quality(NamedTuple):
    """How true the numbers of a calibration are.

    ``ece`` and ``brier`` are of the displayed percent against a right memory in the top three;
    ``relevance_*`` of raw maxrel against an answerable prompt; ``monotonic`` counts the folds in
    which KNOWN prompts were right more often than UNKNOWN ones, ``folds`` those that had both.
    """

    ece: float
    brier: float
    relevance_brier: float
    relevance_auc: float
    monotonic: int
    folds: int
    judged: tuple[Judged, ...]


def fit(labelled: Sequence[Labelled], *, name: str, model: str) -> Calibration:
    """All the fits of one calibration. Raises :class:`TooFew`."""
    _enough(labelled)
    return _fit(labelled, name, model)


def _fit(labelled: Sequence[Labelled], name: str = "", model: str = "") -> Calibration:
    maxrel = _out_of_fold(labelled, _INNER_FOLDS)
    bias, slope = _display(maxrel, [one.right for one in labelled])
    return Calibration(
        name=name,
        model=model,
        note=_logistic(NOTE_SIGNALS, [row for one in labelled for row in one.notes]),
        note_words_only=_logistic(WORDS_ONLY_SIGNALS, [row for one in labelled for row in one.words_only]),
        prompt=_prompt_fit(labelled),
        threshold=threshold_for(maxrel, [one.answerable for one in labelled]),
        display=(bias, slope),
    )


def held_out(labelled: Sequence[Labelled]) -> Quality:
    """The quality of a new fit, each prompt judged by fits that have not seen it. Raises :class:`TooFew`.

    The prompts are dealt into folds :data:`DEALS` times and each prompt's numbers averaged, since one
    deal of so few moves the calibration error by a third; bands are compared in every fold of every deal.
    """
    from threadpoolctl import threadpool_limits

    _enough(labelled)
    deals: list[list[Judged]] = []
    with threadpool_limits(1):  # the fits are small: threads would only wait for each other
        for deal in range(DEALS):
            judged: dict[int, Judged] = {}
            for number, held in enumerate(_folds(labelled, FOLDS, deal)):
                inside = {id(one) for one in held}
                fitted = _fit([one for one in labelled if id(one) not in inside])
                found = _judge(held, fitted, deal * FOLDS + number)
                judged.update({id(one): each for one, each in zip(held, found, strict=True)})
            deals.append([judged[id(one)] for one in labelled])
    averaged = [
        of_prompt[0]._replace(
            maxrel=sum(one.maxrel for one in of_prompt) / DEALS, shown=sum(one.shown for one in of_prompt) / DEALS
        )
        for of_prompt in zip(*deals, strict=True)
    ]
    return _quality(averaged, [one for deal in deals for one in deal])


def as_is(labelled: Sequence[Labelled], current: Calibration) -> Quality:
    """The quality of a calibration that is there already, on the same prompts and folds."""
    judged: list[Judged] = []
    for deal in range(DEALS):
        for number, held in enumerate(_folds(labelled, FOLDS, deal)):
            judged += _judge(held, current, deal * FOLDS + number)
    return _quality(judged[: len(labelled)], judged)


def without_display(judged: Sequence[Judged]) -> list[tuple[float, bool]]:
    """Raw maxrel as if it were displayed, and whether the store was right: the diagram before calibration."""
    return [(one.maxrel, one.right) for one in judged]


def expected_error(points: Sequence[tuple[float, bool]], bins: int = BINS) -> float:
    """Expected calibration error: Σ share of a bin × |mean probability − share that was right|, equal-width bins."""
    return sum(count / len(points) * abs(told - true) for told, true, count in reliability(points, bins) if len(points))


def reliability(points: Sequence[tuple[float, bool]], bins: int = BINS) -> list[tuple[float, float, int]]:
    """Of each bin that holds points: mean probability, share that was right, count."""
    held: dict[int, list[tuple[float, bool]]] = {}
    for probability, right in points:
        held.setdefault(min(int(probability * bins), bins - 1), []).append((probability, right))
    return [
        (sum(p for p, _ in found) / len(found), sum(right for _, right in found) / len(found), len(found))
        for _, found in sorted(held.items())
    ]


def threshold_for(maxrel: Sequence[float], answerable: Sequence[bool], allowed: float = FALSE_KNOWN) -> float:
    """The lowest multiple of 0.05 at which at most ``allowed`` of the unanswerable prompts are KNOWN."""
    empty = [value for value, known in zip(maxrel, answerable, strict=True) if not known]
    for step in range(1, 20):
        if sum(value >= step / 20 for value in empty) <= allowed * len(empty):
            return step / 20
    return 0.95


def _judge(held: Sequence[Labelled], fitted: Calibration, fold: int) -> list[Judged]:
    judged = []
    for one in held:
        maxrel = fitted.prompt.probability(one.signals) if one.signals else 0.0
        shown = fitted.percent(maxrel) / 100
        judged.append(Judged(maxrel, shown, maxrel >= fitted.threshold, one.right, one.answerable, fold))
    return judged


def noise_floor(judged: Sequence[Judged]) -> float:
    """The calibration error that percents which are perfectly true would show with so few prompts, on average."""
    import numpy as np

    told = np.array([one.shown for one in judged])
    draws = np.random.default_rng(_SEED).random((_DRAWS, len(told))) < told
    return float(np.mean([expected_error(list(zip(told, draw, strict=True))) for draw in draws]))


def _quality(judged: Sequence[Judged], folded: Sequence[Judged]) -> Quality:
    """``judged`` has each prompt once; ``folded`` as often as it was dealt, for the folds."""
    from sklearn.metrics import brier_score_loss, roc_auc_score

    right, answerable = [one.right for one in judged], [one.answerable for one in judged]
    maxrel = [one.maxrel for one in judged]
    both = monotonic = 0
    for fold in sorted({one.fold for one in folded}):
        known, unknown = ([one.right for one in folded if one.fold == fold and one.known == band] for band in (1, 0))
        if known and unknown:
            both += 1
            monotonic += sum(known) / len(known) > sum(unknown) / len(unknown)
    return Quality(
        ece=expected_error([(one.shown, one.right) for one in judged]),
        brier=float(brier_score_loss(right, [one.shown for one in judged])),
        relevance_brier=float(brier_score_loss(answerable, maxrel)),
        relevance_auc=float(roc_auc_score(answerable, maxrel)),
        monotonic=monotonic,
        folds=both,
        judged=tuple(judged),
    )


def _folds(labelled: Sequence[Labelled], count: int, deal: int = 0) -> list[list[Labelled]]:
    """The prompts dealt at random, answerable and unanswerable ones evenly."""
    from sklearn.model_selection import StratifiedKFold

    dealer = StratifiedKFold(count, shuffle=True, random_state=_SEED + deal)
    strata = [one.answerable for one in labelled]
    return [[labelled[place] for place in held] for _, held in dealer.split(strata, strata)]


def _out_of_fold(labelled: Sequence[Labelled], count: int) -> list[float]:
    """Raw maxrel of each prompt by a fit that has not seen it."""
    by_case: dict[int, float] = {}
    for held in _folds(labelled, count):
        inside = {id(one) for one in held}
        model = _prompt_fit([one for one in labelled if id(one) not in inside])
        by_case.update({id(one): model.probability(one.signals) if one.signals else 0.0 for one in held})
    return [by_case[id(one)] for one in labelled]


def _prompt_fit(labelled: Sequence[Labelled]) -> Logistic:
    return _logistic(PROMPT_SIGNALS, [(one.signals, one.answerable) for one in labelled if one.signals])


def _logistic(names: Sequence[str], rows: Sequence[tuple[Signals, bool]]) -> Logistic:
    """A ridge logistic (C = 1 on standardised signals), its weights turned back to the signals' own scale."""
    from sklearn.linear_model import LogisticRegression
    from sklearn.preprocessing import StandardScaler

    scaler = StandardScaler()
    values: Any = scaler.fit_transform([[signals.get(name, 0.0) for name in names] for signals, _ in rows])
    model = LogisticRegression(C=1.0, max_iter=1000, tol=1e-8).fit(values, [label for _, label in rows])
    weights = model.coef_[0] / scaler.scale_
    bias = float(model.intercept_[0] - (weights * scaler.mean_).sum())
    return Logistic(
        round(bias, 4), {name: round(float(weight), 4) for name, weight in zip(names, weights, strict=True)}
    )


def _display(maxrel: Sequence[float], right: Sequence[bool]) -> tuple[float, float]:
    """Bias and slope of a logistic over the logit of maxrel, all but unregularised."""
    from sklearn.linear_model import LogisticRegression

    model = LogisticRegression(C=1000.0, max_iter=1000, tol=1e-8).fit([[logit(value)] for value in maxrel], right)
    return round(float(model.intercept_[0]), 4), round(float(model.coef_[0][0]), 4)


def _enough(labelled: Sequence[Labelled]) -> None:
    """Two of each answer in every fold."""
    found = {
        "answerable prompts": sum(one.answerable for one in labelled),
        "unanswerable prompts": sum(not one.answerable for one in labelled),
        "answerable prompts with a gold note in the top three": sum(one.right for one in labelled),
        "prompts for which words alone find a gold note": sum(any(g for _, g in one.words_only) for one in labelled),
    }
    if min(found.values()) < LEAST:
        counts = ", ".join(f"{count} {what}" for what, count in found.items())
        raise TooFew(f"it takes {LEAST} of each, and there are {counts}")
