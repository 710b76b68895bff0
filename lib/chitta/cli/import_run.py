"""What `chitta import` does: finds who reads a path, takes in what comes, and brings the index level."""

from __future__ import annotations

import os
import time
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from chitta import leftovers
from chitta import settings as table
from chitta.cli import bookshelf, import_report, output, realm_near, upkeep, writing
from chitta.cli.failure import Failure, Misuse, Nothing
from chitta.cli.import_taking import GONE, REPLACED, RETIRED, SAME, SKIPPED, Importer, Line
from chitta.cli.progress import Meter
from chitta.cli.realm_options import chosen_realm, current_realm, refuse_telling
from chitta.folders import make_private
from chitta.importing import sources
from chitta.importing.sources import Source
from chitta.notes.realms import GLOBAL, work_tree
from chitta.settings import Settings

#: Seconds that an import waits for another one.
LOCK_WAIT_S = 600.0


class Wishes(NamedTuple):
    """The options of the command, as they were given."""

    realm: str = ""
    everywhere: bool = False
    dry_run: bool = False
    overwrite: bool = False
    quarantine: bool = False
    supersede: bool = True
    keep_gone: bool = False
    verbose: bool = False
    as_json: bool = False


class _Part(NamedTuple):
    """A path with the source that reads it; ``refused`` is why nothing may."""

    path: Path
    source: Source | None
    refused: str = ""


def run(paths: list[Path], origin: str, wishes: Wishes) -> None:
    """Import the paths as the source ``origin``, or as what each of them is. Raises what a command raises."""
    started = time.monotonic()
    settings = table.load()
    parts = _parts(settings, paths, origin)
    refuse_telling(settings, wishes.realm)
    forced, here = chosen_realm(wishes.realm, wishes.everywhere), current_realm(settings)
    realm_near.remark(settings, wishes.realm)
    if not wishes.dry_run:
        upkeep.freshen(settings)
    lines: list[Line] = []
    with _alone(settings, dry_run=wishes.dry_run), bookshelf.opened(settings) as snapshot:
        importer = Importer(
            settings,
            bookshelf.Shelf(settings, snapshot),
            forced or here,
            force=bool(forced),
            overwrite=wishes.overwrite,
            quarantine=wishes.quarantine,
            dry_run=wishes.dry_run,
            supersede=wishes.supersede,
            keep_gone=wishes.keep_gone,
        )
        outside, top = 0, "" if forced else work_tree(os.getcwd())
        for at, part in enumerate(parts):
            came = _import_one(importer, part, verbose=wishes.verbose, quiet=wishes.as_json)
            outside += sum(_went_in(line, here) and _lies_outside(line.where, top) for line in came)
            last = at + 1 == len(parts) or parts[at + 1].path != part.path
            if last and not wishes.as_json and part.source is not None and part.source.name in sources.BY_KIND:
                import_report.say_passed_over(sources.passed_over(part.path))
            lines += came
        lines += _shown(importer.gone(), verbose=wishes.verbose, quiet=wishes.as_json)
    counts = Counter(line.outcome for line in lines)
    changed = sum(counts[outcome] for outcome in (writing.ADDED, writing.UPDATED, REPLACED, RETIRED))
    levelled = upkeep.level_here(settings) if changed and not wishes.dry_run else None
    if changed and not wishes.dry_run:
        leftovers.sweep(settings)
    seconds = time.monotonic() - started
    import_report.finish(lines, counts, levelled, seconds, dry_run=wishes.dry_run, as_json=wishes.as_json)
    if not wishes.as_json:
        import_report.say_dated(lines if not wishes.verbose else [])
        import_report.say_outside(outside, here)
    refused = [line for line in lines if line.outcome == SKIPPED and not line.why.startswith(SAME)]
    if refused and len(refused) + counts[GONE] == len(lines):
        raise Failure("nothing could be imported", "the lines above say why")


