"""`chitta export`: notes out of the store, as JSONL or as a folder of Markdown."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Literal

import typer

from chitta import settings as table
from chitta.cli import output, recall_kinds
from chitta.cli.failure import Failure, Misuse, Nothing
from chitta.cli.realm_options import RealmOption, chosen_realm, current_realm
from chitta.notes.note import Note
from chitta.portable import exporting
from chitta.portable.whole_files import lies_in
from chitta.settings import Settings

#: Names of files shown of each outcome.
SHOWN = 5
_JSONL = (".jsonl", ".ndjson")


class _Reader:
    """The notes that are wanted, and on the way how many are left out and what could not be read."""

    def __init__(self, settings: Settings, wanted: exporting.Wanted) -> None:
        self._settings = settings
        self._wanted = wanted
        self.elsewhere = 0
        self.blank = 0
        self.problems: list[str] = []

    def notes(self) -> Iterator[tuple[str, Note]]:
        for note, below, problem in exporting.stored(self._settings.notes_dir):
            if note is None:
                self.problems.append(f"{below} {problem}")
            elif self._wanted.takes(note):
                self.blank += not note.text.strip()
                yield below, note
            else:
                self.elsewhere += self._wanted.realm not in (None, note.realm)


def export(
    target: Annotated[
        str, typer.Argument(metavar="[DIR|FILE.jsonl|-]", help="A folder, a JSONL file, or - for standard output.")
    ] = "-",
    realm: RealmOption = "",
    everywhere: Annotated[bool, typer.Option("--global", help="The realm `global`.")] = False,
    every: Annotated[bool, typer.Option("--all", help="All realms.")] = False,
    kind: Annotated[list[str] | None, typer.Option("--kind", help="Only this kind; can be given again.")] = None,
    form: Annotated[
        str, typer.Option("--as", metavar="jsonl|markdown", help="By the target's name if not given.")
    ] = "",
    without_captured: Annotated[
        bool, typer.Option("--without-captured", help="Leave out what was captured and never reviewed.")
    ] = False,
    prune: Annotated[
        bool, typer.Option("--prune", help="Remove files that an earlier export wrote and this one does not.")
    ] = False,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Write over, or beside, what no export wrote.")] = False,
) -> None:
    """Write notes out, those in quarantine and the archived ones included, with their marks: as JSONL that `chitta
    import` takes back, or as a folder of Markdown laid out like the store, in which only what has changed is rewritten.

    Example: chitta export ~/backup/notes --all
    """
    settings = table.load()
    if every and (realm or everywhere):
        raise Misuse("--all excludes --realm and --global", "give one of them")
    place = None if every else chosen_realm(realm, everywhere) or current_realm(settings)
    form = _form(target, form)
    if prune and form != "markdown":
        raise Misuse("--prune is for a folder of Markdown", "a JSONL file is written anew each time")
    path = Path(target).expanduser()
    if target != "-":
        _refuse_store(settings, path)
        if not yes:
            _mind_others(path)
    recall_kinds.checked(settings, [one for one in kind or [] if one != "session"])
    reader = _Reader(settings, exporting.Wanted(place, tuple(kind or ()), not without_captured))
    if form == "markdown":
        _to_folder(settings, reader, path, prune=prune)
    else:
        _to_jsonl(reader, target, path)
    if reader.elsewhere:
        output.tell(f"chitta: other realms hold {output.plural(reader.elsewhere, 'note')}: --all takes them too")
    for problem in reader.problems:
        output.tell(f"chitta: {output.harmless(problem)}")
    if reader.problems:
        raise Failure(f"{output.plural(len(reader.problems), 'file')} could not be exported", "the lines above say why")


def _form(target: str, form: str) -> Literal["jsonl", "markdown"]:
    if form not in ("", "jsonl", "markdown"):
        raise Misuse(f"--as: {form!r} is no form", "forms are jsonl and markdown")
    folder = os.path.isdir(os.path.expanduser(target))
    by_name = "jsonl" if target == "-" or (target.endswith(_JSONL) and not folder) else "markdown"
    chosen = form or by_name
    if chosen == "jsonl" and folder:
        raise Misuse(f"{target} is a folder", "name a file for JSONL, such as notes.jsonl")
    if chosen == "markdown" and (target == "-" or os.path.isfile(os.path.expanduser(target))):
        raise Misuse("Markdown goes into a folder", "name one, or a file that ends in .jsonl")
    return "jsonl" if chosen == "jsonl" else "markdown"


def _refuse_store(settings: Settings, path: Path) -> None:
    for folder in (settings.home, settings.notes_dir):
        if lies_in(path, Path(folder)):
            raise Misuse(f"{path} is in the store", "an export goes elsewhere: it is a copy")


def _mind_others(path: Path) -> None:
    """Ask before a file that no export wrote is replaced, or a folder taken that holds others. Raises ``Misuse`` where
    there is nobody to ask."""
    if path.is_file() and not exporting.is_export(path):
        what = f"{path} is there already, and no export wrote it"
    elif path.is_dir() and (other := exporting.not_exported(path)):
        what = f"{path} holds what no export wrote: {output.one_line(other, 80)}"
    else:
        return
    if not output.on_terminal(sys.stdin):
        raise Misuse(what, "name another place, or give --yes")
    output.tell(f"{what}.")
    if not typer.confirm("Export there all the same?", err=True):
        raise Failure("nothing was exported")


def _to_jsonl(reader: _Reader, target: str, path: Path) -> None:
    notes = (note for _, note in reader.notes())
    if target == "-":
        count = 0
        for note in notes:
            sys.stdout.buffer.write(exporting.json_line(note).encode() + b"\n")
            count += 1
        sys.stdout.flush()
    elif path.exists() and not path.is_file():  # a pipe or a device
        with open(path, "wb") as file:
            count = sum(bool(file.write(exporting.json_line(note).encode() + b"\n")) for note in notes)
    else:
        made = not path.parent.exists()
        count = exporting.write_jsonl(path, notes)
        if made:
            output.tell(f"made the folder {output.harmless(str(path.parent))}")
    if not count and not reader.problems:
        raise Nothing("there are no such notes to export", "--all takes every realm")
    output.tell(f"exported {output.plural(count, 'note')}" + (f" to {path}" if target != "-" else ""))
    if reader.blank:
        output.tell(f"chitta: {output.plural(reader.blank, 'note')} with no text: import passes them over")


def _to_folder(settings: Settings, reader: _Reader, path: Path, *, prune: bool) -> None:
    try:
        done = exporting.write_folder(path, reader.notes(), forbidden=Path(settings.home), prune=prune)
    except ValueError as problem:
        raise Misuse(str(problem), "take the link away, or export to another folder") from None
    if not (done.written or done.unchanged or done.kept or reader.problems or done.stale or done.pruned):
        raise Nothing("there are no such notes to export", "--all takes every realm")
    output.tell(f"{path}: {len(done.written):,} written, {len(done.unchanged):,} unchanged")
    _name("removed, since no note of this export is there any more", done.pruned)
    _name("no note of this export any more (--prune removes them)", done.stale)
    if done.kept:
        _name("not from an export, and left as they are", done.kept)
        raise Failure(
            f"{output.plural(len(done.kept), 'note')} could not be exported there", "export to another folder"
        )


def _name(what: str, files: tuple[str, ...]) -> None:
    if files:
        output.tell(f"{output.plural(len(files), 'file')} {what}:")
        for below in files[:SHOWN]:
            output.tell(f"  {output.harmless(below)}")
        if len(files) > SHOWN:
            output.tell(f"  and {len(files) - SHOWN:,} more")
