"""What kind of question a query is: how much each arm's ranking of it counts, and how a reranker should read it.

A query has a subject (what is asked about, after SuperLocalMemory's eight classes) and a shape (how it is
written). Both go by literal words, compared whole and without case.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

from chitta.recall.rerank import MAX_PROMPT_WORDS

#: Characters of a query that are read: half from either end of a longer one.
READ_CHARS = 20_000

ARMS = ("semantic", "bm25", "graph", "temporal", "spreading", "hopfield")
#: An arm's weight before the class is known, in the order of :data:`ARMS` (SuperLocalMemory).
BASE_WEIGHTS = (1.5, 1.0, 1.0, 1.0, 1.0, 0.8)
#: What a subject multiplies the arms' weights by, in the order of :data:`ARMS` (SuperLocalMemory).
MULTIPLIERS: Mapping[str, tuple[float, ...]] = MappingProxyType(
    {
        "temporal": (0.8, 1.5, 0.8, 2.0, 0.5, 0.5),
        "multi_hop": (1.0, 0.8, 2.5, 0.5, 2.0, 0.7),
        "aggregation": (1.2, 1.5, 1.0, 0.5, 0.8, 0.6),
        "opinion": (1.8, 0.6, 0.8, 0.3, 0.5, 0.5),
        "factual": (1.2, 1.4, 1.0, 0.6, 0.8, 0.8),
        "entity": (1.0, 1.2, 3.0, 0.5, 1.5, 0.9),
        "recency": (1.2, 0.7, 1.0, 2.5, 0.8, 0.5),
        "vague": (0.8, 0.5, 0.6, 0.3, 1.5, 1.1),
        "general": (1.0, 1.0, 1.0, 1.0, 1.0, 1.0),
    }
)
SHAPES = ("question", "short request", "long request", "error", "code")
#: Share of a prompt's characters in lines of code above which it is code, and of a line's characters in signs.
CODE_SHARE, SIGN_SHARE = 0.5, 0.25


class QueryClass(NamedTuple):
    """``subject`` is a key of :data:`MULTIPLIERS`, ``shape`` one of :data:`SHAPES`; ``weights`` has every arm."""

    subject: str
    shape: str
    weights: Mapping[str, float]


def _weights(subject: str) -> Mapping[str, float]:
    pairs = zip(ARMS, BASE_WEIGHTS, MULTIPLIERS[subject], strict=True)
    return MappingProxyType({arm: base * times for arm, base, times in pairs})


_WEIGHTS = {subject: _weights(subject) for subject in MULTIPLIERS}


def _phrases(listed: str) -> tuple[str, ...]:
    """Phrases between commas, each with a space at either end so that it only matches whole words."""
    return tuple(f" {' '.join(phrase.split())} " for phrase in listed.split(","))


_MULTI_HOP = _phrases(
    """
    related to, relation between, relationship between, connection between, connected to, connect to, linked to,
    link between, depends on, depend on, led to, leads to, lead to, caused by, as a result of, because of which,
    have in common, difference between, interact with, interacts with
    """
)
_LINKING = frozenset("because cause caused causes why before after since until when while then therefore led".split())
_RECENCY = _phrases(
    """
    right now, am i working on, are we working on, was i working on, were we working on, at the moment,
    most recent, most recently, just now, just did, just changed, just decided, so far today, currently doing,
    where did we stop, where did i stop, leave off, left off, what's new, current state, current status,
    latest status, latest state
    """
)
_TEMPORAL = frozenset(
    """
    now today yesterday tomorrow tonight ago recently lately before after since until during earlier later weekend
    monday tuesday wednesday thursday friday saturday sunday january february april june july august
    september october november december
    """.split()
)
# A "week number" is no time; "last week" and "3 weeks" are.
_UNITS = frozenset("week weeks month months year years day days hour hours sprint sprints quarter quarters".split())
_BEFORE_A_UNIT = frozenset("last this past next previous current few couple".split())
# "march" and "may" are verbs as well, and 2024 may be a port: a time only after one of these.
_BEFORE_A_TIME = frozenset("in since until till by last during before after from next around".split())
_SOMETIMES_A_TIME = re.compile(r"march|may|(?:19|20)\d\d")
_DATE = re.compile(r"\b(?:19|20)\d\d-\d\d\b")
# Requests say "all", "each" and "everything" of what they want done, so those alone ask for no overview.
_AGGREGATION = frozenset("summarise summarize summary overview".split())
_AGGREGATION_PHRASES = _phrases(
    """
    how many, how often, how much, number of, in total, list all, list the, list every, list our, list my, all the,
    all our, all my, all of the, what are all, everything about, everything we, everything i, across projects,
    across sessions, across repositories
    """
)
_OPINION = frozenset(
    """
    think opinion opinions feel feels feeling prefer prefers preferred preference preferences favourite favorite
    dislike dislikes hate hates recommend recommended recommendation recommendations better best worse worst believe
    """.split()
)
_FACTUAL = frozenset("what where who which how".split())
_VAGUE = frozenset(
    "thing things stuff something anything somehow somewhere whatever thingy someone sometime it that this".split()
)
_FUNCTION = frozenset(
    """
    a about again all also am an and any are as at be been but by can could did do does for from get go had has have
    he her here hers him his i if in into is its just me more my no not of off ok okay on one or our out please she so
    some than thanks the their them then there these they those to too up us was we were will with would yes you your
    """.split()
)
_QUESTION = frozenset("what what's where where's who who's whom whose which why how how's what're how're".split())
_AUXILIARY = frozenset(
    """
    am is isn't are aren't was wasn't were weren't does doesn't did didn't has hasn't had hadn't can can't cannot could
    couldn't should shouldn't would wouldn't will won't shall might must may ain't
    """.split()
)
_SUBJECTS = frozenset("i you we they he she it the these those any our all your my there".split())
# "do it", "do the same", "do not" ask nothing.
_DONE = frozenset("it this that so not a an what whatever nothing everything same both one now".split())
_FILLERS = frozenset("ok okay well so and but hey hi hello hm hmm also then now oh ah wait sorry please um".split())
_IMPERATIVE = frozenset(
    """
    add adjust allow apply ask avoid build bump change check clean clear commit compare configure convert copy correct
    create debug delete deploy describe disable document do don't draft drop enable ensure explain export extend extract
    find finish fix format generate get give handle help hide implement import improve include inline insert inspect
    install integrate investigate keep let let's list load look make measure merge migrate modify move never open
    optimise optimize parse patch pin port prepare print profile propose publish push put read rebase reduce refactor
    release reload remember remove rename reorder replace report reproduce reset resolve restart restore return revert
    review rewrite run save search send set setup show simplify skip sort split start stop store suggest summarise
    summarize support swap switch take tell test tidy trace translate try tune turn undo update upgrade use validate
    verify wire wrap write
    """.split()
)
_WANTED = _phrases(
    """
    want you to, need you to, like you to, i want to, i need to, we need to
    """
)

_WORD = re.compile(r"[^\W_][\w']*")
_NAME = re.compile(r"[^\W_][\w'’]*")
_FENCE = re.compile(r"^[ \t]{0,3}(?:```|~~~)", re.MULTILINE)
_SENTENCE = re.compile(r"(?<=[.!?。！？])\s+|\n+|(?<=[。！？])")
_MARKS = ("?", "？", "؟")
_CLOSING = " \t\r\n\"'”’)]}*_`"
_ERROR = re.compile(
    r"""Traceback\ \(most\ recent | [a-z](?:Error|Exception)[ \t]?:
      | ^[ \t]*(?:\w{1,20}[ \t])?[Ee]rror(?:\[\w{1,12}\])?[ \t]?:
      | ^[ \t]*(?:E[ ]{2,}|fatal:|panic:|npm\ ERR!|FAILED\b|ERROR\b|Caused\ by:) | [Ss]egmentation\ fault
      | \b[Ee]xit(?:ed)?\ (?:with\ )?(?:status|code)[ :=]{0,2}[1-9] | :\ command\ not\ found
      | :\ No\ such\ file\ or\ directory | :\ Permission\ denied | ^[ \t]{1,12}at\ [^\s(]{1,200}\ ?\([^)\n]{1,300}:\d
    """,
    re.MULTILINE | re.VERBOSE,
)
_CODE_LINE = re.compile(
    r"""(?:def|class|fn|func|function|async|export|public|private|static|struct|enum|impl)\ .*[{:]$
      | (?:const|let|var|auto|type)\ \w+\ ?(?::[^=]+)?= | from\ \S+\ import\  | import\ \S+\ as\ \w
      | \#(?:include|define|!) | @\w+(?:\(|$) | for\ \w+(?:,\ \w+)*\ in\ .*:$ | (?:while\ True|else|try|finally):$
      | (?:el)?if\ [^=()<>]*[=()<>].*:$ | return\ \w+\( | \$\ \S | .*[;{}]$
      | (?:SELECT\b.*\bFROM|INSERT\ INTO|UPDATE\b.*\bSET|DELETE\ FROM|CREATE\ TABLE|ALTER\ TABLE)\b
    """,
    re.VERBOSE,
)
_SIGNS = frozenset('{}()[];=<>|&$*\\+@#"')
_BRACKETS = frozenset("{}()[];=<>")


def classify(query: str) -> QueryClass:
    """What ``query`` asks about, how it is written, and the arms' weights for it. Never raises.

    The subject is the first that fits of (SuperLocalMemory's order): a multi-hop phrase, two names and a causal or
    temporal word, a recency phrase, a temporal word, an aggregation word, an opinion word, two names, a factual
    question word at the start, vagueness, general. A weight is base times multiplier, for use as a factor of an
    arm's term in a fusion; no unit.
    """
    text = _read(query)
    subject = _subject(text)
    return QueryClass(subject, _shape(text), _WEIGHTS[subject])


def words_of(text: str) -> list[str]:
    """The words of ``text`` in order, lower-cased, letters and digits of any script; ``what's`` is one word."""
    return [word.rstrip("'") for word in _WORD.findall(text.lower().replace("’", "'"))]


def asking_part(prompt: str, max_words: int = MAX_PROMPT_WORDS) -> str:
    """The part of ``prompt`` that asks, on one line, at most ``max_words`` words; a prompt of no more is whole.

    The last sentence that is a question; else the first that is an imperative, since those after it mostly set
    conditions; else the prompt's beginning. Fenced blocks are not read for sentences. Of a longer question the end
    stays, of anything else the beginning.
    """
    if max_words <= 0:
        return ""
    text = _read(prompt)
    if len(text.split()) <= max_words:
        return " ".join(text.split())
    prose = _unfenced(text)
    sentences = [part.strip() for part in _SENTENCE.split(prose) if part and part.strip()]
    for sentence in reversed(sentences):
        if _is_question(sentence):
            asked = sentence.split()
            ends = sentence.rstrip(_CLOSING).endswith(_MARKS)
            return " ".join(asked[-max_words:] if ends else asked[:max_words])
    chosen = next((sentence for sentence in sentences if _is_imperative(sentence)), prose.strip() or text)
    return " ".join(chosen.split()[:max_words])


def _read(text: str) -> str:
    if len(text) <= READ_CHARS:
        return text
    return f"{text[: READ_CHARS // 2]}\n{text[-READ_CHARS // 2 :]}"


def _subject(text: str) -> str:
    words = words_of(text)
    line = f" {' '.join(words)} ".replace(" most recent call last ", " ")
    known = set(words)
    several = _names(text) >= 2
    if _any(_MULTI_HOP, line) or several and known & _LINKING:
        return "multi_hop"
    if _any(_RECENCY, line):
        return "recency"
    if _is_temporal(text, words):
        return "temporal"
    if known & _AGGREGATION or _any(_AGGREGATION_PHRASES, line):
        return "aggregation"
    if known & _OPINION:
        return "opinion"
    if several:
        return "entity"
    if words and words[0].partition("'")[0] in _FACTUAL:
        return "factual"
    content = known - _FUNCTION
    return "vague" if not content or content & _VAGUE and len(content - _VAGUE) <= 1 else "general"


def _any(phrases: Sequence[str], line: str) -> bool:
    return any(phrase in line for phrase in phrases)


def _is_temporal(text: str, words: Sequence[str]) -> bool:
    """Whether a word or date names a time, or "when" asks for one; a "now" that begins only leads in."""
    if _asks_when(words[:2]) or not _TEMPORAL.isdisjoint(words[1:] if words[:1] == ["now"] else words):
        return True
    pairs = zip(words, words[1:], strict=False)
    return any(_is_time(before, after) for before, after in pairs) or _DATE.search(text) is not None


def _is_time(before: str, word: str) -> bool:
    if word in _UNITS:
        return before in _BEFORE_A_UNIT or before.isdigit()
    return before in _BEFORE_A_TIME and _SOMETIMES_A_TIME.fullmatch(word) is not None


def _names(text: str) -> int:
    """How many different names ``text`` has: words with a capital and a small letter, neighbours as one name.

    The first word of a sentence counts only with a capital or digit further on ("FastAPI"); names of times do not.
    """
    found: set[str] = set()
    run: list[str] = []
    end = 0
    for match in _NAME.finditer(text):
        word, gap = match[0], text[end : match.start()]
        starts = end == 0 or any(sign in ".!?:\n" for sign in gap)
        named = _is_name(word, starts)
        if run and (gap != " " or not named):
            found.add(" ".join(run))
            run = []
        if named:
            run.append(word.lower())
        end = match.end()
    if run:
        found.add(" ".join(run))
    return len(found)


def _is_name(word: str, starts: bool) -> bool:
    if not word[0].isupper() or not any(char.islower() for char in word) or word.lower() in _TEMPORAL:
        return False
    if word.partition("'")[0].partition("’")[0] == "I":
        return False
    return not starts or any(char.isupper() or char.isdigit() for char in word[1:])


def _shape(text: str) -> str:
    if _ERROR.search(text):
        return "error"
    if _is_code(text):
        return "code"
    if _is_question(text):
        return "question"
    return "short request" if len(text.split()) <= MAX_PROMPT_WORDS else "long request"


def _is_code(text: str) -> bool:
    if _FENCE.search(text):
        return True
    lines = [line.strip() for line in text.splitlines()]
    size = sum(map(len, lines))
    return size > 0 and sum(len(line) for line in lines if _is_code_line(line)) > CODE_SHARE * size


def _is_code_line(line: str) -> bool:
    if _CODE_LINE.match(line):
        return True
    solid = sum(not char.isspace() for char in line)
    return not _BRACKETS.isdisjoint(line) and sum(char in _SIGNS for char in line) > SIGN_SHARE * solid


def _is_question(text: str) -> bool:
    """Whether it ends with a question mark, or begins like a question: "does the daemon start", without the mark."""
    if text.rstrip(_CLOSING).endswith(_MARKS):
        return True
    words = _opening(text)
    if not words:
        return False
    first, second = words[0], words[1] if len(words) > 1 else ""
    if first in _QUESTION or first in _AUXILIARY:
        return True
    if first == "when":
        return _asks_when(words)
    if first == "do":
        return bool(second) and second not in _DONE and words[1:3] != ["the", "same"]
    return first in ("have", "don't") and second in _SUBJECTS


def _asks_when(words: Sequence[str]) -> bool:
    """ "When did we decide", but not "when the build fails, retry"."""
    return words[:1] == ["when"] and len(words) > 1 and (words[1] in _AUXILIARY or words[1] in ("do", "to"))


def _is_imperative(sentence: str) -> bool:
    words = _opening(sentence)
    return bool(words) and words[0] in _IMPERATIVE or _any(_WANTED, f" {' '.join(words_of(sentence))} ")


def _opening(text: str) -> list[str]:
    """The first three words after what only leads in."""
    words = words_of(text[:400])
    at = 0
    while at < len(words) and words[at] in _FILLERS:
        at += 1
    return words[at : at + 3]


def _unfenced(text: str) -> str:
    """``text`` without its fenced blocks; one that never closes runs to the end."""
    kept: list[str] = []
    fenced = False
    for line in text.split("\n"):
        if _FENCE.match(line):
            fenced = not fenced
        elif not fenced:
            kept.append(line)
    return "\n".join(kept)
