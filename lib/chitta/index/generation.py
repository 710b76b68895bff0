"""Generations: a whole index each, in a folder of its own, and the link that names the current one.

A generation is built as ``gen-000007.part``, renamed when it is complete, and made current by
renaming a link over ``current``. So a process that dies at any moment leaves the old generation
or the new one, never half of either. Small changes are made inside the current generation, whose
parts commit one after the other: keywords, vectors, and last the catalog.
"""

from __future__ import annotations

import os
import re
from typing import NamedTuple

from chitta.index.catalog import FILE_NAME

_NAME = re.compile(r"gen-(\d{6,})\Z")
_LINK = "current"


class Generation(NamedTuple):
    """One generation's number and the places of its parts."""

    number: int
    folder: str

    @property
    def catalog(self) -> str:
        return os.path.join(self.folder, FILE_NAME)

    @property
    def keyword(self) -> str:
        return os.path.join(self.folder, "tantivy")

    @property
    def vectors(self) -> str:
        return os.path.join(self.folder, "vectors")


def current(index_dir: str) -> Generation | None:
    """The generation that the link names; where the link is lost, the latest complete one."""
    try:
        named = _NAME.match(os.path.basename(os.readlink(os.path.join(index_dir, _LINK))))
    except OSError:
        named = None
    if named:
        folder = os.path.join(index_dir, named.group())
        if os.path.isdir(folder):
            return Generation(int(named.group(1)), folder)
    complete = _complete(index_dir)
    return complete[-1] if complete else None


def begin(index_dir: str) -> Generation:
    """A new, empty generation, which nobody sees until :func:`finish`."""
    import shutil

    complete = _complete(index_dir)
    number = complete[-1].number + 1 if complete else 1
    folder = os.path.join(index_dir, f"gen-{number:06d}.part")
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder, mode=0o700)
    return Generation(number, folder)


def finish(index_dir: str, built: Generation) -> Generation:
    """Make a built generation the current one, and return it under its final name."""
    done = Generation(built.number, os.path.join(index_dir, f"gen-{built.number:06d}"))
    os.rename(built.folder, done.folder)
    _settle(index_dir)  # before the link names it
    link = os.path.join(index_dir, f".{_LINK}-{os.getpid()}")
    try:
        os.symlink(os.path.basename(done.folder), link)
        os.replace(link, os.path.join(index_dir, _LINK))
    except OSError:  # a file system without links: the latest complete generation is the current one
        _forget(os.path.join(index_dir, _LINK))
    _settle(index_dir)
    return done


def sweep(index_dir: str) -> None:
    """Remove generations that are no longer current, or were never finished. Needs the write lock.

    Called at the start of a sync rather than after a switch, so that a reader which found the old
    generation a moment ago can still open it.
    """
    import shutil

    kept = current(index_dir)
    try:
        names = os.listdir(index_dir)
    except OSError:
        return
    for name in names:
        path = os.path.join(index_dir, name)
        if name.startswith("gen-") and (kept is None or path != kept.folder):
            shutil.rmtree(path, ignore_errors=True)
        elif name.startswith(f".{_LINK}-"):
            _forget(path)


def _complete(index_dir: str) -> list[Generation]:
    try:
        names = os.listdir(index_dir)
    except OSError:
        return []
    found = [(match, os.path.join(index_dir, match.group())) for match in map(_NAME.match, names) if match]
    return sorted(Generation(int(match.group(1)), folder) for match, folder in found if os.path.isdir(folder))


def _settle(folder: str) -> None:
    """See the names in a folder on disk, where the file system can: the old generation goes at the next sync."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    except OSError:
        pass
    finally:
        os.close(descriptor)


def _forget(path: str) -> None:
    try:
        os.unlink(path)
    except OSError:
        return
