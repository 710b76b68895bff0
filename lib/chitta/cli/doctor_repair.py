"""`chitta doctor --repair`: puts a store right, and says what it did and what it left to a person.

No note is ever deleted, moved or rewritten. Each step is safe to do again, and one that fails is told and does not
keep the others from being done.
"""

from __future__ import annotations

import os
import stat
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import typer

from chitta import bounded_log, leftovers
from chitta.cli import bookshelf, output, upkeep
from chitta.cli.failure import NOTHING
from chitta.daemon import lifecycle
from chitta.folders import make_private
from chitta.notes.store import NoteStore
from chitta.settings import Settings
from chitta.wire import codec

#: Where lines of a log that could not be read are kept.
TORN = "torn-lines.jsonl"
#: Seconds after which a log's last line, where it has no end, is not still being written.
_WRITTEN_S = 60.0
_MOST_LOG_BYTES = 64_000_000
#: Files that a list for people names.
_SHOWN = 20
DONE, LEFT = "done", "left"


class Repair(NamedTuple):
    """One thing that was done, or that is left to a person (``todo`` says how): ``outcome`` is done or left."""

    outcome: str
    what: str
    paths: tuple[str, ...] = ()
    todo: str = ""


def run(settings: Settings, *, as_json: bool) -> None:
    """Repair the store and report. Exit code 1 where something is left to a person."""
    repairs = list(repair(settings))
    if as_json:
        output.as_json({"home": settings.home, "repairs": [one._asdict() for one in repairs]})
    else:
        _say(repairs)
    if any(one.outcome == LEFT for one in repairs):
        raise typer.Exit(NOTHING)


def repair(settings: Settings, now: float | None = None) -> Iterator[Repair]:
    """Do what can be done, in the order in which one step needs another. ``now``: seconds since the epoch."""
    moment = time.time() if now is None else now
    if not os.path.isdir(settings.home):
        return
    steps: tuple[tuple[str, Callable[[], Iterator[Repair]]], ...] = (
        ("the folders", lambda: _folders(settings)),
        ("the permissions", lambda: _permissions(settings)),
        ("half-written files", lambda: _leftovers(settings, moment)),
        ("the run folder", lambda: _run_folder(settings)),
        ("the logs", lambda: _logs(settings, moment)),
        ("the notes", lambda: _notes(settings)),
        ("the index", lambda: _index(settings)),
    )
    for name, step in steps:
        try:
            yield from step()
        except Exception as problem:  # told, and the others still are done
            words = " ".join(str(problem).split())
            yield Repair(LEFT, f"{name} could not be repaired: {words}", todo="chitta doctor")


def _folders(settings: Settings) -> Iterator[Repair]:
    """What stands where a folder should: a file is moved aside, what holds nothing (a FIFO, a link to nowhere) goes.

    The index is made anew by its own step. Where the notes should be nothing is touched.
    """
    for path, made_here in ((settings.state_dir, True), (settings.run_dir, True), (settings.index_dir, False)):
        if not os.path.lexists(path) or os.path.isdir(path):
            continue
        facts = os.stat(path, follow_symlinks=False)
        if stat.S_ISREG(facts.st_mode) or os.path.exists(path) and stat.S_ISLNK(facts.st_mode):
            aside = _free_name(path)
            os.rename(path, aside)
            done = f"{path} was a file, which is now {os.path.basename(aside)}"
        else:
            os.unlink(path)
            done = f"removed {path}, which was {_what_stands(facts.st_mode)}"
        if made_here:
            make_private(path)
        yield Repair(DONE, f"{done}; {'the folder was made anew' if made_here else 'the index is made anew'}", (path,))
    if os.path.lexists(settings.notes_dir) and not os.path.isdir(settings.notes_dir):
        yield Repair(LEFT, "this should be the folder of notes, and is none", (settings.notes_dir,), "move it away")


def _free_name(path: str) -> str:
    """A name beside ``path`` that nothing has."""
    number = 1
    while os.path.lexists(f"{path}.aside-{number}"):
        number += 1
    return f"{path}.aside-{number}"


def _what_stands(mode: int) -> str:
    return "a link to nowhere" if stat.S_ISLNK(mode) else "a pipe" if stat.S_ISFIFO(mode) else "no folder"


def _permissions(settings: Settings) -> Iterator[Repair]:
    """Folders and files of the store are their owner's alone; links are not followed, git's own files stay."""
    changed, refused = [], []
    for path in _all_below(settings):
        try:
            facts = os.stat(path, follow_symlinks=False)
            wanted = 0o700 if stat.S_ISDIR(facts.st_mode) else 0o600
            mode = stat.S_IMODE(facts.st_mode)
            if not stat.S_ISDIR(facts.st_mode) and not stat.S_ISREG(facts.st_mode) or mode == wanted:
                continue
            os.chmod(path, wanted)
            changed.append(path)
        except OSError:
            refused.append(path)
    if changed:
        yield Repair(DONE, f"made {output.plural(len(changed), 'path')} private", tuple(changed))
    if refused:
        yield Repair(LEFT, "these belong to somebody else", tuple(refused), "chown them, or set CHITTA_HOME")


def _all_below(settings: Settings) -> Iterator[str]:
    named = (settings.home, settings.notes_dir, settings.index_dir, settings.run_dir)
    tops = dict.fromkeys(map(os.path.realpath, named))
    for top in tops:
        if not os.path.isdir(top):
            continue
        yield top
        # A folder is opened up before it is looked into: os.walk lists it after this has been handed out.
        for folder, below, files in os.walk(top):
            below[:] = [name for name in below if name != ".git" and os.path.join(folder, name) not in tops]
            for name in (*below, *files):
                yield os.path.join(folder, name)


