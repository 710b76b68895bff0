"""A stated relation between two names, and what names are compared by.

Imported on the prompt path when the daemon is away: nothing but ``typing``.
"""

from __future__ import annotations

from typing import NamedTuple


class Triplet(NamedTuple):
    """One stated relation, ends as they are written; ``relation`` in lower case with underscores."""

    source: str
    relation: str
    target: str


class Edge(NamedTuple):
    """A :class:`Triplet` and the id of the note that states it."""

    source: str
    relation: str
    target: str
    note: str


def name_key(name: str) -> str:
    """What names are compared by: no white space, no case."""
    return "".join(name.split()).casefold()
