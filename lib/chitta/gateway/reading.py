"""One prompt read against one snapshot: its terms, their weights, and what a note shares with it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING

from chitta.index.terms import Terms, analyse
from chitta.recall.evidence import NO_COSINE, Evidence, weighted_share

if TYPE_CHECKING:
    from chitta.index.snapshot import Snapshot
    from chitta.notes.note import Note

#: Characters of a note that are looked at; a longer note is judged by its beginning.
NOTE_CHARS = 20_000


@lru_cache(maxsize=4_096)
def _note_terms(title: str, text: str) -> tuple[frozenset[str], frozenset[str]]:
    """Terms of the whole note and of its title."""
    whole = analyse(f"{title}\n{text}"[:NOTE_CHARS], limit=None)
    head = analyse(title, limit=None)
    return frozenset(whole.words + whole.exact), frozenset(head.words)


@lru_cache(maxsize=1_024)
def _token_terms(token: str) -> tuple[str, ...]:
    terms = analyse(token, limit=32)
    return terms.exact or terms.words


class Reading:
    """A prompt's terms with their idf in this store, and the evidence of notes for it.

    ``mass`` is the sum of the terms' idf; ``plain`` the prompt's lower-cased distinctive tokens.
    """

    def __init__(self, snapshot: Snapshot, terms: Terms, tokens: Sequence[str]) -> None:
        self.snapshot = snapshot
        self.terms = terms
        self.plain = tuple(tokens) or terms.words
        self.tokens = tuple(tokens)
        wanted = dict.fromkeys(terms.words + terms.exact)
        self.weights: Mapping[str, float] = snapshot.keyword.idf(list(wanted))
        self.wanted = tuple(wanted)
        self.mass = sum(self.weights.values())
        self._shared: dict[str, tuple[str, ...]] = {}

    def weigh(
        self,
        names: Iterable[str],
        *,
        words: Mapping[str, float],
        cosines: Mapping[str, float] | None = None,
        centre: float = 0.0,
    ) -> dict[str, Evidence]:
        """Evidence by id. ``words`` are BM25 scores, ``cosines`` cosines, ``centre`` the prompt's background."""
        notes = self.snapshot.catalog.notes(list(names))
        near = cosines or {}
        return {
            name: self._weigh_one(note, words.get(name, 0.0), near.get(name, NO_COSINE), centre)
            for name, note in notes.items()
        }

    def _weigh_one(self, note: Note, bm25: float, cos: float, centre: float) -> Evidence:
        held, head = _note_terms(note.title, note.text)
        shared = tuple(token for token in self.tokens if self._holds(token, held))
        self._shared[note.id] = shared
        title_weights = self.snapshot.keyword.idf(list(head))
        return Evidence(
            cos=cos,
            lift=cos - centre if cos != NO_COSINE else 0.0,
            bm25=bm25,
            density=bm25 / self.mass if self.mass else 0.0,
            coverage=weighted_share(self.wanted, held, self.weights),
            title=weighted_share(head, self.wanted, title_weights),
            shared=len(shared),
        )

    @staticmethod
    def _holds(token: str, held: frozenset[str]) -> bool:
        """Whether a note's terms hold a distinctive token: all of its parts, stems taken as equal."""
        parts = _token_terms(token)
        return bool(parts) and all(part in held for part in parts)

    def shared_with(self, name: str) -> tuple[str, ...]:
        """The prompt's distinctive tokens that this note holds; empty for a note not weighed."""
        return self._shared.get(name, ())


def read_prompt(snapshot: Snapshot, text: str, tokens: Sequence[str]) -> Reading:
    """Analyse a prompt (or any text to recall on) against a snapshot."""
    return Reading(snapshot, analyse(text), tokens)
