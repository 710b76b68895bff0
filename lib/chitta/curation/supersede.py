"""A note in another's place: the newer is shown, the older stays in its file and answers questions of its time."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Protocol

from chitta.notes.frontmatter import format_note
from chitta.notes.imprint import KEY as IMPORTED
from chitta.notes.imprint import without_imprint
from chitta.notes.note import Note
from chitta.notes.store import NoteStore
from chitta.recall.filters import content_hash, named

#: Front-matter key of an older version whose id its successor has: that id.
VERSION_OF = "version_of"
_ID_CHARS = 180
_DIGEST_CHARS = 8


class Placed(Protocol):
    """A note and its file, as :class:`chitta.cli.bookshelf.Found` is."""

    @property
    def note(self) -> Note: ...

    @property
    def path(self) -> Path: ...


def supersede(store: NoteStore, old: Placed | Note, new: Note, day: str) -> tuple[Note, Note]:
    """Write ``new`` in the place of ``old`` from ``day`` (ISO) on, and give both as they were written.

    Where the two have one id (a changed source that is imported again), the newer keeps it, with its file, and the
    older becomes a note of its own, ``<id>.<8 hex>``. Nothing is written where they say the same in the same words.
    Raises ``OSError`` and ``ValueError`` as :meth:`NoteStore.write` does.
    """
    note = old if isinstance(old, Note) else old.note
    path = store.find(note.id, note.realm) if isinstance(old, Note) else old.path
    one_id = (note.id, note.realm) == (new.id, new.realm)
    if one_id and says_the_same(note, new):
        return note, note
    older, newer = superseded(note, new, day)
    if one_id:  # the older one first: a crash between the two loses neither
        store.write(older)
        store.write(newer, path=path)
    else:
        store.write(newer, path=store.find(newer.id, newer.realm))
        store.write(older, path=path)
    return older, newer


def superseded(old: Note, new: Note, day: str) -> tuple[Note, Note]:
    """Both notes as they stand when ``new`` has taken the place of ``old`` on ``day``. Pure.

    The older is valid until that day where it says nothing else. The newer begins that day where it says no date, or
    one that is not later than the older's: else both would be the truth of one time. Where it was replaced by the
    older one before, it is so no more: two notes that replace each other would both be gone.
    """
    older = old._replace(
        valid_until=old.valid_until or day, supersedes=tuple(name for name in old.supersedes if name != new.id)
    )
    if (old.id, old.realm) == (new.id, new.realm):
        extra = tuple((key, value) for key, value in without_imprint(old).extra if key != VERSION_OF)
        older = older._replace(id=version_id(old), extra=(*extra, (VERSION_OF, old.id)))
    before = named(old.superseded_by)
    older = older._replace(superseded_by=new.id if before in ("", old.id) else before)
    if named(new.superseded_by) in (old.id, new.id):
        new = current(new)
    created = new.created if new.created and new.created > old.created else max(new.updated or day, new.created)
    replaced = tuple(dict.fromkeys((*new.supersedes, older.id)))
    newer = new._replace(created=created, supersedes=replaced)
    return older, _remembering(newer, old) if older.id != old.id else newer


def _remembering(new: Note, old: Note) -> Note:
    """The note with the import that the older one of its id remembers: it counts as edited since, not as never read."""
    keys = dict(new.extra)
    said = dict(old.extra).get(IMPORTED)
    return new if said is None or IMPORTED in keys else new._replace(extra=(*new.extra, (IMPORTED, said)))


def current(note: Note) -> Note:
    """The note as one that nothing replaces: without the mark, and the day that came with it."""
    return note._replace(superseded_by="", valid_until="") if named(note.superseded_by) else note


def version_id(note: Note) -> str:
    """The id of an older version: the note's, a dot, and 8 hex characters of what it says."""
    digest = hashlib.sha256(format_note(without_imprint(note)).encode()).hexdigest()[:_DIGEST_CHARS]
    return f"{note.id[:_ID_CHARS]}.{digest}"


def is_version(older: Note, newer: Note) -> bool:
    """Whether the one is an earlier version of the other, under an id of its own."""
    return dict(older.extra).get(VERSION_OF) == newer.id


def says_the_same(one: Note, other: Note) -> bool:
    """Whether title, text and the sides of a correction are the same, white space aside."""
    return content_hash(one) == content_hash(other) and (one.title, one.wrong, one.right) == (
        other.title,
        other.wrong,
        other.right,
    )
