"""One answer instead of many alike: spread, doubles collapsed, and what was replaced below what replaced it."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from functools import lru_cache
from typing import NamedTuple

from chitta.notes.note import Note
from chitta.recall.filters import content_hash, is_retired, moment, touched
from chitta.recall.fuse import Ranking
from chitta.recall.overlap import content_terms

#: Share of relevance against novelty, and how many of the best are weighed (reflect).
LAMBDA, WINDOW = 0.7, 20
#: Cosine from which two notes may be one (reflect's hold against doubles), and the share of their words.
DOUBLE_COSINE, DOUBLE_JACCARD = 0.97, 0.9
#: Share of common words over which a title and its negation speak of one thing (reflect).
NEGATED_JACCARD = 0.9
#: The same for a correction and what it corrects.
CORRECTED_JACCARD = 0.6
#: Share of common words of two texts of one title, from which one is the other written anew. None of the 2,643 TIL
#: notes has a title and so much of its text from another.
ANEW_JACCARD = 0.4
#: Fewest common words of two such titles: a title of one word says too little.
COMMON_WORDS = 2
#: Jaccard of tags from which two rules of one name are one rule. With all grounds together, none of the 135,685 pairs
#: of TIL notes of one category is called a contradiction, and 2 are when all titles of a category get one head.
RULE_TAGS = 0.5

Similarity = Callable[[str, str], float]

_NEGATIONS = re.compile(
    r"\b(?:not|never|no|nor|none|avoid|cannot|don['’]?t|doesn['’]?t|didn['’]?t|can['’]t|won['’]t|isn['’]?t|aren['’]?t"
    r"|wasn['’]?t|shouldn['’]?t|mustn['’]?t|needn['’]?t|no\s+longer|instead\s+of)\b",
    re.IGNORECASE,
)
# Words of emphasis that stand where the negation would: "always squash" against "never squash".
_EMPHASIS = frozenset({"alway", "should", "must"})
# What makes one command another: numbers, options, and whether it is negated.
_PARTICULARS = re.compile(r"(?<![\w-])--?\w[\w-]*|\w*\d[\w.]*")

# What may stand before a note's first words: comments and marks; and headings, which may also be these words.
_FURNITURE = re.compile(r"(?:\s+|<!--.*?-->|[^\w\s<]+|_+)*", re.DOTALL)
_HEADINGS = re.compile(r"(?:\s+|<!--.*?-->|#{1,6}[ \t][^\n]*(?:\n|\Z))*", re.DOTALL)
_GONE = r"(?:superseded|deprecated|obsolete|outdated|replaced|retired|decommissioned)"
_SAYS_GONE = re.compile(
    rf"""(?:note:?\s+|status:?\s+)?(?:
        {_GONE}[*_\])]*\s*(?:[:.,;!–—(-]|\n|\Z|(?:in\s+(?:practice|favou?r|\d{{4}})|by|since|as\s+of|with|from|on\s+\d|now)\b)
        | (?:this|the)\s+(?:\w+\s+){{0,3}}?(?:is|was|has\s+been)\s+(?:now\s+|since\s+)?(?:been\s+)?{_GONE}\b
        | no\s+longer\s+(?:true|valid|in\s+use|used|current|applies|correct|the\s+case)\b
    )""",
    re.IGNORECASE | re.VERBOSE,
)
_SHOUTED = re.compile(r"(?:SUPERSEDED|DEPRECATED|OBSOLETE|OUTDATED)\b")
_TITLE_GONE = re.compile(rf"\W*{_GONE}\s*[:\])–—-]|.*[\[(]\s*{_GONE}\b[^\])]*[\])]\s*\Z", re.IGNORECASE)

_BEGINNING = 4000  # characters of a text that are looked at for a contradiction
_SAID = 20_000  # and for a double
_SENTENCE = re.compile(r"(?<=[.!?;])\s+|\n+")

# "Auth convention: sessions": a head that names something of which there is one at a time.
_HEAD = re.compile(r"([^:–—]{3,80}?)(?:\s*:\s+|\s+[–—-]\s+)(?=\S)")
_ONE_AT_A_TIME = content_terms("convention standard process policy procedure decision")
_SPEAKS_OF_REPLACEMENT = re.compile(
    r"\b(?:supersed(?:es?|ed|ing)|replaced\s+by|deprecat(?:es?|ed|ing)|decommission(?:s|ed|ing)"
    r"|(?:mov|migrat)(?:es?|ed|ing|ion)\s+(?:off|away))\b",
    re.IGNORECASE,
)


class Contradiction(NamedTuple):
    """Two notes of which one holds no more: ids, and for the reader ``replaced by <title>, <date>``."""

    winner: str
    loser: str
    why: str


def maximal_marginal_relevance(
    ranking: Ranking, similarity: Similarity | None, limit: int, lam: float = LAMBDA, window: int = WINDOW
) -> list[tuple[str, float]]:
    """At most ``limit`` notes that are relevant and unlike each other (Carbonell and Goldstein, SIGIR 1998).

    The first stays first; then always the one with the most ``lam · rel − (1 − lam) · likeness``,
    where ``rel`` is its score over the window's best and likeness its highest similarity to one that
    is taken; ties in ranked order. Notes past ``window`` only fill what is left. Without similarity, or
    where no score is above 0, it is a plain cut. Scores come back as they were, not descending.
    """
    if limit <= 0:
        return []
    left, rest = list(ranking[:window]), list(ranking[window:])
    best = max((score for _, score in left), default=0.0)
    if similarity is None or best <= 0:
        return list(ranking[:limit])
    taken = [left.pop(0)]
    likeness = [similarity(name, taken[0][0]) for name, _ in left]
    while left and len(taken) < limit:
        values = [lam * score / best - (1 - lam) * like for (_, score), like in zip(left, likeness, strict=True)]
        at = max(range(len(left)), key=lambda index: (values[index], -index))
        taken.append(left.pop(at))
        likeness.pop(at)
        newest = taken[-1][0]
        likeness = [max(like, similarity(name, newest)) for (name, _), like in zip(left, likeness, strict=True)]
    return (taken + rest)[:limit]


def near_duplicates(
    ranking: Ranking, notes: Mapping[str, Note], similarity: Similarity | None
) -> tuple[list[tuple[str, float]], dict[str, str]]:
    """The ranking with each note that says what a better-placed one says left out, and whose double each of these is.

    Doubles have the same content, white space aside; or cosine ≥ 0.97, Jaccard of title and text
    ≥ 0.9, and the same numbers, options and negations, since ``-d`` and ``-D`` are as near as that. Of
    doubles in other words the newest has the place of the best. An id that is not in ``notes`` stays.
    """
    kept: list[tuple[str, float]] = []
    doubles: dict[str, str] = {}
    by_hash: dict[str, str] = {}
    said = lru_cache(maxsize=None)(lambda name: _said(notes[name]))  # few are near enough to be read
    for name, score in ranking:
        note = notes.get(name)
        first = by_hash.setdefault(content_hash(note), name) if note else name
        if first == name and similarity and note:
            near = (other for other, _ in kept if other in notes and similarity(name, other) >= DOUBLE_COSINE)
            first = next((other for other in near if _is_double(said(name), said(other))), name)
        if first == name:
            kept.append((name, score))
            continue
        first = doubles.get(first, first)
        if note and _is_newer(note, notes[first]) and content_hash(note) != content_hash(notes[first]):
            kept = [(name if other == first else other, value) for other, value in kept]
            doubles = {double: name if one == first else one for double, one in doubles.items()} | {first: name}
        else:
            doubles[name] = first
    return kept, doubles


def contradictions(notes: Sequence[Note]) -> list[Contradiction]:
    """What of these notes, in ranked order, another of them has replaced; at most one verdict a pair.

    Five grounds, the first that holds: a note says of itself at its beginning that it is replaced
    (see :func:`says_replaced`), against one not older that shares its subject; a title and its
    negation; a correction and another note of much the same title; two titles ``subject: …`` where
    the subject is one that holds one thing at a time; one title over much the same text. Between
    equals the newer wins, and without two different dates the correction, else nobody: what cannot
    be told is left alone.
    """
    gone = {note.id for note in notes if is_retired(note) or says_replaced(note)}
    facts = [_Facts.of(note, note.id in gone) for note in notes]
    found = [verdict for fact in facts if fact.gone and (verdict := _by_own_word(fact, facts)) is not None]
    terms = lru_cache(maxsize=None)(lambda text: content_terms(text[:_BEGINNING]))  # each text meets many others
    for at, one in enumerate(facts):
        for other in facts[at + 1 :]:
            if one.gone or other.gone or one.note.id == other.note.id:
                continue
            pair = (
                _by_negation(one, other)
                or _by_correction(one, other)
                or _by_head(one, other)
                or _by_title(one, other, terms)
            )
            if pair is not None:
                found.append(_verdict(*pair))
    return found


def negates(one: Note, other: Note) -> bool:
    """Whether one title is the other negated, whichever is the newer: "always squash" and "never squash"."""
    return _are_negations(_Facts.of(one, False), _Facts.of(other, False))


def says_replaced(note: Note) -> bool:
    """Whether the title, or the text in its first words, says that the note holds no more.

    ``SUPERSEDED in practice by …``, ``DEPRECATED: …``, ``Obsolete since …``; headings and comments
    before it aside. "Deprecated packages show up in …" speaks of something else.
    """
    whole = note.text[:_BEGINNING]
    bodies = (_FURNITURE.sub("", text, count=1) for text in (whole, _HEADINGS.sub("", whole, count=1)))
    said = any(_SAYS_GONE.match(body) or _SHOUTED.match(body) for body in bodies)
    return said or _TITLE_GONE.match(note.title) is not None


def settle(ranking: Ranking, found: Sequence[Contradiction]) -> list[tuple[str, float]]:
    """The ranking with each loser that stood above its winner directly below it; nothing is left out.

    A loser that is further down stays there. A moved note has no more than its winner's score.
    """
    order = [name for name, _ in ranking]
    scores = dict(ranking)
    pairs = [(one.winner, one.loser) for one in found if one.winner in scores and one.loser in scores]
    places = {name: place for place, name in enumerate(order)}
    for _ in range(len(pairs)):  # a loser may be the winner of a third; a circle ends here too
        moved = False
        for winner, loser in pairs:
            first, last = places[loser], places[winner]
            if first < last:
                order[first : last + 1] = [*order[first + 1 : last + 1], loser]
                places |= {name: place for place, name in enumerate(order[first : last + 1], start=first)}
                scores[loser] = min(scores[loser], scores[winner])
                moved = True
        if not moved:
            break
    return [(name, scores[name]) for name in order]


# Doubles


class _Said(NamedTuple):
    words: frozenset[str]
    particulars: frozenset[str]


def _said(note: Note) -> _Said:
    text = "\n".join((note.title, note.wrong, note.right, note.text))[:_SAID]
    negations = {" ".join(found.casefold().replace("’", "'").split()) for found in _NEGATIONS.findall(text)}
    return _Said(content_terms(text, shortest=1), frozenset(_PARTICULARS.findall(text)) | negations)


def _is_double(one: _Said, other: _Said) -> bool:
    return one.particulars == other.particulars and _jaccard(one.words, other.words) >= DOUBLE_JACCARD


def _is_newer(note: Note, other: Note) -> bool:
    mine, its = touched(note), touched(other)
    return mine is not None and its is not None and mine > its


def _jaccard(one: frozenset[str], other: frozenset[str]) -> float:
    return len(one & other) / len(one | other) if one or other else 0.0


# Contradictions


class _Facts(NamedTuple):
    """What the rules look at: words of the title, of its head (before the colon) and tail, tags, date."""

    note: Note
    words: frozenset[str]
    negated: bool
    head: frozenset[str]
    tail: frozenset[str]
    tags: frozenset[str]
    replacing: frozenset[str]
    said: datetime | None
    gone: bool

    @classmethod
    def of(cls, note: Note, gone: bool) -> _Facts:
        words, negated, head, tail = _of_title(note.title)
        return cls(
            note,
            words,
            negated,
            head,
            tail,
            frozenset(tag.strip().casefold() for tag in note.tags) - {""},
            _replacing(note.text[:_BEGINNING]),
            # When it was said, not when it was last touched: mending an old note's spelling does not renew it.
            moment(note.valid_from) or moment(note.created) or moment(note.updated),
            gone,
        )


# The lanes of a prompt, and the next prompts, meet the same notes: what is read of a text is kept.


@lru_cache(maxsize=1024)
def _of_title(title: str) -> tuple[frozenset[str], bool, frozenset[str], frozenset[str]]:
    """Words, whether it negates, words before the colon and after it."""
    head = _HEAD.match(title)
    return (
        content_terms(_NEGATIONS.sub(" ", title), shortest=1) - _EMPHASIS,
        _NEGATIONS.search(title) is not None,
        content_terms(head[1], shortest=1) if head else frozenset(),
        content_terms(title[head.end() :]) if head else frozenset(),
    )


@lru_cache(maxsize=256)
def _replacing(text: str) -> frozenset[str]:
    """The words of the sentences that speak of one thing in place of another."""
    if _SPEAKS_OF_REPLACEMENT.search(text) is None:
        return frozenset()
    return content_terms("\n".join(part for part in _SENTENCE.split(text) if _SPEAKS_OF_REPLACEMENT.search(part)))


def _by_own_word(loser: _Facts, facts: Sequence[_Facts]) -> Contradiction | None:
    """The note that has the place of one that says it is replaced: same head first, then most tags, newest, best."""
    heirs = [
        (loser.head == fact.head != frozenset(), len(loser.tags & fact.tags), fact.said, -at, fact)
        for at, fact in enumerate(facts)
        if not fact.gone and not _is_older(fact, loser) and _shares_subject(loser, fact)
    ]
    if not heirs:
        return None
    best = max(heirs, key=lambda heir: (heir[0], heir[1], heir[2].timestamp() if heir[2] else 0.0, heir[3]))
    return _verdict(best[4], loser)


def _shares_subject(loser: _Facts, fact: _Facts) -> bool:
    """The same title head; or half of the loser's tags, and two of them or a title word: one tag is no subject."""
    if loser.head and loser.head == fact.head:
        return True
    common = len(loser.tags & fact.tags)
    return 2 * common >= len(loser.tags) and (common >= 2 or (common == 1 and bool(loser.words & fact.words)))


