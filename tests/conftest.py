"""Every test gets a home of its own, and no test can write into the person's real one.

The real homes and the places where a tool may write below them are found when this file is
imported, before any test changes ``HOME``.
"""

from __future__ import annotations

import gc
import os
import pwd
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

# How long an example takes says how busy the machine is, and nothing of the code.
settings.register_profile("unhurried", parent=settings(), deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("unhurried")

WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND

# Audit events whose first arguments are paths that the call changes. Their arguments are listed in CPython's
# "Audit events table"; "open" and "sqlite3.connect" are told apart below.
CHANGING = {
    "os.chmod": 1,
    "os.chown": 1,
    "os.link": 2,
    "os.mkdir": 1,
    "os.remove": 1,
    "os.rename": 2,
    "os.rmdir": 1,
    "os.symlink": 2,
    "os.truncate": 1,
    "os.utime": 1,
    "shutil.move": 2,
    "shutil.rmtree": 1,
}


class RealHomeTouched(BaseException):
    """A test wrote below the person's real home. No ``except Exception`` of the product may hide it."""


def _real_homes() -> tuple[str, ...]:
    """Homes by environment and by the password file, as named and as resolved; never the root folder."""
    named = [os.environ.get("HOME", "")]
    try:
        named.append(pwd.getpwuid(os.getuid()).pw_dir)
    except KeyError:  # a user id without an entry, as in containers
        pass
    found = {os.path.abspath(form) for home in named if home for form in (home, os.path.realpath(home))}
    return tuple(sorted(found - {"/"}))


def _allowed() -> tuple[str, ...]:
    """This checkout, this Python, the temporary folder and tool caches, where they lie inside a real home."""
    checkout = Path(__file__).resolve().parent.parent
    places = [str(checkout), sys.prefix, sys.base_prefix, tempfile.gettempdir(), *sys.path[1:]]
    places += [os.path.join(home, ".cache") for home in HOMES]
    found = {os.path.abspath(form) for place in places if place for form in (place, os.path.realpath(place))}
    return tuple(sorted(place for place in found if not any(_below(home, (place,)) for home in HOMES)))


def _below(path: str, folders: tuple[str, ...]) -> bool:
    return any(path == folder or path.startswith(folder + os.sep) for folder in folders)


HOMES = _real_homes()
ALLOWED = _allowed()


def _changed_paths(event: str, args: tuple[object, ...]) -> tuple[object, ...]:
    """The paths that this audit event is about to change; empty for an event that only reads."""
    if event == "open":
        flags = args[2]
        return args[:1] if isinstance(flags, int) and flags & WRITING else ()
    if event == "sqlite3.connect":
        name = os.fsdecode(args[0]) if isinstance(args[0], (str, bytes, os.PathLike)) else ""
        return () if not name or name.startswith((":", "file:")) else (name,)
    return args[: CHANGING.get(event, 0)]


def _guard(event: str, args: tuple[object, ...]) -> None:
    for path in _changed_paths(event, args):
        if not isinstance(path, (str, bytes, os.PathLike)):
            continue  # a descriptor: the call that opened it was looked at
        name = os.path.abspath(os.fsdecode(path))
        if _below(name, HOMES) and not _below(name, ALLOWED):
            raise RealHomeTouched(f"{event}: {name} lies in the real home")


sys.addaudithook(_guard)


@pytest.fixture
def growth() -> Callable[[Callable[[int], object], int], float]:
    """How many times as long eight times as much takes: about 8 where that is linear, 64 where it goes by the square.

    The best of five runs each, in the process's own time and without a collection of garbage in between.
    """

    def measured(work: Callable[[int], object], size: int) -> float:
        def best(count: int) -> float:
            times = []
            for _ in range(5):
                began = time.process_time()
                work(count)
                times.append(time.process_time() - began)
            return min(times) + 0.002

        gc.collect()
        gc.disable()
        try:
            return best(8 * size) / best(size)
        finally:
            gc.enable()

    return measured


@pytest.fixture(autouse=True)
def own_home(monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A new empty ``HOME`` (returned) with ``CHITTA_HOME`` at its ``.chitta``; no other chitta or XDG setting."""
    for name in list(os.environ):
        if name.startswith(("CHITTA_", "XDG_")):
            monkeypatch.delenv(name)
    home = tmp_path_factory.mktemp("home")
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("CHITTA_HOME", str(home / ".chitta"))
    return home
