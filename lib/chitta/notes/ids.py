"""Identifiers of notes, and the file names they are stored under."""

from __future__ import annotations

import re
import unicodedata
from hashlib import sha256

from chitta.notes.note import without_surrogates

MAX_ID = 200
_SLUG = 50
_PLAIN = re.compile(r"[a-z0-9][a-z0-9._-]{0,120}")
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")


def make_id(title_or_text: str, realm: str, salt: str = "") -> str:
    """A readable identifier: a slug of at most 50 characters and six hex digits.

    The same arguments always give the same identifier. A text without Latin letters or digits
    has no slug to tell it from others, so it gets twelve digits: ``note-<12 hex>``.
    """
    slug = _slug(title_or_text)
    digest = _digest("\0".join((title_or_text, realm, salt)))
    return f"{slug}-{digest[:6]}" if slug else f"note-{digest[:12]}"


def valid_id(text: str) -> bool:
    """1 to 200 characters, not all white space, no control characters."""
    return 0 < len(text) <= MAX_ID and bool(text.strip()) and not _CONTROL.search(text)


def file_name(note_id: str) -> str:
    """The file name of a note: ``<id>.md`` where the identifier is a plain lower-case name."""
    return f"{note_id}.md" if _PLAIN.fullmatch(note_id) else hashed_file_name(note_id)


def hashed_file_name(note_id: str) -> str:
    """A file name for any identifier; ``+`` keeps it apart from every plain one."""
    return f"{_slug(note_id) or 'note'}+{_digest(note_id)[:10]}.md"


def _slug(text: str) -> str:
    ascii_text = unicodedata.normalize("NFKD", text[: 8 * _SLUG]).encode("ascii", "ignore").decode().lower()
    return re.sub(r"[^a-z0-9]+", "-", ascii_text).strip("-")[:_SLUG].rstrip("-")


def _digest(text: str) -> str:
    return sha256(without_surrogates(text).encode()).hexdigest()
