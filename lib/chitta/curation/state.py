"""What keeps a note from being one of many: it waits, is held back, was replaced, or was put away. Pure."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from chitta.curation.decay import is_archived
from chitta.curation.opinion import DOUBTED
from chitta.curation.promotion import CAPTURED
from chitta.notes.note import Note
from chitta.recall.filters import contradicted, is_retired, named
from chitta.safety import RENAMING, SUSPECTED

#: As lists and JSON have them; "" is a note in good standing.
WAITING, QUARANTINED, SUPERSEDED, ARCHIVED = "waiting", "quarantined", "superseded", "archived"
CONFLICT = "conflict"
#: As a row of an answer says it.
WORDS = {
    WAITING: "waits for review",
    QUARANTINED: "in quarantine",
    SUPERSEDED: "superseded",
    ARCHIVED: "archived",
    CONFLICT: "in conflict",
    DOUBTED: "doubted",
}


def state_of(note: Note, disputed: Collection[str] = ()) -> str:
    """What weighs most: archived, superseded, quarantined, conflict, waiting (captured, not reviewed), doubted, or "".

    ``disputed`` are ids that other notes say they contradict: of two versions, one alone names the other.
    """
    if is_archived(note):
        return ARCHIVED
    if is_retired(note):
        return SUPERSEDED
    if note.quarantine:
        return QUARANTINED
    if note.id in disputed or contradicted(note):
        return CONFLICT
    return {CAPTURED: WAITING, DOUBTED: DOUBTED}.get(note.authority, "")


def disputed(notes: Iterable[Note]) -> frozenset[str]:
    """Ids that these notes contradict, as far as they are current themselves."""
    return frozenset(name for note in notes if not is_retired(note) for name in contradicted(note))


def sentence(note: Note, name: str, against: Collection[str] = ()) -> str:
    """A sentence on a note that is not in good standing, and what changes that; "" for one in it. ``name``: its id.

    ``against`` are ids of notes that contradict it.
    """
    state = state_of(note, [note.id] if against else ())
    if state == CONFLICT:
        others = ", ".join((*contradicted(note), *against))
        return f"This note and {others} say otherwise, from two machines; `chitta review` asks which one is right."
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
