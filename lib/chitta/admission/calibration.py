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


class Logistic(NamedTuple):
    """``p = 1 / (1 + exp(−(bias + Σ weight · signal)))``; a signal that is absent counts 0."""

    bias: float
    weights: dict[str, float]

    def probability(self, signals: Mapping[str, float]) -> float:
        """The probability, 0–1."""
        total = self.bias + sum(weight * signals.get(name, 0.0) for name, weight in self.weights.items())
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
