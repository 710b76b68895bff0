"""What keeps a note from being one of many: it waits, is held back, was replaced, or was put away. Pure."""

from __future__ import annotations

from chitta.curation.decay import is_archived
from chitta.curation.opinion import DOUBTED
from chitta.curation.promotion import CAPTURED
from chitta.notes.note import Note
from chitta.recall.filters import is_retired, named
from chitta.safety import RENAMING, SUSPECTED

#: As lists and JSON have them; "" is a note in good standing.
WAITING, QUARANTINED, SUPERSEDED, ARCHIVED = "waiting", "quarantined", "superseded", "archived"
#: As a row of an answer says it.
WORDS = {
    WAITING: "waits for review",
    QUARANTINED: "in quarantine",
    SUPERSEDED: "superseded",
    ARCHIVED: "archived",
    DOUBTED: "doubted",
}


def state_of(note: Note) -> str:
    """What weighs most: archived, superseded, quarantined, waiting (captured, not reviewed), doubted, or ""."""
    if is_archived(note):
        return ARCHIVED
    if is_retired(note):
        return SUPERSEDED
    if note.quarantine:
        return QUARANTINED
    return {CAPTURED: WAITING, DOUBTED: DOUBTED}.get(note.authority, "")


def sentence(note: Note, name: str) -> str:
    """A sentence on a note that is not in good standing, and what changes that; "" for one in it. ``name``: its id."""
    state = state_of(note)
    if state == SUPERSEDED:
        by = named(note.superseded_by)
        return f"This note was replaced{f' by {by}' if by else ''}: it comes up only for questions about its time."
    if state == QUARANTINED:
        why = dict(note.extra).get(SUSPECTED)
        reasons = f" ({'; '.join(map(str, why))})" if isinstance(why, list) and why else ""
        out = "" if RENAMING in reasons else f"; `chitta review {name}` lets it out"
        return f"This note is in quarantine{reasons}: no prompt shows it{out}."
    return {
        ARCHIVED: f"This note is in the archive: nothing shows it; `chitta archive --restore {name}` brings it back.",
        WAITING: f"This note was captured and waits for you: no prompt shows it; `chitta review {name}` decides.",
        DOUBTED: f"This note is doubted after feedback: it ranks low; `chitta review {name}` decides.",
    }.get(state, "")
