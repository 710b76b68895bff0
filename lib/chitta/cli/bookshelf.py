"""Finding notes for hands: by the id that a command was given, through the catalog or the files."""

from __future__ import annotations

import difflib
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from chitta.cli.failure import Busy, Failure, Nothing
from chitta.notes.alone import alone
from chitta.notes.ids import file_name, hashed_file_name
from chitta.notes.note import Note
from chitta.notes.realms import realm_folder
from chitta.notes.store import NoteStore
from chitta.settings import Settings

if TYPE_CHECKING:
    from chitta.index.snapshot import Snapshot

#: Ids looked through for one like the one that was not found.
_LOOK_THROUGH = 20_000
#: More than any store holds: whether an id is the only one that begins so must not be a guess.
_ALL = 10**9
#: Ids shown of those that begin alike.
_SHOWN = 10


class Found(NamedTuple):
    """A note and its file."""

    note: Note
    path: Path


@contextmanager
def opened(settings: Settings) -> Iterator[Snapshot | None]:
    """The index, open for the block; None where there is none yet."""
    from chitta.index.snapshot import open_snapshot

    snapshot = open_snapshot(settings.index_dir)
    try:
        yield snapshot
    finally:
        if snapshot is not None:
            snapshot.close()


@contextmanager
def changing(settings: Settings) -> Iterator[None]:
    """Notes are read and written back by this process alone during the block; what was read before it is read
    :func:`again`. Raises :class:`Busy`.
    """
    with alone(settings.state_dir) as had:
        if not had:
            raise Busy("another process keeps writing notes", "nothing was changed; try again in a moment")
        yield


def again(settings: Settings, found: Found) -> Found:
    """The note as its file has it now. Raises :class:`Failure` where that holds it no more."""
    try:
        note = NoteStore(settings.notes_dir).read(found.path)
    except FileNotFoundError:
        note = None
    if note is None or (note.id, note.realm) != (found.note.id, found.note.realm):
        raise Failure(f"the note {found.note.id} was removed or renamed meanwhile", "nothing was changed; try again")
    return Found(note, found.path)


def find(settings: Settings, name: str) -> Found:
    """The note of this id, else the one whose id alone begins so.

    Raises :class:`Nothing`, naming ids that look like it, or those that begin so where several do.
    """
    try:
        return _find(settings, name)
    except Nothing:
        begun = [other for other in _ids(settings) if other.startswith(name)] if name else []
        if not begun:
            raise
    if len(begun) > 1:
        some = ", ".join(begun[:_SHOWN]) + (f" and {len(begun) - _SHOWN:,} more" if len(begun) > _SHOWN else "")
        raise Nothing(f"{len(begun):,} ids begin with {name!r}", f"give more of the one you mean: {some}")
    return _find(settings, begun[0])


def _find(settings: Settings, name: str) -> Found:
    """The note of exactly this id. Raises :class:`Nothing`.

    The catalog is asked first: where two realms use one id, only it tells them apart. Reading every
    file is left to a store whose index cannot answer.
    """
    store = NoteStore(settings.notes_dir)
    with opened(settings) as snapshot:
        below = snapshot.catalog.path_of(name) if snapshot is not None else None
        whole = snapshot is not None and "catalog" not in snapshot.damaged
    path = Path(settings.notes_dir, below) if below else None
    if path is None or not path.exists():
        path = None if whole and _is_level(settings) else store.find(name)
    if path is None:
        raise Nothing(f"there is no note {name!r}", _like(settings, name))
    return Found(store.read(path), path)


def _ids(settings: Settings) -> list[str]:
    """Every id in order: as the index knows them; as the files say where it is behind."""
    with opened(settings) as snapshot:
        if snapshot is not None and "catalog" not in snapshot.damaged and _is_level(settings):
            return sorted(note.id for note in snapshot.catalog.page(limit=_ALL))
    store = NoteStore(settings.notes_dir)
    names = set()
    for fact in store.scan(on_error=lambda problem: None):
        try:
            names.add(store.read(fact.path).id)
        except (OSError, ValueError):  # what cannot be read has no id to begin with
            continue
    return sorted(names)


def _is_level(settings: Settings) -> bool:
    from chitta.index.indexer import needs_sync

    return not needs_sync(settings)


def _like(settings: Settings, name: str) -> str:
    with opened(settings) as snapshot:
        names = [note.id for note in snapshot.catalog.page(limit=_LOOK_THROUGH)] if snapshot is not None else []
    close = difflib.get_close_matches(name, names, n=3, cutoff=0.5)
    close += [other for other in names if name and name in other][: 3 - len(close)]
    if close:
        return "did you mean " + " or ".join(dict.fromkeys(close)) + "?"
    return "`chitta list --all-realms` shows every id"


class Shelf:
    """Where notes that are being imported stand already, without reading the whole store for each.

    A note is known by its realm and id together. Its file is looked for where the store would put
    it, then where the catalog saw it.
    """

    def __init__(self, settings: Settings, snapshot: Snapshot | None) -> None:
        self._root = Path(settings.notes_dir)
        self._store = NoteStore(settings.notes_dir)
        self._snapshot = snapshot

    def locate(self, note: Note) -> Found | None:
        """The standing note of this realm and id, with its file."""
        folder = self._root / realm_folder(note.realm)
        places = [folder / file_name(note.id), folder / hashed_file_name(note.id)]
        below = self._snapshot.catalog.path_of(note.id) if self._snapshot is not None else None
        if below:
            places.append(self._root / below)
        for path in dict.fromkeys(places):
            held = self._read(path)
            if held is not None and (held.id, held.realm) == (note.id, note.realm):
                return Found(held, path)
        return None

    def _read(self, path: Path) -> Note | None:
        if not os.path.isfile(path):
            return None
        try:
            return self._store.read(path)
        except (OSError, ValueError):
            return None
