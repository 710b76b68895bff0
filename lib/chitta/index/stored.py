"""A note as the bytes that the catalog and the keyword index keep of it.

Both keep the whole note, so that either can answer when the other is damaged.
"""

from __future__ import annotations

from collections.abc import Mapping

from chitta.notes.note import Note
from chitta.wire.codec import dumps, loads

_DEFAULTS: Mapping[str, object] = Note(id="")._asdict()


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
