"""From absolute evidence to probabilities, and from a probability to what people are shown.

A calibration is a small JSON file: logistic weights by signal name for a note (with a measured
cosine, and from words only) and for the whole prompt, the band threshold on raw maxrel, and the
display fit (a logistic over the logit of maxrel). The shipped one is replaced by
``$CHITTA_HOME/calibration.json`` when that is there and whole.
"""

from __future__ import annotations

import math
import os
from collections.abc import Mapping
from typing import Any, NamedTuple

from chitta.settings import Settings
from chitta.wire import codec

VERSION = 1
#: Name of the calibration in the package.
SHIPPED = "shipped"

#: Notes of a place from which on the shipped fit holds as it is, and the weight of there being fewer. Where few notes
#: compete, one that is as near is likelier the right one. Measured over stores of 8, 20 and 60 developer notes, whole
#: and cut to one sentence, with 240 prompts each that none of them answers: with both rules these bring a note 3 to
#: 4 times in 100, as they do among 2,643; of 20 whole notes .81 of the answers are shown where .65 were, of 20 of one
#: sentence .38 where .17 were, of 60 such .32 where .24 were.
ENOUGH_NOTES = 60
FEW_WEIGHT = 0.8
#: No place is taken for smaller than this.
FEWEST_NOTES = 4
#: Characters of a note up to which it is one thing said in a sentence or two, and what that adds: it holds fewer of a
#: prompt's words and is less near than a page on the same subject.
BRIEF_CHARS = 240
BRIEF_WEIGHT = 0.5


class Logistic(NamedTuple):
    """``p = 1 / (1 + exp(−(bias + Σ weight · signal)))``; a signal that is absent counts 0."""

    bias: float
    weights: dict[str, float]

    def probability(self, signals: Mapping[str, float], odds: float = 0.0) -> float:
        """The probability, 0–1. ``odds`` are added to its logarithmic odds."""
        total = self.bias + odds + sum(weight * signals.get(name, 0.0) for name, weight in self.weights.items())
        return sigmoid(total)


class Calibration(NamedTuple):
    """The three fits, the band threshold on raw maxrel and the display fit (bias, slope)."""

    name: str
    model: str
    note: Logistic
    note_words_only: Logistic
    prompt: Logistic
    threshold: float
    display: tuple[float, float]

    def percent(self, maxrel: float) -> int:
        """Displayed percent, 1 to 99: ``sigmoid(bias + slope · logit(maxrel))``. Nothing here is ever certain."""
        bias, slope = self.display
        return min(max(round(100 * sigmoid(bias + slope * logit(maxrel))), 1), 99)


def prior_odds(among: int, characters: int) -> float:
    """What a note's own length and its being one ``among`` so many (0: not told) add to the logarithmic odds of it."""
    few = math.log(ENOUGH_NOTES / max(among, FEWEST_NOTES)) if 0 < among < ENOUGH_NOTES else 0.0
    return FEW_WEIGHT * few + BRIEF_WEIGHT * (characters <= BRIEF_CHARS)


def sigmoid(value: float) -> float:
    if value >= 0:
        return 1.0 / (1.0 + math.exp(-min(value, 700.0)))
    power = math.exp(max(value, -700.0))
    return power / (1.0 + power)


def logit(probability: float) -> float:
    """Inverse of the sigmoid; probabilities are held between 0.001 and 0.999."""
    held = min(max(probability, 0.001), 0.999)
    return math.log(held / (1.0 - held))


def load(settings: Settings) -> Calibration:
    """The store's own calibration when there is a whole one, else the shipped one."""
    own = os.path.join(settings.home, "calibration.json")
    try:
        return read(own)
    except (OSError, ValueError):
        return shipped()


def shipped() -> Calibration:
    """The calibration in the package."""
    return read(os.path.join(os.path.dirname(os.path.abspath(__file__)), "calibration.json"))


def read(path: str) -> Calibration:
    """Read one file. Raises ``OSError`` or ``ValueError``."""
    with open(path, "rb") as file:
        value = codec.loads(file.read(1_000_000))
    if not isinstance(value, dict) or value.get("version") != VERSION:
        raise ValueError(f"{path}: not a calibration of version {VERSION}")
    try:
        display = value["display"]
        return Calibration(
            name=str(value["name"]),
            model=str(value["model"]),
            note=_logistic(value["note"]),
            note_words_only=_logistic(value["note_words_only"]),
            prompt=_logistic(value["prompt"]),
            threshold=_finite(value["threshold"]),
            display=(_finite(display["bias"]), _finite(display["slope"])),
        )
    except (KeyError, TypeError, AttributeError) as problem:
        raise ValueError(f"{path}: incomplete calibration: {problem}") from None


def _logistic(value: dict[str, Any]) -> Logistic:
    return Logistic(_finite(value["bias"]), {str(name): _finite(w) for name, w in value["weights"].items()})


def _finite(value: Any) -> float:
    number = float(value)
    if not math.isfinite(number):
        raise ValueError("a weight is not finite")
    return number
