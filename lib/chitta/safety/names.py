"""Secrets in the names of notes: ids and files are named by titles, in lower case and with hyphens."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from typing import NamedTuple

from chitta.safety.secrets import redact, values
from chitta.safety.shown import shown

GONE = "…"
#: Characters of a secret that a name must hold to be said to spell it; shorter ones are in many words.
LEAST_CHARS = 10
#: Characters of what is private that a name must hold as words of its own, and of a beginning where it was cut off.
PRIVATE_CHARS, CUT_CHARS = 3, 4
PRIVATE = "private span"
#: An id's digest, behind what was made of its title; that is cut when it has this many characters.
_DIGEST = re.compile(r"-[0-9a-f]{6}\Z")
_CUT_FROM = 48
_OTHER = re.compile(r"[^a-z0-9]+")
#: What an id makes of keys that have their vendor's prefix: letters in lower case, hyphens for all other signs.
_SPELLED = re.compile(
    r"(?<![a-z0-9])(?:(?:akia|asia|abia|acca)[a-z0-9]{16}"
    r"|(?:gh[pousr]|github-pat|glpat|npm|hf|gsk|sk|sk-proj|sk-ant|(?:sk|rk)-(?:live|test)|xox[abeoprs]|dckr-pat|whsec)"
    r"-(?=[a-z-]{0,40}\d)[a-z0-9-]{0,40}[a-z0-9]{16,})(?![a-z0-9])"
)


class Masked(NamedTuple):
    """The name with an ellipsis for each secret, and their kinds, once each."""

    name: str
    found: tuple[str, ...]


def masked(name: str, text: str = "", private: Sequence[str] = ()) -> Masked:
    """``name`` without the secrets that it holds as they are, or spells in lower case: those of ``text``, keys by their
    prefix, and what is ``private``. Raises ``ImportError`` as :func:`redact` does."""
    plain = shown(name)
    if plain != name and (done := masked(plain, text, private)).found:
        return done
    redacted = redact(name)
    kinds = list(redacted.found)
    left = re.sub(r"\[redacted: [^\]]*\]", GONE, redacted.text)
    for kind, value in values(text):
        spelled = _OTHER.sub("-", value.lower()).strip("-")
        if len(spelled) < LEAST_CHARS:
            continue
        start = left.lower().find(spelled[:LEAST_CHARS])
        if start >= 0:
            end = start + LEAST_CHARS
            while end < len(left) and end - start < len(spelled) and left[end].lower() == spelled[end - start]:
                end += 1
            left = left[:start] + GONE + left[end:]
            kinds.append(kind)
    for part in private:
        without = _without_part(left, spelled_as(part))
        if without != left:
            left = without
            kinds.append(PRIVATE)
    without = _SPELLED.sub(GONE, left)
    if without != left:
        kinds.append("vendor-key")
    return Masked(without, tuple(dict.fromkeys(kinds)))


def spelled_as(text: str) -> str:
    """The text as an id spells it."""
    plain = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode().lower()
    return _OTHER.sub("-", plain).strip("-")


def _without_part(name: str, spelled: str) -> str:
    """The name without these words, also where it was cut within them."""
    if len(spelled) < PRIVATE_CHARS:
        return name
    whole = re.compile(rf"(?<![a-z0-9]){re.escape(spelled)}(?![a-z0-9])", re.IGNORECASE)
    if whole.search(name):
        return whole.sub(GONE, name)
    title = _DIGEST.sub("", name)
    if len(title) < _CUT_FROM:
        return name
    for count in range(min(len(spelled), len(title)), CUT_CHARS - 1, -1):
        begun = len(title) - count
        if title[begun:].lower() == spelled[:count] and not title[begun - 1 : begun].isalnum():
            return title[:begun] + GONE + name[len(title) :]
    return name
