"""A cross-encoder on onnxruntime."""

from __future__ import annotations

import time
from collections.abc import Sequence

from chitta.models.onnx_model import OnnxModel

# Weight of the newest measurement in the running cost of a token.
_NEWEST = 0.3


class OnnxReranker:
    """Implements :class:`chitta.models.protocol.Reranker`.

    ``max_tokens`` bounds prompt and passage together; of a longer pair the longer part is cut.
    """

    def __init__(self, folder: str, *, name: str, threads: int = 2, max_tokens: int = 128) -> None:
        """Load the model in ``folder``. Raises :class:`chitta.models.protocol.ModelUnavailable`."""
        self.name = name
        self._model = OnnxModel(folder, threads=threads, max_tokens=max_tokens)
        self._token_seconds = 0.0

    def score(self, query: str, passages: Sequence[str], *, deadline: float | None = None) -> list[float]:
        """Logits in order; a pair is begun only when, at the pace so far, it will end before the deadline."""
        scores: list[float] = []
        for passage in passages:
            encoding = self._model.encode(query, passage)
            started = time.monotonic()
            if deadline is not None and started + self._token_seconds * len(encoding.ids) >= deadline:
                break
            scores.append(float(self._model.run(encoding).reshape(-1)[0]))
            self._learn((time.monotonic() - started) / max(len(encoding.ids), 1))
        return scores

    def _learn(self, seconds: float) -> None:
        known = self._token_seconds
        self._token_seconds = seconds if not known else known + _NEWEST * (seconds - known)
