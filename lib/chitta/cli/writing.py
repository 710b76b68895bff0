"""Writing a note on a person's behalf: added, updated, or left alone because nothing changed."""

from __future__ import annotations

import datetime
from pathlib import Path
from typing import NamedTuple

from chitta.cli.bookshelf import Found
from chitta.notes.frontmatter import format_note
from chitta.notes.note import Note
from chitta.notes.store import NoteStore

ADDED = "added"
UPDATED = "updated"
UNCHANGED = "unchanged"


class Written(NamedTuple):
    """What became of a note, and its file (where it would go, for a dry run)."""

    outcome: str
    note: Note
    path: Path | None


def put(store: NoteStore, note: Note, standing: Found | None, *, dry_run: bool = False) -> Written:
    """Write ``note`` over the one that stands for it, or as a new one; an equal note is not rewritten.

    A note that says no date is created today. Raises ``OSError`` and ``ValueError``.
    """
    today = datetime.date.today().isoformat()
    if standing is None:
        fresh = note._replace(created=note.created or today)
        return Written(ADDED, fresh, None if dry_run else store.write(fresh))
    old, path = standing
    same = note._replace(created=note.created or old.created, updated=note.updated or old.updated)
    if format_note(same) == format_note(old):
        return Written(UNCHANGED, old, path)
    changed = same._replace(updated=note.updated or today)
    if not dry_run:
        store.write(changed, path=path)
    return Written(UPDATED, changed, path)
