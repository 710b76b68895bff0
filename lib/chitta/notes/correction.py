"""The correction key: does a prompt order the very thing that a person has corrected before?

No ranking and no threshold. A trigger is the wrong form as it would be typed again. It is mentioned
by its exact phrase, also with a path before a command (``bin/rails db:seed``); by all of its content bigrams, for
a trigger of three content words or more (``log the request body`` by ``logger.info(request.body)``); by the file,
for ``edit FILE``; by its first part, for ``X in Y``; by whatever lies below it, for a folder. A mention fires when
it is an order: not in one of the innocent sentences (:mod:`chitta.notes.innocent`), with a verb of writing for a
file, with the place said for ``X in Y``. One ordinary word is a mention only where it stands for code
(:mod:`chitta.notes.ordinary`).

Imported on the prompt path when the daemon is away: standard library only, and cheap.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import islice
from typing import NamedTuple

from chitta.notes.folder import edited_folder, folder_of, is_folder_alone, is_inside, is_place, is_spared, orders
from chitta.notes.innocent import innocent
from chitta.notes.note import Note, one_line
from chitta.notes.ordinary import begins, is_code, is_name, ordinary

#: A wrong form of more words is described rather than quoted; nobody types it again.
PHRASE_WORDS = 6
#: Content words of a trigger may be this far apart, in content words, and still be one bigram.
WINDOW = 8
#: Mentions of a trigger that are looked at; whoever repeats it more often orders it among the first.
MOST_MENTIONS = 12
#: The place of a plain word follows it within so many words.
SOON = 4
#: Content words that a trigger needs before its bigrams count.
BIGRAM_WORDS = 3

# A pasted log is in the middle of a prompt; what the person says is at one of its ends.
_HEAD = _TAIL = 16_000
_SHORT = 300
_NO_SPACES = "\u0e00-\u0e7f\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af"
_WORD = rf"[^\W{_NO_SPACES}]+"
_TOKEN = re.compile(
    rf"[{_NO_SPACES}]"  # a script without spaces: each character is a token
    r"|(?:(?<![\w-])--?(?=\w)|(?<![\w!])[!@$](?=\w)|(?<!\w)/(?=\w)|(?<![\w.])\.(?=\w))?"
    rf"{_WORD}(?:(?:://|::|->|[-.:/@+']){_WORD})*(?:\+\+|\#(?!\w))?\(?"
)
_SENTENCE_END = re.compile(r"(?<=[.!?])\s+|\n+|;\s")
_ARTICLES = frozenset("a an the".split())
_PATH_BEFORE = re.compile(r"[\w.@~/-]*/$")
_NEAR_PATH = 80
_EDIT = re.compile(r"(?:edit|change|modify|touch|write(?: to| in)?|update|patch)\s+(?:the\s+)?(\S+)", re.IGNORECASE)
_FILE = re.compile(r"\w[./]\w|^\.\w")
_SCOPED = re.compile(r"(.+?)\s+(?:in|inside|for|on|within)\s+(?:the\s+|our\s+)?(\w+)", re.IGNORECASE)
_NOT = re.compile(r"\b(?:don't|dont|do not|never|not|without|instead of|rather than|stop)\b")
_WRITING = re.compile(
    r"\b(?:add|append|bump|change|correct|delete|drop|edit|extend|fill|fix|insert|modify|move|note|patch|prepend|put|remove"
    r"|rename|replace|set|sort|update|write)\b"
)
_STOP_WORDS = _ARTICLES | frozenset(
    "and as at by be for from in into is it its of off on or our so that their then this to up we with you your".split()
)


def make_correction(
    wrong: str, right: str, why: str = "", realm: str = "global", *, triggers: Sequence[str] = (), created: str = ""
) -> Note:
    """The note for "not ``wrong``, but ``right``"; a right of ``do not WRONG`` only forbids, and is said once.

    ``triggers`` replace those made from ``wrong``. The id depends on ``wrong`` and ``realm`` alone,
    so correcting the same thing again rewrites the same note. Raises ``ValueError`` on an empty side.
    """
    from chitta.notes.ids import make_id

    wrong, right, why = one_line(wrong), one_line(right), one_line(why)
    if not wrong or not right:
        raise ValueError("a correction says what is wrong and what is right")
    forbids = right == f"do not {wrong}"
    return Note(
        id=make_id(wrong, realm, salt="correction"),
        kind="correction",
        realm=realm,
        title=one_line(right if forbids else f"{right}, not {wrong}", 160),
        text=f"Not: {wrong}" + ("" if forbids else f"\nInstead: {right}") + (f"\nWhy: {why}" if why else ""),
        created=created,
        updated=created,
        confidence=0.9,
        triggers=tuple(triggers) or triggers_for(wrong),
        wrong=wrong,
        right=right,
    )


def triggers_for(wrong: str) -> tuple[str, ...]:
    """What to listen for, from a description of the wrong form.

    The code it quotes, and each alternative (``a / b``) of at most six words, without ``never use``
    and the like before it. A long form without code is kept whole: its bigrams can still fire.
    """
    code = [span.strip() for span in re.findall(r"`([^`]+)`", wrong)]
    found = [span for span in code if _distinct(span)]
    for part in _alternatives(wrong.replace("`", "")):
        core = re.sub(r"^(?:(?:do not|don't|never|avoid|use|using|run|running|call|calling)\s+)+", "", part, flags=re.I)
        part = core if _distinct(core) else part
        if len(part.split()) <= PHRASE_WORDS or not found:
            found.append(part)
    edited = {edited_folder(part) for part in found} - {""}  # "edit files in `src/`" says more than `src/`
    bare = {part for part in found if not edited_folder(part) and folder_of(part.rstrip("*/") + "/") in edited}
    return tuple(dict.fromkeys(part for part in found if part not in bare))


def match_triggers(prompt: str, triggers: Sequence[str], right: str = "") -> str | None:
    """The trigger that fires on ``prompt``, or None: exact phrases first, then the other kinds of mention.

    A mention that is part of the ``right`` form, or that a rule of :mod:`chitta.notes.innocent` explains, does
    not count; one that counts is enough.
    """
    ordered = (found for found in _mentions(prompt, triggers) if found[2].ordered)
    for trigger, sentence, mention in islice(ordered, MOST_MENTIONS * len(triggers)):
        if (
            not _says_right(sentence, mention.start, mention.end, right)
            and innocent(sentence.text, _begin(sentence, mention), mention.end, place=mention.place) is None
        ):
            return trigger
    return None


def only_mentioned(prompt: str, triggers: Sequence[str], right: str = "") -> bool:
    """Whether the prompt speaks of the wrong form without ordering it, or says the right one already.

    The correction would only annoy then.
    """
    if not triggers:
        return False
    mentions = islice(_mentions(prompt, triggers), MOST_MENTIONS * len(triggers))
    spoken = any(
        not mention.word or innocent(sentence.text, _begin(sentence, mention), mention.end) is not None
        for _, sentence, mention in mentions
    )
    return (spoken or _holds(prompt, right)) and match_triggers(prompt, triggers, right) is None


# Finding mentions

#: Words that anybody uses in any sentence: alone they are no wrong form.
_PLAIN_WORDS = frozenset(
    """
    all any are but can few has how its may no not now old one out see the them then two use was way who why yes you
    """.split()
)


class _Token(NamedTuple):
    text: str
    start: int
    end: int


class _Sentence(NamedTuple):
    text: str
    tokens: tuple[_Token, ...]
    words: frozenset[str]


class _Mention(NamedTuple):
    """Where a sentence speaks of a wrong form, and whether its other words can make that an order.

    ``place``: it is said as the place of what is ordered. ``word``: so far it is an ordinary word, which speaks of
    the wrong form only where an innocent rule says so.
    """

    start: int
    end: int
    ordered: bool = True
    place: bool = False
    word: bool = False


def _mentions(prompt: str, triggers: Sequence[str]) -> Iterator[tuple[str, _Sentence, _Mention]]:
    """Every mention of every trigger: by phrase first, then by bigrams, file, folder and first part."""
    sentences, words, roots = _sentences(prompt), _words(prompt), _roots(prompt)
    parts = [(trigger, part) for trigger in triggers for part in _alternatives(trigger)]
    for trigger, part in parts:
        word = ordinary(part)
        if word and _root(word) in roots:
            named = len(sentences[0].tokens) == len(sentences) == 1 or is_name(part, prompt)
            yield from ((trigger, sentence, mention) for sentence, mention in _by_word(sentences, word, named))
        elif not word and not is_folder_alone(part) and _may_be(part, words, roots):
            for sentence in sentences:
                if _may_be(part, sentence.words, roots):
                    yield from ((trigger, sentence, _Mention(start, end)) for start, end in _phrases(sentence, part))
    for trigger, part in parts:
        for find in (_by_bigrams, _by_file, _by_folder, _by_head):
            yield from ((trigger, sentence, mention) for sentence, mention in find(sentences, roots, part))


def _by_word(sentences: Sequence[_Sentence], word: str, named: bool) -> Iterator[tuple[_Sentence, _Mention]]:
    """An ordinary word, ordered where it stands for code; ``named``: it does everywhere."""
    if word in _STOP_WORDS or word in _PLAIN_WORDS:
        return
    for sentence in sentences:
        for token in sentence.tokens:
            if begins(token.text, word):
                start = token.start + token.text.index(word)
                code = named or is_code(sentence.text, start, start + len(word))
                if code or token.text == word:
                    yield sentence, _Mention(start, start + len(word), code, word=not code)


def _by_bigrams(
    sentences: Sequence[_Sentence], roots: frozenset[str], trigger: str
) -> Iterator[tuple[_Sentence, _Mention]]:
    if _roots(trigger) <= roots:
        for sentence in sentences:
            yield from ((sentence, _Mention(start, end)) for start, end in _bigrams(sentence, trigger))


def _by_file(
    sentences: Sequence[_Sentence], roots: frozenset[str], trigger: str
) -> Iterator[tuple[_Sentence, _Mention]]:
    """``edit FILE`` by FILE alone; the order is a verb of writing before it."""
    found = _EDIT.fullmatch(trigger)
    if found is None or folder_of(trigger) or not _FILE.search(found[1]) or not _roots(found[1]) <= roots:
        return
    for sentence in sentences:
        verb = _WRITING.search(sentence.text)
        ordered = verb is not None and not _NOT.search(sentence.text, 0, verb.start())
        for start, end in _phrases(sentence, found[1]):
            told = ordered and verb is not None and verb.end() <= start
            yield sentence, _Mention(start, end, told and not is_spared(sentence.text, start, end))


def _by_folder(
    sentences: Sequence[_Sentence], roots: frozenset[str], trigger: str
) -> Iterator[tuple[_Sentence, _Mention]]:
    """A folder, and what lies below it, where it is written to or used."""
    folder = folder_of(trigger)
    if folder and _roots(folder) <= roots:
        for sentence in sentences:
            inside = [(token.start, token.end) for token in sentence.tokens if is_inside(token.text, folder)]
            for start, end, ordered in orders(sentence.text, inside, trigger):
                yield sentence, _Mention(start, end, ordered, place=is_place(sentence.text, start))


def _by_head(
    sentences: Sequence[_Sentence], roots: frozenset[str], trigger: str
) -> Iterator[tuple[_Sentence, _Mention]]:
    """``X in Y`` by X, with Y somewhere in the prompt, if only as a part of a name.

    An X that is one plain word (``print``, ``sleep``) is said of anything: there Y has to be a part of
    a name (``checkout_spec.rb``) or to follow soon.
    """
    found = _SCOPED.fullmatch(trigger)
    place = _root(found[2].casefold()) if found is not None else ""
    if found is None or not _roots(found[1]) <= roots or place not in roots:
        return
    plain = found[1].isalpha()
    named = any(
        place in _parts(word) and word != found[2]
        for one in sentences
        for word in one.words
        if "." in word or "_" in word
    )
    for sentence in sentences:
        for start, end in _phrases(sentence, found[1]):
            after = [_root(token.text) for token in sentence.tokens if token.start >= end][:SOON]
            if not plain or named or place in after:
                yield sentence, _Mention(start, end)


def _phrases(sentence: _Sentence, trigger: str) -> Iterator[tuple[int, int]]:
    """Where the trigger's tokens stand side by side, articles aside; a path before a command is no part of it."""
    wanted = [token.text for part in _sentences(trigger) for token in part.tokens if token.text not in _ARTICLES]
    if all(word in _STOP_WORDS for word in wanted) or (len(wanted) == 1 and wanted[0] in _PLAIN_WORDS):
        return
    tokens = [token for token in sentence.tokens if token.text not in _ARTICLES]
    below = len(wanted) > 1 and trigger.endswith("/")
    for at in range(len(tokens) - len(wanted) + 1):
        here = tokens[at : at + len(wanted)]
        same = [_same(token.text, word) for token, word in zip(here, wanted, strict=True)]
        path = len(wanted) > 1 and "/" not in wanted[0] and here[0].text.endswith(f"/{wanted[0]}")
        same[0] = same[0] or path
        if all(same) or (below and all(same[:-1]) and is_inside(here[-1].text, wanted[-1].strip("/"))):
            yield here[0].end - len(wanted[0]) if path else here[0].start, here[-1].end


