"""Where the store really lies: whose folders these are, and who else could put something into them."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator

from chitta.cli.finding import FAIL, WARN, Finding
from chitta.settings import Settings


def places(settings: Settings) -> Iterator[Finding]:
    """Folders of the store that others can write to, or that a link has in another user's place; nothing else."""
    if not os.path.exists(settings.home):
        return
    real = os.path.realpath(settings.home)
    above = os.path.dirname(real)
    status = os.stat(above)
    if status.st_mode & stat.S_IWOTH and not status.st_mode & stat.S_ISVTX:
        yield Finding(
            "home", FAIL, f"anybody may replace what is in {above}, the store too", "move the store elsewhere"
        )
    inside = (settings.notes_dir, settings.index_dir, settings.state_dir)
    for path in (settings.home, *(folder for folder in inside if os.path.exists(folder))):
        found = os.stat(path)
        if found.st_mode & (stat.S_IWOTH | stat.S_IWGRP):
            mode = stat.S_IMODE(found.st_mode)
            words = f"others may write into {path} (mode {mode:04o}), and so into your prompts"
            yield Finding("home", FAIL, words, f"chmod 700 {path}; then look through `chitta list --all-realms`")
        if os.path.islink(path) and found.st_uid != os.geteuid():
            yield Finding("home", FAIL, f"{path} is a link into another user's place", "make it a folder of your own")
        elif path != settings.home and found.st_uid != os.geteuid():
            yield Finding("home", WARN, f"{path} belongs to another user", f"chown -R $USER {path}")