def _by_negation(one: _Facts, other: _Facts) -> tuple[_Facts, _Facts] | None:
    return _by_age(one, other) if _are_negations(one, other) else None


def _are_negations(one: _Facts, other: _Facts) -> bool:
    if one.negated == other.negated or len(one.words & other.words) < COMMON_WORDS:
        return False
    return _jaccard(one.words, other.words) > NEGATED_JACCARD and _may_share_tag(one, other)


def _by_correction(one: _Facts, other: _Facts) -> tuple[_Facts, _Facts] | None:
    corrects = [fact.note.kind == "correction" for fact in (one, other)]
    if corrects[0] == corrects[1] or len(one.words & other.words) < COMMON_WORDS:
        return None
    if _jaccard(one.words, other.words) < CORRECTED_JACCARD:
        return None
    return (one, other) if corrects[0] else (other, one)


def _by_head(one: _Facts, other: _Facts) -> tuple[_Facts, _Facts] | None:
    """``Git: …`` twice are two notes on git: a head has two words, and names a rule or is said to be replaced.

    A rule of the same name needs half of its tags too: there may be a naming convention for tables
    and another for branches.
    """
    if len(one.head) < 2 or one.head != other.head or not one.tags & other.tags or one.words == other.words:
        return None
    if not (one.said and other.said and one.said != other.said):
        return None
    newer, older = _by_age(one, other) or (one, other)
    rule = newer.head & _ONE_AT_A_TIME and _jaccard(newer.tags, older.tags) >= RULE_TAGS
    return (newer, older) if rule or _speaks_of(newer, older) else None


