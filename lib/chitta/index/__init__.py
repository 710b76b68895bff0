"""What is derived from the notes and can be rebuilt from them: keywords, vectors, catalog.

This file holds the few words that every part of the room uses. It imports nothing that costs.
"""

from __future__ import annotations

from typing import NamedTuple


class Hit(NamedTuple):
    """One found note: its id and a score that only its own index can compare."""

    id: str
    score: float


class IndexFault(Exception):
    """The index cannot do what was asked; ``hint`` tells a person what to do about it."""

    def __init__(self, what: str, hint: str) -> None:
        super().__init__(what)
        self.hint = hint


class IndexDamaged(IndexFault):
    """A part of the index is missing, cut short or unreadable."""

    def __init__(self, what: str, hint: str = "run `chitta reindex`; the notes themselves are safe") -> None:
        super().__init__(what, hint)


class IndexBusy(IndexFault):
    """Another process holds the write lock for longer than we wait."""


def failure(what: str, problem: BaseException) -> IndexFault:
    """The fault that a storage error stands for: no room to write, or damage."""
    reason = " ".join(str(problem).split())[:200]
    if any(sign in reason for sign in ("disk is full", "No space left", "StorageFull", "ENOSPC")):
        return IndexFault(f"{what} cannot be written: the disk is full", "make room and try again")
    return IndexDamaged(f"{what} cannot be used: {reason}")
