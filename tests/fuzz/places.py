"""Folders of one run, and samples that the repository has."""

from __future__ import annotations

import os
import tempfile
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


@cache
def scratch(name: str) -> Path:
    """A folder of this process, in memory where the system has such a place; gone with the run's own home."""
    path = Path(os.environ.get("HOME") or tempfile.gettempdir()) / f"fuzz-{name}-{os.getpid()}"
    path.mkdir(parents=True, exist_ok=True)
    return path


def written(name: str, data: bytes) -> Path:
    """A file of the scratch folder with these bytes."""
    path = scratch("files") / name
    path.write_bytes(data)
    return path


def samples(*patterns: str, most_bytes: int = 16_384) -> list[bytes]:
    """Files of the repository, cut."""
    found = sorted({path for pattern in patterns for path in ROOT.glob(pattern) if path.is_file()})
    return [path.read_bytes()[:most_bytes] for path in found]
