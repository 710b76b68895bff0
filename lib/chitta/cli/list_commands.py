"""Commands that show notes as they are stored: list and show."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Annotated

import typer

from chitta import settings as table
from chitta.cli import bookshelf, conflicts, output, realm_near, recall_ids, upkeep
from chitta.cli.failure import Nothing
from chitta.cli.realm_options import AsJson, RealmOption, looking_realm
from chitta.curation import state
from chitta.notes.frontmatter import format_note
from chitta.notes.note import Note
from chitta.safety import RENAMING
from chitta.settings import Settings

#: Notes that one list has at most.
MOST = 10_000


def list_notes(
    realm: RealmOption = "",
    kind: Annotated[str, typer.Option("--kind", help="Only this kind, such as `correction`.")] = "",
    limit: Annotated[int, typer.Option("--limit", min=1, max=MOST, help="Most notes to show.")] = 50,
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
        whole = snapshot.catalog.count(place, kind or None) if snapshot is not None else 0
        disputed = state.disputed(conflicts.every(snapshot)) if notes else frozenset()
    if as_json:
        output.as_json([_facts(note, disputed) for note in notes])
    elif notes:
        _print(settings, notes, disputed, show_realm=place is None)
        if offset + len(notes) < whole:
            output.tell(f"chitta: {len(notes):,} of {whole:,}; `--limit {min(whole, MOST)}` shows all")
    if not notes:
        raise Nothing(_nothing(place, kind, offset), _elsewhere(place, others, asked=bool(realm)))


def show(
    name: Annotated[str, typer.Argument(metavar="ID", help="The note's id, or how it begins.")],
    as_json: AsJson = False,
) -> None:
    """Show one note whole: its file, its front matter and its text.

    Example: chitta show stripe-webhook-raw-body
    """
    from chitta.safety.cleaning import clean

    settings = table.load()
    found = bookshelf.find(settings, recall_ids.typed(name))
    cleaned = clean(found.note)
    note = cleaned.note
    with bookshelf.opened(settings) as snapshot:
        against = [other.id for other in conflicts.every(snapshot) if note.id in state.disputed([other])]
    if as_json:
        output.as_json({**_facts(note, [note.id] if against else ()), "path": str(found.path)})
    else:
        output.say(str(found.path), "dim")
        if standing := state.sentence(note, output.one_line(note.id, 80), against):
            output.wrapped(output.harmless(standing), style="yellow")
        output.wrapped(output.harmless(format_note(note)).rstrip())
    if cleaned.secrets:
        kinds = output.harmless(", ".join(cleaned.secrets))
        output.tell(f"chitta: left out what looks like a secret ({kinds}); the file still holds it")
    if cleaned.suspected and note.quarantine and not found.note.quarantine:
        output.tell(suspected(note.id, cleaned.suspected))


def suspected(name: str, reasons: Sequence[str]) -> str:
    """Why a note is kept out of prompts though its file does not say so, and how it is let in."""
    if any(RENAMING in reason for reason in reasons):
        return f"chitta: kept out of prompts: {'; '.join(reasons)}"
    return (
        f"chitta: kept out of prompts, it may be meant to steer an agent: {'; '.join(reasons)}"
        f"\nhint: `chitta review --release {output.one_line(name, 80)}` lets it in for good"
    )


def _print(settings: Settings, notes: list[Note], disputed: Collection[str], *, show_realm: bool) -> None:
    states = [state.state_of(note, disputed) for note in notes]
    marked = any(states)
    columns = ["id", "kind", "date", *(["state"] if marked else []), "title"] + (["realm"] if show_realm else [])
    rows = []
    for note, word in zip(notes, states, strict=True):
        date = max(note.created, note.updated)[:10]
        rows.append(
            [note.id, note.kind, date, *([word or "-"] if marked else []), note.title]
            + ([note.realm] if show_realm else [])
        )
    output.table(columns, rows, cut="title", spare=("date", "kind"), least=recall_ids.least(settings))


def _facts(note: Note, disputed: Collection[str]) -> dict[str, object]:
    facts = note._asdict()
    facts["extra"] = dict(note.extra)
    facts["state"] = state.state_of(note, disputed)
    return facts


def _nothing(place: str | None, kind: str, offset: int) -> str:
    what = f"no {kind} notes" if kind else "no notes"
    where = f"in {place}" if place is not None else "in this store"
    return f"there are {what} {where}" + (f" after the first {offset}" if offset else "")


def _elsewhere(place: str | None, others: dict[str, int], *, asked: bool) -> str:
    elsewhere = sum(count for name, count in others.items() if name != place)
    if asked and place is not None and place not in others and (meant := realm_near.offer(place, others)):
        return meant
    if place is not None and elsewhere:
        return f"other realms hold {output.plural(elsewhere, 'note')}: `chitta list --all-realms`"
    return '`chitta remember "…"` or `chitta import PATH` adds some' if not elsewhere else ""
