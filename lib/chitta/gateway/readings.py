"""What the lanes share of one snapshot: the last few texts read against it, and what each prompt asks again."""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable, Sequence
from threading import Lock
from typing import TYPE_CHECKING, Any

from chitta.gateway.cache import CandidateCache
from chitta.gateway.reading import Reading, read_prompt
from chitta.gateway.standing import Standing
from chitta.index.vectors import BOOKKEEPING
from chitta.notes.note import BOOKKEEPING_KINDS
from chitta.notes.realms import GLOBAL

if TYPE_CHECKING:
    from chitta.index.snapshot import Snapshot
    from chitta.notes.note import Note
    from chitta.recall.hyperdimensional import HyperIndex

#: Readings kept: those of a few prompts at once, each with its context.
KEPT = 8
#: Seconds after which a reading is of no use to anyone: the hook's budget is over.
KEPT_S = 10.0
#: Realms whose corrections, and whose size, are kept.
KEPT_REALMS = 16


class Readings:
    """Makes, remembers and shares readings. Safe to share between threads; to be dropped with its snapshot."""

    def __init__(self, snapshot: Snapshot, kept: int = KEPT, reads: bool = True) -> None:
        self.snapshot = snapshot
        self._kept = kept
        self._lock = Lock()
        self._known: OrderedDict[tuple[str, tuple[str, ...]], tuple[float, Reading]] = OrderedDict()
        self._corrections: dict[tuple[str, ...], list[Note]] = {}
        self._sizes: dict[str | None, int] = {}
        self._hyper: dict[str | None, HyperIndex] = {}
        self.standing = Standing(reads)
        self.cache: CandidateCache[Any] = CandidateCache(time.monotonic)

    def of(self, text: str, tokens: Sequence[str]) -> Reading:
        """The reading of a text. Who asks while it is being made waits for it."""
        key = (text, tuple(tokens))
        now = time.monotonic()
        with self._lock:
            self._drop_old(now)
            found = self._known.get(key)
            if found is None:
                found = self._known[key] = (now, self._read(text, tokens))
                if len(self._known) > self._kept:
                    self._known.popitem(last=False)
            return found[1]

    def _read(self, text: str, tokens: Sequence[str]) -> Reading:
        """What only records what happened enters no prompt, and so has no say in whether anything is known of it:
        with 500 captured notes among 2,643, prompts that nothing should answer got notes three times as often.
        """
        return read_prompt(self.snapshot, text, tokens, without=BOOKKEEPING)

    def corrections(self, realm: str) -> list[Note]:
        """Every correction that counts in a realm, its own and those for all, by id."""
        scope = tuple(dict.fromkeys((realm, GLOBAL)))
        with self._lock:
            if scope not in self._corrections:
                if len(self._corrections) >= KEPT_REALMS:
                    self._corrections.clear()
                self._corrections[scope] = self.snapshot.catalog.corrections(scope)
            return self._corrections[scope]

    def size(self, realm: str | None) -> int:
        """Notes in a realm, or in all, that may enter a prompt by their kind."""
        with self._lock:
            if realm not in self._sizes:
                if len(self._sizes) >= KEPT_REALMS:
                    self._sizes.clear()
                count = self.snapshot.catalog.count
                self._sizes[realm] = count(realm) - sum(count(realm, kind) for kind in BOOKKEEPING_KINDS)
            return self._sizes[realm]

    def hyper_index(self, realm: str | None, make: Callable[[], HyperIndex]) -> HyperIndex:
        """The hyperdimensional index of a realm, or of all; made when it is first asked for."""
        with self._lock:
            if realm not in self._hyper:
                if len(self._hyper) >= KEPT_REALMS:
                    self._hyper.clear()
                self._hyper[realm] = make()
            return self._hyper[realm]

    def forget(self, *texts: str) -> None:
        """Drop what was read of these texts, or of all: their prompt has been answered."""
        with self._lock:
            for key in [key for key in self._known if not texts or key[0] in texts]:
                del self._known[key]

    def _drop_old(self, now: float) -> None:
        while self._known:
            made, _ = next(iter(self._known.values()))
            if now - made < KEPT_S:
                return
            self._known.popitem(last=False)
