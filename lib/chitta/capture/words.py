"""A correction or a preference in a person's own words.

Precision comes first: what is missed can be said again or saved by hand, what is captured wrongly must be read and
thrown away. So a sentence is taken only if it directs (a pattern at its very beginning), stands for itself (no "it",
no "that one"), lasts (nothing of "yet", "for now", "in this PR"), is no question, and says enough. A correction also
needs something to correct: the agent has done or said something just before.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from chitta.capture.draft import CORRECTION, PREFERENCE, Draft
from chitta.capture.sentences import sentences_of
from chitta.capture.withdrawn import is_unmeant, takes_back, without_signs
from chitta.notes.note import one_line

#: Telling words that a sentence has at least.
LEAST_WORDS = 3
#: Sentences of one prompt that are taken at most.
MOST = 3
_MAX_SIDE_CHARS, _MAX_SIDE_WORDS = 80, 8
_MAX_CONTRAST_WORDS = 14

#: What a person says before the sentence proper; the first kind says that something was wrong.
_WRONG_START = re.compile(
    r"(?:no|nope|nah|wrong|actually|stop|that(?:'s| is) (?:wrong|not right|incorrect)|not like that)\s?[,.:!]*\s+",
    re.IGNORECASE,
)
_START = re.compile(
    r"(?:please|pls|plz|and|also|but|so|ok|okay|hey|btw|by the way|oh|well|look|again|important|note|reminder|fyi|"
    r"in (?:this|our) (?:repo|repository|project|codebase|monorepo|package|team|org|code base)|"
    r"(?:as )?a (?:general )?(?:rule|reminder)|remember to|make sure (?:to|you)|be sure to|you (?:should"
    r"|must|need to))\s?[,.:!]*\s+",
    re.IGNORECASE,
)
_STANDING = re.compile(
    r"(?:from now on|from here on(?: out)?|going forward|moving forward|in (?:the )?future|as a (?:general )?rule|"
    r"whenever you \w+(?: \w+){0,6}?,|every time you \w+(?: \w+){0,6}?,)\s?[,:]*\s+",
    re.IGNORECASE,
)
_WHENEVER = re.compile(r"\b(?:whenever|every time) you \w+(?: \w+){0,6}?,", re.IGNORECASE)
_STANDING_END = re.compile(
    r"[,]?\s+(?:from now on|going forward|moving forward|in (?:the )?future)\s?[.!]*$", re.IGNORECASE
)

#: Verbs that tell an agent how to work; only these, so that "always fails" and "never mind" say nothing.
_VERBS = frozenset(
    """
    use run add write put keep call create make mock import name prefer return test check ask leave edit change touch
    modify delete remove include mention log print set store wrap deploy merge rebase squash force install read format
    lint pin prefix document comment assume hardcode hard-code commit push sort validate catch throw raise handle
    declare define export expose extend follow generate place reuse avoid skip start stop respond reply answer
    summarise summarize update upgrade bump tag sign stage amend expect inline nest mutate cache query select build
    compile publish release rename restart seed stub swallow suppress disable enable ignore link load open pass pull
    quote refer rely save send show specify stick store switch target throw trust type verify work
    """.split()
)
_GERUNDS = frozenset(
    """
    using adding writing putting calling creating making mocking importing returning leaving editing changing touching
    modifying deleting removing including mentioning logging printing setting wrapping deploying merging installing
    committing pushing hardcoding catching swallowing suppressing disabling ignoring commenting formatting mutating
    nesting rebasing squashing skipping relying assuming inlining
    """.split()
)
#: Verbs whose "don't" is mostly of this turn: it lasts only with one of the words below.
_TURN_VERBS = frozenset(
    """
    commit push merge deploy run start stop install change touch edit modify delete remove write create make open
    show ask answer reply respond read check test update skip leave add send rename restart release publish build
    generate put call
    """.split()
)
#: Verbs whose "don't … the …" is a habit all the same.
_HABITS = frozenset({"mock", "hardcode", "hard-code", "log", "swallow", "catch", "cache", "stub", "suppress"})
_LASTING = re.compile(
    r"\b(?:ever|without|directly|unless|by hand|manually|because|instead|in (?:this|our|the) (?:repo"
    r"|repository|project|codebase|"
    r"monorepo|code base)|to (?:main|master)|--?[a-z][\w-]+|generated|production|prod)\b|(?<=\s)--[a-z]",
    re.IGNORECASE,
)

_QUESTION = re.compile(
    r"(?:why|what|how|when|where|who|which|can|could|would|will|should|shall|is|are|was|were|do|does|did"
    r"|has|have|had|may|might|am|isn't|"
    r"aren't|don't you|doesn't|didn't|won't|wouldn't|shouldn't|couldn't|can't|if)\b",
    re.IGNORECASE,
)
#: Of this turn alone.
_MOMENTARY = re.compile(
    r"\b(?:yet|for now|right now|just now|this time|this once|today|tonight|tomorrow|at the moment"
    r"|for the moment|until|till|wait|hold on|"
    r"meanwhile|currently|still|again|anymore|any more|first|next|later|now|so far|before (?:i|we|you)"
    r"|after (?:i|we|you)|"
    r"for this|in this (?:pr|mr|commit|branch|change|case|session|turn|step|issue|ticket|file|test"
    r"|function|class|component|page|task|one)|"
    r"this (?:pr|mr|commit|branch|change|session|turn|step|issue|ticket|file|test|function|class"
    r"|component|page|task|line|one|bug|error|"
    r"prompt|conversation|chat|script|approach|way)|the (?:next|last|first|second|other|above|following"
    r"|previous|current|same|existing|new) \w+)\b",
    re.IGNORECASE,
)
#: Words that point to something outside of the sentence.
_POINTING = re.compile(
    r"\b(?:it|its|this(?! (?:repo|repository|project|codebase|monorepo|package|team|code base)\b)|those"
    r"|these|them|they|their|here|there|above|"
    r"below|he|she|him|her|both|such|yours?|that(?:'s)?|same|like i|as i)\b",
    re.IGNORECASE,
)
_THAT = re.compile(
    r"\b(?:remember|mind|so|anything|everything|something|ensure|sure|\w{3,}s) that\b(?! (?:one|way|thing)\b)",
    re.IGNORECASE,
)

_NEGATION = re.compile(r"(?:do not|don't|dont|don’t|never ever|never|avoid|stop|no more)\s+", re.IGNORECASE)
_ALWAYS = re.compile(r"(?:always|only ever)\s+", re.IGNORECASE)
_WE = re.compile(
    r"(?:we|this (?:repo|project|codebase|team)|our (?:team|repo|project|codebase))\s+(?:(?:only|always"
    r"|never|prefer(?:s)? to|do not|don't|don’t|doesn't)\s+)?"
    r"(?:use|uses|run|runs|write|writes|deploy|deploys|keep|keeps|name|names|mock|test|commit|merge"
    r"|squash|pin|pins|prefer|prefers|format|"
    r"avoid|avoids|put|puts|store|stores)\s+",
    re.IGNORECASE,
)
_PREFER = re.compile(r"(?:i|we)\s+(?:always |strongly |really |generally )?prefer\s+", re.IGNORECASE)
_REMEMBER = re.compile(r"(?:remember|note|keep in mind)(?:\s+that\s+|\s?:\s*|,\s*)", re.IGNORECASE)
_STATES = re.compile(
    r"\b(?:is|are|must|should|needs?|has|have|uses?|runs?|lives?|requires?|can|cannot|can't|only|never"
    r"|always|don't|goes|go|comes?|"
    r"expects?|returns?|reads?|writes?|belongs?|means?|prefer|prefers|want|wants)\b",
    re.IGNORECASE,
)
_PAST = re.compile(
    r"\b(?:i|we|you) (?:were|was|had|did|said|told|talked|discussed|saw|fixed|made|changed|asked|tried)\b|\bwhen\b",
    re.IGNORECASE,
)

#: Two sides of a sentence: what instead of what. The parts are cut out by hand, so that nothing backtracks.
_CONTRAST = re.compile(
    r"\s+(?:instead of|rather than|in place of|over|and not|but not)\s+|\s*,\s*(?:and |but )?not\s+|\s+not\s+",
    re.IGNORECASE,
)
#: What makes any direction one that lasts, after an objection: "no, deploy with make ship instead of fab deploy".
_INSTEAD_OF = re.compile(r"\s+(?:instead of|rather than)\s+", re.IGNORECASE)
_THEN_USE = re.compile(
    r"\s*[,;:.-]\s*(?:but |and |just |please |instead,? )*(?:use|prefer|call|run)\s+|\s+(?:but "
    r"|and )?(?:use)\s+(?=\S+(?: \S+){0,3} instead\b)",
    re.IGNORECASE,
)
_SIDE_END = re.compile(
    r"\s+(?:in|for|when|if|because|since|as|while|on|with|to|unless|whenever|from|by|at|instead|please"
    r"|everywhere)\b|[,;:!]|\.(?=\s|$)",
    re.IGNORECASE,
)
_CLAUSE_END = re.compile(
    r"\s+(?:if|when|because|since|while|unless|whenever|instead|please)\b|[,;:!]|\.(?=\s|$)", re.IGNORECASE
)
_WITHIN = re.compile(r"\s(?:in|with|to|as|from|by)\s", re.IGNORECASE)
_FUNCTION_WORDS = frozenset(
    """
    a an the of to in on for and or is are be with at by as so do does dont don't not no from now please pls plz just
    then than instead rather over but if when you your i we our my me us should make sure that this remember note also
    going forward future ok okay will can all any every ever only
    """.split()
)
_WORD = re.compile(r"[^\W_][\w./@#+-]*")


class Said(NamedTuple):
    """One sentence that lasts. ``what`` is correction or preference; ``wrong`` and ``right`` where they are told."""

    what: str
    sentence: str
    wrong: str = ""
    right: str = ""


def said(text: str, *, acted: bool) -> list[Said]:
    """What a person's cleaned words say that lasts; ``acted``: the agent did or said something just before."""
    found: list[Said] = []
    wrong_before = False
    for sentence in sentences_of(text):
        if takes_back(sentence):
            found.clear()
            wrong_before = False
            continue
        if _is_bare_no(sentence):
            wrong_before = True
            continue
        one = _judged(sentence, acted=acted, wrong_before=wrong_before)
        wrong_before = False
        if one is not None and one not in found:
            found.append(one)
    return found[:MOST]


