"""Keeping the C library from holding on to memory that nobody uses.

glibc gives threads arenas of their own, up to eight a core, and an arena keeps what its largest text
took: the embedding of a long prompt leaves 45 MB in the arena of each thread that ever made one. Two
arenas serve as fast, since threads that run Python take turns anyway.
"""

from __future__ import annotations

import sys
from typing import Any

#: ``mallopt``'s M_ARENA_MAX in glibc's malloc.h.
_M_ARENA_MAX = -8
_ARENAS = 2


def few_arenas() -> None:
    """Bound the arenas of this process; call it while there is one thread. Nothing where malloc is another's."""
    _call("mallopt", _M_ARENA_MAX, _ARENAS)


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
