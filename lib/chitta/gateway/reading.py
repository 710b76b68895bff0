"""One prompt read against one snapshot: its terms, what its arms find, and what notes share with it.

The lanes of one prompt ask for the same things. A reading is made once and shared by them
(:mod:`chitta.gateway.readings`); what one has asked for, the others find. Whoever asks first
computes, whoever asks meanwhile waits.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import datetime, timezone
from threading import Lock
from typing import TYPE_CHECKING, NamedTuple

from chitta.index.terms import Terms, analyse
from chitta.recall.evidence import NO_COSINE, Evidence, weighted_share
from chitta.recall.filters import is_expired, named, newest_of_circle, touched

if TYPE_CHECKING:
    import numpy as np

    from chitta.index import Hit
    from chitta.index.snapshot import Snapshot
    from chitta.index.stored import NoteTerms
    from chitta.index.vectors import Comparison
    from chitta.notes.note import Note

#: Characters of a note's text in a row; the block shows less, and no more of it is kept here.
ROW_TEXT_CHARS = 1_500
#: Successors of successors that are looked up; a longer circle is not found.
_MOST_SUCCESSORS = 8
_TOKEN_LIMIT = 32
_EVER = datetime.min.replace(tzinfo=timezone.utc)

#: What a search is limited to: a realm, or all, and kinds, or all.
_Scope = tuple[str | None, frozenset[str] | None]


class _Weighed(NamedTuple):
    """A note and what it shares with the prompt, whichever lane asks."""

    note: Note
    shared: tuple[str, ...]
    coverage: float
    title: float


class Reading:
    """A prompt's terms with their idf in this store, and the evidence of notes for it.

    ``mass`` is the sum of the terms' idf; ``plain`` the prompt's lower-cased distinctive tokens. What has
    expired ``now`` (the moment of reading) replaces nothing. Notes of the kinds ``without`` are not found.
    Safe to share between threads.
    """

    def __init__(
        self,
        snapshot: Snapshot,
        terms: Terms,
        tokens: Sequence[str],
        now: datetime | None = None,
        without: frozenset[str] = frozenset(),
    ) -> None:
        self._without = without
        self.terms = terms
        self.tokens = tuple(tokens)
        self.plain = self.tokens or terms.words
        self.wanted = tuple(dict.fromkeys(terms.words + terms.exact))
        self.weights: Mapping[str, float] = snapshot.keyword.idf(self.wanted)
        self.mass = sum(self.weights.values())
        self._wanted = frozenset(self.wanted)
        self._parts = [(token, _parts_of(token)) for token in self.tokens]
        self._snapshot = snapshot
        self.now = now or datetime.now(timezone.utc)
        self._words_lock, self._near_lock, self._notes_lock = Lock(), Lock(), Lock()
        self._found: dict[_Scope, tuple[int, list[Hit]]] = {}
        self._compared: list[Comparison] = []
        self._weighed: dict[str, _Weighed] = {}

    # Arms

    def words(self, realm: str | None, limit: int, kinds: Collection[str] | None = None) -> list[Hit]:
        """The best ``limit`` notes by BM25. See :meth:`chitta.index.keyword.KeywordIndex.search`."""
        scope = (realm, None if kinds is None else frozenset(kinds))
        with self._words_lock:
            depth, hits = self._found.get(scope, (0, []))
            if depth < limit:
                hits = self._snapshot.keyword.search(
                    self.terms, realm=realm, kinds=kinds, without=self._without, limit=limit
                )
                self._found[scope] = (limit, hits)
        return hits[:limit]

    def compared(self, vector: np.ndarray | None) -> Comparison | None:
        """A vector of the prompt against those of the notes; None where either is missing. The last two are kept."""
        vectors = self._snapshot.vectors
        if vector is None or vectors is None:
            return None
        with self._near_lock:
            found = next((one for one in self._compared if _equal(one.query, vector)), None)
            if found is None:
                found = vectors.compare(vector, self._without)
                self._compared = [*self._compared[-1:], found]
            return found

    # Evidence

    def weigh(
        self,
        names: Iterable[str],
        *,
        words: Mapping[str, float],
        cosines: Mapping[str, float] | None = None,
        centre: float = 0.0,
    ) -> dict[str, Evidence]:
        """Evidence by id. ``words`` are BM25 scores, ``cosines`` cosines, ``centre`` the prompt's background."""
        near = cosines or {}
        return {
            name: self._evidence(found, words.get(name, 0.0), near.get(name, NO_COSINE), centre)
            for name, found in self._weigh(names).items()
        }

    def weighed(self, names: Sequence[str], words: Mapping[str, float], near: Comparison | None) -> dict[str, Evidence]:
        """Evidence of notes from their BM25 scores and, where it is to be had, from meaning."""
        if near is None:
            return self.weigh(names, words=words)
        return self.weigh(names, words=words, cosines=near.cosines(names), centre=near.centre())

    def notes(self, names: Iterable[str]) -> dict[str, Note]:
        """The notes of these ids, in the order asked, with as much of their text as a row holds."""
        return {name: found.note for name, found in self._weigh(names).items()}

    def shared_with(self, name: str) -> tuple[str, ...]:
        """The prompt's distinctive tokens that this note holds; empty for a note not weighed."""
        found = self._weighed.get(name)
        return found.shared if found is not None else ()

    def _evidence(self, found: _Weighed, bm25: float, cos: float, centre: float) -> Evidence:
        return Evidence(
            cos=cos,
            lift=cos - centre if cos != NO_COSINE else 0.0,
            bm25=bm25,
            density=bm25 / self.mass if self.mass else 0.0,
            coverage=found.coverage,
            title=found.title,
            shared=len(found.shared),
        )

    def _weigh(self, names: Iterable[str]) -> dict[str, _Weighed]:
        names = list(dict.fromkeys(names))
        with self._notes_lock:
            missing = [name for name in names if name not in self._weighed]
            if missing:
                newer = self._snapshot.catalog.successors(missing)
                heirs = self._snapshot.catalog.notes(sorted({heir for names in newer.values() for heir in names}))
                found = self._snapshot.catalog.with_terms(missing)
                chains = self._chains([note for note, _ in found.values()])
                for name, (note, terms) in found.items():
                    if newest_of_circle(name, chains) == name:
                        note = note._replace(superseded_by="", valid_until="")
                    elif name in newer and not named(note.superseded_by):
                        claimants = [heirs[at] for at in newer[name] if at in heirs]
                        note = note._replace(superseded_by=_heir(note, claimants, self.now))
                    self._weighed[name] = self._weigh_one(note, terms)
        return {name: self._weighed[name] for name in names if name in self._weighed}

    def _chains(self, notes: Iterable[Note]) -> dict[str, Note]:
        """The replaced ones of these notes with their successors, by id; {} where none is replaced."""
        chains = {note.id: note for note in notes if named(note.superseded_by)}
        wanted = {named(note.superseded_by) for note in chains.values()} - chains.keys()
        for _ in range(_MOST_SUCCESSORS):
            if not wanted:
                break
            heirs = self._snapshot.catalog.notes(sorted(wanted))
            chains.update(heirs)
            wanted = {named(heir.superseded_by) for heir in heirs.values()} - chains.keys() - {""}
        return chains

    def _weigh_one(self, note: Note, terms: NoteTerms) -> _Weighed:
        title_weights = self._snapshot.keyword.idf(terms.title)
        if len(note.text) > ROW_TEXT_CHARS:
            note = note._replace(text=note.text[:ROW_TEXT_CHARS])
        return _Weighed(
            note,
            shared=tuple(token for token, parts in self._parts if parts and parts <= terms.whole),
            coverage=weighted_share(self.wanted, terms.whole, self.weights),
            title=weighted_share(terms.title, self._wanted, title_weights),
        )


