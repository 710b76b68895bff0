"""What happens at writing where another note says the same already: it is named, and may be merged or replaced."""

from __future__ import annotations

import datetime
import sys
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from chitta.cli import bookshelf, output, writing
from chitta.cli.choice import choose
from chitta.cli.failure import Failure
from chitta.curation.candidates import gather
from chitta.curation.duplicates import CONTRARY, SAME, Twin, twins
from chitta.curation.gathering import gathered
from chitta.curation.supersede import supersede
from chitta.notes.note import Note
from chitta.notes.store import NoteStore
from chitta.settings import Settings

KEEP, MERGE, SUPERSEDE = "keep", "merge", "supersede"
#: Twins that are named.
_SHOWN = 3
_TITLE_CHARS = 60


class Decision(NamedTuple):
    """What to do with a new note, and the notes like it; ``twin`` is the one to merge into or to supersede."""

    action: str = KEEP
    similar: tuple[Twin, ...] = ()
    twin: bookshelf.Found | None = None
    asked: bool = False

    @property
    def facts(self) -> list[dict[str, Any]]:
        """The twins for JSON."""
        return [facts_of(twin) for twin in self.similar]


#: What there is to decide where no note is like the new one.
NOTHING_ALIKE = Decision()


def look(settings: Settings, note: Note, passing: Collection[str] = ()) -> list[Twin]:
    """Notes of the realm and of `global` that say what this one says, the likest first; ids in ``passing`` are not."""
    found = gather(settings, note)
    return [twin for twin in twins(note, found.notes, found.cosines) if twin.note.id not in passing]


def decide(settings: Settings, note: Note, *, passing: Collection[str] = (), ask: bool = True) -> Decision:
    """Name the twins on standard error and, where a person looks on, ask what to do. Raises ``Failure`` for cancel.

    Without a person, or without ``ask``, both are kept.
    """
    similar = tuple(look(settings, note, passing))
    if not similar:
        return NOTHING_ALIKE
    for twin in similar[:_SHOWN]:
        output.tell(sentence(twin))
    first = similar[0].note
    with bookshelf.opened(settings) as snapshot:
        standing = bookshelf.Shelf(settings, snapshot).locate(first)
    if standing is None or not ask or not (output.on_terminal(sys.stdin) and output.on_terminal(sys.stderr)):
        return Decision(similar=similar)
    into = output.one_line(first.title or first.id, _TITLE_CHARS)
    output.tell(f"What about {into!r}?")
    choices = {"k": "keep both", "m": "merge into it", "s": "supersede it", "c": "cancel"}
    letter = choose(choices)
    if letter == "c":
        raise Failure("nothing was kept")
    return Decision({"k": KEEP, "m": MERGE, "s": SUPERSEDE}[letter], similar, standing, asked=True)


def sentence(twin: Twin) -> str:
    """How the twin is like the note, with its id and title."""
    name = f"{output.one_line(twin.note.id, 80)} ({output.one_line(twin.note.title, _TITLE_CHARS)})"
    if twin.how == SAME:
        return f"chitta: {name} says the same"
    if twin.how == CONTRARY:
        return f"chitta: {name} says the contrary"
    return f"chitta: {name} says nearly the same ({twin.likeness:.0%} alike)"


def advise(note: Note, similar: Sequence[Twin]) -> None:
    """Say how one note can be made of both, now that both are kept."""
    if similar:
        other = similar[0].note.id
        if similar[0].how != CONTRARY:
            output.tell(f"hint: `chitta merge {other} {note.id}` makes them one note")
        output.tell(f"hint: `chitta merge {other} {note.id} --replace` lets the new one replace it")


def merge_into(settings: Settings, standing: bookshelf.Found, note: Note) -> writing.Written:
    """The standing note with what the new one adds; the new one gets no file of its own."""
    today = datetime.date.today().isoformat()
    whole, _ = gathered([standing.note, note._replace(created=note.created or today)], today)
    whole = whole._replace(supersedes=tuple(name for name in whole.supersedes if name != note.id))
    NoteStore(settings.notes_dir).write(whole, path=standing.path)
    return writing.Written(writing.UPDATED, whole, standing.path)


def put_superseding(
    settings: Settings, note: Note, replaced: Sequence[bookshelf.Found]
) -> tuple[writing.Written, list[Path]]:
    """Write the note in the place of these; also gives the files of the replaced ones, to be indexed."""
    store = NoteStore(settings.notes_dir)
    today = datetime.date.today().isoformat()
    touched: list[Path] = []
    newer = note._replace(created=note.created or today)
    for found in replaced:
        older, newer = supersede(store, found, newer, today)
        touched.append(store.find(older.id, older.realm) or found.path)
        output.tell(f"chitta: {output.one_line(newer.id, 80)} replaces {output.one_line(older.id, 80)}, which is kept")
    path = store.find(newer.id, newer.realm)
    return writing.Written(writing.ADDED, newer, path), touched


def facts_of(twin: Twin) -> dict[str, Any]:
    note = twin.note
    return {"id": note.id, "title": note.title, "realm": note.realm, "how": twin.how, "likeness": twin.likeness}
