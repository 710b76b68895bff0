"""The objects of a large JSON document, one at a time, in bounded memory.

A document is either a list, or an object that holds lists under known names: exports are one or the
other. Only where an item begins and ends is looked at here; reading it is left to :mod:`json`.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from typing import NamedTuple, Protocol

#: Bytes of one item; a longer one is passed over without being kept in memory.
MAX_ITEM_BYTES = 4 * 1024 * 1024

_CHUNK = 64 * 1024
_CUT = "ends in the middle; what came before was read"
_SPACE = b" \t\r\n"
# What matters outside a text and inside one.
_OUTSIDE = re.compile(rb'["\[\]{},:]')
_VISIBLE = re.compile(rb"[^ \t\r\n]")
_INSIDE = re.compile(rb'["\\]')


class Readable(Protocol):
    """What is needed of a stream of bytes."""

    def read(self, size: int = -1, /) -> bytes: ...

    def readline(self, size: int = -1, /) -> bytes: ...


class Item(NamedTuple):
    """An item's bytes; "" in ``name`` is the document's own list. ``data`` is None where it is too long."""

    name: str
    data: bytes | None


class BrokenJson(Exception):
    """Why the document cannot be read on; the text is a sentence's end for people."""


def items(stream: Readable, names: Collection[str]) -> Iterator[Item]:
    """The items of the document's list, or of its lists under ``names``, in order; raises :class:`BrokenJson`.

    What else the document holds is passed over. Errors of ``stream`` are raised as they are.
    """
    yield from _Scanner(stream, names).items()


class _Scanner:
    """Reads on in a buffer; what lies before ``_at`` is dropped unless an item has begun there."""

    def __init__(self, stream: Readable, names: Collection[str]) -> None:
        self._stream = stream
        self._names = names
        self._buffer = b""
        self._at = 0
        self._began: int | None = None  # where the item begins in the buffer
        self._too_long = False

    def items(self) -> Iterator[Item]:
        first = self._first()
        if first not in b"[{":
            raise BrokenJson("is not JSON that holds a list or an object")
        # The brackets that are open, from the outermost; the name that was last read at depth 1.
        depth, name, wanted = 0, "", False
        list_depth = 1 if first == b"[" else 2
        while True:
            mark = self._next(_OUTSIDE)
            if mark == b'"':
                text = self._text(keep=first == b"{" and depth == 1)
                if first == b"{" and depth == 1:
                    name = text
            elif mark in (b"[", b"{"):
                depth += 1
                if depth == list_depth:
                    wanted = mark == b"[" and (first == b"[" or name in self._names)
                    self._begin(wanted)
            elif mark in (b"]", b"}"):
                if depth == list_depth and wanted:
                    yield from self._end("" if first == b"[" else name)
                    wanted = False
                    self._began = None
                depth -= 1
                if depth == 0:
                    self._expect_end()
                    return
            elif mark == b"," and depth == list_depth and wanted:
                yield from self._end("" if first == b"[" else name)
                self._begin(True)

    def _first(self) -> bytes:
        """The first byte that is no white space, with the buffer standing on it."""
        self._more()
        if self._buffer.startswith(b"\xef\xbb\xbf"):
            self._at = 3
        while True:
            found = _VISIBLE.search(self._buffer, self._at)
            if found:
                self._at = found.start()
                return found.group()
            self._at = len(self._buffer)
            if not self._more():
                raise BrokenJson("is empty")

    def _next(self, pattern: re.Pattern[bytes]) -> bytes:
        """The next byte that the pattern finds; the buffer stands after it."""
        while True:
            found = pattern.search(self._buffer, self._at)
            if found:
                self._at = found.end()
                return found.group()
            self._at = len(self._buffer)
            if not self._more():
                raise BrokenJson(_CUT)

    def _text(self, *, keep: bool) -> str:
        """Pass over a text whose opening quote was read; what it says, where it is a name."""
        self._begin(keep)
        while self._next(_INSIDE) == b"\\":
            if self._at == len(self._buffer) and not self._more():
                raise BrokenJson(_CUT)
            self._at += 1  # the byte after a backslash
        if not keep:
            return ""
        name = b"" if self._too_long or self._began is None else self._buffer[self._began : self._at - 1]
        self._began = None
        return name.decode("utf-8", "replace")

    def _more(self) -> bool:
        """Read on. The buffer keeps what an item has so far, unless that is too long."""
        if self._began is not None and self._at - self._began > MAX_ITEM_BYTES:
            self._too_long = True
        drop = self._at if self._began is None or self._too_long else self._began
        chunk = self._stream.read(_CHUNK)
        self._buffer = self._buffer[drop:] + chunk
        self._at -= drop
        if self._began is not None:
            self._began = max(0, self._began - drop)
        return bool(chunk)

    def _begin(self, wanted: bool) -> None:
        if wanted:
            self._began, self._too_long = self._at, False

    def _end(self, name: str) -> Iterator[Item]:
        """The item that ends before the mark just read; none between the brackets of an empty list."""
        began = self._began if self._began is not None else self._at
        if self._too_long or self._at - 1 - began > MAX_ITEM_BYTES:
            yield Item(name, None)
            return
        data = self._buffer[began : self._at - 1].strip(_SPACE)
        if data:
            yield Item(name, data)

    def _expect_end(self) -> None:
        self._began = None
        while True:
            if self._buffer[self._at :].strip(_SPACE):
                raise BrokenJson("holds more after its end, which was not read (is it JSON lines? name it .jsonl)")
            self._at = len(self._buffer)
            if not self._more():
                return
