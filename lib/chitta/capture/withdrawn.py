"""What a person said and took back, or did not mean: a joke, a second thought, a rule for ten minutes. Pure."""

from __future__ import annotations

import re
import unicodedata

#: A sentence that takes back, or laughs off, what was said before it; it may go on after that.
_TAKEN_BACK = re.compile(
    r"\W*(?:(?:no|ah|oh|ok|okay|well|hm+|actually|wait|sorry|but|and|or|um+|on second thoughts?)\b[\s,.:!]*){0,3}"
    r"(?:(?:j/?k|(?:ha){2,}h?|(?:he){2,}|lo+l|lmao|rofl)(?=\W|$)"
    r"|(?:(?:i'?m |i’m |i am )?(?:just |only )?(?:kidding|joking)|not really"
    r"|never ?mind(?: (?:that|it|this|me|all that))?|nvm|nm"
    r"|(?:forget|ignore|scratch|disregard|strike|skip)(?: about)?"
    r" (?:it|that|this|what i (?:just )?said|the above|all that)"
    r"|(?:i|we)(?:'ve| have|’ve)? changed (?:my|our) minds?"
    r"|i (?:did not|didn't|didn’t|don't|don’t|do not) mean (?:it|that)"
    r"|i take (?:it|that) back|on second thoughts?|as if)(?=\s*[,.!;:)]|\W*$))",
    re.IGNORECASE,
)
#: The same inside of the sentence that it is about.
_JOKING = re.compile(
    r"\b(?:just kidding|only joking|just joking|jk|(?:ha){2,}h?|lo+l|lmao|rofl|nvm"
    r"|actually,? forget (?:it|that)|never ?mind(?=\W*$))\b"
    r"|(?:^|\s)/s\W*$",
    re.IGNORECASE,
)
#: Faces that laugh, wink or stand on their head.
_FACES = re.compile("[😂🤣🙃😆😅😜😝😛🤪😉😹]|(?:^|(?<=\\s))(?:;-?[)PpD]|:-?[PpD])(?=\\W|$)")
#: How long a rule holds that does not last.
_COUNTED = (
    r"(?:next |about |another |some )*(?:\d+|one|two|three|four|five|ten|fifteen|twenty|thirty|an?|a few|few"
    r"|a couple of|rest of the)\s?(?:more )?"
)
_FOR_A_WHILE = re.compile(
    r"\b(?:unless (?:i|we) (?:say|tell|ask|want|change)|(?:till|until) further notice"
    rf"|for (?:the )?{_COUNTED}"
    r"(?:s|secs?|seconds?|m|mins?|minutes?|h|hrs?|hours?|days?|weeks?|moment|bit|while|sprint"
    r"|evening|morning|afternoon)"
    r"|for (?:now|today|tonight|tomorrow|the (?:moment|day|morning|afternoon|evening|week))"
    r"|this (?:morning|afternoon|evening|week|weekend|sprint))\b",
    re.IGNORECASE,
)
_JOINERS = "\u200d\ufe0e\ufe0f"


def takes_back(sentence: str) -> bool:
    """Whether the sentence takes back what the sentences before it said, or says that they were a joke."""
    return _TAKEN_BACK.match(sentence) is not None or not _without_faces(sentence)


def is_unmeant(sentence: str) -> bool:
    """Whether the sentence says of itself that it is a joke, is taken back, or holds for a while only."""
    return any(pattern.search(sentence) for pattern in (_JOKING, _FACES, _FOR_A_WHILE))


def without_signs(text: str) -> str:
    """The text without emoji and other pictures."""
    return "".join(char for char in text if not _is_picture(char))


def _without_faces(sentence: str) -> str:
    """What is left of a sentence that has a face in it, beside pictures and points; all of one that has none."""
    return without_signs(_FACES.sub("", sentence)).strip(" .!?") if _FACES.search(sentence) else sentence


def _is_picture(char: str) -> bool:
    return unicodedata.category(char) == "So" or char in _JOINERS or 0x1F3FB <= ord(char) <= 0x1F3FF
