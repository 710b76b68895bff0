"""What a short turn asks of a memory, by the person's literal words: nothing, or to go on with the last one."""

from __future__ import annotations

import re
from collections.abc import Collection

#: Most words of a terse negation, and of a turn that leans on the last one.
NEGATION_WORDS = 8
LEANING_WORDS = 18
#: An anaphor this near to the start, in words, points back; a later one may point into its own sentence.
EARLY_WORDS = 4
#: A turn with fewer distinctive tokens says too little of its own subject for a later anaphor to mean that.
OWN_TOKENS = 2

_WORD = re.compile(r"[\w'’/.-]*\w")
_LEAD = r"(?:(?:ok(?:ay)?|well|hm+|oh|ah|sorry|wait|but|and|so|hey|argh|ugh)\b[\s,.!:-]*)*"
# A bare no is followed by a pause, the end, or words that take something back; "no such file" and "no-op" are not.
_NEGATION = re.compile(
    rf"""{_LEAD}(?:
        (?:no|nope|nah)(?:\s*(?:[,.!;:–—]|-(?!\w)|$)|\s+(?:not?|that|this|it|i|we|wait|leave|keep|the|need|way|thanks?|please)\b)
        | not\b | never\s*mind\b | wrong\b
        | (?:(?:it|that|this|these|those|they)(?:['’]s|['’]re|\s+(?:is|are|was|were))?\s+not\b)
        | (?:it|that|this|these|those|they)\s+(?:isn|aren|wasn|weren)['’]?t\b
        | (?:is|are|was|were)\s+not\b | (?:isn|aren|wasn|weren)['’]?t\b(?!.*\?)
    )""",
    re.IGNORECASE | re.VERBOSE,
)
_OPENER = re.compile(
    r"(?:ok(?:ay)?|great|good|nice|perfect|cool|thanks|thx|done|yes|yep|no|nope|and|but|now|also|only|then|so|or|same"
    r"|again|once more|what about|how about|instead|actually|wait|hm+|still)\b",
    re.IGNORECASE,
)
_ANAPHORS = frozenset(
    "it its it's that that's this those these them they they're there one ones same again too both either neither "
    "instead former latter above".split()
)


def is_terse_negation(prompt: str) -> bool:
    """Whether the turn only takes something back ("no, not that"; "is not sqlite"): at most eight words."""
    text = prompt.strip()
    return len(text) < 200 and len(_WORD.findall(text)) <= NEGATION_WORDS and _NEGATION.match(text) is not None


def leans_back(prompt: str, tokens: Collection[str]) -> bool:
    """Whether a short turn goes on with the last one: "do the same for staging", "and where is that?".

    It begins like an answer, or an anaphor stands near its start, or anywhere where the turn says
    next to nothing of a subject of its own. ``tokens`` are its distinctive ones.
    """
    text = prompt.strip()
    if len(text) > 400:
        return False
    words = [word.lower().replace("’", "'") for word in _WORD.findall(text)]
    if not 0 < len(words) <= LEANING_WORDS:
        return False
    near = words if len(tokens) < OWN_TOKENS else words[:EARLY_WORDS]
    return _OPENER.match(text) is not None or any(word in _ANAPHORS for word in near)