def _leftovers(settings: Settings, now: float) -> Iterator[Repair]:
    gone = leftovers.sweep(settings, now)
    if gone:
        yield Repair(DONE, f"removed {output.plural(len(gone), 'file')} that killed processes left", tuple(gone))


def _run_folder(settings: Settings) -> Iterator[Repair]:
    """A socket and a pid file that no daemon has. The lock file stays: its lock goes with its holder."""
    if lifecycle.is_locked(os.path.join(settings.run_dir, lifecycle.LOCK_NAME)):
        return
    gone = []
    for name in (lifecycle.SOCKET_NAME, lifecycle.SOCKET_NAME + ".new", lifecycle.PID_NAME):
        path = os.path.join(settings.run_dir, name)
        if os.path.lexists(path):
            os.unlink(path)
            gone.append(path)
    if gone:
        yield Repair(DONE, "removed what a daemon left that is gone", tuple(gone))


def _logs(settings: Settings, now: float) -> Iterator[Repair]:
    for path in sorted(Path(settings.state_dir).glob("*.jsonl")):
        if path.name in (TORN, bounded_log.previous(TORN)) or path.is_symlink():
            continue
        torn = _without_torn_lines(path, now)
        for line in torn:
            words = line[:8_000].decode("utf-8", "replace")
            bounded_log.append(settings.state_dir, TORN, {"log": path.name, "line": words})
        if torn:
            lines = output.plural(len(torn), "line")
            yield Repair(DONE, f"took {lines} that cannot be read out of {path.name}; kept in {TORN}", (str(path),))


def _without_torn_lines(path: Path, now: float) -> list[bytes]:
    """Take out the lines that are no JSON object; what is appended meanwhile is kept. Raises ``OSError``."""
    with open(path, "rb") as old:
        raw = old.read(_MOST_LOG_BYTES)
        lines = raw.split(b"\n")
        last = lines.pop()
        if last and now - os.fstat(old.fileno()).st_mtime >= _WRITTEN_S:
            lines, last = [*lines, last], b""
        torn = [line for line in lines if line.strip() and not _is_object(line)]
        if not torn:
            return []
        kept = b"".join(line + b"\n" for line in lines if _is_object(line)) + last
        new = f"{path}.{os.getpid()}"
        handle = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
        with os.fdopen(handle, "wb") as file:
            try:
                file.write(kept)
                file.flush()
                os.replace(new, path)
            except OSError:
                os.unlink(new)
                raise
            file.write(old.read())  # of somebody who had the old file open
    return torn


def _is_object(line: bytes) -> bool:
    try:
        return isinstance(codec.loads(line), dict)
    except ValueError:
        return False


def _notes(settings: Settings) -> Iterator[Repair]:
    """Notes that cannot be read, or are empty: named, and left as they are."""
    store = NoteStore(settings.notes_dir)
    unread: list[str] = []
    empty: list[str] = []
    for fact in store.scan(on_error=lambda problem: unread.append(f"{problem.filename}: {problem.strerror}")):
        try:
            store.read(fact.path)
        except (OSError, ValueError) as problem:
            words = getattr(problem, "strerror", None) or str(problem).removeprefix(f"{fact.path} ")
            unread.append(f"{fact.path}: {words}")
            continue
        if not fact.size:
            empty.append(str(fact.path))
    if unread:
        yield Repair(LEFT, "cannot be read, and left as they are", tuple(unread), "see what is wrong with them")
    if empty:
        yield Repair(LEFT, "are empty, and left as they are", tuple(empty), "fill them from a copy, or remove them")


def _index(settings: Settings) -> Iterator[Repair]:
    """The index is made from the notes alone, so what is damaged is made anew."""
    from chitta.index import IndexDamaged, IndexFault
    from chitta.index.indexer import needs_sync

    damage: list[str] = []
    try:
        with bookshelf.opened(settings) as snapshot:
            if snapshot is not None:
                damage = list(snapshot.problems)
    except (IndexDamaged, IndexFault, OSError) as problem:
        damage = [str(problem)]
    behind = needs_sync(settings)
    if not damage and not behind:
        return
    done = upkeep.level(settings, full=bool(damage))
    why = f"built the index anew, for it was damaged ({'; '.join(damage)})" if damage else "brought the index level"
    yield Repair(DONE, f"{why}: {output.plural(done.added + done.updated + done.unchanged, 'note')}")
    for words in done.problems:
        if not words.endswith("the index was rebuilt"):
            yield Repair(LEFT, words, todo="chitta doctor")


def _say(repairs: list[Repair]) -> None:
    if not repairs:
        output.say("nothing to repair")
        return
    for one in repairs:
        style = "green" if one.outcome == DONE else "yellow"
        output.say(f"{output.paint(f'{one.outcome:<4}', style)}  {output.harmless(one.what)}")
        for path in one.paths[:_SHOWN]:
            output.say(f"        {output.harmless(path)}")
        if len(one.paths) > _SHOWN:
            output.say(f"        and {len(one.paths) - _SHOWN:,} more")
        if one.todo:
            output.say(f"        do: {output.harmless(one.todo)}")
    output.say()
    left = sum(one.outcome == LEFT for one in repairs)
    words = f"; {output.plural(left, 'thing')} left to you" if left else ""
    output.say(f"{output.plural(len(repairs) - left, 'repair')} made{words}; no note was deleted", "bold")
