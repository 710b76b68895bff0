"""Folders of the store: for their owner alone, from the first one that has to be made."""

from __future__ import annotations

import os
import stat


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


def open_to_others(home: str, notes: str = "") -> str:
    """Why others may put notes into the store at ``home``, in words that name the folder; "" where they may not.

    Looked at are the folder of notes (``home/notes`` unless told), home, and the one that home stands in: three
    calls of ``stat``. Whoever has more rights than we (root) is no other, nor is a group that is its one member's.
    A sticky bit protects what stands in a folder, so it helps in the one above alone.
    """
    above = os.path.dirname(os.path.realpath(home))
    for path in (notes or os.path.join(home, "notes"), home, above):
        try:
            found = os.stat(path)
        except OSError:  # it is not there yet, or whoever reads it will say why not
            continue
        if path != above and found.st_uid not in (os.geteuid(), 0):
            return f"{path} belongs to another user"
        if path == above and found.st_mode & stat.S_ISVTX:
            continue
        group_is_own = found.st_gid in (0, os.geteuid())
        if found.st_mode & stat.S_IWOTH or (found.st_mode & stat.S_IWGRP and not group_is_own):
            return f"others may write into {path} (mode {stat.S_IMODE(found.st_mode):04o})"
    return ""


def how_to_close(home: str) -> str:
    """What a person does about it."""
    return (
        f"chmod -R go-w {home} and look through `chitta list --all-realms`, or set CHITTA_HOME to a folder of your own"
    )
