"""What an agent answers: read as an untrusted text. Pure.

The format is one JSON object a line with exactly ``kind``, ``title`` and ``text``; nothing in it can name a note, so
nothing that is stored can be changed or removed by it.
"""

from __future__ import annotations

import json
import re
from typing import NamedTuple

from chitta.notes.note import one_line, without_surrogates

#: Classes of an answer (reflect: valid, prose, idle, malformed; a refusal is prose that will not change).
VALID, PROSE, IDLE, MALFORMED, REFUSED = "valid", "prose", "idle", "malformed", "refused"
#: Kinds of learnings that are taken, and the one that says that there are none.
KINDS = frozenset({"fix", "correction", "preference"})
NONE = "none"
#: Learnings in one answer (reflect), and characters of one.
MOST_LEARNINGS = 12
MOST_CHARS = 2_000
MOST_TITLE_CHARS = 200
LEAST_CHARS = 12
_KEYS = frozenset({"kind", "title", "text"})
_FENCE = re.compile(r"`{3,}\w*")
_REFUSAL = re.compile(
    r"\W*(?:i(?:'|\u2019)?m sorry|sorry|i can(?:no|'|\u2019)t|i(?: a|'|\u2019)m (?:not able|unable)"
    r"|i (?:must|have to) decline|i won(?:'|\u2019)t)\b",
    re.IGNORECASE,
)
_CONTROLS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")


class Learning(NamedTuple):
    """One line of an answer."""

    kind: str
    title: str
    text: str


class Answer(NamedTuple):
    """The class, what was taken, and how many lines were not (too many, too long, other keys, other kinds)."""

    kind: str
    learnings: tuple[Learning, ...] = ()
    left_out: int = 0


def parse(raw: bytes) -> Answer:
    """Read an answer; never raises. No answer at all is malformed: nothing to say is said with a line of its own."""
    text = without_surrogates(raw.decode("utf-8", "replace"))
    found: list[Learning] = []
    nothing = wrong = prose = 0
    for line in text.splitlines():
        line = line.strip().lstrip("\ufeff")
        if not line or _FENCE.fullmatch(line):
            continue
        try:
            value = json.loads(line)
        except (ValueError, RecursionError):
            prose += 1
            continue
        if value == {"kind": NONE}:
            nothing += 1
            continue
        learning = _learning(value)
        if learning is None or learning in found or len(found) == MOST_LEARNINGS:
            wrong += 1
        else:
            found.append(learning)
    if found:
        return Answer(VALID, tuple(found), wrong + prose)
    if nothing:
        return Answer(IDLE, (), wrong + prose)
    if wrong or not prose:
        return Answer(MALFORMED, (), wrong + prose)
    return Answer(REFUSED if _REFUSAL.match(text.strip()) else PROSE, (), prose)


def _learning(value: object) -> Learning | None:
    if not isinstance(value, dict) or value.keys() != _KEYS:
        return None
    texts = [value[key] for key in ("kind", "title", "text")]
    if not all(isinstance(text, str) for text in texts):
        return None
    kind, title, text = (_CONTROLS.sub(" ", without_surrogates(text)) for text in texts)
    title, text = one_line(title), text.strip()
    long = len(title) > MOST_TITLE_CHARS or len(text) > MOST_CHARS
    if kind not in KINDS or long or not title or len(text) < LEAST_CHARS:
        return None
    return Learning(kind, title, text)