def drafts(text: str, *, acted: bool) -> list[Draft]:
    """:func:`said` as drafts of notes."""
    return [_draft(one) for one in said(text, acted=acted)]


def _draft(one: Said) -> Draft:
    sentence = one.sentence[0].upper() + one.sentence[1:]
    return Draft(one.what, sentence, sentence, one.sentence, one.wrong, one.right)


def spoken(text: str) -> str:
    """The words alone, in small letters: one form of what is said with other signs between."""
    return " ".join(word.lower() for word in _WORD.findall(text))


def _is_bare_no(sentence: str) -> bool:
    return bool(_WRONG_START.fullmatch(f"{sentence.rstrip('.,!')} ")) and not sentence.lower().startswith("actually")


def _judged(sentence: str, *, acted: bool, wrong_before: bool) -> Said | None:
    if sentence.endswith("?") or "http" in sentence and len(sentence.split()) < 6:
        return None
    if is_unmeant(sentence):
        return None
    rest, objects, standing = _begun(sentence)
    condition = _WHENEVER.search(sentence)
    objects = objects or wrong_before
    if standing is False and _STANDING_END.search(rest):
        rest, standing = _STANDING_END.sub("", rest), True
    if not rest or _QUESTION.match(rest) and not _NEGATION.match(rest):
        return None
    if _MOMENTARY.search(rest) or _points(rest) or telling(rest) < LEAST_WORDS:
        return None
    pattern = _pattern(rest, standing=standing, objects=objects, acted=acted)
    if not pattern:
        return None
    if pattern == CORRECTION and not acted:
        return None
    what = CORRECTION if acted and (objects or pattern == CORRECTION) else PREFERENCE
    wrong, right = sides(rest)
    clean = rest.rstrip(" .,;!")
    kept = _REMEMBER.sub("", clean, count=1) if _REMEMBER.match(clean) else clean
    if condition is not None:
        kept = f"{condition[0].strip()} {kept}"
    elif standing and not _ALWAYS.match(kept):
        kept = f"From now on, {kept}"
    return Said(what, kept, wrong, right)


