"""Meaning: a text's vectors against those of the notes, where there is a model and vectors that it made."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from chitta.recall.context import mean
from chitta.settings import Settings

if TYPE_CHECKING:
    import numpy as np

    from chitta.gateway.reading import Reading
    from chitta.index.snapshot import Snapshot
    from chitta.index.vectors import Comparison
    from chitta.models.protocol import Embedder


def as_search(text: str, embedder: Embedder, settings: Settings) -> str:
    """What the embedder reads of a text in order to find notes."""
    return embedder.instruction + text if settings.flag("CHITTA_QUERY_INSTRUCTION") else text


class Meaning:
    """An embedder, or None, with the snapshot that it is used on. Safe to share between threads."""

    def __init__(self, settings: Settings, snapshot: Snapshot | None, embedder: Embedder | None, warming: bool) -> None:
        self.embedder = embedder
        self.warming = warming
        self._settings = settings
        self._snapshot = snapshot
        self._failure = ""

    def near(self, text: str, reading: Reading) -> Comparison | None:
        """The text as it is, as evidence: how near each note is to it. None where meaning is not to be had."""
        embedder = self._usable()
        return self._compared(text, embedder, reading) if embedder is not None else None

    def near_all(self, turns: Sequence[str], reading: Reading) -> Comparison | None:
        """Turns of a session, latest first, as one text: how near each note is to them."""
        embedder = self._usable()
        if embedder is None:
            return None
        return self._compared_by(lambda: mean([embedder.embed_query(turn) for turn in turns]), reading)

    def search(self, text: str, reading: Reading) -> Comparison | None:
        """The text with the model's instruction to search, which orders notes better and says less of how near one is.

        hit@3 over the golden prompts .83 without it and .85 with it; by its cosines, though, prompts that
        have a note and prompts that have none are harder to tell apart (area under the curve .918, not .929).
        """
        embedder = self._usable()
        if embedder is None:
            return None
        return self._compared(as_search(text, embedder, self._settings), embedder, reading)

    def why_not(self) -> str:
        """Why meaning is not to be had, in a sentence."""
        snapshot = self._snapshot
        if self.embedder is None:
            return "the model is still loading" if self.warming else "no model is loaded"
        if snapshot is None or snapshot.vectors is None:
            return "there are no vectors yet: run chitta reindex"
        if snapshot.model != self.embedder.name:
            return f"vectors were made by {snapshot.model or 'no model'}, not {self.embedder.name}: run chitta reindex"
        return self._failure or "meaning was not measured"

    def _compared(self, text: str, embedder: Embedder, reading: Reading) -> Comparison | None:
        return self._compared_by(lambda: embedder.embed_query(text), reading)

    def _compared_by(self, embed: Callable[[], np.ndarray], reading: Reading) -> Comparison | None:
        """None where the model fails on a text: words still have an answer."""
        try:
            return reading.compared(embed())
        except Exception as problem:  # whatever a model throws
            self._failure = f"the model failed: {type(problem).__name__}"
            return None

    def _usable(self) -> Embedder | None:
        snapshot, embedder = self._snapshot, self.embedder
        if snapshot is None or embedder is None or snapshot.vectors is None or snapshot.model != embedder.name:
            return None
        return embedder
