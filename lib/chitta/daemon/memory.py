"""Keeping the C library from holding on to memory that nobody uses.

glibc gives threads arenas of their own, up to eight a core, and an arena keeps what its largest text
took: the embedding of a long prompt leaves 45 MB in the arena of each thread that ever made one. Two
arenas serve as fast, since threads that run Python take turns anyway.

It also raises by itself, up to 32 MB, the size from which a block is a mapping of its own that goes back when it is
freed. The keyword index's writer takes blocks of 1 MB; after its first commits they came out of an arena, whose
holes stayed: 186 MB after 3,000 requests with 276 syncs, 147 MB with 128 kB fixed (measured, under way).
"""

from __future__ import annotations

import sys
from typing import Any

#: ``mallopt``'s M_ARENA_MAX in glibc's malloc.h.
_M_ARENA_MAX = -8
_ARENAS = 2
#: M_MMAP_THRESHOLD and M_TRIM_THRESHOLD there, and the size in bytes from which blocks are mapped and given back.
_M_MMAP_THRESHOLD, _M_TRIM_THRESHOLD = -3, -1
_MAPPED_FROM = 512 << 10


def few_arenas() -> None:
    """Bound the arenas of this process and what they keep; call it while there is one thread.

    Nothing where malloc is another's.
    """
    _call("mallopt", _M_ARENA_MAX, _ARENAS)
    _call("mallopt", _M_MMAP_THRESHOLD, _MAPPED_FROM)
    _call("mallopt", _M_TRIM_THRESHOLD, _MAPPED_FROM)


def give_back() -> None:
    """Return unused memory to the system; takes some milliseconds. Nothing where malloc is another's."""
    _call("malloc_trim", 0)


def _call(name: str, *arguments: int) -> None:
    if sys.platform != "linux":
        return
    try:
        import ctypes

        function: Any = getattr(ctypes.CDLL(None), name)
    except (ImportError, OSError, AttributeError):
        return
    function(*arguments)
