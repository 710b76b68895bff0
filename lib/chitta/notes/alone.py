"""One writer at a time, for whoever reads a note and writes what becomes of it.

A write by itself is whole (:mod:`chitta.notes.store`), but two commands that read one note and each write it would
leave one of the two texts nowhere.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager

from chitta import file_lock
from chitta.folders import make_private

_NAME = "notes.lock"
#: Seconds that one writer waits for another, which needs a few milliseconds.
WAIT_S = 15.0


@contextmanager
def alone(state_dir: str, wait: float = WAIT_S) -> Iterator[bool]:
    """Hold the store's notes for reading and writing; whether they were had within ``wait`` seconds.

    Not to be nested, nor held while a person or a model is asked. Raises ``OSError`` where there can be no lock.
    """
    make_private(state_dir)
    path = os.path.join(state_dir, _NAME)
    lock = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK, 0o600)
    try:
        if not stat.S_ISREG(os.fstat(lock).st_mode):
            raise OSError(errno.EINVAL, "this is no plain file; remove it", path)
        yield file_lock.is_had(lock, wait)
    finally:
        os.close(lock)
