"""Which code a process runs, so that a daemon of older code can be told from one of this checkout.

A daemon outlives an upgrade: it has the old modules in memory, and would import the new ones beside them. Imported by
a session hook before anything else, so only built-in modules are used.
"""

import posix

_kept: list[str] = []


def here() -> str:
    """The code on disk: identity of the package's folder, newest time and number of its modules. Never raises."""
    folder = __file__.rsplit("/", 1)[0]
    try:
        facts = posix.stat(folder)
        newest, count = _newest(folder)
    except OSError:
        return ""
    return f"{facts.st_dev}:{facts.st_ino}:{newest}:{count}"


def own() -> str:
    """What :func:`here` said when it was asked first in this process; a daemon asks as it starts."""
    if not _kept:
        _kept.append(here())
    return _kept[0]


def _newest(folder: str) -> tuple[int, int]:
    newest = count = 0
    with posix.scandir(folder) as entries:
        for entry in entries:
            found = (0, 0)
            if entry.name.endswith(".py"):
                found = (entry.stat().st_mtime_ns, 1)
            elif entry.name[:1] not in "._" and entry.is_dir():
                found = _newest(entry.path)
            newest, count = max(newest, found[0]), count + found[1]
    return newest, count
