"""`chitta doctor --secrets`: which notes hold secrets, of what kind; and taking them out. A secret is never printed."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import typer

from chitta.cli import output, upkeep
from chitta.cli.failure import NOTHING
from chitta.notes.note import Note
from chitta.notes.store import NoteStore
from chitta.settings import Settings


class Holding(NamedTuple):
    """A note that holds secrets: what it is without them, where it is, and their kinds."""

    note: Note
    path: Path
    kinds: tuple[str, ...]


def run(settings: Settings, *, redact: bool, as_json: bool) -> None:
    """Scan the store, say what was found, and rewrite the notes where ``redact``.

    Exit code 1 while a note holds a secret, or where one could not be read or rewritten.
    """
    store = NoteStore(settings.notes_dir)
    problems: list[str] = []
    found = list(scan(store, problems))
    left = []
    for holding in found:
        try:
            if redact:
                store.write(holding.note, path=holding.path)
            else:
                left.append(holding)
        except (OSError, ValueError) as failure:
            problems.append(f"{holding.path}: {failure}")
            left.append(holding)
    if redact and found:
        problems += upkeep.level_paths(settings, [holding.path for holding in found]).problems
    if as_json:
        rows = [{"id": note.id, "path": str(path), "kinds": list(kinds)} for note, path, kinds in found]
        output.as_json({"notes": rows, "redacted": redact, "problems": problems})
    else:
        _say(found, redact=redact)
        for problem in problems:
            output.tell(f"chitta: {problem}")
    if left or problems:
        raise typer.Exit(NOTHING)


def scan(store: NoteStore, problems: list[str]) -> Iterator[Holding]:
    """Every note that holds a secret or a private span; what cannot be read goes to ``problems``."""
    from chitta.safety.cleaning import without_secrets

    for fact in store.scan(on_error=lambda problem: problems.append(str(problem))):
        try:
            note = store.read(fact.path)
        except (OSError, ValueError) as problem:
            problems.append(f"{fact.path}: {problem}")
            continue
        clean, kinds = without_secrets(note)
        if clean != note:
            yield Holding(clean, fact.path, kinds or ("private span",))


def _say(found: list[Holding], *, redact: bool) -> None:
    if not found:
        output.say("no note holds a secret that is known as one")
        return
    for note, path, kinds in found:
        output.say(f"{output.paint(output.harmless(note.id), 'bold')}  {output.harmless(', '.join(kinds))}")
        output.say(f"  {output.harmless(str(path))}")
    output.say()
    if redact:
        output.say(f"took them out of {output.plural(len(found), 'note')}; where one was real, revoke it all the same")
        output.say("ids and file names stay; where one spells a secret, forget that note and remember it anew")
    else:
        output.say(f"{output.plural(len(found), 'note')}; `chitta doctor --secrets --redact` takes them out")
