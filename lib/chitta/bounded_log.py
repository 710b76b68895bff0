"""Small logs of JSON lines in ``$CHITTA_HOME/state``: appended by one write, put aside when large."""

from __future__ import annotations

import errno
import fcntl
import os
import stat
from typing import Any

from chitta.folders import make_private
from chitta.wire import codec

#: Bytes from which on a log is put aside.
MOST_BYTES = 1_000_000


def append(state_dir: str, name: str, line: dict[str, Any], most_bytes: int = MOST_BYTES) -> None:
    """Add one line by one write, so that lines of parallel processes never mix. Raises ``OSError``.

    A log of ``most_bytes`` first becomes :func:`previous`, in place of the one before.
    """
    make_private(state_dir)
    path = os.path.join(state_dir, name)
    if size_of(path) >= most_bytes:
        put_aside(path, previous(path), f"{path}.lock", most_bytes)
    flags = os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK
    file = os.open(path, flags, 0o600)
    try:
        write_line(file, codec.dumps(line))
    finally:
        os.close(file)


def write_line(file: int, line: bytes) -> None:
    """Append a line to the open log. Half a line of a writer that was killed, or had no room, does not take it along.

    Raises ``OSError``, also where there is room for a part alone.
    """
    facts = os.fstat(file)
    if not stat.S_ISREG(facts.st_mode):
        raise OSError(errno.EINVAL, "the log is no plain file")
    size, whole = facts.st_size, line + b"\n"
    if size and os.pread(file, 1, size - 1) != b"\n":
        whole = b"\n" + whole
    if os.write(file, whole) != len(whole):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def previous(name: str) -> str:
    """The name of the log before this one: ``gaps.jsonl`` gives ``gaps.1.jsonl``."""
    stem, dot, ending = name.rpartition(".")
    return f"{stem}.1{dot}{ending}"


def read(state_dir: str, name: str) -> list[dict[str, Any]]:
    """Every line that is a JSON object, oldest first; what cannot be read is no lines."""
    found: list[dict[str, Any]] = []
    for one in (previous(name), name):
        try:
            with open(os.path.join(state_dir, one), "rb", opener=not_waiting) as file:
                raw = file.read(4 * MOST_BYTES) or b""
        except OSError:
            continue
        found += [value for value in map(_value, raw.split(b"\n")) if isinstance(value, dict)]
    return found


def not_waiting(path: str, flags: int) -> int:
    """Opens a file for :func:`open`: a FIFO in its place is not waited for."""
    return os.open(path, flags | os.O_NONBLOCK)


def last(state_dir: str, name: str, most_bytes: int = 8_192) -> list[dict[str, Any]]:
    """The lines at the log's end, oldest first, within so many bytes: the first may be cut and is left out then."""
    try:
        file = os.open(os.path.join(state_dir, name), os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError:
        return []
    try:
        raw = os.pread(file, most_bytes, max(os.fstat(file).st_size - most_bytes, 0))
    except OSError:
        return []
    finally:
        os.close(file)
    return [value for value in map(_value, raw.split(b"\n")) if isinstance(value, dict)]


def replace(state_dir: str, name: str, lines: list[dict[str, Any]]) -> None:
    """Let the log hold these lines alone; no lines is no log. Raises ``OSError``."""
    path = os.path.join(state_dir, name)
    if lines:
        new = f"{path}.{os.getpid()}"
        file = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
        try:
            with os.fdopen(file, "wb") as stream:
                stream.write(b"".join(codec.dumps(line) + b"\n" for line in lines))
            os.replace(new, path)
        except OSError:
            os.unlink(new)
            raise
    for gone in (previous(name), *([] if lines else [name])):
        try:
            os.unlink(os.path.join(state_dir, gone))
        except FileNotFoundError:
            continue


def _value(line: bytes) -> Any:
    try:
        return codec.loads(line)
    except ValueError:
        return None


def size_of(path: str) -> int:
    """Bytes of a log; 0 where there is none."""
    try:
        return os.stat(path).st_size
    except OSError:
        return 0


def put_aside(path: str, aside: str, lock_path: str, most_bytes: int) -> None:
    """Rename a log that has grown large. One process does it, or a second rename would take the fresh log along.

    The others do not wait: their lines go into whichever file they open, and both are read. Never raises.
    """
    lock = -1
    try:
        lock = os.open(lock_path, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC | os.O_NONBLOCK, 0o600)
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if size_of(path) >= most_bytes:
            os.rename(path, aside)
    except OSError:
        pass  # someone else is at it, or it cannot be done here: this line matters more
    finally:
        if lock >= 0:
            os.close(lock)
