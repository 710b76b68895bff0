"""An embedder on onnxruntime."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Sequence
from typing import TYPE_CHECKING

from chitta.models.onnx_model import OnnxModel
from chitta.models.protocol import ModelUnavailable, Progress

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from tokenizers import Encoding

    Matrix = NDArray[np.float32]

#: Tokens of a text that are read.
MAX_TOKENS = 256
POOLINGS = ("cls", "mean")
# Embedding many notes is background work; prompts go first.
_NICENESS = 10
_MOST_WORKERS = 4


class OnnxEmbedder:
    """Implements :class:`chitta.models.protocol.Embedder`.

    ``pooling`` turns token vectors into one: ``cls`` takes the first, ``mean`` the mean of all.
    ``threads`` serve one prompt; many notes are spread over the machine's cores instead.
    """

    def __init__(
        self,
        folder: str,
        *,
        name: str,
        pooling: str = "cls",
        query_prefix: str = "",
        instruction: str = "",
        threads: int = 1,
    ) -> None:
        """Load the model in ``folder``. Raises :class:`ModelUnavailable`."""
        if pooling not in POOLINGS:
            raise ModelUnavailable(f"no pooling is named {pooling}", f"use one of {', '.join(POOLINGS)}")
        self.name = name
        self.instruction = instruction
        self._pooling = pooling
        self._prefix = query_prefix
        self._model = OnnxModel(folder, threads=threads, max_tokens=MAX_TOKENS)
        self.dim = self._model.output_width

    def embed_query(self, text: str) -> Matrix:
        return self._embed(self._model.encode(self._prefix + text))

    def embed_notes(self, texts: Sequence[str], progress: Progress | None = None) -> Matrix:
        """Longest first, so that the cores finish together."""
        from concurrent.futures import ThreadPoolExecutor, as_completed

        import numpy as np

        result = np.zeros((len(texts), self.dim), dtype=np.float32)
        encodings = [self._model.encode(text) for text in texts]
        order = sorted(range(len(texts)), key=lambda place: (-len(encodings[place].ids), place))
        workers = min(cores(), _MOST_WORKERS, len(texts))
        if workers <= 1:
            for done, place in enumerate(order, start=1):
                result[place] = self._embed(encodings[place])
                if progress is not None:
                    progress(done, len(texts))
            return result
        pool = ThreadPoolExecutor(workers, thread_name_prefix="embed", initializer=_yield_to_prompts)
        try:
            places = {pool.submit(self._embed, encodings[place]): place for place in order}
            for done, future in enumerate(as_completed(places), start=1):
                result[places[future]] = future.result()
                if progress is not None:
                    progress(done, len(texts))
        finally:
            pool.shutdown(cancel_futures=True)
        return result

    def _embed(self, encoding: Encoding) -> Matrix:
        import numpy as np

        tokens = self._model.run(encoding)
        vector = tokens[0] if self._pooling == "cls" else tokens.mean(axis=0)
        unit: Matrix = (vector / max(float(np.linalg.norm(vector)), 1e-12)).astype(np.float32)
        return unit


def cores() -> int:
    """Cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _yield_to_prompts() -> None:
    """Lower this thread's priority; only Linux lets a thread have its own."""
    if sys.platform == "linux":
        try:
            os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), _NICENESS)
        except OSError:
            return
