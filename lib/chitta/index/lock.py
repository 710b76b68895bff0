"""Who may write the index: one process at a time, the others wait and then say why they gave up."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager

from chitta.folders import make_private
from chitta.index import IndexBusy, IndexFault

#: Seconds that a writer waits for another. Locks are held for one commit, or for reading changed files.
WAIT_SECONDS = 30.0


@contextmanager
def held(index_dir: str, name: str = "write", wait: float = WAIT_SECONDS) -> Iterator[None]:
    """Hold the lock ``name`` of the index. The system lets go of it when the holder dies.

    Raises :class:`IndexBusy` after ``wait`` seconds, :class:`IndexFault` where no lock can be made.
    """
    import filelock

    try:
        make_private(index_dir)
        lock = filelock.FileLock(os.path.join(index_dir, f"{name}.lock"), timeout=wait, mode=0o600)
        lock.acquire()
    except filelock.Timeout:
        raise IndexBusy(
            f"another process has been writing the index in {index_dir} for {wait:g} s",
            "wait for it to finish (an import, a reindex or the daemon) and try again",
        ) from None
    except (OSError, NotImplementedError) as problem:
        raise IndexFault(
            f"the index in {index_dir} cannot be written: {problem}",
            "set CHITTA_HOME to a folder that this user can write",
        ) from None
    try:
        yield
    finally:
        lock.release()
