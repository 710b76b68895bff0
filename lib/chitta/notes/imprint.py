"""What an imported note remembers of its import, so that importing again loses no edit made since.

One front-matter key, ``imported``, holds two digests: of the source as it was read, and of the note
as it was written. The first tells whether the source has changed, the second whether the note has.
"""

from __future__ import annotations

import hashlib
import re
from typing import NamedTuple

from chitta.notes.frontmatter import format_note, parse_note
from chitta.notes.note import Note

KEY = "imported"
_DIGEST_CHARS = 16
_VALUE = re.compile(rf"([0-9a-f]{{{_DIGEST_CHARS}}}) ([0-9a-f]{{{_DIGEST_CHARS}}})")


class Imprint(NamedTuple):
    """Digests of the source and of the note, 16 hex characters each."""

    source: str
    note: str


def digest(data: bytes) -> str:
    """The first 16 hex characters of the sha256."""
    return hashlib.sha256(data).hexdigest()[:_DIGEST_CHARS]


def imprint_of(note: Note) -> Imprint | None:
    """What the note remembers; None where it was not imported, or the key was changed by hand."""
    found = _VALUE.fullmatch(str(dict(note.extra).get(KEY, "")))
    return Imprint(*found.groups()) if found else None


def imprinted(note: Note, source: str) -> Note:
    """The note with the key for a source of this digest."""
    plain = without_imprint(note)
    return plain._replace(extra=(*plain.extra, (KEY, f"{source} {_digest_of(plain)}")))


def without_imprint(note: Note) -> Note:
    return note._replace(extra=tuple((key, value) for key, value in note.extra if key != KEY))


def is_edited(note: Note) -> bool:
    """Whether the note is another one than its imprint was made for; False without an imprint."""
    imprint = imprint_of(note)
    return imprint is not None and imprint.note != _digest_of(without_imprint(note))


def _digest_of(note: Note) -> str:
    """Of the file's text as it stands after one reading and writing, which is the form that lasts."""
    once = parse_note(format_note(note), fallback_id=note.id, fallback_realm=note.realm)
    return digest(format_note(once).encode())