def _bigrams(sentence: _Sentence, trigger: str) -> Iterator[tuple[int, int]]:
    """The stretch that holds every content bigram of the trigger, when there is one; words by their roots."""
    whole = [word for part in _sentences(trigger) for _, word in _content(part.tokens)]
    words = [root for word in whole for root in _parts(word)]
    if len(set(whole)) < BIGRAM_WORDS or any(True for _ in _phrases(sentence, trigger)):
        return
    here = [(token, root) for token, word in _content(sentence.tokens) for root in _parts(word)]
    steps = [step for distance in range(1, WINDOW + 1) for step in (distance, -distance)]
    used: set[int] = set()
    for one, other in zip(words, words[1:], strict=False):
        firsts = (at for at, (_, root) in enumerate(here) if root == one)
        near = ((at, at + step) for at in firsts for step in steps if 0 <= at + step < len(here))
        pair = next(((a, b) for a, b in near if here[b][1] == other), None)
        if pair is None:
            return
        used.update(pair)
    yield here[min(used)][0].start, here[max(used)][0].end


def _holds(prompt: str, right: str) -> bool:
    """Whether the prompt says the right form."""
    return any(
        True
        for part in _alternatives(right)
        if _words(part) and _words(part) <= _words(prompt)
        for sentence in _sentences(prompt)
        for _ in _phrases(sentence, part)
    )


