"""Waiting for the exclusive lock of an open file, and no longer than is worth it."""

from __future__ import annotations

import fcntl
import time


def is_had(file: int, seconds: float, step_s: float = 0.005) -> bool:
    """Whether the lock came within ``seconds``; looked for every ``step_s``. It goes with the descriptor."""
    end = time.monotonic() + seconds
    while True:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return True
        except OSError:
            if time.monotonic() >= end:
                return False
            time.sleep(step_s)
