"""`chitta archive`: notes that a machine wrote down and nobody ever needed leave every answer, and can be had back."""

from __future__ import annotations

import datetime
from collections.abc import Sequence
from typing import Annotated

import typer

from chitta import feedback, searches
from chitta import settings as table
from chitta.cli import bookshelf, output, recall_history, recall_ids, replaced, upkeep
from chitta.cli.failure import Misuse, Nothing
from chitta.cli.realm_options import AsJson
from chitta.curation import decay
from chitta.notes.note import Note
from chitta.notes.store import NoteStore
from chitta.settings import Settings

#: Lines of the recall log that are read; it holds some four thousand with the one before it.
_MOST_LINES = 100_000
_MOST_NOTES = 10**9
#: Notes that a list for people shows.
_SHOWN = 50


def archive(
    names: Annotated[
        list[str] | None, typer.Argument(metavar="[ID...]", help="These notes; without any, those that have faded.")
    ] = None,
    older_than: Annotated[
        int | None, typer.Option("--older-than", metavar="DAYS", min=0, help="Days instead of CHITTA_DECAY_DAYS.")
    ] = None,
    restore: Annotated[bool, typer.Option("--restore", help="Take these notes out of the archive.")] = False,
    listed: Annotated[bool, typer.Option("--list", help="Show what is in the archive.")] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Say what would be done.")] = False,
    as_json: AsJson = False,
) -> None:
    """Put captured and imported notes of kind operational or episode away that no prompt and no question ever showed.
    They stay in their files with `status: archived` and come up no more; --restore ID undoes it. Pinned notes, notes
    proved three times and what you wrote yourself stay. --restore also brings a note back that was replaced by one that
    is gone.

    Example: chitta archive --older-than 60 --dry-run
    """
    settings = table.load()
    upkeep.freshen(settings)
    today = datetime.date.today()
    if listed:
        _show(_in_archive(settings), "archived", as_json=as_json)
        return
    if names and older_than is not None:
        raise Misuse("--older-than chooses notes by itself", "give ids, or --older-than")
    if restore and not names:
        raise Misuse("say which notes to restore", "`chitta archive --list` shows them")
    days = settings.integer("CHITTA_DECAY_DAYS") if older_than is None else older_than
    found = _named(settings, names) if names else _faded(settings, today, days)
    day = today.isoformat()
    changed: list[tuple[bookshelf.Found, Note]] = []
    for item in found:
        new = _stands_again(settings, item.note, day) if restore else decay.archived(item.note, day)
        if new != item.note:
            changed.append((item, new))
    if not dry_run:
        store = NoteStore(settings.notes_dir)
        for item, new in changed:
            store.write(new, path=item.path)
        if changed:
            upkeep.level_paths(settings, [item.path for item, _ in changed])
    _report([new for _, new in changed], restore=restore, dry_run=dry_run, days=days, named=bool(names), json=as_json)


def _stands_again(settings: Settings, note: Note, day: str) -> Note:
    """The note out of the archive; one that is not in it, and that a note replaced which is gone, as a current one."""
    return decay.restored(note, day) if decay.is_archived(note) else replaced.stands_again(settings, note)


def _named(settings: Settings, names: Sequence[str]) -> list[bookshelf.Found]:
    found = [bookshelf.find(settings, recall_ids.typed(name)) for name in dict.fromkeys(names)]
    return list({item.path: item for item in found}.values())


def _faded(settings: Settings, today: datetime.date, days: int) -> list[bookshelf.Found]:
    used = decay.used_ids([*recall_history.read_last(settings, _MOST_LINES), *searches.read(settings.state_dir)])
    used |= {one.id for one in feedback.read(settings.state_dir) if one.verdict == feedback.UP}
    with bookshelf.opened(settings) as snapshot:
        if snapshot is None:
            return []
        kinds = sorted(decay.FADING_KINDS)
        notes = [note for kind in kinds for note in snapshot.catalog.page(kind=kind, limit=_MOST_NOTES)]
        shelf = bookshelf.Shelf(settings, snapshot)
        placed = (shelf.locate(note) for note in decay.fading(notes, used, today, days))
        # The file is the truth: what the index has not seen yet may have been edited since.
        return [item for item in placed if item is not None and decay.fading([item.note], used, today, days)]


def _in_archive(settings: Settings) -> list[Note]:
    with bookshelf.opened(settings) as snapshot:
        found = snapshot.catalog.holding(['"archived"']) if snapshot is not None else []
    notes = [note for note in found if decay.is_archived(note)]
    return sorted(notes, key=lambda note: (decay.archived_on(note), note.id), reverse=True)


def _show(notes: list[Note], word: str, *, as_json: bool) -> None:
    if as_json:
        output.as_json([_facts(note) for note in notes])
    elif notes:
        rows = [(note.id, note.kind, decay.archived_on(note), note.title) for note in notes[:_SHOWN]]
        output.table(["id", "kind", word, "title"], rows, cut="title", spare=(word, "kind"))
        if len(notes) > _SHOWN:
            output.say(f"and {len(notes) - _SHOWN:,} more", "dim")
    else:
        raise Nothing("the archive is empty")


def _report(notes: list[Note], *, restore: bool, dry_run: bool, days: int, named: bool, json: bool) -> None:
    if json:
        output.as_json({"restored" if restore else "archived": [_facts(note) for note in notes], "dry_run": dry_run})
        return
    if not notes:
        if named:
            raise Nothing("these notes are in the archive already" if not restore else "these notes are not archived")
        output.say(f"nothing has faded: no unused note of a machine is {output.plural(days, 'day')} old")
        return
    verb = ("would restore" if restore else "would archive") if dry_run else ("restored" if restore else "archived")
    for note in notes[:_SHOWN]:
        output.say(f"{verb} {output.one_line(note.id, 80)}  {output.one_line(note.title, 60)}")
    if len(notes) > _SHOWN:
        output.say(f"and {len(notes) - _SHOWN:,} more", "dim")
    if not restore and not dry_run:
        output.tell(f"chitta: {output.plural(len(notes), 'note')} put away; `chitta archive --restore ID` undoes it")


def _facts(note: Note) -> dict[str, object]:
    facts: dict[str, object] = {"id": note.id, "realm": note.realm, "kind": note.kind, "title": note.title}
    return {**facts, "archived": decay.archived_on(note)}
