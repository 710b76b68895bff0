"""Transcripts of Claude Code, Codex and Copilot CLI as events: streamed, bounded, in the order they were written.

A line that is no JSON, of an unknown kind, or longer than :data:`MAX_LINE_BYTES` is passed over. The shapes are those
that Claude Code 2.1.332, Codex 0.171.0 and Copilot CLI 1.0.102 write; older ones of Codex are read too.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, BinaryIO, Protocol

from chitta.capture import from_claude, from_codex, from_copilot
from chitta.capture.events import Event
from chitta.wire import codec

MAX_LINE_BYTES = 4 << 20
#: Bytes of a transcript that are read, from its end.
MAX_BYTES = 64 << 20
#: Lines that are looked at to tell whose transcript it is.
_SIGN_LINES = 20


class Reader(Protocol):
    """Turns one line's object into events; keeps what calls and their results have in common."""

    def take(self, entry: dict[str, Any]) -> Iterator[Event]: ...


READERS: dict[str, Callable[[], Reader]] = {
    "claude": from_claude.Reader,
    "codex": from_codex.Reader,
    "copilot": from_copilot.Reader,
}


def read(path: str | os.PathLike[str], harness: str = "", *, last_bytes: int = MAX_BYTES) -> Iterator[Event]:
    """The events of a transcript. Raises ``OSError`` where it cannot be read, nothing for what it holds.

    ``harness`` is claude, codex or copilot; any other word lets the lines themselves tell. Of a file with more than
    ``last_bytes`` only the end is read.
    """
    with open(Path(path), "rb") as file:
        size = os.fstat(file.fileno()).st_size
        if size > last_bytes:
            file.seek(size - last_bytes)
            _pass_line(file)
        reader: Reader | None = READERS[harness]() if harness in READERS else None
        held: list[dict[str, Any]] = []
        for entry in _entries(file):
            if reader is None:
                held.append(entry)
                told = told_harness(entry)
                if not told and len(held) < _SIGN_LINES:
                    continue
                reader = READERS[told or "claude"]()
                for earlier in held:
                    yield from _taken(reader, earlier)
                continue
            yield from _taken(reader, entry)


def told_harness(entry: dict[str, Any]) -> str:
    """Whose line it is, or "" where it does not tell."""
    if isinstance(entry.get("payload"), dict):
        return "codex"
    if isinstance(entry.get("data"), dict) and "." in str(entry.get("type", "")):
        return "copilot"
    return "claude" if isinstance(entry.get("message"), dict) and "sessionId" in entry else ""


def _taken(reader: Reader, entry: dict[str, Any]) -> Iterator[Event]:
    try:
        yield from reader.take(entry)
    except (TypeError, ValueError, AttributeError, KeyError, IndexError, RecursionError):
        return  # a shape that no client has written so far


def _entries(file: BinaryIO) -> Iterator[dict[str, Any]]:
    while line := file.readline(MAX_LINE_BYTES + 1):
        if len(line) > MAX_LINE_BYTES:
            if not line.endswith(b"\n"):
                _pass_line(file)
            continue
        try:
            entry = codec.loads(line)
        except ValueError:
            continue
        if isinstance(entry, dict):
            yield entry


def _pass_line(file: BinaryIO) -> None:
    """Go on to the next line's beginning, however long this one is."""
    while (part := file.readline(MAX_LINE_BYTES)) and not part.endswith(b"\n"):
        pass
