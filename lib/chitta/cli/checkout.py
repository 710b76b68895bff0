"""Where the parts of chitta that are no Python package are: hooks, lanes, bin."""

from __future__ import annotations

import os
from pathlib import Path

import chitta
from chitta.cli.failure import Unavailable

HOOK = "hooks/prompt-core.sh"


def root() -> Path | None:
    """The checkout: what bin/chitta says, else the folder that this package lies in; None for a bare package."""
    named = os.environ.get("CHITTA_ROOT", "")
    candidates = [Path(named)] if named else []
    candidates.append(Path(chitta.__file__).resolve().parents[2])
    return next((path for path in candidates if (path / HOOK).is_file()), None)


def hook() -> Path:
    """The prompt hook. Raises :class:`Unavailable` where only the Python package is installed."""
    found = root()
    if found is None:
        raise Unavailable("the prompt hook is not here", "run `chitta` from the checkout that install.sh set up")
    return found / HOOK


def lane_files(folder: Path) -> list[Path]:
    """What the hook would launch: executables in ``lanes/`` with a name of small letters and dashes."""
    lanes = sorted((folder / "lanes").iterdir()) if (folder / "lanes").is_dir() else []
    return [path for path in lanes if path.is_file() and os.access(path, os.X_OK) and is_lane_name(path.name)]


def is_lane_name(name: str) -> bool:
    return bool(name) and all(letter in "abcdefghijklmnopqrstuvwxyz-" for letter in name)
