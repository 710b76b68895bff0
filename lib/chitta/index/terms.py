"""Text to search terms, the same way for a note and for a prompt.

A term is either a *word* (lower case, stemmed as English, stop words out) or an *exact* form:
an identifier as it was written, and a pair of neighbouring characters of a script that puts no
spaces between words. Identifiers are kept whole and in parts: ``src/app/getUserById.py`` gives
the exact forms ``src/app/getuserbyid.py``, ``getuserbyid.py``, ``getuserbyid`` and the words
``src``, ``app``, ``get``, ``user``, ``id``, ``py``. Words and exact forms share one name space
in the index, so a query term is looked up once.

Stemming is tantivy's own English Snowball stemmer. No query language is involved: any text,
brackets and operators included, is only ever taken apart here.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

import tantivy

from chitta.index.stored import NoteTerms

QUERY_LIMIT = 128  # distinct terms of a prompt; three quarters from its head, the rest from its tail
QUERY_CHARS = 32_000  # characters of a prompt that are looked at, half at each end
NOTE_CHARS = 1_000_000  # characters of a note that are indexed
WEIGHED_CHARS = 20_000  # characters of a note that are weighed against a prompt; the rest of a longer one is not
LONGEST_WORD = 64
LONGEST_EXACT = 120

# Scripts written without spaces (and Hangul, whose particles are glued on): Thai, Lao, Myanmar,
# Khmer, Hangul jamo, kana, Han with its extensions, Hangul syllables. The katakana middle dot
# U+30FB is punctuation and stays out.
SPACELESS = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u1100-\u11ff\u3005\u3007\u3040-\u30fa\u30fc-\u30ff"
    "\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff"
)
# Vowel signs and accents that belong to a word but are no letters to ``\\w``.
_MARKS = (
    "\u0300-\u036f\u0591-\u05c7\u064b-\u065f\u0900-\u0903\u093a-\u094f\u0981-\u0983\u09bc-\u09cd\u0a3c-\u0a4d"
    "\u0abc-\u0acd\u0b3c-\u0b4d\u0bbe-\u0bcd\u0c3e-\u0c4d\u0cbc-\u0ccd\u0d3b-\u0d4d\u0dca-\u0ddf"
)
_RUN = f"[^\\W{SPACELESS}]+(?:[{_MARKS}]+[^\\W{SPACELESS}]+)*[{_MARKS}]*"
_TOKEN = re.compile(
    f"(?P<spaceless>[{SPACELESS}]+)"
    f"|(?:(?<![\\w-])--?(?=[A-Za-z])|(?<![\\w.])\\.(?=[A-Za-z]))?"  # --flag, .dotfile
    f"{_RUN}(?:(?:->|'|[._/\\\\:@+#~-]{{1,2}}){_RUN})*"
    f"(?:\\+\\+|#)?"  # C++, C#
)
# Where a compound comes apart, outermost first; the last rule splits camelCase and digits.
_SEAMS = tuple(re.compile(seam) for seam in (r"[/\\]+", r"->|[:@#~+']+", r"\.+", r"-+", r"_+"))
_CAMEL = re.compile(f"[A-Z]+(?=[A-Z][a-z])|[A-Z]?(?:[^\\W\\dA-Z_]|[{_MARKS}])+|[A-Z]+|\\d+")
_STRUCTURE = re.compile(r"[\d_./\\:@+#~'>-]|(?<=[a-z])[A-Z]|[A-Z](?=[A-Z][a-z])")
_VERSION = re.compile(r"v?(\d+(?:\.\d+)+)\w*(?:[-+.]\w+)*\Z")
_POSSESSIVE = re.compile(r"(?:'[sS])+\Z")

STOP_WORDS = frozenset(
    """
    a about above after again all also am an and any are aren't as at be because been before being
    below between both but by can can't cannot could couldn't did didn't do does doesn't doing don't
    done down during each either few for from further had hadn't has hasn't have haven't having he
    her here here's hers him his how how's however i i'd i'll i'm i've if in into is isn't it it's
    its itself just let's like ll lot me more most much my need no nor not now of off ok okay on
    once one only or other our ours out over own per please quite rather re really s same she should
    shouldn't so some such t than thanks that that's the their theirs them then there there's these
    they they're this those through to too under until up upon us ve very via want was wasn't we we're
    were weren't what what's when when's where where's which while who who's whom whose why why's will
    with within without won't would wouldn't yes yet you you're your yours
    """.split()
)


class Terms(NamedTuple):
    """The terms of one text. A query's are distinct; a note's repeat as often as they occur."""

    words: tuple[str, ...]
    exact: tuple[str, ...]

    @property
    def all(self) -> tuple[str, ...]:
        """Every term, the shared name space of the index."""
        return self.words + self.exact


def analyse(text: str, *, limit: int | None = QUERY_LIMIT) -> Terms:
    """The terms of ``text``.

    With a ``limit`` the text is a query: terms are distinct, in order of first appearance, and
    of more than ``limit`` the first three quarters and the last quarter stay. With ``None`` it
    is a note: terms repeat, and single characters of spaceless scripts are terms too, so that
    a query of one character finds them.
    """
    query = limit is not None
    if query and len(text) > QUERY_CHARS:
        text = f"{text[: QUERY_CHARS // 2]} {text[-QUERY_CHARS // 2 :]}"
    pairs = list(_terms(text[:NOTE_CHARS], singles=not query))
    if limit is not None:
        pairs = list(dict.fromkeys(pairs))
        if len(pairs) > limit:
            tail = limit // 4
            pairs = pairs[: limit - tail] + pairs[len(pairs) - tail :]
    words = stem([term for term, is_word in pairs if is_word])
    exact = [term for term, is_word in pairs if not is_word]
    if query:
        words = list(dict.fromkeys(words))
        known = set(words)
        exact = [term for term in exact if term not in known]
    return Terms(tuple(words), tuple(exact))


class Apart(NamedTuple):
    """A note taken apart: the terms of its title and of its text, as often as they occur."""

    title: Terms
    text: Terms


def take_apart(title: str, text: str) -> Apart:
    """Both indexes need a note's terms, and finding them is most of the work: done once, it is half."""
    return Apart(analyse(title, limit=None), analyse(text, limit=None))


