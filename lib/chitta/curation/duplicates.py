"""Whether a note that is about to be kept says what another one says already, or its contrary. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Literal, NamedTuple

from chitta.notes.note import Note
from chitta.recall.diversify import DOUBLE_COSINE, negates
from chitta.recall.filters import content_hash, is_retired
from chitta.recall.overlap import content_terms

#: Share of common words over which two notes are near (reflect's rule for titles that contradict each other).
NEAR_JACCARD = 0.9
#: Characters of a note whose words are compared.
_SAID = 20_000

SAME, NEAR, CONTRARY = "same", "near", "contrary"
How = Literal["same", "near", "contrary"]
_ORDER = {SAME: 0, NEAR: 1, CONTRARY: 2}


class Twin(NamedTuple):
    """A note like the one at hand; ``likeness`` is 0 to 1, the greater of cosine and share of common words."""

    note: Note
    how: How
    likeness: float


def twins(note: Note, candidates: Iterable[Note], cosines: Mapping[str, float] | None = None) -> list[Twin]:
    """Those of the candidates that say the same, nearly the same, or the contrary; the likest first, ties by id.

    *Same*: title and text without white space are equal, or the texts are. *Near*: cosine ≥ 0.97 (reflect),
    by ``cosines`` of the candidates with the note, or more than 0.9 of all words in common. *Contrary*: one title
    is the other negated. Candidates of the note's own realm and id, and retired ones, are passed over.
    """
    found: list[Twin] = []
    words = words_of(note)
    for other in {(one.realm, one.id): one for one in candidates}.values():
        if (other.realm, other.id) == (note.realm, note.id) or is_retired(other):
            continue
        likeness = max(jaccard(words, words_of(other)), (cosines or {}).get(other.id, 0.0))
        how = _how(note, other, words, likeness, (cosines or {}).get(other.id, 0.0))
        if how is not None:
            found.append(Twin(other, how, 1.0 if how == SAME else min(1.0, round(likeness, 3))))
    return sorted(found, key=lambda twin: (_ORDER[twin.how], -twin.likeness, twin.note.realm, twin.note.id))


def words_of(note: Note) -> frozenset[str]:
    """The content words of everything that the note says."""
    return content_terms("\n".join((note.title, note.wrong, note.right, note.text))[:_SAID], shortest=1)


def jaccard(one: frozenset[str], other: frozenset[str]) -> float:
    """Share of common words of all words, 0 to 1; 0 where neither has any."""
    return len(one & other) / len(one | other) if one or other else 0.0


def _how(note: Note, other: Note, words: frozenset[str], likeness: float, cosine: float) -> How | None:
    if content_hash(note) == content_hash(other) or _flat(note.text) == _flat(other.text) != "":
        return "same"
    if negates(note, other):  # before near: a negation is one word of many
        return "contrary"
    return "near" if cosine >= DOUBLE_COSINE or jaccard(words, words_of(other)) > NEAR_JACCARD else None


def _flat(text: str) -> str:
    return " ".join(text.split())
