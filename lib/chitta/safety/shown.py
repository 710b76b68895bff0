"""What a text comes to once it is shown: what is looked for in it must not hide behind what nobody sees."""

from __future__ import annotations

import re

_UNIT = "\x1f"  # a separator that Python calls white space
# What nobody sees although Python calls it printable. What else is unseen is not, which is known faster.
_PRINTABLE_UNSEEN = re.compile(
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2800\u3164\ufe00-\ufe0f\uffa0\ufffc"
    "\U00013430-\U00013455\U00016fe4\U0001d159\U000e0100-\U000e01ef]"
)


def shown(text: str) -> str:
    """``text`` without what the renderer takes out as unseen; the same text where that is nothing. Pure.

    3 µs for 500 characters that hide nothing. Others load the renderer's tables, once.
    """
    if "".join(text.split()).isprintable() and _UNIT not in text:
        if text.isascii() or not _PRINTABLE_UNSEEN.search(text):
            return text
    from chitta.notes.note import without_surrogates
    from chitta.render.neutral import NEWLINES, seen  # late: a process at a prompt would wait for them

    lines = NEWLINES.sub("\n", without_surrogates(text))
    left = seen(lines)
    return text if left == lines else left
