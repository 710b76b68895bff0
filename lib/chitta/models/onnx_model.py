"""A transformer as ``model.onnx`` with its ``tokenizer.json``, run by onnxruntime on the CPU.

Texts go through one at a time. A dynamically quantised model chooses its scales from the whole
batch, so in a batch a text's result depends on its neighbours (measured: cosine down to 0.996,
logits by 0.5); alone it does not, takes no more CPU time, and a fraction of the memory.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from chitta.models.offline import stay_offline
from chitta.models.protocol import ModelUnavailable

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from tokenizers import Encoding

MODEL_FILE = "model.onnx"
TOKENIZER_FILE = "tokenizer.json"


class OnnxModel:
    """A loaded session and its tokenizer. Safe to share between threads."""

    def __init__(self, folder: str, *, threads: int, max_tokens: int) -> None:
        """Load from ``folder``. Raises :class:`ModelUnavailable`."""
        for name in (MODEL_FILE, TOKENIZER_FILE):
            if not os.path.isfile(os.path.join(folder, name)):
                raise ModelUnavailable(
                    f"{os.path.join(folder, name)} is missing",
                    "run `chitta doctor`; install chitta again, or name a folder that holds both files",
                )
        stay_offline()
        try:
            import onnxruntime
            from tokenizers import Tokenizer
        except ImportError as problem:
            raise ModelUnavailable(f"{problem}", "install chitta again: its dependencies are incomplete") from None
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = threads
        options.inter_op_num_threads = 1
        options.enable_cpu_mem_arena = False  # the arena keeps the peak of the longest text for good
        options.add_session_config_entry("session.intra_op.allow_spinning", "0")  # an idle daemon must be idle
        options.log_severity_level = 3
        try:
            self._session = onnxruntime.InferenceSession(
                os.path.join(folder, MODEL_FILE), options, providers=["CPUExecutionProvider"]
            )
            self._tokenizer = Tokenizer.from_file(os.path.join(folder, TOKENIZER_FILE))
        except Exception as problem:  # each library throws what it likes for a file that is no model
            raise ModelUnavailable(
                f"the model in {folder} cannot be loaded: {' '.join(str(problem).split())[:200]}",
                "run `chitta doctor` to check its files",
            ) from None
        self._tokenizer.no_padding()
        self._tokenizer.enable_truncation(max_tokens)
        self._inputs = frozenset(node.name for node in self._session.get_inputs())

    @property
    def output_width(self) -> int:
        """Size of the last axis of the first output."""
        width = self._session.get_outputs()[0].shape[-1]
        if not isinstance(width, int):
            raise ModelUnavailable("the model's output has no fixed size", "export it with a fixed hidden size")
        return width

    def encode(self, text: str, pair: str | None = None) -> Encoding:
        """Tokens of a text, or of a pair, cut to what the model reads; lone surrogates become ``?``."""
        clean = text.encode("utf-8", "replace").decode("utf-8")
        other = None if pair is None else pair.encode("utf-8", "replace").decode("utf-8")
        return self._tokenizer.encode(clean, other)

    def run(self, encoding: Encoding) -> NDArray[np.float32]:
        """The first output for one text, without the batch axis: (tokens, width), or (logits,)."""
        import numpy as np

        given: dict[str, Any] = {
            "input_ids": encoding.ids,
            "attention_mask": encoding.attention_mask,
            "token_type_ids": encoding.type_ids,
        }
        feed = {name: np.asarray([values], dtype=np.int64) for name, values in given.items() if name in self._inputs}
        output: NDArray[np.float32] = self._session.run(None, feed)[0][0]
        return output
