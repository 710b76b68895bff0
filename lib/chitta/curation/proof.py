"""The same learning from another session is a proof of it. Pure."""

from __future__ import annotations

from chitta.notes.note import Note

#: Sessions that a note names at most; more are counted only.
MOST_SESSIONS = 20
SESSION, SESSIONS = "session", "sessions"


def proved(note: Note, session: str, day: str) -> Note:
    """The note with one more proof and ``session`` among its sessions; as it is where that session proved it before.

    ``proof_count`` counts the sessions of which it was learned, and what it counted before they were kept. Of more
    than 20 sessions the newest stay. ``day`` (ISO) becomes ``updated``; every other field stays.
    """
    known = sessions_of(note)
    if not session or session in known:
        return note
    count = max(note.proof_count, len(known)) + 1
    extra = tuple((key, value) for key, value in note.extra if key != SESSIONS)
    kept = [*known, session][-MOST_SESSIONS:]
    return note._replace(proof_count=count, updated=day, extra=(*extra, (SESSIONS, kept)))


def sessions_of(note: Note) -> list[str]:
    """The sessions that the note was learned in, as far as it names them, the oldest first."""
    keys = dict(note.extra)
    named = keys.get(SESSIONS)
    found = [str(one) for one in named if one] if isinstance(named, list) else []
    first = str(keys.get(SESSION) or "")
    if first and first not in found and len(found) < MOST_SESSIONS:
        found.insert(0, first)
    return found
