"""What the rest of chitta may expect of a model."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Matrix = NDArray[np.float32]

#: Called with how many texts are done and of how many.
Progress = Callable[[int, int], None]


class ModelUnavailable(Exception):
    """The model cannot be used; ``hint`` tells a person what to do about it."""

    def __init__(self, what: str, hint: str) -> None:
        super().__init__(what)
        self.hint = hint


class Embedder(Protocol):
    """Texts to unit vectors. Safe to share between threads."""

    @property
    def name(self) -> str:
        """Which model this is, down to its weights: vectors of two names are never compared."""

    @property
    def dim(self) -> int: ...

    @property
    def instruction(self) -> str:
        """What this model was trained to read before a text that searches for others; empty for most."""

    def embed_query(self, text: str) -> Matrix:
        """A prompt's unit vector, float32 (dim,)."""

    def embed_notes(self, texts: Sequence[str], progress: Progress | None = None) -> Matrix:
        """Notes' unit vectors in the order given, float32 (n, dim). A text is cut to what the model reads."""


class Reranker(Protocol):
    """Prompt and passage to a logit: how well the passage answers. Safe to share between threads."""

    @property
    def name(self) -> str: ...

    def score(self, query: str, passages: Sequence[str], *, deadline: float | None = None) -> list[float]:
        """Raw logits in the order given.

        With a ``deadline`` (``time.monotonic()``) the scores may be fewer: a prefix of what was asked.
        """
