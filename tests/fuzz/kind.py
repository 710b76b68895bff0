"""What a target is, and what its inputs are made of."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

#: Between the parts of an input that stands for several things.
CUT = b"\x1e\x1f"
#: Seconds of this process's own time that one input may take.
LIMIT_S = 2.0


class Target(NamedTuple):
    """``run`` raises for what must not be; ``seeds`` are inputs to begin with, ``words`` what is put into them."""

    name: str
    run: Callable[[bytes], None]
    seeds: Callable[[], list[bytes]]
    words: tuple[bytes, ...] = ()
    most_bytes: int = 16_384


class Wrong(AssertionError):
    """What was promised does not hold."""


def must(holds: object, what: str, *seen: object) -> None:
    """Raise :class:`Wrong` unless ``holds``; ``seen`` is shown, cut."""
    if not holds:
        raise Wrong(": ".join([what, *(repr(one)[:300] for one in seen)]))


def split(data: bytes, count: int) -> list[bytes]:
    """``count`` parts of an input; those that it does not have are empty."""
    parts = data.split(CUT, count - 1)
    return parts + [b""] * (count - len(parts))


def text_of(data: bytes) -> str:
    """Text as a decoder that never fails gives it; escaped lone surrogates (``\\xed\\xa0\\x80``) stay such."""
    try:
        return data.decode("utf-8", "surrogatepass")
    except UnicodeDecodeError:
        return data.decode("utf-8", "replace")


def choice(data: bytes, among: int) -> tuple[int, bytes]:
    """A number below ``among`` by the first byte, and the rest."""
    return (data[0] % among, data[1:]) if data else (0, b"")