def _begun(sentence: str) -> tuple[str, bool, bool]:
    """The sentence proper, whether it begins with an objection, and whether with words that make it last."""
    objects = standing = False
    for _ in range(5):
        if (found := _WRONG_START.match(sentence)) is not None and not _NEGATION.match(
            sentence.lower().replace("stop,", "")
        ):
            objects = True
        elif (found := _WRONG_START.match(sentence)) is not None and re.match(
            r"stop\s?[,.:!]", sentence, re.IGNORECASE
        ):
            objects = True
        elif (found := _STANDING.match(sentence)) is not None:
            standing = True
        elif _REMEMBER.match(sentence) is not None:
            break
        elif (found := _START.match(sentence)) is None:
            break
        sentence = sentence[found.end() :]
    return sentence, objects, standing


def _pattern(rest: str, *, standing: bool, objects: bool, acted: bool) -> str:
    """:data:`CORRECTION` (needs something to correct), :data:`PREFERENCE`, or "" where nothing is directed."""
    if (found := _NEGATION.match(rest)) is not None:
        return _negated(found[0].split()[0].lower(), rest[found.end() :], rest, standing)
    if (found := _ALWAYS.match(rest)) is not None:
        return PREFERENCE if _verb(rest[found.end() :]) in _VERBS else ""
    if _REMEMBER.match(rest) is not None:
        body = _REMEMBER.sub("", rest, count=1)
        return PREFERENCE if _STATES.search(body) and not _PAST.search(body) else ""
    if _PREFER.match(rest) is not None:
        return PREFERENCE
    if _WE.match(rest) is not None:
        lasts = _CONTRAST.search(rest) or re.search(
            r"\b(?:don't|do not|don’t|doesn't|never|always|only|prefers?)\b", rest, re.IGNORECASE
        )
        return (
            PREFERENCE
            if lasts and not re.search(r"\b(?:but|fails?|failing|broken|error)\b", rest, re.IGNORECASE)
            else ""
        )
    verb = _verb(rest)
    if standing:
        return PREFERENCE if verb in _VERBS else ""
    if verb in (
        "use",
        "prefer",
        "call",
        "run",
        "write",
        "put",
        "name",
        "import",
        "return",
        "store",
        "keep",
    ) and _CONTRAST.search(rest):
        _, right = sides(rest)
        short = bool(right) and len(rest.split()) <= _MAX_CONTRAST_WORDS
        return CORRECTION if short and (objects or (acted and verb in ("use", "prefer"))) else ""
    if objects and verb in _VERBS and (found := _INSTEAD_OF.search(rest)) is not None:
        wrong, right = sides(rest)
        short = bool(wrong and right) and len(rest.split()) <= _MAX_CONTRAST_WORDS
        return CORRECTION if short and len(rest[: found.start()].split()) > 1 else ""
    return ""


