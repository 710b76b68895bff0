"""The catalogue's frame: a fault is a function that spoils one slot of a run."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from tests.faults.world import Run

Spoil = Callable[[Run], None]


class Fault(NamedTuple):
    """``slot``: what it spoils, for two faults of one slot never meet. ``weight``: how often it is drawn."""

    name: str
    slot: str
    spoil: Spoil
    weight: int
    long: bool


FAULTS: dict[str, Fault] = {}


def fault(slot: str, name: str, *, weight: int = 4, long: bool = False) -> Callable[[Spoil], Spoil]:
    """Put a function into the catalogue; ``long`` ones are drawn only when asked for."""

    def keep(spoil: Spoil) -> Spoil:
        FAULTS[f"{slot}: {name}"] = Fault(f"{slot}: {name}", slot, spoil, weight, long)
        return spoil

    return keep


def named(slot: str, spoils: dict[str, Spoil], weight: int = 4) -> None:
    """Put several functions of one slot in."""
    for name, spoil in spoils.items():
        fault(slot, name, weight=weight)(spoil)
