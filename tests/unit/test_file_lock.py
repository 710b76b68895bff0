"""The wait for a lock ends when it comes, or when its time is over."""

from __future__ import annotations

import fcntl
import os
import threading
from pathlib import Path

from chitta import file_lock


def opened(path: Path) -> int:
    return os.open(path, os.O_RDWR | os.O_CREAT, 0o600)


def test_a_free_lock_is_had_and_goes_with_its_descriptor(tmp_path: Path) -> None:
    first, second = opened(tmp_path / "lock"), opened(tmp_path / "lock")
    assert file_lock.is_had(first, 0.0)
    assert not file_lock.is_had(second, 0.0)
    os.close(first)
    assert file_lock.is_had(second, 0.0)
    os.close(second)


def test_one_that_is_let_go_meanwhile_is_waited_for(tmp_path: Path) -> None:
    first, second = opened(tmp_path / "lock"), opened(tmp_path / "lock")
    fcntl.flock(first, fcntl.LOCK_EX)
    threading.Timer(0.05, os.close, [first]).start()
    assert file_lock.is_had(second, 120.0)
    os.close(second)
