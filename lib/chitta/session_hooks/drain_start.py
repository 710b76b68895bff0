"""Starting a drain as a session starts: once the answer is out, in a process of its own, and only where it is wanted.

Imported on the way out of a hook, so it looks at little and forks at once.
"""

from __future__ import annotations

import os
import posix
import time

from chitta import client, starter
from chitta.session_hooks.flush import QUEUE
from chitta.settings import Settings

#: A file that says by its time when the last automatic drain began, and the seconds until the next: those of
#: :mod:`chitta.drain.work`, which decides; here they only save a process.
LAST, DEBOUNCE_S = "drain.last", 600.0
_NICE = 10
#: Variables of the hook's call, which are none of the drain's.
_OF_ONE_CALL = (b"CHITTA_DEADLINE_MS", b"CHITTA_REALM", b"CHITTA_ABLATE_LANES")


def is_wanted(settings: Settings, now: float) -> bool:
    """Whether CHITTA_DRAIN is set, something waits, and the last automatic drain is a while ago."""
    if not settings.flag("CHITTA_DRAIN") or not _size(settings, QUEUE):
        return False
    try:
        return not 0.0 <= now - os.stat(os.path.join(settings.state_dir, LAST)).st_mtime < DEBOUNCE_S
    except OSError:
        return True


def start(settings: Settings) -> bool:
    """Start it where it is wanted; whether it was. Never raises, never waits."""
    if not is_wanted(settings, time.time()):
        return False
    try:
        python, home = client.interpreter(), settings.home
        if posix.fork() == 0:
            _become_drain(python, home)
    except OSError:
        return False
    return True


def _become_drain(python: str, home: str) -> None:
    """In the child: a session of its own, none of the hook's descriptors, little of the processor."""
    try:
        posix.setsid()
        posix.umask(0o077)
        null = posix.open("/dev/null", posix.O_RDWR)
        for number in (0, 1, 2):
            posix.dup2(null, number)
        starter.close_above(2)
        posix.nice(_NICE)
        kept = {name: value for name, value in posix.environ.items() if name not in _OF_ONE_CALL}
        kept |= {b"CHITTA_HEADLESS": b"1", b"CHITTA_HOME": client.to_bytes(home)}
        posix.chdir("/")
        posix.execve(python, [python, "-I", "-m", "chitta.cli", "drain", "--automatic"], kept)
    finally:
        posix._exit(client.UNAVAILABLE)


def _size(settings: Settings, name: str) -> int:
    try:
        return os.stat(os.path.join(settings.state_dir, name)).st_size
    except OSError:
        return 0
