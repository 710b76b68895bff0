"""Ids that a table had to shorten: cut so that what is left still names one note, and read back as they were copied."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence

from chitta.cli import bookshelf
from chitta.cli.output import Least
from chitta.settings import Settings

#: More than any store holds: an id that was left out could begin like one that is shown.
_ALL = 10**9
_CUT = "…"


def least(settings: Settings) -> Least:
    """For :func:`chitta.cli.output.fitted`: reads the store's ids when it is asked, not before."""

    def lengths(wanted: Sequence[str]) -> Mapping[str, int]:
        with bookshelf.opened(settings) as snapshot:
            held = [note.id for note in snapshot.catalog.page(limit=_ALL)] if snapshot is not None else []
        return unique_lengths(wanted, held)

    return lengths


def unique_lengths(wanted: Sequence[str], held: Sequence[str]) -> dict[str, int]:
    """How many characters of each wanted id no other id begins with; all of one that begins another."""
    ordered = sorted({*wanted, *held})
    shared = [len(os.path.commonprefix(pair)) for pair in zip(ordered, ordered[1:], strict=False)]
    lengths = {
        name: min(len(name), 1 + max(before, after))
        for name, before, after in zip(ordered, [0, *shared], [*shared, 0], strict=True)
    }
    return {name: lengths[name] for name in wanted}


def typed(name: str) -> str:
    """An id as it was typed, without the mark of a shortened one that was copied with it."""
    return name.removesuffix(_CUT) or name
