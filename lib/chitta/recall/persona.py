"""Answers to questions about habits ("what testing style do we use?") in one line, instead of a search.

A note with a ``persona`` key in its front matter says one thing about how a person or a team works; the key's value
names the field (``testing_style``), the note's title is what holds. After reflect's persona short-circuit, which keeps
such fields in a table of their own.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import NamedTuple

from chitta.notes.note import Note, one_line
from chitta.recall.filters import is_retired
from chitta.recall.query_class import words_of

#: Observations at which a habit is certain, and the confidence from which it answers for a search (reflect).
CERTAIN_AT, THRESHOLD = 12, 0.8

_HABIT = frozenset(
    """
    convention conventions prefer prefers preferred preference preferences generally typically usually persona
    personas
    """.split()
)
_STYLED = frozenset("code coding team team's".split())
_ASKING = frozenset("what what's which how how's".split())
_WE = (
    "do we",
    "do i",
    "do the team",
    "does the team",
    "does our team",
    "should we",
    "is our",
    "are our",
    "is the team's",
)
_PART = re.compile(r"[^\W_]+")


class PersonaLine(NamedTuple):
    """One habit. ``confidence`` is 0–1, ``id`` the note that says it."""

    field: str
    value: str
    confidence: float
    id: str

    @property
    def line(self) -> str:
        """``testing_style: pytest with plain asserts (persona, confidence 0.83)``"""
        return f"{self.field}: {self.value} (persona, confidence {self.confidence:.2f})"


def asks_of_habits(query: str) -> bool:
    """Whether ``query`` asks how things are done in general rather than about one of them (reflect's shapes).

    It has a word of habit (convention, prefer, usually…), names the style of code or team, or asks what or how we, or
    the team, do.
    """
    words = words_of(query)
    if _HABIT.intersection(words):
        return True
    if any(first in _STYLED and second in ("style", "styles") for first, second in zip(words, words[1:], strict=False)):
        return True
    asked = next((at for at, word in enumerate(words) if word in _ASKING), None)
    if asked is None:
        return False
    rest = f" {' '.join(words[asked + 1 :])} "
    return any(f" {phrase} " in rest for phrase in _WE)


def confidence_of(note: Note) -> float:
    """``min(1, proof_count / 12)`` (reflect), or the note's own confidence where that is higher, at most 1.

    The default of 0.6 that a note has without one of its own stays below :data:`THRESHOLD`.
    """
    counted = min(1.0, note.proof_count / CERTAIN_AT)
    return min(1.0, max(counted, note.confidence))


def persona_of(query: str, notes: Iterable[Note]) -> PersonaLine | None:
    """The surest habit that ``query`` asks for by name, ties by id; None where a search has to answer.

    Every part of the field's name must be a word of the query, a plural s aside. Notes that are superseded,
    quarantined, or less sure than :data:`THRESHOLD` do not answer.
    """
    if not asks_of_habits(query):
        return None
    words = {_singular(part) for part in _PART.findall(query.lower())}
    lines = [line for note in notes if (line := _line(note)) is not None and _parts(line.field) <= words]
    return min(lines, key=lambda line: (-line.confidence, line.id), default=None)


def _line(note: Note) -> PersonaLine | None:
    name = dict(note.extra).get("persona")
    if not isinstance(name, str) or not _parts(name) or is_retired(note) or note.quarantine:
        return None
    value, confidence = one_line(note.title), confidence_of(note)
    return PersonaLine(one_line(name), value, confidence, note.id) if value and confidence >= THRESHOLD else None


def _parts(name: str) -> set[str]:
    return {_singular(part) for part in _PART.findall(name.lower())}


def _singular(word: str) -> str:
    return word[:-1] if len(word) > 3 and word.endswith("s") and not word.endswith("ss") else word