@contextmanager
def _alone(settings: Settings, *, dry_run: bool) -> Iterator[None]:
    """One import at a time: of two that read one source at once, both would find no note and add it. Raises
    ``Failure`` where another one takes longer than :data:`LOCK_WAIT_S`.
    """
    if dry_run:
        yield
        return
    import filelock

    make_private(settings.state_dir)
    lock = filelock.FileLock(os.path.join(settings.state_dir, "import.lock"), mode=0o600)
    try:
        lock.acquire(timeout=0)
    except filelock.Timeout:
        output.tell("chitta: another import is at work; waiting for it")
        try:
            lock.acquire(timeout=LOCK_WAIT_S)
        except filelock.Timeout:
            raise Failure("another import is still at work", "wait for it to end, then import again") from None
    try:
        yield
    finally:
        lock.release()


def _parts(settings: Settings, paths: list[Path], origin: str) -> list[_Part]:
    """What is to be read, with its sources. Raises ``Misuse`` before anything is done, and ``Nothing``."""
    name = sources.named(origin)
    if origin and not name:
        raise Misuse(f"{origin!r} is no source", f"sources are {', '.join(sources.NAMES)}")
    if not paths:
        if not name:
            raise Misuse("nothing to import was given", "give files or folders, or --from NAME; --sources lists them")
        paths = _usual_places(sources.source(name))
    for path in paths:
        if not path.exists():
            raise Misuse(f"{path} is not there", "give files or folders; `chitta import --sources` lists what is read")
        if Path(settings.notes_dir).resolve() in (path.resolve(), *path.resolve().parents):
            raise Misuse(f"{path} is in the store already", "`chitta reindex` takes in what was written there by hand")
    parts: list[_Part] = []
    read_by: list[Source | None]
    for path in paths:
        read_by = [sources.source(name)] if name else [*sources.sources_of(path)]
        parts += [_Part(path, each, sources.refusal(path, each)) for each in read_by or [None]]
    return parts


def _usual_places(source: Source) -> list[Path]:
    """Where a source lies here. Raises ``Misuse`` where it has no usual place, ``Nothing`` where none is there."""
    places = source.default_paths()
    found = [path for path in places if path.exists()]
    if not places:
        raise Misuse(f"{source.name} has no usual place on this machine", f"give a path: {source.reads}")
    if not found:
        looked = ", ".join(str(path) for path in places[: import_report.PLACES_SHOWN])
        raise Nothing(
            f"nothing of {source.name} is on this machine", f"looked at {looked}; give a path if it is elsewhere"
        )
    return found


def _import_one(importer: Importer, part: _Part, *, verbose: bool, quiet: bool) -> list[Line]:
    """Import one of the paths given and print what became of it."""
    path, source = part.path, part.source
    if source is None or part.refused:
        return _shown([Line(str(path), SKIPPED, why=part.refused)], verbose=verbose, quiet=quiet)
    if source.name in sources.BY_FILE or verbose:
        lines = _shown(importer.lines(path, source.read), verbose=verbose, quiet=quiet)
        if not lines and not quiet:
            import_report.say_empty(path, source)
        return lines
    lines = []
    with Meter() as meter:
        for line in importer.lines(path, source.read):
            lines.append(line)
            meter("reading", len(lines), 0)
    if not quiet:
        import_report.print_summary(path, lines)
    return lines


def _lies_outside(where: str, top: str) -> bool:
    """Whether what was read lies outside of the repository that the command is run in; never where that is none."""
    return bool(top) and Path(top) not in Path(os.path.realpath(where)).parents


def _went_in(line: Line, realm: str) -> bool:
    return line.realm == realm != GLOBAL and line.outcome in (writing.ADDED, writing.UPDATED)


def _shown(lines: Iterable[Line], *, verbose: bool, quiet: bool) -> list[Line]:
    """The lines, each printed as it comes; of many, those that have a reason, and how many more there were."""
    kept, more = [], 0
    for line in lines:
        kept.append(line)
        if quiet:
            continue
        if verbose or line.why or len(kept) <= import_report.LINES_SHOWN:
            import_report.print_line(line, verbose=verbose)
        else:
            more += 1
    if more:
        import_report.say_more(more)
    return kept
