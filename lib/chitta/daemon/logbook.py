"""The daemon's log: bounded, best effort, and without a word of any prompt.

A line is ``TIME PID event key=value …``. Exceptions are logged by type and place, never by
message, because a message may quote the text that was being worked on.
"""

from __future__ import annotations

import os
import stat
import threading
import time

from chitta import breadcrumb
from chitta.breadcrumb import place_of
from chitta.folders import make_private

MAX_BYTES = 1024 * 1024


class Logbook:
    """Appends to ``path`` (renamed to ``path.1`` when full), or writes to standard error when None.

    With ``own_stderr`` the file is also the process's standard error, so that what a C library or a
    crash has to say is kept. A folder that cannot be written, or a path that is no plain file, means no log, not an
    error.
    """

    def __init__(self, path: str | None, *, own_stderr: bool = False, max_bytes: int = MAX_BYTES) -> None:
        self._path = path
        self._own_stderr = own_stderr
        self._max_bytes = max_bytes
        self._lock = threading.Lock()
        self._descriptor = 2 if path is None else self._open(path)

    def note(self, event: str, **facts: object) -> None:
        """Write one line."""
        words = [time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()), str(os.getpid()), event]
        words += [f"{key}={_one_word(value)}" for key, value in facts.items()]
        line = (" ".join(words) + "\n").encode("utf-8", "replace")
        with self._lock:
            try:
                self._rotate(len(line))
                if self._descriptor is not None:
                    os.write(self._descriptor, line)
            except OSError:
                pass

    def fault(self, event: str, problem: BaseException, **facts: object) -> None:
        """Write one line about an exception: its type and where it was raised; `chitta doctor` shows the last one."""
        self.note(event, problem=type(problem).__name__, at=place_of(problem), **facts)
        if self._path is not None:
            what = f"{event}: {type(problem).__name__}"
            breadcrumb.leave(os.path.dirname(self._path), "daemon", what, place_of(problem))

    def _open(self, path: str) -> int | None:
        try:
            make_private(os.path.dirname(path))
            # Not waiting: a FIFO in the log's place would hold the daemon, and one that is read would hold each line.
            flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK
            descriptor = os.open(path, flags, 0o600)
        except OSError:
            return None
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            os.close(descriptor)
            return None
        if self._own_stderr:
            os.dup2(descriptor, 2)
        return descriptor

    def _rotate(self, coming: int) -> None:
        if self._path is None or self._descriptor is None:
            return
        if os.fstat(self._descriptor).st_size + coming <= self._max_bytes:
            return
        os.replace(self._path, self._path + ".1")
        fresh = self._open(self._path)
        if fresh is not None:
            os.close(self._descriptor)
            self._descriptor = fresh


def sentence_of(problem: BaseException) -> str:
    """An exception's message on one line, for people who asked; never for the log."""
    return " ".join(str(problem).split())[:300] or type(problem).__name__


def _one_word(value: object) -> str:
    text = str(value)[:300]
    plain = "".join(character if character.isprintable() else " " for character in text)
    return '"' + plain.replace('"', "'") + '"' if " " in plain or not plain else plain
