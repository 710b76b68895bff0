"""The out-of-domain gate: how much of a question the best notes speak of at all.

Ranks always name a best note. Where that note holds next to none of the question's words, the store
knows nothing of the matter and an empty answer is the honest one.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Collection, Sequence

#: Notes of which the best coverage counts, and fewest characters of a content term (reflect).
TOP = 5
SHORTEST = 3

#: Scripts written without spaces: their terms are pairs of neighbouring characters.
_SPACELESS = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3005\u3007\u3040-\u30fa\u30fc-\u30ff\u3400-\u9fff\uac00-\ud7af"
# Accents and vowel signs, which belong to a word but are no letters to ``\\w``.
_MARKS = (
    "\u0300-\u036f\u0591-\u05c7\u064b-\u065f\u0900-\u0903\u093a-\u094f\u0981-\u0983\u09bc-\u09cd\u0b82\u0bbe-\u0bcd"
)
_TOKEN = re.compile(
    f"(?P<spaceless>[{_SPACELESS}]+)"
    r"|(?P<exact>v?\d+(?:\.\d+)+(?:[-+][\w.]*\w)?|(?<!\w)[A-Za-z](?:\+\+|\#)(?!\w))"  # v0.3.4, C++, C#
    f"|(?P<word>(?:(?!_)[^\\W{_SPACELESS}]|[{_MARKS}])+(?:['’][a-z]{{1,2}}(?!\\w))?)"
)
_CAMEL = re.compile(r"(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_STOP_WORDS = frozenset(
    """
    a about after all also am an and any are as at be because been before being both but by ca can cannot could did
    do does doing done during each for from get gets getting give go going had has have having he her here hers him his
    how i if in into is it its just let like make makes making may me might more most much must my need needs no not
    now of off on once one only or other our ours out over own per please put really same shall she should show so
    some such tell than thanks that the their theirs them then there these they this those through to too under until
    up upon us use used uses using very via want wants was way we were what when where which while who whom whose why
    will with within without wo would yes yet you your yours
    """.split()
)
_SHORT_FORM = re.compile(r"(?:n['’]t|['’](?:s|d|m|ll|re|ve))$", re.IGNORECASE)

Analyser = Callable[[str], Collection[str]]


def content_terms(text: str, shortest: int = SHORTEST) -> frozenset[str]:
    """The words of ``text`` that say what it is about, folded so that forms of one word meet.

    Stop words and words under ``shortest`` characters are out; accents go, endings of plural and
    tense too. A version number and a name such as C++ is one term as written; an identifier is its
    words; a script without spaces gives pairs of characters.
    """
    terms: set[str] = set()
    for found in _TOKEN.finditer(unicodedata.normalize("NFKC", text)):
        token = found.group()
        if found.lastgroup == "spaceless":
            terms.update(token[at : at + 2] for at in range(max(1, len(token) - 1)))
        elif found.lastgroup == "exact":
            terms.add(token.casefold().removeprefix("v"))
        else:
            terms.update(_words(token, shortest))
    return frozenset(terms)


def coverage(query: str, text: str, analyse: Analyser = content_terms) -> float:
    """Share (0–1) of the query's content terms that ``text`` holds as whole words; 1 when it has none."""
    wanted = set(analyse(query))
    return len(wanted & set(analyse(text))) / len(wanted) if wanted else 1.0


def best_coverage(query: str, texts: Sequence[str], top: int = TOP, analyse: Analyser = content_terms) -> float:
    """The best coverage (0–1) among the first ``top`` texts, which are in ranked order; 0 without any text.

    A query without content terms covers nothing and misses nothing: 1, also without texts.
    """
    if not analyse(query):
        return 1.0
    return max((coverage(query, text, analyse) for text in texts[:top]), default=0.0)


def gated(query: str, texts: Sequence[str], min_overlap: float, analyse: Analyser = content_terms) -> bool:
    """Whether the answer is to be emptied: the best coverage is under ``min_overlap`` (0–1; 0 is off)."""
    return min_overlap > 0 and best_coverage(query, texts, analyse=analyse) < min_overlap


def _words(token: str, shortest: int) -> list[str]:
    token = _SHORT_FORM.sub("", token)
    folded = [_fold(part) for part in _CAMEL.split(token)]
    return [_root(word) for word in folded if len(word) >= shortest and word not in _STOP_WORDS]


def _fold(word: str) -> str:
    """Lower case, and no accents where plain Latin is left; other scripts as they are."""
    word = word.casefold()
    if word.isascii():
        return word
    plain = "".join(char for char in unicodedata.normalize("NFD", word) if not unicodedata.combining(char))
    return plain if plain.isascii() else word


def _root(word: str) -> str:
    """An English word without the endings of plural and tense: cache, caches, cached and caching meet."""
    if not (word.isascii() and word.isalpha()) or len(word) < 4:
        return word
    if word.endswith("ies") and len(word) > 4:
        return word[:-3] + "y"
    for ending in ("ing", "ed"):
        stem = word.removesuffix(ending)
        if stem != word and len(stem) >= 3 and re.search("[aeiouy]", stem):
            undoubled = stem[:-1] if stem[-1] == stem[-2] and stem[-1] not in "ls" else stem
            return undoubled.removesuffix("e")
    if word.endswith(("sses", "xes", "zes", "ches", "shes")):
        return word[:-2]
    if word.endswith("s") and not word.endswith(("ss", "us", "is")):
        word = word[:-1]
    return word.removesuffix("e") if len(word) > 3 else word
