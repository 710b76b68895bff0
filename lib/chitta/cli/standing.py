"""What feedback does to the notes that it was given on: their confidence and authority, in their own files."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from chitta import feedback
from chitta.cli import bookshelf, output, upkeep
from chitta.curation.opinion import DOUBTED, judged
from chitta.notes.note import Note
from chitta.notes.store import NoteStore
from chitta.settings import Settings


class Change(NamedTuple):
    """A note before and after."""

    before: Note
    after: Note

    @property
    def sentence(self) -> str:
        old, new = self.before, self.after
        words = f"chitta: {output.one_line(new.id, 80)}: confidence {old.confidence:.2f} → {new.confidence:.2f}"
        if old.authority != new.authority:
            words += f", {output.one_line(old.authority, 20)} → {new.authority}"
        if new.authority == DOUBTED != old.authority:
            words += f"; `chitta review {output.one_line(new.id, 80)}` looks at it"
        return words


def apply(settings: Settings, ids: Iterable[str]) -> list[Change]:
    """Let the judgements that stand have their effect on these notes; those that changed. Raises ``OSError``.

    An id that the index does not hold any more has no effect.
    """
    given = feedback.read(settings.state_dir)
    store = NoteStore(settings.notes_dir)
    with bookshelf.opened(settings) as snapshot:
        below = {name: snapshot.catalog.path_of(name) for name in ids} if snapshot is not None else {}
    changes: list[Change] = []
    paths: list[Path] = []
    for name, place in below.items():
        path = Path(settings.notes_dir, place) if place else None
        if path is None or not path.is_file():
            continue
        with bookshelf.changing(settings):
            try:
                note = store.read(path)
            except (OSError, ValueError):
                continue
            new = judged(note, given) if note.id == name else note
            if new != note:
                store.write(new, path=path)
        if new != note:
            paths.append(path)
            changes.append(Change(note, new))
    if paths:
        upkeep.level_paths(settings, paths)
    return [change for change in changes if change.before.confidence != change.after.confidence or _moved(change)]


def _moved(change: Change) -> bool:
    return change.before.authority != change.after.authority