def _begin(sentence: _Sentence, mention: _Mention) -> int:
    """Where a mention begins, with the path before a command."""
    found = _PATH_BEFORE.search(sentence.text[max(mention.start - _NEAR_PATH, 0) : mention.start])
    return mention.start - len(found[0]) if found is not None else mention.start


def _says_right(sentence: _Sentence, start: int, end: int, right: str) -> bool:
    """Whether the mention is inside the right form: ``await f()`` holds ``f()``."""
    return any(
        begin <= start and end <= stop and (begin, stop) != (start, end)
        for part in _alternatives(right)
        for begin, stop in _phrases(sentence, part)
    )


def _said(part: str, words: frozenset[str]) -> bool:
    """Whether each content word of a trigger is among these; of an option, its letter will do."""
    return all(word in words or (word.startswith("--") and word[1:3] in words) for word in _words(part))


def _may_be(part: str, words: frozenset[str], roots: frozenset[str]) -> bool:
    """Whether it is worth to look for a trigger's phrase; a path may stand before a command, and below a folder."""
    return _said(part, words) or ((part.endswith("/") or " " in part) and _roots(part) <= roots)


def _same(token: str, word: str) -> bool:
    """A call ``f(`` is a mention of ``f``, and not the reverse; ``-f`` is what people type for ``--force``."""
    return token == word or token == f"{word}(" or (len(token) == 2 and word.startswith(f"-{token}"))


