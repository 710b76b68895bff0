"""Where a drain works: one at a time, in a folder of its own that is empty again afterwards.

The lock is the kernel's, so one that is held by nobody is free, however its holder ended. What a killed drain has
left (copies of transcripts, an agent that still runs) the next one removes.
"""

from __future__ import annotations

import fcntl
import os
import secrets
import shutil
import tempfile
import time

from chitta.drain import agent
from chitta.folders import make_private

LOCK, FOLDER, LAST = "drain.lock", "drain-work", "drain.last"
_TOKEN = "token"
#: Seconds between two runs that nobody asked for (reflect).
DEBOUNCE_S = 600.0


class Busy(Exception):
    """Another drain is at work."""

    hint = "it ends by itself; `chitta drain --status` shows what it did"


class Workplace:
    """The lock, held as long as this is open, and a folder. Raises :class:`Busy` and ``OSError``."""

    def __init__(self, state_dir: str) -> None:
        make_private(state_dir)
        flags = os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK
        self._lock = os.open(os.path.join(state_dir, LOCK), flags, 0o600)
        try:
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            os.close(self._lock)
            raise Busy("another drain is at work") from None
        self._base = os.path.join(state_dir, FOLDER)
        #: What the agent's processes are known by.
        self.token = secrets.token_hex(16)

    def __enter__(self) -> Workplace:
        self._clear()
        make_private(self._base)
        with open(os.open(self._path(_TOKEN), os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
            file.write(self.token)
        return self

    def __exit__(self, *problem: object) -> None:
        self._clear()
        os.close(self._lock)

    def room(self) -> str:
        """A new empty folder."""
        return tempfile.mkdtemp(dir=self._base)

    def _clear(self) -> None:
        try:
            with open(self._path(_TOKEN), encoding="ascii") as file:
                token = file.read(64)
        except (OSError, ValueError):
            token = ""
        if token:
            agent.end_marked(token)
        shutil.rmtree(self._base, ignore_errors=True)

    def _path(self, name: str) -> str:
        return os.path.join(self._base, name)


def is_inside(folder: str, state_dir: str) -> bool:
    """Whether a session's folder is one of those that agents are started in."""
    base = os.path.realpath(os.path.join(state_dir, FOLDER))
    return bool(folder) and os.path.realpath(folder).startswith(base + os.sep)


def is_soon(state_dir: str, now: float) -> bool:
    """Whether the last automatic run began less than :data:`DEBOUNCE_S` ago."""
    try:
        return 0.0 <= now - os.stat(os.path.join(state_dir, LAST)).st_mtime < DEBOUNCE_S
    except OSError:
        return False


def began(state_dir: str, now: float | None = None) -> None:
    """An automatic run begins. Raises ``OSError``."""
    path = os.path.join(state_dir, LAST)
    os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK, 0o600))
    moment = time.time() if now is None else now
    os.utime(path, (moment, moment))