def _negated(word: str, body: str, rest: str, standing: bool) -> str:
    verb = _verb(body)
    if word in ("avoid", "stop", "no"):
        return CORRECTION if verb in _GERUNDS and (word != "stop" or telling(body) >= LEAST_WORDS) else ""
    if verb not in _VERBS:
        return ""
    if word == "never":
        return PREFERENCE
    if standing:
        return PREFERENCE
    following = body.split()[1:2]
    if (
        following
        and not (verb in _HABITS and following == ["the"])
        and following[0].lower() in ("the", "my", "me", "your", "too", "so", "more", "up", "on", "about")
    ):
        return ""
    if verb in _TURN_VERBS and not _LASTING.search(rest):
        return ""
    return CORRECTION


def _verb(text: str) -> str:
    found = re.match(r"(?:(?:just|ever|also|please|simply|directly)\s+){0,2}([a-z-]+)\b", text, re.IGNORECASE)
    return found[1].lower() if found else ""


def _points(rest: str) -> bool:
    """Whether the sentence leans on something that it does not say."""
    return _POINTING.search(_THAT.sub(" ", rest)) is not None


def telling(text: str) -> int:
    """How many different words of a text tell something."""
    return len({word.lower() for word in _WORD.findall(text)} - _FUNCTION_WORDS)


def sides(rest: str) -> tuple[str, str]:
    """What is wrong and what is right, where the sentence tells them: "use X instead of Y", "don't use Y, use X"."""
    negated = _NEGATION.match(rest)
    if negated is not None:
        body = rest[negated.end() :]
        then = _THEN_USE.search(body)
        wrong = _side(body[: then.start()] if then else body, _CLAUSE_END)
        right = _side(body[then.end() :]) if then else ""
        contrast = _CONTRAST.search(body)
        if not then and contrast is not None:
            return _side(body[: contrast.start()]), _side(body[contrast.end() :])
        return _object(wrong), right
    contrast = _CONTRAST.search(rest)
    if contrast is None:
        return "", ""
    before = _ALWAYS.sub("", rest[: contrast.start()], count=1)
    before = (_PREFER.sub("", before, count=1) if _PREFER.match(before) else _WE.sub("", before, count=1)).strip()
    right = _object(_side(before, _CLAUSE_END))
    within = [found.end() for found in _WITHIN.finditer(right)]
    return _side(rest[contrast.end() :]), right[within[-1] :] if within else right


def _side(text: str, end: re.Pattern[str] = _SIDE_END) -> str:
    """The beginning of a text as one side of a contrast; "" where it is too long to be one."""
    ends = end.search(text)
    side = one_line(without_signs(text[: ends.start()] if ends else text)).strip(" .,;:!`\"'")
    return side if len(side) <= _MAX_SIDE_CHARS and len(side.split()) <= _MAX_SIDE_WORDS else ""


def _object(side: str) -> str:
    """A side without the verb that says no more than the sentence does."""
    first, _, rest = side.partition(" ")
    return rest.strip() if first.lower() in ("use", "using", "prefer", "call") and rest else side
