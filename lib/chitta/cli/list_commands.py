"""Commands that show notes as they are stored: list and show."""

from __future__ import annotations

from typing import Annotated

import typer

from chitta import settings as table
from chitta.cli import bookshelf, output, recall_ids, upkeep
from chitta.cli.failure import Nothing
from chitta.cli.realm_options import AsJson, RealmOption, looking_realm
from chitta.notes.frontmatter import format_note
from chitta.notes.note import Note
from chitta.settings import Settings


def list_notes(
    realm: RealmOption = "",
    kind: Annotated[str, typer.Option("--kind", help="Only this kind, such as `correction`.")] = "",
    limit: Annotated[int, typer.Option("--limit", min=1, max=10_000, help="Most notes to show.")] = 50,
    offset: Annotated[int, typer.Option("--offset", min=0, help="Notes to pass over.")] = 0,
    all_realms: Annotated[bool, typer.Option("--all-realms", "--global", help="Every realm.")] = False,
    as_json: AsJson = False,
) -> None:
    """List notes, the latest first: those of the current folder's realm, of one that you name, or of all.

    Example: chitta list --kind correction --all-realms
    """
    settings = table.load()
    upkeep.freshen(settings)
    place = looking_realm(settings, realm, all_realms)
    with bookshelf.opened(settings) as snapshot:
        notes = snapshot.catalog.page(place, kind or None, limit, offset) if snapshot is not None else []
        others = snapshot.catalog.realms() if snapshot is not None else {}
    if as_json:
        output.as_json([_facts(note) for note in notes])
    elif notes:
        _print(settings, notes, show_realm=place is None)
    if not notes:
        raise Nothing(_nothing(place, kind, offset), _elsewhere(place, others))


def show(
    name: Annotated[str, typer.Argument(metavar="ID", help="The note's id, or how it begins.")],
    as_json: AsJson = False,
) -> None:
    """Show one note whole: its file, its front matter and its text.

    Example: chitta show stripe-webhook-raw-body
    """
    found = bookshelf.find(table.load(), recall_ids.typed(name))
    if as_json:
        output.as_json({**found.note._asdict(), "extra": dict(found.note.extra), "path": str(found.path)})
        return
    output.say(str(found.path), "dim")
    output.wrapped(output.harmless(format_note(found.note)).rstrip())


def _print(settings: Settings, notes: list[Note], *, show_realm: bool) -> None:
    columns = ["id", "kind", "date", "title"] + (["realm"] if show_realm else [])
    rows = []
    for note in notes:
        date = max(note.created, note.updated)[:10]
        rows.append([note.id, note.kind, date, note.title] + ([note.realm] if show_realm else []))
    output.table(columns, rows, cut="title", spare=("date", "kind"), least=recall_ids.least(settings))


def _facts(note: Note) -> dict[str, object]:
    facts = note._asdict()
    facts["extra"] = dict(note.extra)
    return facts


def _nothing(place: str | None, kind: str, offset: int) -> str:
    what = f"no {kind} notes" if kind else "no notes"
    where = f"in {place}" if place is not None else "in this store"
    return f"there are {what} {where}" + (f" after the first {offset}" if offset else "")


def _elsewhere(place: str | None, others: dict[str, int]) -> str:
    elsewhere = sum(count for name, count in others.items() if name != place)
    if place is not None and elsewhere:
        return f"other realms hold {output.plural(elsewhere, 'note')}: `chitta list --all-realms`"
    return '`chitta remember "…"` or `chitta import PATH` adds some' if not elsewhere else ""
