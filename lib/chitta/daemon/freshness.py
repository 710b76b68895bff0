"""Keeping the index level with notes that are edited by hand, and never while nobody asks.

Requests kick the look. A store that can be looked through in a few milliseconds is looked through
before each prompt's recall, so that an edit made a moment ago is in the very next prompt. Of a larger
one only the folders are glanced at before a prompt: they show notes that came, went or were saved by
a rename. What was written in place is found in the background, a moment after the prompt that kicked
the look, and no more often than a small share of the time allows.
"""

from __future__ import annotations

import threading
import time

from chitta.daemon.library import Library
from chitta.daemon.writing import Job, Writer
from chitta.settings import Settings

#: A look that takes less than this is done before recall.
QUICK_LOOK_S = 0.005
#: So is one that takes less than this, once a glance has shown that something changed.
GLANCED_LOOK_S = 0.05
#: Longest that a prompt waits for the index to be brought level; the turn step waits 0.4 s for the daemon.
PROMPT_WAIT_S = 0.25
#: Shortest and longest time between two looks in the background.
LOOK_EVERY_S = 1.0
LOOK_AT_LEAST_EVERY_S = 30.0
#: Share of the time that looks in the background may take.
LOOK_SHARE = 0.02
#: After this time the lanes of the prompt that kicked a look are done.
LOOK_AFTER_S = 0.25
#: Notes from which on a daemon's first look begins so many seconds after its start: by then its first prompt is done.
LARGE_STORE, FIRST_LOOK_AFTER_S = 20_000, 2.0
#: Shortest time between two attempts to mend a damaged index.
MEND_EVERY_S = 30.0


class Freshness:
    """Decides when to look at the notes and who waits for it."""

    def __init__(self, library: Library, writer: Writer) -> None:
        self._library = library
        self._writer = writer
        self._lock = threading.Lock()
        self._looked_at = float("-inf")
        self._mended_at = float("-inf")
        self._first_look: Job | None = None
        self._first_look_until = float("inf")

    def begin(self, settings: Settings) -> None:
        """Open the index and begin to look at the notes; returns when the index is open, if there is one.

        A look through a large store takes a second of the processor, which the prompt that started the daemon needs:
        there it begins a little later, and nobody waits for it.
        """
        self._library.refresh(settings)
        self._looked_at = time.monotonic()
        self._first_look_until = time.monotonic() + PROMPT_WAIT_S
        look = Job(settings, look=True, afterwards=self._library.opened.set)
        with self._library.reading() as snapshot:
            large = snapshot is not None and snapshot.catalog.count() >= LARGE_STORE
        if large:
            self._first_look = Job(settings)
            self._first_look.end()
            self._look_later(look, FIRST_LOOK_AFTER_S)
        else:
            self._first_look = self._writer.words(look)

    def before_prompt(self, settings: Settings) -> None:
        """Bring the index level before a prompt's recall, if that can be had quickly."""
        if self._first_look is None or not self._first_look.done.is_set():
            self._await_first_look()
        elif self._writer.resting():
            pass
        elif self._writer.scan_s < QUICK_LOOK_S:
            self._look_now(settings)
        elif self._writer.glance(settings):
            self._look_at_once(settings)
        else:
            self._look_in_background(settings)
        self._take_newest(settings)

    def _await_first_look(self) -> None:
        """Wait for the first look, which may turn out to be an index made anew: then only as it begins."""
        end = time.monotonic() + PROMPT_WAIT_S
        while self._first_look is None and time.monotonic() < end:
            time.sleep(0.01)
        if self._first_look is not None:
            self._first_look.done.wait(max(0.0, min(end, self._first_look_until) - time.monotonic()))

    def _look_now(self, settings: Settings) -> None:
        end = time.monotonic() + PROMPT_WAIT_S
        with self._lock:
            self._looked_at = time.monotonic()
        if self._writer.changed(settings):
            job = self._writer.words(Job(settings))
            if self._writer.words_busy_s() < PROMPT_WAIT_S:
                job.done.wait(max(0.0, end - time.monotonic()))

    def before_lane(self, settings: Settings, *, patient: bool = True) -> None:
        """Take a new generation if there is one, and see that somebody looks at the notes now and then.

        ``patient``: wait for the first look at the notes, should the daemon just have begun with it.
        """
        if self._first_look is None or not self._first_look.done.is_set():
            if patient:
                self._await_first_look()
        else:
            self._look_in_background(settings)
        self._take_newest(settings)

    def _take_newest(self, settings: Settings) -> None:
        """Go on with the newest generation; one that is damaged is written anew, from the notes."""
        self._library.refresh(settings)
        if not self._library.damaged():
            return
        now = time.monotonic()
        with self._lock:
            if now - self._mended_at < MEND_EVERY_S:
                return
            self._mended_at = now
        self._writer.words(Job(settings))

    def _look_at_once(self, settings: Settings) -> None:
        """Something changed: before recall where that is quick, else in the background."""
        if self._writer.scan_s < GLANCED_LOOK_S:
            self._look_now(settings)
        elif self._is_time(LOOK_EVERY_S):
            self._writer.words(Job(settings, look=True))

    def _look_in_background(self, settings: Settings) -> None:
        pause = min(self._writer.scan_s / LOOK_SHARE, LOOK_AT_LEAST_EVERY_S)
        if self._is_time(max(pause, LOOK_EVERY_S)) and not self._writer.resting():
            self._look_later(Job(settings, look=True), LOOK_AFTER_S)

    def _look_later(self, look: Job, seconds: float) -> None:
        later = threading.Timer(seconds, self._writer.words, [look])
        later.daemon = True
        later.start()

    def _is_time(self, pause: float) -> bool:
        """Whether the last look began ``pause`` seconds ago; if so, one begins now."""
        now = time.monotonic()
        with self._lock:
            if now - self._looked_at < pause:
                return False
            self._looked_at = now
            return True
