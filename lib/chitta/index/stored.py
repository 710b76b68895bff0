"""A note as the bytes that the catalog and the keyword index keep of it, and its terms as text.

Both keep the whole note, so that either can answer when the other is damaged. The catalog keeps the
terms as well: taking a note apart costs ten times as much as reading what it was taken apart into.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from chitta.notes.note import Note
from chitta.wire.codec import dumps, loads

_DEFAULTS: Mapping[str, object] = Note(id="")._asdict()


class NoteTerms(NamedTuple):
    """The distinct terms of a note's title and text, and the words of its title alone, sorted."""

    whole: frozenset[str]
    title: tuple[str, ...]


class Filed(NamedTuple):
    """The file that a note was indexed from, below the notes folder, as it was then.

    ``fresh``: it was written so shortly before that its time and size alone do not tell its content.
    """

    path: str
    own_id: str
    mtime_ns: int
    size: int
    sha256: str
    fresh: bool


def pack_terms(terms: NoteTerms) -> str:
    """The title's words and the other terms, a line each. No term holds a space or a line's end."""
    others = sorted(terms.whole.difference(terms.title))
    return f"{' '.join(terms.title)}\n{' '.join(others)}"


def unpack_terms(packed: str) -> NoteTerms:
    """The terms of :func:`pack_terms`. Raises ``ValueError`` for text that is none."""
    first, line, second = packed.partition("\n")
    if not line:
        raise ValueError("not stored terms")
    title = tuple(first.split())
    return NoteTerms(frozenset((*title, *second.split())), title)


def pack(note: Note) -> bytes:
    """JSON of the fields that differ from their defaults, and the id."""
    fields = {name: value for name, value in note._asdict().items() if value != _DEFAULTS[name]}
    return dumps(fields)


def unpack(raw: bytes) -> Note:
    """The note of :func:`pack`. Raises ``ValueError`` for bytes that are no packed note.

    Keys of a later version are ignored and a field of another type counts as absent, so that
    an index written by another version of chitta stays readable.
    """
    fields = loads(raw)
    if not isinstance(fields, dict) or not isinstance(fields.get("id"), str) or not fields["id"]:
        raise ValueError("not a stored note")
    known = {name: _as(value, _DEFAULTS[name]) for name, value in fields.items() if name in _DEFAULTS}
    return Note(**known)  # type: ignore[arg-type]


def _as(value: object, default: object) -> object:
    """``value`` in the type of ``default``: JSON has no tuples and may turn 1.0 into 1."""
    if isinstance(default, tuple):
        if not isinstance(value, list):
            return default
        return tuple(tuple(item) if isinstance(item, list) else item for item in value)
    if isinstance(default, float) and isinstance(value, int) and not isinstance(value, bool):
        return float(value)
    return value if type(value) is type(default) else default