def _by_title(one: _Facts, other: _Facts, terms: Callable[[str], frozenset[str]]) -> tuple[_Facts, _Facts] | None:
    """Two dated notes of one title and much the same text: the older was written anew."""
    if len(one.words) < COMMON_WORDS or one.words != other.words or one.negated != other.negated:
        return None
    if not (one.said and other.said and one.said != other.said):
        return None
    return _by_age(one, other) if _jaccard(terms(one.note.text), terms(other.note.text)) >= ANEW_JACCARD else None


def _speaks_of(newer: _Facts, older: _Facts) -> bool:
    """Whether where ``newer`` speaks of replacement it has half of the words that ``older`` has after its head."""
    wanted = older.tail - older.head - newer.tail
    return bool(wanted) and 2 * len(newer.replacing & wanted) >= len(wanted)


def _by_age(one: _Facts, other: _Facts) -> tuple[_Facts, _Facts] | None:
    """Winner and loser: the newer, else the correction, else nobody."""
    if one.said and other.said and one.said != other.said:
        return (one, other) if one.said > other.said else (other, one)
    corrects = one.note.kind == "correction"
    if corrects == (other.note.kind == "correction"):
        return None
    return (one, other) if corrects else (other, one)


def _is_older(one: _Facts, other: _Facts) -> bool:
    return one.said is not None and other.said is not None and one.said < other.said


def _may_share_tag(one: _Facts, other: _Facts) -> bool:
    return bool(one.tags & other.tags) or not one.tags or not other.tags


def _verdict(winner: _Facts, loser: _Facts) -> Contradiction:
    day = f", {winner.said.date().isoformat()}" if winner.said else ""
    return Contradiction(winner.note.id, loser.note.id, f"replaced by {winner.note.title or winner.note.id}{day}")
