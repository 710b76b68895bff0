"""Notes that were replaced by one that is not there: nothing shows them, and nothing stands in their place."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from pathlib import Path

from chitta.cli import bookshelf, output
from chitta.cli.failure import Nothing
from chitta.curation.decay import is_archived
from chitta.curation.supersede import current
from chitta.index import IndexFault
from chitta.notes.imprint import imprint_of, is_edited
from chitta.notes.note import Note
from chitta.notes.store import NoteStore
from chitta.recall.filters import named
from chitta.settings import Settings
from chitta.wire import codec

#: Piece of the stored form by which the catalog finds what was replaced.
_FRAGMENT = '"superseded_by":'
_ID_CHARS = 80
#: Notes that are told of one by one.
MOST_TOLD = 5


def without_heir(settings: Settings) -> list[Note]:
    """Notes whose successor is not in the store, by id. What a source says of its own notes is left to it."""
    with bookshelf.opened(settings) as snapshot:
        if snapshot is None:
            return []
        marked = [note for note in snapshot.catalog.holding([_FRAGMENT]) if named(note.superseded_by)]
        there = snapshot.catalog.notes([named(note.superseded_by) for note in marked])
    lone = [note for note in marked if named(note.superseded_by) not in there and not is_archived(note)]
    return [note for note in lone if imprint_of(note) is None or is_edited(note)]


def left_behind(settings: Settings, ids: Collection[str]) -> list[str]:
    """After notes of these ids are gone and before the index knows: what of those that they had replaced is to be said.

    Where a forgotten note was replaced itself, what has its place has theirs from now on, and nothing is said.
    """
    try:
        found, heirs = _orphans(settings, ids)
    except IndexFault:  # the index is made anew in a moment
        return []
    lone = []
    for item in found:
        heir = _heir(item.note, heirs, ids)
        if heir is None or heir.path == item.path or not _handed_on(settings, item, heir.path):
            lone.append(item.note)
    return list(sentences(lone))


def sentences(notes: Iterable[Note]) -> list[str]:
    """A remark with its hint on each of the first notes that nothing stands for, and one on the others."""
    every = list(notes)
    told = []
    for note in every[:MOST_TOLD]:
        name, heir = (output.one_line(one, _ID_CHARS) for one in (note.id, named(note.superseded_by)))
        told.append(
            f"{name} was replaced by {heir} and still stays out of answers"
            f"\nhint: `chitta archive --restore {name}` brings it back"
        )
    if len(every) > MOST_TOLD:
        told.append(f"{len(every) - MOST_TOLD:,} more notes were replaced by what is gone; `chitta doctor` names them")
    return told


def stands_again(settings: Settings, note: Note) -> Note:
    """The note as one that nothing replaces. Raises :class:`Nothing` where what replaced it is there."""
    heir = named(note.superseded_by)
    if not heir:
        return note
    try:
        found = bookshelf.find(settings, heir)
    except Nothing:
        return current(note)
    if found.note.id != heir or (found.note.id, found.note.realm) == (note.id, note.realm):
        return current(note)
    old, new = (output.one_line(name, _ID_CHARS) for name in (note.id, heir))
    raise Nothing(
        f"{old} was replaced by {new}", f"`chitta merge {new} {old} --replace` lets the older one stand again"
    )


def _orphans(
    settings: Settings, ids: Collection[str]
) -> tuple[list[bookshelf.Found], Mapping[str, tuple[Note, bookshelf.Found | None]]]:
    """Notes that name one of the ids as their successor; and by id every note on the way to who is there."""
    heirs: dict[str, tuple[Note, bookshelf.Found | None]] = {}
    with bookshelf.opened(settings) as snapshot:
        if snapshot is None:
            return [], heirs
        shelf = bookshelf.Shelf(settings, snapshot)
        fragments = [_FRAGMENT + codec.dumps(name).decode() for name in ids]
        notes = [note for note in snapshot.catalog.holding(fragments) if note.id not in ids]
        asked = list(ids)
        while asked:
            found = snapshot.catalog.notes(asked)
            heirs.update({name: (note, shelf.locate(note)) for name, note in found.items()})
            asked = [name for note in found.values() if (name := named(note.superseded_by)) and name not in heirs]
        placed = [shelf.locate(note) for note in notes]
    return [item for item in placed if item is not None and named(item.note.superseded_by) in ids], heirs


def _heir(
    note: Note, heirs: Mapping[str, tuple[Note, bookshelf.Found | None]], gone: Collection[str]
) -> bookshelf.Found | None:
    """What has the note's place now that these are gone; None for nothing."""
    name, seen = named(note.superseded_by), {note.id}
    while name in gone and name in heirs and name not in seen:
        seen.add(name)
        name = named(heirs[name][0].superseded_by)
    return heirs[name][1] if name in heirs and name not in gone else None


def _handed_on(settings: Settings, item: bookshelf.Found, path: Path) -> bool:
    """Let the note at ``path`` have this one's place; whether that could be written."""
    store = NoteStore(settings.notes_dir)
    try:
        heir = store.read(path)
        store.write(item.note._replace(superseded_by=heir.id), path=item.path)
        store.write(heir._replace(supersedes=tuple(dict.fromkeys((*heir.supersedes, item.note.id)))), path=path)
    except (OSError, ValueError):  # forgetting goes on: words and ids of what is gone still have to leave the index
        return False
    return True
