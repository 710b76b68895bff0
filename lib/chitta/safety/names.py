"""Secrets in the names of notes: ids and files are named by titles, in lower case and with hyphens."""

from __future__ import annotations

import re
from typing import NamedTuple

from chitta.safety.secrets import redact, values
from chitta.safety.shown import shown

GONE = "…"
#: Characters of a secret that a name must hold to be said to spell it; shorter ones are in many words.
LEAST_CHARS = 10
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


def masked(name: str, text: str = "") -> Masked:
    """``name`` without the secrets that it holds as they are, or spells in lower case: those of ``text``, and keys by
    their prefix. Raises ``ImportError`` as :func:`redact` does."""
    plain = shown(name)
    if plain != name and (done := masked(plain, text)).found:
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
    without = _SPELLED.sub(GONE, left)
    if without != left:
        kinds.append("vendor-key")
    return Masked(without, tuple(dict.fromkeys(kinds)))
