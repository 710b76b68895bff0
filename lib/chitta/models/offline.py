"""No model library asks a network, unless the person's own environment says that it may."""

from __future__ import annotations

import os

# onnxruntime 1.32 carries usage telemetry of its own, which keeps a database under ~/.cache.
VARIABLES = (
    ("HF_HUB_OFFLINE", "1"),
    ("TRANSFORMERS_OFFLINE", "1"),
    ("TOKENIZERS_PARALLELISM", "false"),
    ("ORT_DISABLE_TELEMETRY", "1"),
)


def stay_offline() -> None:
    """Set what is unset. To be called before the first import of a library that could ask a hub."""
    for name, value in VARIABLES:
        os.environ.setdefault(name, value)
