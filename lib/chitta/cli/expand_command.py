"""`chitta expand`: notes whole, with what is around them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

import typer

from chitta import settings as table
from chitta.cli import asking, bookshelf, output, recall_ids, upkeep
from chitta.cli.failure import Nothing
from chitta.cli.realm_options import AsJson
from chitta.settings import Settings

#: Ids that one call to the daemon takes.
_AT_ONCE = 100


def expand(
    names: Annotated[list[str], typer.Argument(metavar="ID", help="Ids of notes, or how they begin.")],
    as_json: AsJson = False,
) -> None:
    """Show notes whole with what is around them: their source, what replaced them and what they replaced, notes of the
    same session, and related ones. It is what `chitta recall --stage hydrate` shows, for ids that you have.

    Example: chitta expand stripe-webhook-raw-body
    """
    settings = table.load()
    upkeep.freshen(settings)
    wanted: dict[str, bookshelf.Found] = {}
    missing: list[Nothing] = []
    for name in dict.fromkeys(map(recall_ids.typed, names)):
        try:
            found = bookshelf.find(settings, name)
            wanted.setdefault(_indexed_id(settings, name, found), found)
        except Nothing as unknown:
            missing.append(unknown)
    notes = _expanded(settings, wanted)
    if as_json:
        output.as_json({"notes": notes})
    else:
        for number, note in enumerate(notes):
            if number:
                output.say()
            _print(note)
    if missing:
        raise (
            missing[0]
            if len(missing) == 1
            else Nothing(f"{len(missing)} of these ids are no notes", missing[0].message)
        )


def _indexed_id(settings: Settings, name: str, found: bookshelf.Found) -> str:
    """What the index calls the note: as it was asked for, or by its own id where that was only the beginning."""
    with bookshelf.opened(settings) as snapshot:
        known = snapshot is not None and snapshot.catalog.path_of(name) is not None
    return name if known else found.note.id


def _expanded(settings: Settings, wanted: Mapping[str, bookshelf.Found]) -> list[dict[str, Any]]:
    """The notes in the order asked; one that the index lacks as its file has it, with nothing around it."""
    ids = list(wanted)
    known: dict[str, dict[str, Any]] = {}
    for start in range(0, len(ids), _AT_ONCE):
        known |= {note["id"]: note for note in asking.expand(settings, ids[start : start + _AT_ONCE])}
    return [
        known.get(name) or {**found.note._asdict(), "extra": dict(found.note.extra), "around": {}}
        for name, found in wanted.items()
    ]


def _print(note: Mapping[str, Any]) -> None:
    from chitta.cli import recall_rows, recall_text

    title = str(note.get("title") or note["id"])
    output.say(output.one_line(title, output.width()), "bold")
    dates = [str(note.get("created", ""))[:10]]
    if note.get("updated") and str(note["updated"])[:10] != dates[0]:
        dates.append(f"updated {str(note['updated'])[:10]}")
    tags = ", ".join(note.get("tags") or ())
    facts = [note["id"], note["kind"], note["realm"], *dates, f"tags {tags}" if tags else ""]
    output.wrapped(output.harmless(" · ".join(filter(None, facts))), "", "dim")
    output.say()
    for line in recall_text.flowing(recall_text.whole_text(str(note.get("text", "")), title)):
        output.say(line)
    around = recall_rows.around_lines(note.get("around") or {}, str(note.get("source", "")), "")
    if around:
        output.say()
    for line in around:
        output.say(line)
