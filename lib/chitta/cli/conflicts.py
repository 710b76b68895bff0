"""Two notes of which a sync kept both, since two machines had changed the same lines: a person chooses."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from chitta.cli import bookshelf
from chitta.cli.failure import Failure
from chitta.notes.note import Note
from chitta.notes.store import NoteStore
from chitta.recall.filters import CONFLICTS_WITH, contradicted
from chitta.settings import Settings

if TYPE_CHECKING:
    from chitta.index.snapshot import Snapshot

THIS, OTHER, BOTH = "this", "other", "both"
CHOICES = {"t": "this one is right", "o": "other one is right", "b": "both stay"}
#: What the winning version brings into the note that keeps its id.
_SAID = ("title", "text", "wrong", "right", "updated")


def every(snapshot: Snapshot | None) -> list[Note]:
    """Every note that contradicts another one, by id."""
    return snapshot.catalog.holding([f'"{CONFLICTS_WITH}"']) if snapshot is not None else []


def other_of(settings: Settings, note: Note) -> bookshelf.Found | None:
    """The note that this one contradicts; None where it is gone."""
    with bookshelf.opened(settings) as snapshot:
        shelf = bookshelf.Shelf(settings, snapshot)
        found = [shelf.locate(note._replace(id=name)) for name in contradicted(note)]
    return next((one for one in found if one is not None), None)


def settle(settings: Settings, item: bookshelf.Found, choice: str) -> list[Path]:
    """Keep this one, the other or both; the files that changed. The one that stays alone has the other's id.

    Raises ``Failure`` where the other one is gone and is to be kept, ``OSError`` and ``ValueError`` as the store does.
    """
    store, other = NoteStore(settings.notes_dir), other_of(settings, item.note)
    if choice == OTHER and other is None:
        raise Failure("the other note is gone")
    touched = [item.path]
    if choice == OTHER:
        item.path.unlink(missing_ok=True)
    elif choice == BOTH or other is None:
        extra = tuple((key, value) for key, value in item.note.extra if key != CONFLICTS_WITH)
        store.write(item.note._replace(extra=extra), path=item.path)
    else:
        whole = other.note._replace(**{name: getattr(item.note, name) for name in _SAID})
        touched.append(store.write(whole, path=other.path))
        item.path.unlink(missing_ok=True)
    return touched
