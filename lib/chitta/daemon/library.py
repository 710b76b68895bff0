"""The open snapshot of the index: shared by requests, exchanged for a newer one while they run."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from chitta.daemon.logbook import Logbook, sentence_of
from chitta.settings import Settings

if TYPE_CHECKING:
    from chitta.gateway.readings import Readings
    from chitta.index.snapshot import Snapshot


#: Seconds after an index that is damaged, or could not be opened, in which it is not opened again unasked.
REST_AFTER_FAILURE_S = 2.0


class _Held:
    """A snapshot, what lanes share of it, and how many requests read it; the last closes it once it is out of date."""

    __slots__ = ("snapshot", "readings", "readers", "retired")

    def __init__(self, snapshot: Snapshot | None, readings: Readings | None = None) -> None:
        self.snapshot = snapshot
        self.readings = readings
        self.readers = 0
        self.retired = False


class Library:
    """Hands out the newest snapshot.

    ``opened`` is set once there is one, or surely none yet; ``problem`` says why the newest could not be opened.
    """

    def __init__(self, log: Logbook) -> None:
        self._log = log
        self._lock = threading.Lock()
        self._opening = threading.Lock()
        self._held = _Held(None)
        self._failed_at = float("-inf")
        self.opened = threading.Event()
        self.problem = ""

    def refresh(self, settings: Settings, *, unrested: bool = False) -> None:
        """Take the newest generation when ours is out of date; one thread opens, the others go on with what is here.

        ``unrested``: also directly after a failure, because something has been written since.
        """
        resting = time.monotonic() - self._failed_at < REST_AFTER_FAILURE_S and not unrested
        if resting or not self._opening.acquire(blocking=False):
            return
        try:
            with self.reading() as snapshot:
                if snapshot is not None and snapshot.fresh():
                    return
            self._exchange(self._open(settings))
        finally:
            self._opening.release()

    def damaged(self) -> bool:
        """Whether a part of the open index is missing or unreadable."""
        with self.reading() as snapshot:
            return snapshot is not None and bool(snapshot.damaged)

    def _open(self, settings: Settings) -> Snapshot | None:
        from chitta.index.snapshot import open_snapshot

        try:
            found = open_snapshot(settings.index_dir)
            if found is not None and found.damaged:
                self._failed_at = time.monotonic()
            self.problem = ""
            return found
        except Exception as problem:
            self._failed_at = time.monotonic()
            self.problem = f"the index cannot be opened: {sentence_of(problem)}"
            self._log.fault("snapshot", problem)
            return None

    def _exchange(self, fresh: Snapshot | None) -> None:
        """Put ``fresh`` in place. A newer generation that cannot be opened does not take away the one we have."""
        from chitta.gateway.readings import Readings

        if fresh is None:
            return
        with self._lock:
            old = self._held
            self._held = _Held(fresh, Readings(fresh))
            old.retired = True
            idle = old.readers == 0
        if idle and old.snapshot is not None:
            old.snapshot.close()
        self.opened.set()
        self._log.note("snapshot", generation=fresh.generation, damaged=",".join(sorted(fresh.damaged)) or "nothing")

    def readings(self, snapshot: Snapshot | None) -> Readings | None:
        """What lanes share of ``snapshot``; None for one that is out of date."""
        with self._lock:
            return self._held.readings if self._held.snapshot is snapshot else None

    def forget_readings(self, *texts: str) -> None:
        """Drop what lanes shared about these texts, or about any: their prompt has been answered."""
        readings = self._held.readings
        if readings is not None:
            readings.forget(*texts)

    @contextmanager
    def reading(self) -> Iterator[Snapshot | None]:
        """The snapshot, open for as long as the block runs; None when there is no index yet."""
        with self._lock:
            held = self._held
            held.readers += 1
        try:
            yield held.snapshot
        finally:
            with self._lock:
                held.readers -= 1
                last = held.retired and held.readers == 0
            if last and held.snapshot is not None:
                held.snapshot.close()
