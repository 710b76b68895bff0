"""A person's plain wish about the answers' language, length or units: the likeliest first note of all, and no attack.

``Answer in English.`` says how a model is to answer, which is what the detector of instructions looks for. A note
that holds nothing but one such sentence is let through; one more word, and it is looked at as any other.
"""

from __future__ import annotations

import re

_LANGUAGE = (
    r"(?:(?:british|american|plain|simple|mexican|brazilian|swiss) )?(?:english|german|french|spanish|portuguese"
    r"|italian|dutch|swedish|danish|norwegian|finnish|polish|czech|greek|turkish|russian|ukrainian|arabic|hebrew|hindi"
    r"|bengali|chinese|mandarin|japanese|korean|vietnamese|thai|indonesian|romanian|hungarian|bulgarian)"
)
_ANSWERS = r"(?:(?:all|your|the) ){0,2}(?:answers|replies|responses)"
_BRIEF = r"(?:short|brief|concise|terse|to the point)"
_WISH = re.compile(
    r"(?:(?:please|always|only) ){0,3}(?:"
    rf"(?:reply|respond|answer|write|speak|talk)(?: to me)?(?: only| always)? in {_LANGUAGE}"
    rf"|(?:keep|make) {_ANSWERS} (?:{_BRIEF}(?: and (?:clear|simple))?|in {_LANGUAGE})"
    rf"|use (?:metric|imperial|si) units(?: in {_ANSWERS})?"
    r")(?:,? please)?[.!]?"
)
_LONGEST = 400


def is_wish(text: str) -> bool:
    """Whether ``text``, a title with or without the same words below it, is one such wish and nothing else."""
    if len(text) > _LONGEST:
        return False
    said = {" ".join(line.lower().split()) for line in text.split("\n") if line.strip()}
    return len(said) == 1 and _WISH.fullmatch(said.pop()) is not None
