"""Reading the recall log back: the last prompts, as :mod:`chitta.recall_log` and the hook wrote them."""

from __future__ import annotations

import os
from typing import Any

from chitta.recall_log import NAME, PREVIOUS
from chitta.settings import Settings
from chitta.wire import codec

_BLOCK_BYTES = 256 * 1024
_MOST_BYTES = 16 * 1024 * 1024


def read_last(settings: Settings, count: int) -> list[dict[str, Any]]:
    """The last ``count`` lines, oldest first; lines that are no JSON object are passed over, no log is no lines.

    Where the log has too few, the one that was put aside before it gives the rest.
    """
    raw, number = _end_of(path_of(settings), count)
    found = _objects(raw, count)
    if len(found) < count:
        older, other = _end_of(os.path.join(settings.state_dir, PREVIOUS), count)
        if other != number:  # else the log was put aside between the two looks, and this is what was just read
            found = _objects(older, count) + found
    return found[-count:]


def _end_of(path: str, count: int) -> tuple[bytes, int]:
    """The file's end and its number, which it keeps under another name; nothing and -1 where it cannot be read."""
    try:
        with open(path, "rb") as file:
            return _tail(file.fileno(), count), os.fstat(file.fileno()).st_ino
    except OSError:
        return b"", -1


def _objects(raw: bytes, count: int) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    for line in raw.split(b"\n")[-count - 1 :]:
        try:
            value = codec.loads(line)
        except ValueError:
            continue
        if isinstance(value, dict):
            found.append(_well_formed(value))
    return found


def _well_formed(line: dict[str, Any]) -> dict[str, Any]:
    """The line without the parts that are not what the log writes; readers then need not look twice."""
    lanes, dropped, admitted = (line.get(key) for key in ("lanes", "dropped", "admitted"))
    if "lanes" in line:
        line["lanes"] = (
            {k: _lane(v) for k, v in lanes.items() if isinstance(v, dict)} if isinstance(lanes, dict) else {}
        )
    if "dropped" in line:
        line["dropped"] = _counts(dropped)
    if "admitted" in line:
        line["admitted"] = [one for one in admitted if isinstance(one, dict)] if isinstance(admitted, list) else []
    return line


def _lane(facts: dict[str, Any]) -> dict[str, Any]:
    return {**facts, "dropped": _counts(facts.get("dropped"))} if "dropped" in facts else facts


def _counts(value: Any) -> dict[str, int]:
    return {k: n for k, n in value.items() if isinstance(n, int)} if isinstance(value, dict) else {}


def path_of(settings: Settings) -> str:
    return os.path.join(settings.state_dir, NAME)


def size(settings: Settings) -> int:
    """Bytes in the log, -1 when there is none: tells whether a prompt has added its line."""
    try:
        return os.stat(path_of(settings)).st_size
    except OSError:
        return -1


def _tail(descriptor: int, lines: int) -> bytes:
    """The end of the file, with at least ``lines`` whole lines where it has them."""
    at = os.fstat(descriptor).st_size
    tail = b""
    while at > 0 and tail.count(b"\n") <= lines and len(tail) < _MOST_BYTES:
        start = max(0, at - _BLOCK_BYTES)
        tail = os.pread(descriptor, at - start, start) + tail
        at = start
    return tail
