"""`chitta merge`: one note out of several that say the same, or one in the place of others."""

from __future__ import annotations

import datetime
from typing import Annotated

import typer

from chitta import settings as table
from chitta.cli import bookshelf, output, recall_ids, upkeep
from chitta.cli.failure import Misuse, Nothing
from chitta.cli.realm_options import AsJson
from chitta.curation.gathering import gathered
from chitta.curation.supersede import current, superseded
from chitta.notes.frontmatter import format_note
from chitta.notes.note import Note
from chitta.notes.store import NoteStore
from chitta.recall.filters import named
from chitta.settings import Settings


def merge(
    names: Annotated[list[str], typer.Argument(metavar="ID ID...", help="Ids of notes, or how they begin.")],
    replace: Annotated[
        bool, typer.Option("--replace", help="Join no texts: the last note takes the place of the others.")
    ] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show the note that would come of it.")] = False,
    as_json: AsJson = False,
) -> None:
    """Make one note out of several. The first keeps its id; texts are joined without repeats, tags and triggers
    united, proofs added up. The others stay in their files, superseded by it, and still answer for their time.

    Example: chitta merge deploy-by-make-1a2b3c deploy-with-make-4d5e6f --dry-run
    """
    settings = table.load()
    by_path = {found.path: found for found in (bookshelf.find(settings, recall_ids.typed(name)) for name in names)}
    items = list(by_path.values())
    if len(items) < 2:
        raise Misuse("a merge takes two notes or more", "`chitta merge ID ID`")
    today = datetime.date.today().isoformat()
    notes = [found.note for found in items]
    _refuse_replaced(settings, notes)
    whole, gone = _replaced(notes, today) if replace else gathered(notes, today)
    kept = items[-1] if replace else items[0]
    others = items[:-1] if replace else items[1:]
    if not dry_run:
        with bookshelf.changing(settings):
            notes = [bookshelf.again(settings, found).note for found in items]
            whole, gone = _replaced(notes, today) if replace else gathered(notes, today)
            store = NoteStore(settings.notes_dir)
            store.write(whole, path=kept.path)
            for note, found in zip(gone, others, strict=True):
                store.write(note, path=found.path)
        upkeep.level_paths(settings, [kept.path, *(found.path for found in others)])
    if as_json:
        facts = {"id": whole.id, "realm": whole.realm, "path": str(kept.path), "dry_run": dry_run}
        output.as_json({**facts, "superseded": [note.id for note in gone], "note": whole._asdict()})
        return
    if dry_run:
        output.wrapped(output.harmless(format_note(whole)).rstrip())
        output.tell(f"chitta: nothing was written; {_listed(gone)} would be superseded by {whole.id}")
        return
    output.say(f"{output.paint('merged', 'green')} {output.paint(output.harmless(whole.id), 'bold')}")
    output.pairs([("file", kept.path), ("superseded", _listed(gone))])


def _refuse_replaced(settings: Settings, notes: list[Note]) -> None:
    """Raises :class:`Misuse` for a note that has a successor which is not merged with it."""
    names = {note.id for note in notes}
    for note in notes:
        seen = [note.id]
        while (heir := named(_standing(settings, seen[-1], notes))) and heir not in seen:
            seen.append(heir)
        if len(seen) > 1 and not names & set(seen[1:]):
            old, new = (output.one_line(name, 80) for name in (seen[0], seen[-1]))
            others = " ".join(output.one_line(name, 80) for name in (seen[-1], *sorted(names - {note.id})))
            raise Misuse(f"{old} was replaced by {new}", f"`chitta merge {others}` takes what has its place now")


def _standing(settings: Settings, name: str, notes: list[Note]) -> str:
    """What has this note's place by its own word; "" for a note that is no more."""
    held = next((note for note in notes if note.id == name), None)
    try:
        return (held or bookshelf.find(settings, name).note).superseded_by
    except Nothing:
        return ""


def _replaced(notes: list[Note], day: str) -> tuple[Note, list[Note]]:
    newer, gone = current(notes[-1]), []
    for old in notes[:-1]:
        marked = current(old) if named(old.superseded_by) in {note.id for note in notes} else old
        older, taking = superseded(marked, newer, day)
        newer = newer._replace(supersedes=taking.supersedes)
        gone.append(older)
    return newer, gone


def _listed(notes: list[Note]) -> str:
    return ", ".join(output.one_line(note.id, 80) for note in notes)
