"""Writing the index: one thread for words, one for vectors, and the jobs they are given.

Words are committed in a moment, vectors of many notes take minutes; a note written meanwhile must
not wait for them. So a job for words embeds only what takes no time and leaves the rest to the
other thread. The index room's locks keep the two, and other processes, apart.
"""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable
from typing import TYPE_CHECKING

from chitta.daemon.library import Library
from chitta.daemon.logbook import Logbook, sentence_of
from chitta.settings import Settings

if TYPE_CHECKING:
    from chitta.index.indexer import SyncReport
    from chitta.index.watch import Watch
    from chitta.models.protocol import Embedder

#: Notes whose vectors a prompt may wait for; more are embedded while it goes on.
FEW_NOTES = 8
#: Seconds without work unasked after a job failed: a read-only home stays one.
REST_AFTER_FAILURE_S = 30.0


class Job:
    """One run of the indexer. With ``look``, it runs only when the notes have changed."""

    def __init__(
        self,
        settings: Settings,
        *,
        full: bool = False,
        look: bool = False,
        afterwards: Callable[[], None] = lambda: None,
    ) -> None:
        self.settings = settings
        self.full = full
        self.look = look
        self.report: SyncReport | None = None
        self.problem: Exception | None = None
        self.done = threading.Event()
        self._afterwards = afterwards

    def covers(self, other: Job) -> bool:
        """Whether doing this job does the other one as well."""
        return self.full >= other.full and self.look <= other.look

    def wait(self, seconds: float | None = None) -> SyncReport | None:
        """Wait for the end; the report, or None where there was nothing to do or the time was over.

        Raises what the indexer raised.
        """
        self.done.wait(seconds)
        if self.problem is not None:
            raise self.problem
        return self.report

    def end(self) -> None:
        """Release everyone who waits."""
        self._afterwards()
        self.done.set()


class _Line:
    """Jobs done one after the other, by a thread that lives while there are any."""

    def __init__(self, name: str, work: Callable[[Job], None]) -> None:
        self._name = name
        self._work = work
        self._lock = threading.Lock()
        self._jobs: deque[Job] = deque()
        self._running = False
        self._began = 0.0

    def submit(self, job: Job) -> Job:
        """Put ``job`` in line; returns it, or one that waits there already and covers it."""
        with self._lock:
            for waiting in self._jobs:
                if waiting.covers(job):
                    return waiting
            self._jobs.append(job)
            if not self._running:
                self._running, self._began = True, time.monotonic()
                threading.Thread(target=self._run, name=self._name, daemon=True).start()
        return job

    def busy_s(self) -> float:
        """For how many seconds the job that is being done has been running; 0 when there is none."""
        with self._lock:
            return max(time.monotonic() - self._began, 1e-9) if self._running else 0.0

    def _run(self) -> None:
        while True:
            with self._lock:
                if not self._jobs:
                    self._running = False
                    return
                job = self._jobs.popleft()
                self._began = time.monotonic()
            self._work(job)


class Writer:
    """The daemon's one writer. ``embedder`` gives the embedder that can be used at that moment, or None."""

    def __init__(self, library: Library, embedder: Callable[[], Embedder | None], log: Logbook) -> None:
        self._library = library
        self._embedder = embedder
        self._log = log
        self._words = _Line("words", lambda job: self._do(job, self._write_words))
        self._vectors = _Line("vectors", lambda job: self._do(job, self._write_vectors))
        self._failed_at = float("-inf")
        self._watch: Watch | None = None
        self._scans: deque[float] = deque(maxlen=2)
        self.scan_s = float("inf")
        self.problems: tuple[str, ...] = ()

    def words(self, job: Job) -> Job:
        """Have the index brought level by words, and by vectors where those are few."""
        return self._words.submit(job)

    def vectors(self, settings: Settings) -> Job:
        """Have every note embedded that waits for it."""
        return self._vectors.submit(Job(settings))

    def busy(self) -> bool:
        """Whether anything is being written."""
        return self.words_busy_s() > 0 or self._vectors.busy_s() > 0

    def words_busy_s(self) -> float:
        """For how many seconds the present job for words has been running; 0 when there is none."""
        return self._words.busy_s()

    def resting(self) -> bool:
        """Whether a job failed so recently that nothing should be tried unasked."""
        return time.monotonic() - self._failed_at < REST_AFTER_FAILURE_S

    def changed(self, settings: Settings) -> bool:
        """Whether the notes differ from the index. ``scan_s`` is how long such a look takes."""
        watch = self._watching(settings)
        started = time.monotonic()
        changed = watch.changed()
        took = time.monotonic() - started
        if not changed:
            self._scans.append(took)
            self.scan_s = min(self._scans)  # one slow look on a busy machine says little
        elif not self._scans:  # a look ends where it finds something
            self.scan_s = took
        return changed

    def glance(self, settings: Settings) -> bool:
        """Whether the folders have changed since a look found nothing."""
        return self._watching(settings).glance()

    def _watching(self, settings: Settings) -> Watch:
        if self._watch is None:
            from chitta.index.watch import Watch

            self._watch = Watch(settings.notes_dir, settings.index_dir)
        return self._watch

    def _do(self, job: Job, write: Callable[[Job], SyncReport | None]) -> None:
        try:
            job.report = write(job)
        except Exception as problem:
            job.problem = problem
            self._failed_at = time.monotonic()
            self.problems = (f"the index could not be brought level: {sentence_of(problem)}",)
            self._log.fault("sync", problem)
        finally:
            self._library.refresh(job.settings, unrested=True)
            job.end()

    def _write_words(self, job: Job) -> SyncReport | None:
        if job.look and not self.changed(job.settings):
            return None
        report = self._sync(job, None)
        embedder = self._embedder()
        if report.pending and embedder is not None:
            if report.pending > FEW_NOTES or self._vectors.busy_s():
                self.vectors(job.settings)
            else:
                self._library.refresh(job.settings, unrested=True)
                return joined(report, self._sync(Job(job.settings), embedder))
        return report

    def _write_vectors(self, job: Job) -> SyncReport | None:
        from chitta.index.indexer import lacks_vectors, standing

        embedder = self._embedder()
        if embedder is None:
            return None
        if not lacks_vectors(job.settings, embedder):
            return standing(job.settings)  # another job made them while this one was in line
        return self._sync(job, embedder)

    def _sync(self, job: Job, embedder: Embedder | None) -> SyncReport:
        from chitta.index.indexer import sync

        report = sync(job.settings, embedder, full=job.full)
        self.problems = tuple(report.problems)
        self._log.note(
            "sync",
            generation=report.generation,
            added=report.added,
            updated=report.updated,
            removed=report.removed,
            embedded=report.embedded,
            pending=report.pending,
            seconds=report.seconds,
        )
        return report


def joined(words: SyncReport, vectors: SyncReport | None) -> SyncReport:
    """What a job for words and one for vectors did together, with what others embedded between the two."""
    if vectors is None:
        return words
    return words._replace(
        embedded=words.embedded + max(vectors.embedded, words.pending - vectors.pending),
        pending=vectors.pending,
        seconds=round(words.seconds + vectors.seconds, 3),
        generation=vectors.generation,
        problems=tuple(dict.fromkeys((*words.problems, *vectors.problems))),
    )
