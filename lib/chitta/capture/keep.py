"""A captured note into the store: new, or one more session for a note that says the same."""

from __future__ import annotations

from pathlib import Path

from chitta.curation.proof import SESSION, proved
from chitta.notes.alone import alone
from chitta.notes.ids import file_name
from chitta.notes.note import Note
from chitta.notes.realms import realm_folder
from chitta.notes.store import NoteStore

ADDED, PROVED, KNOWN, REFUSED, RENEWED = "added", "proved", "known", "refused", "renewed"


def keep(store: NoteStore, note: Note, *, state_dir: str) -> str:
    """Write the note, or count its session in the note of that id; which of the four words came of it.

    Only the file of that name is looked at, no folder is read. A note that a person has edited or
    promoted keeps everything but its count, its sessions and its date. Raises ``OSError`` and ``ValueError``.
    """
    from chitta.curation.refused import is_refused

    if is_refused(state_dir, note.realm, note.id):
        return REFUSED
    with alone(state_dir):  # whoever holds it too long is not waited for
        path = place_of(store, note.realm, note.id)
        there = read_at(store, path, note)
        if there is None:
            store.write(note)
            return ADDED
        again = proved(there, str(dict(note.extra).get(SESSION, "")), note.created or there.updated)
        if again is there:
            return KNOWN
        store.write(again, path=path)
        return PROVED


def renew(store: NoteStore, note: Note, *, state_dir: str) -> str:
    """Give a captured note the text of this one, where nobody has made anything else of it; one that is not there yet
    (it is being written at this moment) is written as this. Raises ``OSError`` and ``ValueError``.
    """
    from chitta.curation.refused import is_refused

    if is_refused(state_dir, note.realm, note.id):
        return REFUSED
    with alone(state_dir):  # whoever holds it too long is not waited for
        path = place_of(store, note.realm, note.id)
        there = read_at(store, path, note)
        old, new = dict(there.extra if there is not None else ()), dict(note.extra)
        if there is None:
            store.write(note)
            return ADDED
        if there.kind != note.kind or old.get("captured") != new["captured"]:
            return KNOWN
        # Whoever has written into it since keeps what was written.
        if not note.text.startswith(there.text):
            return KNOWN
        store.write(there._replace(text=note.text), path=path)
        return RENEWED


def place_of(store: NoteStore, realm: str, note_id: str) -> Path:
    """Where a note of this realm and id is as a rule."""
    return store.root / realm_folder(realm) / file_name(note_id)


def read_at(store: NoteStore, path: Path, wanted: Note) -> Note | None:
    """The note at a place, where it is the one of that id."""
    try:
        there = store.read(path)
    except (OSError, ValueError):
        return None
    return there if (there.id, there.realm) == (wanted.id, wanted.realm) else None
