"""One computation for one text, however many lanes ask for it at the same moment."""

from __future__ import annotations

import hashlib
import threading
from collections import OrderedDict
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np

    from chitta.models.protocol import Embedder

#: Query vectors kept: about a day of one person's prompts, 400 kB at 384 dimensions.
KEPT = 256
#: Seconds to wait for a computation that another began; then words must do, inside a lane's two seconds.
PATIENCE_S = 1.8


class TooBusy(Exception):
    """The vector did not come in time."""


class _Flight:
    """A computation that others may wait for."""

    __slots__ = ("landed", "vector", "problem")

    def __init__(self) -> None:
        self.landed = threading.Event()
        self.vector: np.ndarray | None = None
        self.problem: BaseException | None = None


class SharedEmbedder:
    """An :class:`~chitta.models.protocol.Embedder` that remembers and shares query vectors.

    The vectors it gives are read-only, since several askers hold the same one. Texts are remembered by
    digest, so that a long prompt costs no memory and none is kept. A failure goes to everyone who
    waited for that computation and is not remembered.
    """

    def __init__(self, embedder: Embedder, kept: int = KEPT) -> None:
        self._embedder = embedder
        self._kept = kept
        self._lock = threading.Lock()
        self._known: OrderedDict[bytes, np.ndarray] = OrderedDict()
        self._flights: dict[bytes, _Flight] = {}

    @property
    def name(self) -> str:
        return self._embedder.name

    @property
    def dim(self) -> int:
        return self._embedder.dim

    @property
    def instruction(self) -> str:
        return self._embedder.instruction

    def embed_query(self, text: str) -> np.ndarray:
        """The unit vector of a prompt, float32 of shape (dim,)."""
        key = hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()
        with self._lock:
            vector = self._known.get(key)
            if vector is not None:
                self._known.move_to_end(key)
                return vector
            flight = self._flights.get(key)
            leading = flight is None
            if flight is None:
                flight = self._flights[key] = _Flight()
        return self._lead(text, key, flight) if leading else self._follow(flight)

    def embed_notes(self, texts: Sequence[str], progress: Callable[[int, int], None] | None = None) -> np.ndarray:
        """The unit vectors of notes, float32 of shape (n, dim); neither shared nor remembered."""
        return self._embedder.embed_notes(texts, progress)

    def _lead(self, text: str, key: bytes, flight: _Flight) -> np.ndarray:
        try:
            vector = self._embedder.embed_query(text)
            vector.setflags(write=False)
            flight.vector = vector
        except BaseException as problem:
            flight.problem = problem
            raise
        finally:
            with self._lock:
                del self._flights[key]
                if flight.vector is not None:
                    self._known[key] = flight.vector
                    if len(self._known) > self._kept:
                        self._known.popitem(last=False)
            flight.landed.set()
        return vector

    @staticmethod
    def _follow(flight: _Flight) -> np.ndarray:
        if not flight.landed.wait(PATIENCE_S):
            raise TooBusy("the model has too much to do")
        if flight.vector is None:
            raise RuntimeError("the embedding that this request waited for failed") from flight.problem
        return flight.vector
