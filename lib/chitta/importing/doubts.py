"""What is to be said of what a file holds: bytes that are no text, and values that mean nothing as they are written."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping

from chitta.notes.frontmatter import Parts
from chitta.notes.note import Note, one_line
from chitta.notes.realms import GLOBAL

#: Share of control characters from which bytes are no text (the usual rule of tools that search text).
MOST_CONTROLS = 0.1
#: Share of NULs in every other byte from which bytes are UTF-16: what is mostly ASCII.
_UTF_16_NULS = 0.6
_LOOKED_AT = 64 << 10
_MARKS = (b"\xff\xfe", b"\xfe\xff")
_CONTROLS = bytes(code for code in range(32) if code not in b"\t\n\v\f\r") + b"\x7f"
_REALM = re.compile(r"project:[^\s:]+|[a-z][a-z0-9-]*:\S+")
_TRUST_WORDS = frozenset({"very high", "high", "medium", "low", "very low"})
_SHOWN = 60


def as_text(data: bytes) -> tuple[bytes, str]:
    """The bytes as text has them (UTF-16 without a mark as UTF-8), or none and the reason why they are no text."""
    if data.startswith(_MARKS):
        return data, ""
    head = data[:_LOOKED_AT]
    if b"\0" in data:
        name = _utf_16(head)
        try:
            text = data.decode(name) if name else "\0"
        except UnicodeDecodeError:
            text = "\0"
        return (text.encode(), "") if "\0" not in text else (b"", "is binary: it holds NUL bytes")
    controls = len(head) - len(head.translate(None, _CONTROLS))
    if controls > MOST_CONTROLS * len(head):
        return b"", f"is binary: {controls / len(head):.0%} of it are control characters"
    return data, ""


def empty(parts: Parts) -> str:
    """Why a file holds nothing to take; "" where it does."""
    if parts.body.strip():
        return ""
    if parts.fields.get("description") or (parts.fields.get("wrong") and parts.fields.get("right")):
        return ""
    return "has front matter and no text" if parts.fields else "is empty"


def remarks_on(fields: Mapping[str, object], note: Note) -> list[str]:
    """What was not taken as it is written: ``note`` is what was made of the front matter ``fields``."""
    return [each for each in (_of_trust(fields), _of_count(fields, note), _of_realm(fields, note)) if each]


def _of_trust(fields: Mapping[str, object]) -> str:
    written = fields.get("confidence")
    word = str(written).strip().lower()
    if written in (None, "") or word in _TRUST_WORDS:
        return ""
    number = _number(word.removesuffix("%")) / (100 if word.endswith("%") else 1)
    if 0 <= number <= 1:
        return ""
    return f"confidence: {one_line(word, _SHOWN)!r} is not between 0 and 1"


def _of_count(fields: Mapping[str, object], note: Note) -> str:
    written = fields.get("proof_count")
    if written in (None, "") or _number(str(written)) == note.proof_count:
        return ""
    return f"proof_count: {one_line(str(written), _SHOWN)!r} is no count; taken as {note.proof_count}"


def _of_realm(fields: Mapping[str, object], note: Note) -> str:
    written = fields.get("realm")
    if written in (None, "") or not isinstance(written, str):
        return ""
    if written.strip() != note.realm:
        return f"realm: {one_line(written, _SHOWN)!r} is no realm; taken into {note.realm}"
    if usual_realm(note.realm):
        return ""
    return f"realm: {one_line(written, _SHOWN)!r} is neither global nor a project's; kept as it is written"


def usual_realm(realm: str) -> bool:
    """Whether a realm is ``global``, or of a form that a folder's or another source's is."""
    return realm == GLOBAL or _REALM.fullmatch(realm) is not None


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return math.nan


def _utf_16(head: bytes) -> str:
    for name, nuls, others in (("utf-16-le", head[1::2], head[::2]), ("utf-16-be", head[::2], head[1::2])):
        if nuls and nuls.count(0) >= _UTF_16_NULS * len(nuls) and not others.count(0):
            return name
    return ""