def _heir(note: Note, claimants: Iterable[Note], now: datetime) -> str:
    """The newest note that may replace this one, or "".

    None that is quarantined or expired, or that is older and replaced by this one.
    """
    ages = {
        one.id: (touched(one) or _EVER, one.id)
        for one in claimants
        if not one.quarantine
        and not is_expired(one, now)
        and not (one.id in note.supersedes and (touched(note) or _EVER, note.id) > (touched(one) or _EVER, one.id))
    }
    return max(ages, key=lambda name: ages[name], default="")


def _equal(one: np.ndarray, other: np.ndarray) -> bool:
    """Whether two askers brought the same vector; an embedder that shares its vectors makes this a look."""
    import numpy as np

    return one is other or np.array_equal(one, other)


def _parts_of(token: str) -> frozenset[str]:
    """What a note must hold of a distinctive token to share it: all of its parts, stems taken as equal."""
    terms = analyse(token, limit=_TOKEN_LIMIT)
    return frozenset(terms.exact or terms.words)


def read_prompt(
    snapshot: Snapshot,
    text: str,
    tokens: Sequence[str],
    now: datetime | None = None,
    without: frozenset[str] = frozenset(),
) -> Reading:
    """Analyse a prompt (or any text to recall on) against a snapshot."""
    return Reading(snapshot, analyse(text), tokens, now, without)