def _content(tokens: Sequence[_Token]) -> list[tuple[_Token, str]]:
    """Tokens that carry meaning, each with its word; single characters of other scripts carry none alone."""
    return [
        (token, token.text.rstrip("("))
        for token in tokens
        if token.text not in _STOP_WORDS and not re.match(f"[{_NO_SPACES}]", token.text)
    ]


def _parts(word: str) -> tuple[str, ...]:
    """The roots of a word and, for a name put together of words (``request.body``), of its parts."""
    parts = re.split(r"[\W_]+", word) if re.search(r"\w[\W_]+\w", word) else []
    return tuple(_root(part) for part in (parts or [word]) if part)


def _root(word: str) -> str:
    """A word without the endings of plural, tense and doer: ``logger``, ``logging`` and ``logs`` are ``log``."""
    for ending in ("ing", "ers", "er", "ed", "es", "s"):
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            root = word[: -len(ending)]
            return root[:-1] if root[-1] == root[-2] else root
    return word


def _alternatives(text: str) -> list[str]:
    return [part for part in re.split(r"\s+[/|]\s+|\s*;\s+", text.strip()) if part]


def _distinct(phrase: str) -> bool:
    """Two words or more, or one that nobody uses in plain prose: ``db:seed``, ``--force``, ``moment()``."""
    return len(phrase.split()) > 1 or bool(re.search(r"[^\w\s]|_|[a-z][A-Z]", phrase))


