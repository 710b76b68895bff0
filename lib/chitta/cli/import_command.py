"""`chitta import`: notes from Markdown files, folders and JSONL into the store, then into the index."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import typer

from chitta import settings as table
from chitta.cli import bookshelf, output, upkeep, writing
from chitta.cli.failure import Failure, Misuse
from chitta.cli.progress import Meter
from chitta.cli.realm_options import AsJson, RealmOption, WriteGlobally, chosen_realm, current_realm
from chitta.notes.readers import Imported, read_path
from chitta.notes.store import NoteStore
from chitta.settings import Settings

SKIPPED = "skipped"
OUTCOMES = (writing.ADDED, writing.UPDATED, writing.UNCHANGED, writing.KEPT, SKIPPED)
_KEPT_WORDS = "edited here and changed there (--overwrite takes the file's)"
#: Problem lines shown of one JSONL file without ``--verbose``.
PROBLEM_LINES = 5


class Line(NamedTuple):
    """What became of one thing that was read. ``where`` is its file, with the line number for JSONL."""

    where: str
    outcome: str
    id: str = ""
    realm: str = ""
    why: str = ""


class Importer:
    """Takes in what the readers give: one :class:`Line` each."""

    def __init__(
        self,
        settings: Settings,
        shelf: bookshelf.Shelf,
        realm: str,
        *,
        force: bool,
        overwrite: bool,
        dry_run: bool,
    ) -> None:
        self._store = NoteStore(settings.notes_dir)
        self._shelf = shelf
        self._realm = realm
        self._force = force
        self._overwrite = overwrite
        self._dry_run = dry_run
        self._seen: dict[tuple[str, str], str] = {}

    def lines(self, path: Path) -> Iterator[Line]:
        """Import one path; never raises for what a file holds. Raises ``OSError`` when the store cannot be written."""
        for item in read_path(path, realm=self._realm):
            yield self._take(item)

    def _take(self, item: Imported) -> Line:
        if item.note is None:
            return Line(item.source, SKIPPED, why=item.problem)
        note = item.note._replace(realm=self._realm) if self._force else item.note
        first = self._seen.setdefault((note.realm, note.id), item.source)
        if first != item.source:
            return Line(item.source, SKIPPED, note.id, note.realm, f"has the same id as {first}")
        try:
            done = writing.take_in(
                self._store,
                note,
                item.digest,
                self._shelf.locate(note),
                overwrite=self._overwrite,
                dry_run=self._dry_run,
            )
        except ValueError as problem:
            return Line(item.source, SKIPPED, note.id, note.realm, str(problem))
        why = _KEPT_WORDS if done.outcome == writing.KEPT else ""
        return Line(item.source, done.outcome, note.id, note.realm, why)


def import_notes(
    paths: Annotated[list[Path], typer.Argument(metavar="PATH", help="Markdown files, folders of them, or JSONL.")],
    realm: RealmOption = "",
    everywhere: WriteGlobally = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Say what would be done and write nothing.")] = False,
    overwrite: Annotated[
        bool, typer.Option("--overwrite", help="Take the file's also where a note was edited.")
    ] = False,
    verbose: Annotated[bool, typer.Option("--verbose", "-v", help="A line for every note and every problem.")] = False,
    as_json: AsJson = False,
) -> None:
    """Bring notes into the store and index them. A note that is there already (same id, same realm) is updated, or
    left alone when its source has not changed, so importing again is safe. A note that was edited in the store since,
    and whose source has changed too, is kept unless --overwrite. Notes that name no realm get the current folder's;
    with --realm or --global all of them get that one.

    Example: chitta import docs/notes lessons.jsonl --dry-run
    """
    started = time.monotonic()
    settings = table.load()
    for path in paths:
        if not path.exists():
            raise Misuse(f"{path} is not there", "give Markdown files, folders of them, or JSONL files")
        if Path(settings.notes_dir).resolve() in (path.resolve(), *path.resolve().parents):
            raise Misuse(f"{path} is in the store already", "`chitta reindex` takes in what was written there by hand")
    forced = chosen_realm(realm, everywhere)
    if not dry_run:
        upkeep.freshen(settings)
    lines: list[Line] = []
    with bookshelf.opened(settings) as snapshot:
        shelf = bookshelf.Shelf(settings, snapshot)
        place = forced or current_realm(settings)
        importer = Importer(settings, shelf, place, force=bool(forced), overwrite=overwrite, dry_run=dry_run)
        for path in paths:
            lines += _import_one(importer, path, verbose=verbose, quiet=as_json)
    counts = Counter(line.outcome for line in lines)
    changed = counts[writing.ADDED] + counts[writing.UPDATED]
    levelled = upkeep.level_here(settings) if changed and not dry_run else None
    _finish(lines, counts, levelled, time.monotonic() - started, dry_run=dry_run, as_json=as_json)
    if lines and counts[SKIPPED] == len(lines):
        raise Failure("nothing could be imported", "the lines above say why")


def _import_one(importer: Importer, path: Path, *, verbose: bool, quiet: bool) -> list[Line]:
    """Import one of the paths given and print what became of it."""
    markdown = path.is_dir() or path.suffix.lower() in (".md", ".markdown")
    if markdown or verbose:
        lines = []
        for line in importer.lines(path):
            lines.append(line)
            if not quiet:
                _print_line(line)
        if not lines and not quiet:
            output.say(f"{path}: no Markdown files in this folder")
        return lines
    with Meter() as meter:
        lines = []
        for line in importer.lines(path):
            lines.append(line)
            meter("reading", len(lines), 0)
    if not quiet:
        _print_summary(path, lines)
    return lines


def _print_line(line: Line) -> None:
    words = f"{line.where}: {line.why}" if line.why else f"{line.where}  {line.id}"
    style = {writing.UNCHANGED: "dim", SKIPPED: "yellow", writing.KEPT: "yellow"}.get(line.outcome, "green")
    output.say(f"{output.paint(f'{line.outcome:<9}', style)}  {output.harmless(words)}")


def _print_summary(path: Path, lines: list[Line]) -> None:
    counts = Counter(line.outcome for line in lines)
    output.say(f"{output.harmless(str(path))}: {_counted(counts)}")
    told = [line for line in lines if line.why]
    for line in told[:PROBLEM_LINES]:
        where = line.where.removeprefix(str(path.parent)).lstrip("/")
        output.say(f"  {output.harmless(where)}: {output.harmless(line.why)}")
    if len(told) > PROBLEM_LINES:
        output.say(f"  and {len(told) - PROBLEM_LINES:,} more; --verbose shows all")


def _counted(counts: Counter[str]) -> str:
    return ", ".join(f"{counts[outcome]:,} {outcome}" for outcome in OUTCOMES if counts[outcome]) or "no notes"


def _finish(
    lines: list[Line],
    counts: Counter[str],
    levelled: upkeep.Levelled | None,
    seconds: float,
    *,
    dry_run: bool,
    as_json: bool,
) -> None:
    if as_json:
        value: dict[str, Any] = {outcome: counts[outcome] for outcome in OUTCOMES}
        value |= {"dry_run": dry_run, "seconds": round(seconds, 3), "notes": [line._asdict() for line in lines]}
        output.as_json({**value, "index": levelled._asdict() if levelled is not None else None})
        return
    realms = Counter(line.realm for line in lines if line.realm and line.outcome != SKIPPED)
    output.say()
    output.say(
        f"{_counted(counts)} in {seconds:.1f} s" + (" (dry run: nothing was written)" if dry_run else ""), "bold"
    )
    if realms:
        named = ", ".join(f"{name} ({count:,})" for name, count in sorted(realms.items()))
        output.say(f"{'realm' if len(realms) == 1 else 'realms'}: {named}")
    if levelled is not None:
        output.say(levelled.findable[:1].upper() + levelled.findable[1:].replace("its", "their") + ".")
        for problem in levelled.problems:
            output.tell(f"chitta: {problem}")
