"""Graphs of near neighbours for large files of vectors, built by a process of its own, while nobody asks.

A build takes minutes of a core and holds a copy of the vectors: both are the child's, at low priority, and gone
with it. It ends by itself when the daemon is gone.
"""

from __future__ import annotations

import subprocess
import sys
import threading
import time
from typing import TYPE_CHECKING

from chitta import client
from chitta.daemon.logbook import Logbook

if TYPE_CHECKING:
    from chitta.index.snapshot import Snapshot

#: Seconds after a build that failed in which none is begun.
REST_AFTER_FAILURE_S = 3600.0
_PROGRAM = (
    "import sys; sys.path.insert(0, sys.argv.pop(1)); from chitta.index.neighbours import main; main(sys.argv[1:])"
)


class GraphBuilder:
    """Begins one build at a time. Safe to share between threads."""

    def __init__(self, log: Logbook) -> None:
        self._log = log
        self._lock = threading.Lock()
        self._child: subprocess.Popen[bytes] | None = None
        self._failed_at = float("-inf")

    def see_to(self, snapshot: Snapshot | None) -> None:
        """Begin the build of the first graph that is missing or stale; at once, and without waiting for it."""
        from chitta.index import neighbours

        if snapshot is None or snapshot.vectors is None:
            return
        with self._lock:
            if self._under_way() or time.monotonic() - self._failed_at < REST_AFTER_FAILURE_S:
                return
            folder = snapshot.vectors.folder
            for file, rows in snapshot.vectors.files():
                if neighbours.is_stale(folder, file, rows):
                    self._begin(folder, file, snapshot.vectors.dim)
                    return

    def wait(self, seconds: float | None = None) -> None:
        """Until the build that is under way has ended."""
        child = self._child
        if child is not None:
            child.wait(seconds)

    def _under_way(self) -> bool:
        if self._child is None:
            return False
        code = self._child.poll()
        if code is None:
            return True
        self._child = None
        self._log.note("graph-built" if code == 0 else "graph-failed", code=code)
        if code != 0:
            self._failed_at = time.monotonic()
        return False

    def _begin(self, folder: str, file: str, dim: int) -> None:
        command = [sys.executable, "-I", "-c", _PROGRAM, client.root() + "/lib", folder, file, str(dim)]
        try:
            self._child = subprocess.Popen(
                command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
            )
        except OSError as problem:
            self._failed_at = time.monotonic()
            self._log.fault("graph", problem)