def _sentences(text: str) -> tuple[_Sentence, ...]:
    """Normalised sentences with their tokens; of a very long text, its two ends."""
    return _short(text) if len(text) <= _SHORT else _long(text)


def _words(text: str) -> frozenset[str]:
    return _short_words(text) if len(text) <= _SHORT else _long_words(text)


def _roots(text: str) -> frozenset[str]:
    return _short_roots(text) if len(text) <= _SHORT else _long_roots(text)


def _read(text: str) -> tuple[_Sentence, ...]:
    if len(text) > _HEAD + _TAIL:
        text = f"{text[:_HEAD]}\n{text[-_TAIL:]}"
    text = unicodedata.normalize("NFKC", text).casefold().replace("’", "'")
    parts = [part.strip() for part in _SENTENCE_END.split(text)]
    read = [(part, tuple(_tokens(part))) for part in parts if part]
    return tuple(_Sentence(part, tokens, frozenset(word for _, word in _content(tokens))) for part, tokens in read)


def _read_words(text: str) -> frozenset[str]:
    return frozenset().union(*(sentence.words for sentence in _sentences(text)))


def _read_roots(text: str) -> frozenset[str]:
    return frozenset(root for word in _words(text) for root in _parts(word))


# Every trigger meets every prompt, so both are kept read: many triggers, few prompts.
_short, _long = lru_cache(maxsize=4096)(_read), lru_cache(maxsize=4)(_read)
_short_words, _long_words = lru_cache(maxsize=4096)(_read_words), lru_cache(maxsize=4)(_read_words)
_short_roots, _long_roots = lru_cache(maxsize=4096)(_read_roots), lru_cache(maxsize=4)(_read_roots)


def _tokens(sentence: str) -> Iterator[_Token]:
    for found in _TOKEN.finditer(sentence):
        word = found.group().removesuffix("'s")
        yield _Token(word, found.start(), found.start() + len(word))