def terms_of(title: str, text: str, apart: Apart | None = None) -> NoteTerms:
    """What is weighed of a note: the terms that it holds, and the words of its title."""
    if len(title) + 1 + len(text) > WEIGHED_CHARS or apart is None:
        room = max(WEIGHED_CHARS - len(title) - 1, 0)
        apart = take_apart(title[:WEIGHED_CHARS], text[:room])
    return NoteTerms(frozenset(apart.title.all + apart.text.all), tuple(sorted(set(apart.title.words))))


_analyser: tantivy.TextAnalyzer | None = None


def stem(words: list[str]) -> list[str]:
    """Each word's English stem, in order."""
    global _analyser
    if _analyser is None:
        english = tantivy.Filter.stemmer("english")
        _analyser = tantivy.TextAnalyzerBuilder(tantivy.Tokenizer.whitespace()).filter(english).build()
    return _analyser.analyze(" ".join(words))


def _terms(text: str, *, singles: bool) -> Iterator[tuple[str, bool]]:
    """Pairs of a term and whether it is a word (still to be stemmed), in order of appearance."""
    if not text.isascii():
        text = unicodedata.normalize("NFKC", text).replace("\u2019", "'")
    for match in _TOKEN.finditer(text):
        token = match.group()
        if match.lastgroup == "spaceless":
            yield from ((gram, False) for gram in _grams(token, singles))
        elif len(token) <= LONGEST_EXACT:
            yield from _taken_apart(token)
        else:
            yield from _word(token) if _is_plain(token) else _compound(token)


@lru_cache(maxsize=32_768)
def _taken_apart(token: str) -> tuple[tuple[str, bool], ...]:
    """The pairs of one token; the same words and identifiers come again and again."""
    return tuple(_word(token) if _is_plain(token) else _compound(token))


def _is_plain(token: str) -> bool:
    return token.islower() and token.isalpha() or not _STRUCTURE.search(token)


def _grams(run: str, singles: bool) -> Iterator[str]:
    if singles or len(run) == 1:
        yield from run
    for start in range(len(run) - 1):
        yield run[start : start + 2]


def _word(token: str) -> Iterator[tuple[str, bool]]:
    word = _fold(token.lower())[:LONGEST_WORD]
    if word not in STOP_WORDS and not (len(word) == 1 and word.isdigit()):
        yield word, True


def _fold(word: str) -> str:
    """Accents off Latin letters, so that ``café`` and ``cafe`` meet; other scripts as they are."""
    if word.isascii():
        return word
    plain = "".join(char for char in unicodedata.normalize("NFD", word) if not unicodedata.combining(char))
    return plain if plain.isascii() else word


def _compound(token: str) -> Iterator[tuple[str, bool]]:
    """A token with structure: its whole form, the forms inside it, and its plain words."""
    lowered = _fold(token.lower().replace("\\", "/"))
    if "'" in token:
        if lowered in STOP_WORDS:
            return
        if lowered.endswith("'s"):
            yield from _terms(_POSSESSIVE.sub("", token), singles=False)
            return
    version = _VERSION.match(lowered)
    if version:
        yield from ((form, False) for form in _version_forms(lowered, version.group(1)))
        return
    if len(lowered) <= LONGEST_EXACT and not lowered.isdigit():
        yield lowered, False
    bare = token.strip("-.+#:_")
    if bare != token and _STRUCTURE.search(bare):
        yield from _taken_apart(bare)
    else:
        yield from _parts(bare)


def _parts(token: str) -> Iterator[tuple[str, bool]]:
    """What is inside a compound, taken apart at its outermost seam."""
    for seam in _SEAMS:
        pieces = [piece for piece in seam.split(token) if piece]
        if len(pieces) > 1:
            if seam.pattern in ("-+", "_+"):  # pre-commit and precommit, get_user and getUser are one
                yield from _squashed(pieces)
            for piece in pieces:
                yield from _taken_apart(piece)
            return
    for piece in _CAMEL.findall(token):
        yield from _word(piece)


def _squashed(pieces: list[str]) -> Iterator[tuple[str, bool]]:
    joined = _fold("".join(pieces).lower())
    if len(joined) <= LONGEST_WORD and not joined.isdigit():
        yield joined, False


def _version_forms(whole: str, numbers: str) -> Iterator[str]:
    """``v0.3.4`` is also looked for as ``0.3.4`` and ``0.3``."""
    steps = numbers.split(".")
    forms = [whole[:LONGEST_EXACT], whole.removeprefix("v")[:LONGEST_EXACT]]
    forms += [".".join(steps[:length]) for length in range(min(len(steps), 4), 1, -1)]
    yield from dict.fromkeys(forms)
