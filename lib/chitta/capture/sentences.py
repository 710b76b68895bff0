"""A prompt as the sentences that a person may have meant to last: no code, no quotation, no pasted log, no list."""

from __future__ import annotations

import re

#: Characters of a prompt beyond which it is a task's description or a paste, and holds no passing remark.
MAX_PROMPT_CHARS = 1_500
MAX_SENTENCE_CHARS = 300
#: Lines of a prompt beyond which only its ends are looked at, and how many there; items that make it a list.
_MANY_LINES, _END_LINES, _MANY_ITEMS = 10, 3, 3
_QUOTED = "\x00"
_FENCE = re.compile(r"^\s{0,3}(?:```|~~~)")
_ITEM = re.compile(r"^\s{0,8}(?:[-*•]|\d{1,2}[.)])\s")
_LOG = re.compile(
    r"^\s*(?:[>$#%|+]|\d{4}-\d\d|\d\d:\d\d|\[[\w: .-]{2,40}\]|at \S+\s?\(|File \"|diff |@@|---|\+\+\+"
    r"|Traceback|[A-Z]{4,9}\b[: ]|<)"
    r"|^(?:\t| {4})\S"
)
_END = re.compile(r"(?<=[.!?;])\s+|\s+[–—]\s+|\n")


def sentences_of(text: str) -> list[str]:
    """The sentences of a cleaned prompt, each with its mark at the end; at most a dozen lines are looked at."""
    if len(text) > MAX_PROMPT_CHARS:
        return []
    lines: list[str] = []
    fenced = False
    for line in text.split("\n"):
        if _FENCE.match(line):
            fenced = not fenced
        elif not fenced:
            lines.append(line)
    kept = [line for line in lines if line.strip() and not _LOG.match(line)]
    listed = sum(1 for line in kept if _ITEM.match(line)) >= _MANY_ITEMS
    kept = [_ITEM.sub("", line) for line in kept if not (listed and _ITEM.match(line))]
    if len(kept) > _MANY_LINES:
        kept = [*kept[:_END_LINES], *kept[-_END_LINES:]]
    whole = _without_quotes("\n".join(kept))
    found = (" ".join(part.split()) for part in _END.split(whole))
    return [part for part in found if part and _QUOTED not in part and len(part) <= MAX_SENTENCE_CHARS]


def _without_quotes(text: str) -> str:
    """The text with every quotation of three words or more as one mark; a name in quotes stays."""
    for opens, closes in (('"', '"'), ("“", "”"), ("«", "»"), ("`", "`")):
        parts: list[str] = []
        at = 0
        while (start := text.find(opens, at)) >= 0 and (end := text.find(closes, start + 1)) >= 0:
            inside = text[start + 1 : end]
            if len(inside.split()) >= 3:
                parts += [text[at:start], _QUOTED]
            else:
                parts.append(text[at : end + 1])
            at = end + 1
        text = "".join(parts) + text[at:]
    return text
