"""Found notes in the order of time, the best one among what was written just before and after it."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timezone
from typing import TYPE_CHECKING, NamedTuple

from chitta.cli import bookshelf, output
from chitta.settings import Settings

if TYPE_CHECKING:
    from chitta.gateway.question import Question
    from chitta.notes.note import Note
    from chitta.wire.rows import Row

#: Notes before, and after, the best hit.
BESIDE = 3
#: Notes of a realm that are looked through for the best hit's neighbours.
_LOOK_THROUGH = 20_000
_DATE_CHARS = len("2026-01-31")
_EVER = datetime.min.replace(tzinfo=timezone.utc)


class Moment(NamedTuple):
    """One line of the timeline; ``hit`` is the note's place in the answer, 0 for one that was only near in time."""

    date: str
    id: str
    title: str
    realm: str
    hit: int = 0


def timeline(settings: Settings, question: Question, rows: Sequence[Row]) -> list[Moment]:
    """The rows, best first, as moments, oldest first; notes without a date come before all."""
    from chitta.recall.filters import touched

    places = {row.id: place for place, row in enumerate(rows, start=1)}
    with bookshelf.opened(settings) as snapshot:
        held = snapshot.catalog.notes(list(places)) if snapshot is not None else {}
        best = held.get(rows[0].id) if rows else None
        beside: list[Note] = []
        if snapshot is not None and best is not None:
            page = snapshot.catalog.page(best.realm, limit=_LOOK_THROUGH)
            beside = _beside(best, [note for note in page if note.id == best.id or _may_be_shown(note, question)])
    moments = [
        _moment(note, places.get(note.id, 0)) for note in {**held, **{note.id: note for note in beside}}.values()
    ]
    lost = [row for row in rows if row.id not in held]
    moments += [Moment(row.created[:_DATE_CHARS], row.id, row.title, row.realm, places[row.id]) for row in lost]
    written = {note.id: touched(note) for note in (*held.values(), *beside)}
    return sorted(moments, key=lambda one: (written.get(one.id) or _EVER, one.id))


def draw(moments: Sequence[Moment], count: int, least: output.Least | None = None) -> None:
    """So many moments as a table, the best hits before all others; hits have their number."""
    kept = set(sorted(moments, key=lambda one: (not one.hit, one.hit))[:count])
    several = len({one.realm for one in moments}) > 1
    columns = ["hit", "date", "id", "title"] + (["realm"] if several else [])
    cells = [
        [str(one.hit or ""), one.date or "-", one.id, one.title] + ([one.realm] if several else [])
        for one in moments
        if one in kept
    ]
    output.table(columns, cells, right=("hit",), cut="title", spare=("realm",) if several else (), least=least)


def _beside(best: Note, newest_first: Sequence[Note]) -> list[Note]:
    at = next((place for place, note in enumerate(newest_first) if note.id == best.id), None)
    return [] if at is None else list(newest_first[max(at - BESIDE, 0) : at + BESIDE + 1])


def _may_be_shown(note: Note, question: Question) -> bool:
    """What was not known or not true at the time that was asked about stays out of its surroundings, too."""
    from chitta.recall import filters, validity

    if filters.is_bookkeeping(note) or (note.quarantine and not question.include_quarantined):
        return False
    known = question.known_as_of or question.as_of
    return validity.keep(note, known_as_of=known, valid_at=question.valid_at) is None


def _moment(note: Note, hit: int) -> Moment:
    return Moment(_stamp(note)[:_DATE_CHARS], note.id, note.title, note.realm, hit)


def _stamp(note: Note) -> str:
    return max(note.created, note.updated)
