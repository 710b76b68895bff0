"""What a note goes through before it is kept: private spans out, secrets redacted, likely instructions marked."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from chitta.notes.note import Note
from chitta.safety import SUSPECTED, TRUSTED
from chitta.safety.instructions import asks_alone, suspicion
from chitta.safety.private import without_private
from chitta.safety.secrets import redact

#: Depth to which values of ``extra`` are looked through; what is nested deeper is left as it is.
_DEPTH = 8
_TEXTS = ("title", "text", "source", "wrong", "right")
_LISTS = ("tags", "triggers")


class Cleaned(NamedTuple):
    """The note as it may be kept, the kinds of secrets taken out, and why it speaks to a model."""

    note: Note
    secrets: tuple[str, ...]
    suspected: tuple[str, ...]


def clean(note: Note) -> Cleaned:
    """``note`` without private spans and secrets; in quarantine where it likely holds instructions to a model.

    The reasons go into ``extra["suspected"]``. A note with a true ``extra["trusted"]`` is not put into quarantine and
    not taken out of it. Cleaning a clean note changes nothing. Raises ``ImportError`` without the library that finds
    secrets.
    """
    note, secrets = without_secrets(note)
    said = "\n".join(part for part in (note.title, note.text, note.wrong, note.right, *note.triggers) if part)
    found = suspicion(said)
    if not found.likely and asks_alone(note.text):  # which a title before it hides
        found = suspicion(note.text)
    reasons = found.reasons if found.likely else ()
    extra = dict(note.extra)
    if not reasons or extra.get(TRUSTED) is True:
        return Cleaned(note, secrets, reasons)
    extra[SUSPECTED] = list(reasons)
    return Cleaned(note._replace(quarantine=True, extra=tuple(extra.items())), secrets, reasons)


def without_secrets(note: Note) -> tuple[Note, tuple[str, ...]]:
    """``note`` without private spans and secrets, and the kinds of these, once each."""
    kinds: list[str] = []

    def cleaned(text: str) -> str:
        done = redact(without_private(text))
        kinds.extend(done.found)
        return done.text

    changed: dict[str, object] = {name: cleaned(getattr(note, name)) for name in _TEXTS}
    for name in _LISTS:
        changed[name] = tuple(dict.fromkeys(filter(None, map(cleaned, getattr(note, name)))))
    extra = tuple((key, _through(value, cleaned, _DEPTH)) for key, value in note.extra)
    return note._replace(**changed, extra=extra), tuple(dict.fromkeys(kinds))  # type: ignore[arg-type]


def _through(value: object, cleaned: Callable[[str], str], depth: int) -> object:
    if isinstance(value, str):
        return cleaned(value)
    if depth and isinstance(value, list):
        return [_through(item, cleaned, depth - 1) for item in value]
    if depth and isinstance(value, dict):
        return {key: _through(item, cleaned, depth - 1) for key, item in value.items()}
    return value
