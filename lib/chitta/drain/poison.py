"""Transcripts that could not be read in several tries: ``$CHITTA_HOME/state/drain-poison.jsonl``, until a person
asks for them again."""

from __future__ import annotations

from typing import Any, NamedTuple

from chitta import bounded_log
from chitta.drain.queue import Entry

NAME = "drain-poison.jsonl"


class Poisoned(NamedTuple):
    """An entry of the queue, why it was set aside and when."""

    entry: Entry
    why: str
    ts: str


def add(state_dir: str, entry: Entry, why: str, ts: str) -> None:
    """Set a transcript aside. Raises ``OSError``."""
    bounded_log.append(state_dir, NAME, {**entry._asdict(), "why": why, "at": ts})


def read(state_dir: str) -> list[Poisoned]:
    """One per transcript, the one set aside first in front."""
    found: dict[str, Poisoned] = {}
    for line in bounded_log.read(state_dir, NAME):
        one = _poisoned(line)
        if one is not None:
            found[one.entry.transcript] = one
    return list(found.values())


def clear(state_dir: str) -> None:
    """Nothing is set aside from now on. Raises ``OSError``."""
    bounded_log.replace(state_dir, NAME, [])


def _poisoned(line: dict[str, Any]) -> Poisoned | None:
    texts = {name: line.get(name, "") for name in (*Entry._fields, "why", "at")}
    if not all(isinstance(text, str) for text in texts.values()) or not texts["transcript"]:
        return None
    why, moment = texts.pop("why"), texts.pop("at")
    return Poisoned(Entry(**texts), why, moment)
