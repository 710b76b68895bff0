"""JSON bytes and length-prefixed frames.

``orjson`` does the work where it can be imported (daemon, CLI); the standard library does
where it cannot (a lane or merge on its own, started without site-packages). Both give the same
compact UTF-8 for what the product sends.

A frame is a 4-byte big-endian length and a payload. A request's payload is head lines, a blank
line and a body; a reply's is three digits, a newline and a body. docs/lane-contract.md has it
in words.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

PROTOCOL = "v1"
MAX_FRAME_BYTES = 64 * 1024 * 1024

OK = 0
#: Every place for a question is taken: ask again (EX_TEMPFAIL of sysexits.h). Of calls alone; a lane never says it.
BUSY = 75
MISUSE = 100
UNAVAILABLE = 111
LATE = 142

_Dump = Callable[[Any], bytes]
_Load = Callable[[bytes], Any]


def _clean(value: Any) -> Any:
    """``value`` with what JSON in UTF-8 cannot carry replaced: lone surrogates, NaN, odd types."""
    if isinstance(value, str):
        return value.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    if isinstance(value, bool) or value is None:
        return value
    if isinstance(value, int):
        return value if -(2**63) <= value < 2**64 else float(value) if abs(value) < 10**308 else None
    if isinstance(value, float):
        return value if value - value == 0 else None
    if isinstance(value, dict):
        return {_clean(str(key)): _clean(item) for key, item in value.items()}
    if isinstance(value, (list, tuple, set, frozenset)):
        items = sorted(value) if isinstance(value, (set, frozenset)) else value
        return [_clean(item) for item in items]
    return str(value)


def _standard() -> tuple[_Dump, _Load]:
    import json

    def dump(value: Any) -> bytes:
        return json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode()

    def load(raw: bytes) -> Any:
        try:
            return json.loads(raw.decode("utf-8"))
        except RecursionError:
            raise ValueError("JSON is nested too deeply") from None

    return dump, load


def _fast() -> tuple[_Dump, _Load]:
    import orjson

    return orjson.dumps, orjson.loads


try:
    _dump, _load = _fast()
except ImportError:
    _dump, _load = _standard()


def dumps(value: Any) -> bytes:
    """Compact JSON in UTF-8. Never raises for what the product holds: odd parts are replaced."""
    try:
        return _dump(value)
    except (TypeError, ValueError, UnicodeError):
        return _dump(_clean(value))


def loads(raw: bytes) -> Any:
    """The value of one JSON text; a byte-order mark is skipped.

    Raises ``ValueError`` for anything that is not JSON.
    """
    try:
        return _load(raw[3:] if raw.startswith(b"\xef\xbb\xbf") else raw)
    except (ValueError, UnicodeError, RecursionError) as problem:
        raise ValueError(f"not JSON: {problem}") from None


class Head(NamedTuple):
    """What stands before a request's body: the verb, its arguments, the caller's variables."""

    verb: str
    arguments: tuple[str, ...]
    environ: dict[str, str]


def encode_request_payload(
    verb: str, arguments: tuple[str, ...], body: bytes, environ: dict[str, str] | None = None
) -> bytes:
    """A request's payload. Arguments hold no space or newline; variables with a newline are left out."""
    lines = [" ".join((verb, *arguments, PROTOCOL))]
    lines += [f"{name}={value}" for name, value in (environ or {}).items() if "\n" not in value]
    return "\n".join(lines).encode("utf-8", "surrogateescape") + b"\n\n" + body


def decode_request_payload(payload: bytes) -> tuple[Head, bytes]:
    """Split a request's payload. Raises ``ValueError`` when the head or the version is not ours."""
    head, separator, body = payload.partition(b"\n\n")
    lines = head.decode("utf-8", "surrogateescape").split("\n")
    words = lines[0].split(" ")
    if not separator or len(words) < 2 or words[-1] != PROTOCOL:
        raise ValueError(f"not a {PROTOCOL} request")
    environ = dict(line.split("=", 1) for line in lines[1:] if line.startswith("CHITTA_") and "=" in line)
    return Head(words[0], tuple(words[1:-1]), environ), body


def encode_reply_payload(code: int, body: bytes) -> bytes:
    """A reply's payload: ``CCC``, newline, body (for a code other than 000 one line saying why)."""
    return b"%03d\n" % code + body


def decode_reply_payload(payload: bytes) -> tuple[int, bytes]:
    """Split a reply's payload. Raises ``ValueError`` when it is not one."""
    if len(payload) < 4 or payload[3:4] != b"\n" or not payload[:3].isdigit():
        raise ValueError("not a reply")
    return int(payload[:3]), payload[4:]


def encode_part(name: str, data: bytes, facts: dict[str, str] | None = None) -> bytes:
    """One part of a merge body: ``NAME NBYTES KEY=VALUE…``, newline, the bytes. Values hold no space."""
    words = [name, str(len(data)), *(f"{key}={value}" for key, value in (facts or {}).items())]
    return " ".join(words).encode() + b"\n" + data


def decode_parts(body: bytes) -> list[tuple[str, dict[str, str], bytes]]:
    """The parts of a merge body, in order. Raises ``ValueError`` when a part is cut short."""
    parts: list[tuple[str, dict[str, str], bytes]] = []
    at = 0
    while at < len(body):
        end = body.find(b"\n", at)
        if end < 0:
            raise ValueError("part without a head")
        words = body[at:end].decode("utf-8", "replace").split(" ")
        if len(words) < 2 or not words[1].isdecimal():
            raise ValueError(f"bad part head: {words[0][:40]!r}")
        size = int(words[1])
        if end + 1 + size > len(body):
            raise ValueError("part cut short")
        facts = dict(word.split("=", 1) for word in words[2:] if "=" in word)
        parts.append((words[0], facts, body[end + 1 : end + 1 + size]))
        at = end + 1 + size
    return parts
