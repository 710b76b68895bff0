"""What was written down by a machine and never asked for fades into the archive, and can be had back. Pure.

The archive is ``status: archived`` in the note's own file: it is out of every answer and every prompt at once, one
line of a diff, and gone again with the line. Nothing is moved or deleted.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from datetime import date
from typing import Any

from chitta.notes.imprint import KEY as IMPORTED
from chitta.notes.note import Note
from chitta.recall.filters import is_retired, is_set

ARCHIVED = "archived"
#: Kinds that fade, and proofs from which a note stays.
FADING_KINDS = frozenset({"operational", "episode"})
PROVED = 3
_STATUS, _DAY, _BEFORE = "status", "archived", "status_before"


def fading(notes: Iterable[Note], used: Collection[str], today: date, days: int) -> list[Note]:
    """The notes that fade: a machine's, operational or episode, ``days`` old, never used, proved under three times.

    ``used`` are the ids that were ever shown or returned. By a machine is what was captured or imported: what a
    person wrote stays, and so do pinned notes and notes whose date cannot be read. Ties by id, the oldest first.
    """
    found = [note for note in notes if _may_fade(note) and note.id not in used and _age(note, today) >= days]
    return sorted(found, key=lambda note: (_touched(note), note.realm, note.id))


def used_ids(lines: Iterable[Mapping[str, Any]]) -> set[str]:
    """The ids that lines of the recall log and of the log of searches name as shown or returned."""
    found: set[str] = set()
    for line in lines:
        ids, admitted = line.get("ids"), line.get("admitted")
        found.update(name for name in ids if isinstance(name, str)) if isinstance(ids, list) else None
        for item in admitted if isinstance(admitted, list) else []:
            name = item.get("id") if isinstance(item, dict) else item
            if isinstance(name, str):
                found.add(name)
    return found


def archived(note: Note, day: str) -> Note:
    """The note in the archive since ``day`` (ISO)."""
    keys = dict(note.extra)
    before = keys.get(_STATUS)
    if is_archived(note):
        return note
    if before not in (None, ""):
        keys[_BEFORE] = before
    return note._replace(extra=tuple({**keys, _STATUS: ARCHIVED, _DAY: day}.items()))


def restored(note: Note, day: str) -> Note:
    """The note out of the archive; its age counts from ``day`` (ISO) again."""
    if not is_archived(note):
        return note
    keys = dict(note.extra)
    before = keys.pop(_BEFORE, None)
    keys.pop(_DAY, None)
    keys.pop(_STATUS, None)
    if before not in (None, ""):
        keys[_STATUS] = before
    return note._replace(updated=day, extra=tuple(keys.items()))


def is_archived(note: Note) -> bool:
    return str(dict(note.extra).get(_STATUS) or "").strip().lower() == ARCHIVED


def archived_on(note: Note) -> str:
    """The day on which the note went into the archive; "" where it does not say."""
    return str(dict(note.extra).get(_DAY) or "")[:10]


def _may_fade(note: Note) -> bool:
    if note.kind not in FADING_KINDS or note.proof_count >= PROVED or is_retired(note) or is_set(note, "pinned"):
        return False
    return note.authority == "captured" or is_set(note, "captured") or is_set(note, IMPORTED)


def _touched(note: Note) -> str:
    return max(note.created, note.updated)[:10]


def _age(note: Note, today: date) -> int:
    """Days since the note was last written; -1 where its date cannot be read."""
    try:
        return (today - date.fromisoformat(_touched(note))).days
    except ValueError:
        return -1
