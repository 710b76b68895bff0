"""Filters of time that a person asks for: written since, as of, known then, valid then.

A filter that was asked for is kept strictly, also where it leaves nothing. All comparisons are
half-open, ``since <= time < until``. Moments are naive and mean UTC
(:mod:`chitta.recall.temporal`); a date is its whole day, so a note of that day is on both sides
of a moment within it.

``as_of`` and ``known_as_of`` a whole day are the exception: what a note says was written on that day was
known on it, whatever day it was in Greenwich. A day is told by its last microsecond, which is what
:func:`parse_moment` makes of one and nobody writes by hand.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from datetime import datetime, time, timedelta
from typing import Literal

from chitta.notes.note import Note, one_line
from chitta.recall.temporal import Moment, in_utc, later, moment_of, on_own_clock, written
from chitta.recall.time_phrases import window_of

Cause = Literal["before", "after", "superseded", "unknown then", "not valid then", "undated"]
Edge = Literal["since", "until", "at"]
Reading = Callable[[str], Moment | None]

#: Hours of a span's unit; a month is 30 days and a year 365 (SuperLocalMemory).
_SPAN_HOURS = {"h": 1, "d": 24, "w": 7 * 24, "m": 30 * 24, "y": 365 * 24}
_SPAN = re.compile(r"(?P<count>\d{1,5})\s?(?P<unit>[hdwmy])", re.IGNORECASE | re.ASCII)
_YEAR = re.compile(r"(?:19|20)\d\d")
_SHOWN_CHARS = 60


def parse_moment(text: str, now: datetime, edge: Edge = "since") -> datetime:
    """The moment that a date, a time or a phrase ("yesterday", "last week") means; naive, UTC.

    Of a day or a longer time, ``since`` gives the first moment, ``until`` the first one after it
    and ``at`` the last microsecond of its last day, on whichever clock; an instant is the same for all. Phrases
    count from ``now``, in its time zone. Raises ``ValueError``, with a sentence for a person, for anything else:
    what cannot be read never means now.
    """
    wanted = text.strip()
    wanted = f"in {wanted}" if _YEAR.fullmatch(wanted) else wanted
    moment = moment_of(wanted)
    if moment is None:
        window = window_of(wanted, now)
        if window is None or window.span != (0, len(wanted)):
            raise ValueError(
                f"{one_line(text, _SHOWN_CHARS)!r} is no time. "
                "Write a date (2026-03-31), a time (2026-03-31T14:00Z) or a phrase such as yesterday or last week."
            )
        if edge == "at" and _is_day(window.end.replace(tzinfo=None)):
            return window.end.replace(tzinfo=None)
        end = in_utc(window.end)
        moment = Moment(in_utc(window.start), later(end, datetime.resolution), True)
    if edge == "since" or not moment.is_date:
        return moment.start
    return moment.end if edge == "until" else moment.end - datetime.resolution


def parse_span(text: str, now: datetime) -> tuple[datetime | None, datetime | None]:
    """``(since, until)`` of ``24h``, ``7d``, ``2w``, ``1m``, ``1y`` (up to and with now), or of ``a..b``.

    ``a`` and ``b`` are read by :func:`parse_moment`, ``b`` with its whole day; either may be left
    out, which leaves that side open (None). Raises ``ValueError``, with a sentence for a person.
    """
    wanted = text.strip()
    if found := _SPAN.fullmatch(wanted):
        hours, end = int(found["count"]) * _SPAN_HOURS[found["unit"].lower()], in_utc(now)
        if not hours:
            raise ValueError(f"{wanted!r} is an empty span. Write 1{found['unit']} or more.")
        try:
            return end - timedelta(hours=hours), later(end, datetime.resolution)
        except OverflowError:
            return datetime.min, later(end, datetime.resolution)
    first, dots, last = (part.strip() for part in wanted.partition(".."))
    if not dots or not (first or last):
        raise ValueError(
            f"{one_line(text, _SHOWN_CHARS)!r} is no span of time. Write 24h, 7d, 2w, 1m or 1y, or two dates: "
            "2026-03-01..2026-03-31."
        )
    since = parse_moment(first, now, "since") if first else None
    until = parse_moment(last, now, "until") if last else None
    if since is not None and until is not None and since >= until:
        raise ValueError(f"{one_line(text, _SHOWN_CHARS)!r} ends before it begins. Write the earlier date first.")
    return since, until


def successors_of(notes: Iterable[Note]) -> dict[str, Note]:
    """The note that replaced each one, by the replaced id, whichever of the two says so.

    Where several did, the one created first; an undated one comes before all, ties by id.
    """
    by_id = {note.id: note for note in notes}
    pairs = [(old, note) for note in by_id.values() for old in note.supersedes if old != note.id]
    pairs += [(n.id, by_id[n.superseded_by]) for n in by_id.values() if n.superseded_by in by_id.keys() - {n.id}]
    found: dict[str, Note] = {}
    for old, successor in sorted(pairs, key=lambda pair: (_begun(pair[1]) or datetime.min, pair[1].id)):
        found.setdefault(old, successor)
    return found


def keep(
    note: Note,
    *,
    since: datetime | None = None,
    until: datetime | None = None,
    as_of: datetime | None = None,
    known_as_of: datetime | None = None,
    valid_at: datetime | None = None,
    successors: Mapping[str, Note] | None = None,
) -> Cause | None:
    """None to keep the note, or why it is dropped. A filter that is None was not asked for.

    ``since``, ``until``: created or updated in ``since <= time < until``; else "before" or
    "after", or "undated". ``as_of`` is how things stood at that moment: "unknown then" when the note
    held only from later on (``valid_from``, else when it was first written), "superseded" when its
    successor held already, or nobody knows since when. ``known_as_of`` is what was written down at
    that moment, whatever it holds of: the same by when notes were first written, and "undated" when
    nobody knows. ``successors`` are by the id that they replace (:func:`successors_of`).
    ``valid_at``: "not valid then" unless ``valid_from <= moment < valid_until``; a bound that is missing
    or no date is open, and a date as ``valid_until`` holds to the end of that day. Without ``as_of``
    and ``known_as_of`` nothing is said of superseded notes here.
    """
    times = written(note)
    if not times and (since is not None or until is not None or known_as_of is not None):
        return "undated"
    if (cause := _outside(times, since, until)) is not None:
        return cause
    for moment, begin in ((as_of, _held_from), (known_as_of, _begun)):
        if moment is not None and (cause := _at(note, in_utc(moment), successors or {}, begin)) is not None:
            return cause
    if valid_at is not None and not _valid(note, in_utc(valid_at)):
        return "not valid then"
    return None


def _outside(times: tuple[Moment, ...], since: datetime | None, until: datetime | None) -> Cause | None:
    late = [moment for moment in times if since is None or moment.end > in_utc(since)]
    if since is not None and not late:
        return "before"
    if until is not None and all(moment.start >= in_utc(until) for moment in late):
        return "after"
    return None


def _at(
    note: Note, moment: datetime, successors: Mapping[str, Note], begin: Callable[[Note, Reading], datetime | None]
) -> Cause | None:
    read = on_own_clock if _is_day(moment) else moment_of
    since = begin(note, read)
    if since is not None and since > moment:
        return "unknown then"
    successor = successors.get(note.id)
    if successor is None:
        return "superseded" if note.superseded_by else None
    replaced = begin(successor, read)
    return "superseded" if replaced is None or replaced <= moment else None


def _held_from(note: Note, read: Reading = moment_of) -> datetime | None:
    first = read(note.valid_from)
    return first.start if first is not None else _begun(note, read)


def _begun(note: Note, read: Reading = moment_of) -> datetime | None:
    found = (read(text) for text in (note.created, note.updated))
    return min((moment.start for moment in found if moment is not None), default=None)


def _is_day(moment: datetime) -> bool:
    """Whether this is the last microsecond of a day, which stands for the day."""
    return moment.time() == time.max


def _valid(note: Note, moment: datetime) -> bool:
    first, last = moment_of(note.valid_from), moment_of(note.valid_until)
    if first is not None and moment < first.start:
        return False
    return last is None or moment < (last.end if last.is_date else last.start)
