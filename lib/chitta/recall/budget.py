"""Keeping an answer within a number of tokens, by leaving notes out whole or by trimming to a hard cap."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

#: Characters of a token (reflect), and shortest text, in tokens, that still says something when cut.
CHARS_PER_TOKEN = 4
SHORTEST_TEXT = 16

# Han, kana, Hangul, full-width forms: about one token each in the tokenisers in use.
_WIDE = re.compile("[\u1100-\u11ff\u2e80-\u9fff\uac00-\ud7af\uf900-\ufaff\uff00-\uffef\U00020000-\U0003ffff]")
_BREAK = re.compile(r"\s+\S*\Z")
_CUT = "…"


class Item(NamedTuple):
    """One memory as it will be printed: its line of title, its text, and the context shown with it.

    What separates the parts in print belongs into them; only these characters are counted.
    """

    head: str
    text: str = ""
    context: tuple[str, ...] = ()


class Fitted(NamedTuple):
    """What is left, in the order given, and what was trimmed, in words; no words when nothing was."""

    items: list[Item]
    trimmed: list[str]


def estimate(text: str) -> int:
    """Tokens of a text: characters / 4, rounded up; Chinese, Japanese and Korean count one a character."""
    wide = len(_WIDE.findall(text))
    return wide + -(-(len(text) - wide) // CHARS_PER_TOKEN)


def keep_whole(texts: Sequence[str], max_tokens: int) -> int:
    """How many of the texts to keep, from the first on, until the next would exceed ``max_tokens`` (reflect).

    The first is kept whatever its length; none is cut. 0 or less means no limit.
    """
    if max_tokens <= 0:
        return len(texts)
    spent = 0
    for count, text in enumerate(texts):
        spent += estimate(text)
        if count and spent > max_tokens:
            return count
    return len(texts)


def fit(items: Sequence[Item], max_tokens: int) -> Fitted:
    """The items within ``max_tokens``, which is never exceeded (SuperLocalMemory); 0 or less means no limit.

    Context goes first, the last memory's before the others'; then the last memory's text is
    shortened; where too little of it would be left (:data:`SHORTEST_TEXT`) the memory is left out
    and the one before is the last.
    """
    left, trimmed = list(items), []
    if max_tokens <= 0 or _cost(left) <= max_tokens:
        return Fitted(left, [])
    without = 0
    for at in reversed(range(len(left))):
        if left[at].context and _cost(left) > max_tokens:
            left[at] = left[at]._replace(context=())
            without += 1
    if without:
        trimmed.append(f"context of {_memories(without)} left out")
    shortened = False
    while left and _cost(left) > max_tokens:
        last = left.pop()
        room = max_tokens - _cost(left) - estimate(last.head)
        if last.text and room >= (SHORTEST_TEXT if left else 1):
            left.append(last._replace(text=shorten(last.text, room)))
            shortened = True
    if shortened:
        trimmed.append("text of the last memory shortened")
    if len(left) < len(items):
        trimmed.append(f"{_memories(len(items) - len(left))} left out")
    return Fitted(left, trimmed)


def shorten(text: str, max_tokens: int) -> str:
    """The beginning of ``text`` in at most ``max_tokens``, cut between words and marked with ``…``; "" for none."""
    if estimate(text) <= max_tokens:
        return text
    low, high = 0, len(text)
    while low < high:  # the longest prefix that fits with the mark
        middle = (low + high + 1) // 2
        if estimate(text[:middle] + _CUT) <= max_tokens:
            low = middle
        else:
            high = middle - 1
    if not low:
        return _CUT if estimate(_CUT) <= max_tokens else ""
    head = text[:low]
    whole = head if text[low].isspace() else _BREAK.sub("", head)
    return (whole.rstrip() or head) + _CUT


def _cost(items: Sequence[Item]) -> int:
    return sum(estimate(part) for item in items for part in (item.head, item.text, *item.context))


def _memories(count: int) -> str:
    return "1 memory" if count == 1 else f"{count} memories"
