"""The arm of time: notes from a window of days, and notes in the order of their times.

Times here are naive and mean UTC: an offset is converted, a time without one is taken as it
stands. A note without a readable date is invisible to this arm; its time is never guessed.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable
from datetime import datetime, timedelta, timezone
from typing import TYPE_CHECKING, Literal, NamedTuple

from chitta.notes.note import Note
from chitta.recall.fuse import ordered

if TYPE_CHECKING:
    from chitta.recall.time_phrases import Window

Order = Literal["oldest", "newest"]

_MOMENT = re.compile(
    r"\s*(?P<year>\d{4})(?P<dash>[-/])(?P<month>\d{1,2})(?P=dash)(?P<day>\d{1,2})"
    r"(?:(?:[Tt]|\s{1,3})(?P<hour>\d{1,2}):(?P<minute>\d\d)(?::(?P<second>\d\d)(?:[.,](?P<fraction>\d{1,9}))?)?"
    r"\s{0,3}(?:(?P<utc>[Zz]|UTC|GMT)|(?P<sign>[+-])(?P<hours>\d\d):?(?P<minutes>\d\d)?)?)?\s*\Z"
)

_QUOTED = re.compile(r"```.*?(?:```|\Z)|`[^`\n]*`|'[^'\s]*'|\"[^\"\n]*\"", re.DOTALL)


class Moment(NamedTuple):
    """A time as it was written: ``start`` up to ``end``, without it. A date is its whole day in UTC."""

    start: datetime
    end: datetime
    is_date: bool


def moment_of(text: str) -> Moment | None:
    """An ISO 8601 date or time of day (``-`` or ``/``, ``T`` or a space, any offset); None for all else.

    An instant lasts a microsecond, the smallest step there is. Never raises.
    """
    found = _MOMENT.match(text)
    if found is None:
        return None
    try:
        start = datetime(int(found["year"]), int(found["month"]), int(found["day"]))
        if found["hour"] is None:
            return Moment(start, later(start, timedelta(days=1)), True)
        start = start.replace(
            hour=int(found["hour"]),
            minute=int(found["minute"]),
            second=int(found["second"] or 0),
            microsecond=int((found["fraction"] or "").ljust(6, "0")[:6]),
        )
        if found["sign"]:
            offset = timedelta(hours=int(found["hours"]), minutes=int(found["minutes"] or 0))
            start = start - offset if found["sign"] == "+" else start + offset
    except (ValueError, OverflowError):
        return None
    return Moment(start, later(start, datetime.resolution), False)


def on_own_clock(text: str) -> Moment | None:
    """The same as it was written, its offset left out: the day and the time that the writer's own clock showed."""
    found = _MOMENT.match(text)
    if found is None:
        return None
    offset = found.start("utc") if found["utc"] else found.start("sign") if found["sign"] else len(text)
    return moment_of(text[:offset]) if moment_of(text) is not None else None


def spoken(text: str) -> str:
    """The text with code and quoted values blanked, at its length: a date in a query to a database names no time."""
    return _QUOTED.sub(lambda found: " " * len(found.group()), text)


def later(moment: datetime, by: timedelta) -> datetime:
    """``moment + by``, or the last moment that a calendar has."""
    return moment + by if by <= datetime.max - moment else datetime.max


def in_utc(moment: datetime) -> datetime:
    """A moment with a time zone as a naive one in UTC; a naive one as it is.

    Where the conversion leaves the calendar, the clock is kept and the zone dropped.
    """
    if moment.tzinfo is None:
        return moment
    try:
        return moment.astimezone(timezone.utc).replace(tzinfo=None)
    except OverflowError:
        return moment.replace(tzinfo=None)


def note_times(note: Note) -> tuple[datetime, ...]:
    """When the note was created, updated, and became valid: those of them that can be read, in this order."""
    found = (moment_of(text) for text in (note.created, note.updated, note.valid_from))
    return tuple(moment.start for moment in found if moment is not None)


def written(note: Note) -> tuple[Moment, ...]:
    """When the note was created and updated: those of them that can be read, in this order."""
    found = (moment_of(text) for text in (note.created, note.updated))
    return tuple(moment for moment in found if moment is not None)


def in_window(
    notes: Iterable[Note], window: Window, wanted: Collection[str], terms_of: Callable[[Note], Collection[str]]
) -> list[tuple[str, float]]:
    """Notes created or updated inside the window, best first, as ``(id, score)``.

    ``wanted`` are the distinct terms of the prompt without the window's phrase, ``terms_of``
    gives a note's. Score: ``(covered + near) / (wanted + 1)``, in 0–1, where ``covered`` counts
    the wanted terms that the note holds and ``near`` is ``1 − distance / width``, from the
    middle of the window (1) to its edges (0.5): coverage first, then nearness (reflect), ties by id.
    """
    start, end = in_utc(window.start), in_utc(window.end)
    width = max(end - start, datetime.resolution)
    middle = start + width / 2
    terms = frozenset(wanted)
    scores: dict[str, float] = {}
    for note in notes:
        inside = [moment.start for moment in written(note) if start <= moment.start <= end]
        if inside:
            near = 1.0 - min(abs(moment - middle) for moment in inside) / width
            scores[note.id] = (len(terms.intersection(terms_of(note))) + near) / (len(terms) + 1)
    return ordered(scores)


def ordered_by_time(notes: Iterable[Note], order: Order) -> list[tuple[str, float]]:
    """The dated notes, "oldest" by when they were first written, "newest" by when last; ties by id.

    For a question about the order of events, over the notes that fit its subject. Score:
    ``(count − rank) / count``, rank from 0, so in 0–1; notes of the same time have the same.
    """
    times = [(note.id, [moment.start for moment in written(note)]) for note in notes]
    edge = {name: min(found) if order == "oldest" else max(found) for name, found in times if found}
    ranks = {moment: rank for rank, moment in enumerate(sorted(set(edge.values()), reverse=order == "newest"))}
    return ordered({name: (len(ranks) - ranks[moment]) / len(ranks) for name, moment in edge.items()})


# "Use the latest version" and "first run the tests" ask for no order of events.
_ORDERS: tuple[tuple[Order, re.Pattern[str]], ...] = (
    (
        "oldest",
        re.compile(
            r"\b(?:(?:the|our|my)\s+(?:very\s+)?first\s+time|(?:did|have|had|has|was|were)\s+(?:\w+\s+){1,3}first\b"
            r"|(?:came|come|comes|happened|was|were)\s+first|earliest|oldest|originally)\b",
            re.IGNORECASE,
        ),
    ),
    (
        "newest",
        re.compile(
            r"\b(?:most\s+recent(?:ly)?|(?:the|our|my)\s+last\s+time"
            r"|(?:did|have|had|has|was|were)\s+(?:\w+\s+){1,3}last\b(?!\s+(?:week|month|year|night|quarter|sprint|\w+day))"
            r"|(?:came|come|comes|happened)\s+last"
            r"|(?:the|our|my)\s+(?:latest|newest)(?!\s+(?:\w+\s+)?(?:versions?|releases?|builds?|images?|tags?|commits?|lts|stable|main|master)\b))\b",
            re.IGNORECASE,
        ),
    ),
)


def event_order(text: str) -> Order | None:
    """Whether the text asks for the first or for the last of several events; the earlier phrase decides.

    "When did we first deploy" and "what came first" give "oldest", "the most recent decision" and
    "our latest choice" give "newest"; None for all other texts.
    """
    found = [(match.start(), order) for order, pattern in _ORDERS if (match := pattern.search(text)) is not None]
    return min(found)[1] if found else None
