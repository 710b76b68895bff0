"""What processes that were killed have left in the store: half-written files under names that nobody reads.

Everything in a store is written under another name first and renamed. A process that dies in between leaves that
file. It does no harm, but each kill leaves one, so the daemon removes them as it starts, `chitta import` when it has
written, and `chitta doctor --repair` by hand. Notes and whatever a person has put there have no such name.
"""

from __future__ import annotations

import os
import re
import stat
import time
from collections.abc import Iterator

from chitta.settings import Settings

#: Seconds after which nobody can be writing such a file any more: a write takes milliseconds, on a busy disk seconds.
ABANDONED_S = 120.0
#: What :func:`tempfile.mkstemp` makes for a note or another file that is written whole.
_WHOLE = re.compile(r"\.(?:chitta-)?[a-z0-9_]{8}\.tmp")
#: The same outside of the store, where only a name of our own is surely ours.
PREFIX = ".chitta-"
_OURS = re.compile(r"\.chitta-[a-z0-9_]{8}\.tmp")
#: A file of the state folder under its writer's process id, and the moment where one process may write several.
_OF_PROCESS = re.compile(r".+\.(?:json|jsonl|md)\.(?:drain-)?\d{1,10}(?:-\d+)?|digests?.*\.part")
#: Folders of the state folder that hold one file a session.
_SESSIONS = ("sessions", "armed")
#: Where other programs keep what is theirs.
_FOREIGN = frozenset({".git", ".obsidian", ".trash"})


def found(settings: Settings, now: float | None = None) -> list[str]:
    """Paths of the files that were left, by name. Never raises; what cannot be looked at is passed over."""
    before = (time.time() if now is None else now) - ABANDONED_S
    state = settings.state_dir
    places = [(path, _WHOLE) for path in (settings.home, state, *_folders(settings.notes_dir))]
    places += [(path, _OF_PROCESS) for path in (state, *(os.path.join(state, name) for name in _SESSIONS))]
    return sorted({path for folder, name in places for path in _left_in(folder, name, before)})


def sweep(settings: Settings, now: float | None = None) -> list[str]:
    """Remove them; those that are gone now. Never raises."""
    gone = []
    for path in found(settings, now):
        try:
            os.unlink(path)
        except OSError:
            continue
        gone.append(path)
    return gone


def is_half_written(name: str) -> bool:
    """Whether a file outside of the store has the name of one that we had begun to write."""
    return _OURS.fullmatch(name) is not None


def sweep_folder(folder: str, now: float | None = None) -> None:
    """Remove what killed exports left in a folder outside of the store. Never raises."""
    for path in list(_left_in(folder, _OURS, (time.time() if now is None else now) - ABANDONED_S)):
        try:
            os.unlink(path)
        except OSError:
            continue


def _left_in(folder: str, name: re.Pattern[str], before: float) -> Iterator[str]:
    try:
        with os.scandir(folder) as entries:
            fitting = [entry for entry in entries if name.fullmatch(entry.name)]
    except OSError:
        return
    for entry in fitting:
        try:
            facts = entry.stat(follow_symlinks=False)
        except OSError:
            continue
        if stat.S_ISREG(facts.st_mode) and facts.st_uid == os.geteuid() and facts.st_mtime < before:
            yield entry.path


def _folders(top: str) -> Iterator[str]:
    """``top`` and the folders below it, links and other programs' folders left out."""
    for folder, below, _ in os.walk(top):
        below[:] = [name for name in below if name not in _FOREIGN]
        yield folder
