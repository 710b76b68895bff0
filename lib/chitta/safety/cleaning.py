"""What a note goes through before it is kept: private spans out, secrets redacted, likely instructions marked."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import NamedTuple

from chitta.notes.note import Note
from chitta.safety import RENAMING, SUSPECTED, TRUSTED
from chitta.safety.instructions import asks_alone, suspicion
from chitta.safety.names import masked, spelled_as
from chitta.safety.private import private_parts, without_private, without_private_in
from chitta.safety.secrets import redact_and_tell

#: Depth to which values of ``extra`` are looked through; what is nested deeper is left as it is.
_DEPTH = 8
#: Secrets that are looked for in a note's other fields, and the fewest characters of one: a shorter one may be a word.
_MOST_VALUES, _LEAST_CHARS = 200, 6
_TEXTS = ("title", "text", "source", "wrong", "right")
_LISTS = ("tags", "triggers")


class Cleaned(NamedTuple):
    """The note as it may be kept, the kinds of secrets taken out, and why it is suspected: it speaks to a model, or
    is called by a secret.
    """

    note: Note
    secrets: tuple[str, ...]
    suspected: tuple[str, ...]


def clean(note: Note) -> Cleaned:
    """``note`` without private spans and secrets; in quarantine where it likely holds instructions to a model.

    The reasons go into ``extra["suspected"]``. A note with a true ``extra["trusted"]`` is not put into quarantine and
    not taken out of it, unless its id or kind is a secret: an id stands beside the note wherever that is shown and
    cannot be rewritten here. Cleaning a clean note changes nothing. Raises ``ImportError`` without the library that
    finds secrets.
    """
    raw = note
    note, secrets = without_secrets(raw)
    called = _called_by_secrets(raw, note)
    said = "\n".join(part for part in (note.title, note.text, note.wrong, note.right, *note.triggers) if part)
    found = suspicion(said)
    if not found.likely and asks_alone(note.text):  # which a title before it hides
        found = suspicion(note.text)
    reasons = found.reasons if found.likely else ()
    extra = dict(note.extra)
    held = called if extra.get(TRUSTED) is True else (*called, *reasons)
    if not held:
        return Cleaned(note, secrets, reasons)
    extra[SUSPECTED] = list(dict.fromkeys((*_said_of_kind(extra), *held)))
    held_note = note._replace(quarantine=True, extra=tuple(extra.items()))
    return Cleaned(held_note, secrets, (*called, *reasons))


def _called_by_secrets(note: Note, clean: Note) -> tuple[str, ...]:
    """Which names of the note hold secrets, or what is private in it, as sentences that say what to do."""
    reasons = []
    for what, name, cure in (("kind", note.kind, "takes it out"), ("id", note.id, "gives it another name")):
        if kinds := masked(name, private=hidden_parts(note, clean) if what == "id" else ()).found:
            reasons.append(f"its {what} holds a secret ({', '.join(kinds)}); `{RENAMING}` {cure}")
    return tuple(reasons)


def hidden_parts(note: Note, clean: Note) -> tuple[str, ...]:
    """What stands in the note's private spans and is not also said outside of them; never to be shown or kept.

    ``clean`` is the note without them.
    """
    fields = [(note.title, note.text), *((text,) for text in (note.source, note.wrong, note.right))]
    fields += [(text,) for name in _LISTS for text in getattr(note, name)]
    parts = dict.fromkeys(part for texts in fields for part in private_parts(texts))
    if not parts:
        return ()
    open_words = f"-{spelled_as(' '.join((clean.title, clean.text, clean.wrong, clean.right)))}-"
    return tuple(part for part in parts if f"-{spelled_as(part)}-" not in open_words)


def _said_of_kind(extra: Mapping[str, object]) -> list[str]:
    """What was said of a kind that is gone by now: a note that is cleaned twice stays as it is."""
    said = extra.get(SUSPECTED)
    return [one for one in said if str(one).startswith("its kind ")] if isinstance(said, list) else []


def without_secrets(note: Note) -> tuple[Note, tuple[str, ...]]:
    """``note`` without private spans and secrets, and the kinds of these, once each.

    What is a secret in one field leaves all of them, also where nothing beside it says what it is. A private span that
    the title leaves open goes on in the text. A kind that is a secret becomes the usual one.
    """
    kinds = list(masked(note.kind).found)
    if kinds:
        note = note._replace(kind=Note("").kind)
    values: dict[str, str] = {}

    def cleaned(text: str) -> str:
        done, told = redact_and_tell(without_private(text))
        kinds.extend(done.found)
        values.update((value.lower(), kind) for kind, value in told)
        return done.text

    title, text = without_private_in((note.title, note.text))
    note = _each_text(note._replace(title=title, text=text), cleaned)
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
