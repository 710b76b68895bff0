"""Any sentence-transformers model, for those who installed that library.

It takes ten seconds to import, so it is imported when a model is loaded and never before.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from chitta.models.offline import stay_offline
from chitta.models.protocol import ModelUnavailable, Progress

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Matrix = NDArray[np.float32]

EXTRA = "sentence-transformers"
# Texts between two calls of progress; the library makes its own batches inside.
_STEP = 64
_PAIRS = 8


class SentenceTransformerEmbedder:
    """Implements :class:`chitta.models.protocol.Embedder`; on the GPU when torch finds one."""

    instruction = ""  # models that want one bring it as their prompt for queries

    def __init__(self, model: str, *, name: str) -> None:
        """Load a model by name (from the local cache) or folder. Raises :class:`ModelUnavailable`."""
        library = _library()
        self.name = name
        try:
            self._model = library.SentenceTransformer(model, device=_device())
        except Exception as problem:
            raise _not_here(model, problem) from None
        self.dim = len(self._encode(["."], "document")[0])

    def embed_query(self, text: str) -> Matrix:
        row: Matrix = self._encode([text], "query")[0]
        return row

    def embed_notes(self, texts: Sequence[str], progress: Progress | None = None) -> Matrix:
        import numpy as np

        result = np.zeros((len(texts), self.dim), dtype=np.float32)
        for start in range(0, len(texts), _STEP):
            part = texts[start : start + _STEP]
            result[start : start + len(part)] = self._encode(part, "document")
            if progress is not None:
                progress(start + len(part), len(texts))
        return result

    def _encode(self, texts: Sequence[str], side: str) -> Matrix:
        """Unit vectors; models with prompts of their own for queries and documents get the right one."""
        import numpy as np

        clean = [text.encode("utf-8", "replace").decode("utf-8") for text in texts]
        encode = getattr(self._model, f"encode_{side}", self._model.encode)
        rows = np.asarray(
            encode(clean, normalize_embeddings=True, convert_to_numpy=True, show_progress_bar=False), dtype=np.float32
        )
        return rows


class SentenceTransformerReranker:
    """Implements :class:`chitta.models.protocol.Reranker` with a ``CrossEncoder``."""

    def __init__(self, model: str, *, name: str, max_tokens: int) -> None:
        """Load a model by name (from the local cache) or folder. Raises :class:`ModelUnavailable`."""
        library = _library()
        self.name = name
        try:
            self._model = library.CrossEncoder(model, device=_device(), max_length=max_tokens)
        except Exception as problem:
            raise _not_here(model, problem) from None

    def score(self, query: str, passages: Sequence[str], *, deadline: float | None = None) -> list[float]:
        import time

        import torch

        scores: list[float] = []
        slowest = 0.0
        for start in range(0, len(passages), _PAIRS):
            began = time.monotonic()
            if deadline is not None and began + slowest >= deadline:
                break
            pairs = [(query, passage) for passage in passages[start : start + _PAIRS]]
            logits = self._model.predict(pairs, activation_fn=torch.nn.Identity(), show_progress_bar=False)
            scores += [float(logit) for logit in logits]
            slowest = max(slowest, time.monotonic() - began)
        return scores


def _library() -> Any:
    """The library, told before its import that there is no hub to ask."""
    stay_offline()
    try:
        import sentence_transformers
    except ImportError:
        raise ModelUnavailable(
            f"{EXTRA} is not installed",
            f"install it beside chitta (pip install {EXTRA}), or set the model to a shipped name",
        ) from None
    return sentence_transformers


def _device() -> str:
    import torch

    return "cuda" if torch.cuda.is_available() else "cpu"


def _not_here(model: str, problem: Exception) -> ModelUnavailable:
    reason = " ".join(str(problem).split())[:200]
    return ModelUnavailable(
        f"{model} cannot be loaded: {reason}",
        "name a folder that holds the model, or fetch it once with HF_HUB_OFFLINE=0",
    )
