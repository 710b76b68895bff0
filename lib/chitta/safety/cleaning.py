"""What a note goes through before it is kept: private spans out, secrets redacted, likely instructions marked."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import NamedTuple

from chitta.notes.note import Note
from chitta.safety import SUSPECTED, TRUSTED
from chitta.safety.instructions import asks_alone, suspicion
from chitta.safety.private import without_private
from chitta.safety.secrets import redact_and_tell

#: Depth to which values of ``extra`` are looked through; what is nested deeper is left as it is.
_DEPTH = 8
#: Secrets that are looked for in a note's other fields, and the fewest characters of one: a shorter one may be a word.
_MOST_VALUES, _LEAST_CHARS = 200, 6
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
    """``note`` without private spans and secrets, and the kinds of these, once each.

    What is a secret in one field leaves all of them, also where nothing beside it says what it is.
    """
    kinds: list[str] = []
    values: dict[str, str] = {}

    def cleaned(text: str) -> str:
        done, told = redact_and_tell(without_private(text))
        kinds.extend(done.found)
        values.update((value.lower(), kind) for kind, value in told)
        return done.text

    note = _each_text(note, cleaned)
    long = {value: kind for value, kind in values.items() if len(value) >= _LEAST_CHARS and "[redacted:" not in value}
    return _without_values(note, dict(list(long.items())[:_MOST_VALUES])), tuple(dict.fromkeys(kinds))


def _without_values(note: Note, values: dict[str, str]) -> Note:
    """``note`` without these values (in small letters, each with its kind), whatever case they are written in."""
    if not values:
        return note
    longest_first = sorted(values, key=lambda value: (-len(value), value))
    either = "|".join(map(re.escape, longest_first))
    anywhere = re.compile(rf"(?<![^\W_])(?:{either})(?![^\W_])", re.IGNORECASE)

    def gone(found: re.Match[str]) -> str:
        return f"[redacted: {values.get(found[0].lower(), 'secret')}]"

    return _each_text(note, lambda text: anywhere.sub(gone, text))


def _each_text(note: Note, cleaned: Callable[[str], str]) -> Note:
    changed: dict[str, object] = {name: cleaned(getattr(note, name)) for name in _TEXTS}
    for name in _LISTS:
        changed[name] = tuple(dict.fromkeys(filter(None, map(cleaned, getattr(note, name)))))
    extra = tuple((key, _through(value, cleaned, _DEPTH)) for key, value in note.extra)
    return note._replace(**changed, extra=extra)  # type: ignore[arg-type]


def _through(value: object, cleaned: Callable[[str], str], depth: int) -> object:
    if isinstance(value, str):
        return cleaned(value)
    if depth and isinstance(value, list):
        return [_through(item, cleaned, depth - 1) for item in value]
    if depth and isinstance(value, dict):
        return {key: _through(item, cleaned, depth - 1) for key, item in value.items()}
    return value
