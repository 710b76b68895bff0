"""Folders of the store: for their owner alone, from the first one that has to be made."""

from __future__ import annotations

import os


def make_private(path: str) -> None:
    """Make ``path`` and the missing folders above it, each with mode 0700. Raises ``OSError``.

    ``os.makedirs`` gives its mode to the last folder only, and so would leave a new home open to all.
    """
    missing: list[str] = []
    while path and not os.path.isdir(path):
        missing.append(path)
        path = os.path.dirname(path.rstrip("/"))
    for folder in reversed(missing):
        try:
            os.mkdir(folder, 0o700)
        except FileExistsError:
            if not os.path.isdir(folder):
                raise
