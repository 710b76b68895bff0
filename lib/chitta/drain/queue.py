"""The queue of transcripts, from the end where it is emptied.

Reading takes nothing away: a line leaves the queue only when what it asks for is done and in the ledger, so a drain
that is killed has lost nothing. Hooks go on adding lines meanwhile (:mod:`chitta.session_hooks.flush`).
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from typing import NamedTuple

from chitta import file_lock
from chitta.folders import make_private
from chitta.session_hooks.flush import MAX_PATH_CHARS, QUEUE, QUEUE_LOCK
from chitta.wire import codec

#: Seconds to wait for the lock. Without it nothing is removed, which costs a second look and no more.
LOCK_S = 5.0
#: Bytes that are read; the hook keeps the queue far below.
_MOST_BYTES = 8_000_000


class Entry(NamedTuple):
    """A transcript that waits; the fields of the newest line that names it. ``ts`` is ISO, UTC."""

    transcript: str
    session: str = ""
    harness: str = ""
    cwd: str = ""
    trigger: str = ""
    ts: str = ""


class Waiting(NamedTuple):
    """What the queue holds: one entry per transcript, the longest waiting first; the lines that name each; the
    lines that cannot be read."""

    entries: tuple[Entry, ...] = ()
    lines: Mapping[str, tuple[bytes, ...]] = {}
    damaged: tuple[bytes, ...] = ()


def read(state_dir: str) -> Waiting:
    """The queue as it is now. No file, or one that cannot be read, is an empty queue."""
    try:
        file = os.open(os.path.join(state_dir, QUEUE), os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError:
        return Waiting()
    with os.fdopen(file, "rb") as stream:
        return parse(stream.read(_MOST_BYTES))


def parse(raw: bytes) -> Waiting:
    """The entries of a queue's bytes. A last line without its end is still being written, and left alone."""
    newest: dict[str, Entry] = {}
    lines: dict[str, tuple[bytes, ...]] = {}
    damaged: list[bytes] = []
    for line in raw.split(b"\n")[:-1]:
        entry = _entry(line)
        if entry is None:
            damaged.append(line)
            continue
        newest[entry.transcript] = entry
        lines[entry.transcript] = (*lines.get(entry.transcript, ()), line)
    return Waiting(tuple(newest.values()), lines, tuple(damaged))


def remove(state_dir: str, lines: Iterable[bytes], grown: Callable[[], bool] = lambda: False) -> bool:
    """Take these lines out, each as often as it is given; whether it was done. Raises ``OSError``.

    Lines that came meanwhile stay, also those of a hook that did not wait for the lock. ``grown`` is asked under the
    lock whether the transcript has more to read by now: its lines stay then, since a hook that found them there did
    not add another.
    """
    gone = Counter(lines)
    if not gone:
        return True
    make_private(state_dir)
    flags = os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK
    lock = os.open(os.path.join(state_dir, QUEUE_LOCK), flags, 0o600)
    try:
        return file_lock.is_had(lock, LOCK_S) and not grown() and _rewritten(os.path.join(state_dir, QUEUE), gone)
    finally:
        os.close(lock)


def _rewritten(path: str, gone: Counter[bytes]) -> bool:
    new = f"{path}.drain-{os.getpid()}"
    try:
        old = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK)
    except FileNotFoundError:
        return True
    try:
        raw = _from(old, 0)
        file = os.open(new, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
        try:
            _write(file, _without(raw, gone))
            os.replace(new, path)
            _write(file, _from(old, len(raw)))  # of a hook that had the old file open and no lock
        finally:
            os.close(file)
    finally:
        os.close(old)
    return True


def _without(raw: bytes, gone: Counter[bytes]) -> bytes:
    kept = []
    for line in raw.split(b"\n"):
        if gone[line] > 0:
            gone[line] -= 1
        else:
            kept.append(line)
    return b"\n".join(kept)


def _from(file: int, start: int) -> bytes:
    parts = []
    while part := os.pread(file, 1 << 20, start):
        parts.append(part)
        start += len(part)
    return b"".join(parts)


def _write(file: int, data: bytes) -> None:
    while data:
        data = data[os.write(file, data) :]


def _entry(line: bytes) -> Entry | None:
    try:
        value = codec.loads(line)
    except ValueError:
        return None
    path = value.get("transcript_path") if isinstance(value, dict) else None
    if not isinstance(path, str) or not 0 < len(path) <= MAX_PATH_CHARS or "\0" in path:
        return None
    told = [value.get(key) for key in ("session_id", "harness", "cwd", "trigger", "ts")]
    return Entry(path, *(one[:MAX_PATH_CHARS] if isinstance(one, str) else "" for one in told))
