"""One consistent way into the index for a reader: what is there, what is damaged, what is still new.

A damaged part never reads as "nothing known": it is named in :attr:`Snapshot.problems`, and the
other parts go on. Without the catalog, notes come from the keyword index, which holds them too.

Imported on the prompt path when the daemon is away: numpy is imported when a vector is compared.
"""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from typing import TypeVar

from chitta.index import Hit, IndexDamaged, generation
from chitta.index.catalog import Catalog, Model
from chitta.index.generation import Generation
from chitta.index.graph import Dated, Graph
from chitta.index.keyword import KeywordIndex
from chitta.index.stored import Filed, NoteTerms
from chitta.index.terms import Terms, terms_of
from chitta.index.vectors import VectorIndex
from chitta.notes.note import Note
from chitta.notes.triplet import Edge

#: Times that opening is tried anew when the index changes meanwhile.
_TRIES = 4
_ALL = 1_000_000_000

_Answer = TypeVar("_Answer")

Report = Callable[[str, IndexDamaged], None]


class Words:
    """The keyword index; empty, and reported, where it is damaged. See :class:`KeywordIndex`."""

    def __init__(self, index: KeywordIndex | None, report: Report) -> None:
        self._index = index
        self._report = report

    def search(
        self,
        terms: Terms,
        *,
        realm: str | None = None,
        kinds: Collection[str] | None = None,
        without: Collection[str] = (),
        limit: int = 10,
    ) -> list[Hit]:
        with _reported("keyword", self._report):
            if self._index is not None:
                return self._index.search(terms, realm=realm, kinds=kinds, without=without, limit=limit)
        return []

    def idf(self, terms: Iterable[str]) -> dict[str, float]:
        """Weights by term; 1 for each where the index is damaged."""
        wanted = list(terms)
        with _reported("keyword", self._report):
            if self._index is not None:
                return self._index.idf(wanted)
        return dict.fromkeys(wanted, 1.0)


class Notes:
    """Notes from the catalog, and from the keyword index where that is damaged. See :class:`Catalog`."""

    def __init__(self, catalog: Catalog | None, stored: KeywordIndex | None, report: Report) -> None:
        self._catalog = catalog
        self._stored = stored
        self._report = report

    def notes(self, ids: Sequence[str]) -> dict[str, Note]:
        with _reported("catalog", self._report):
            if self._catalog is not None:
                return self._catalog.notes(ids)
        with _reported("keyword", self._report):
            found = self._stored.notes(ids) if self._stored is not None else {}
            return {name: found[name] for name in ids if name in found}
        return {}

    def with_terms(self, ids: Sequence[str]) -> dict[str, tuple[Note, NoteTerms]]:
        with _reported("catalog", self._report):
            if self._catalog is not None:
                return self._catalog.with_terms(ids)
        return {name: (note, terms_of(note.title, note.text)) for name, note in self.notes(ids).items()}

    def corrections(self, realms: Collection[str]) -> list[Note]:
        with _reported("catalog", self._report):
            if self._catalog is not None:
                return self._catalog.corrections(realms)
        return self._select(realms, "correction")

    def count(self, realm: str | None = None, kind: str | None = None) -> int:
        with _reported("catalog", self._report):
            if self._catalog is not None:
                return self._catalog.count(realm, kind)
        return len(self._select(None if realm is None else [realm], kind))

    def realms(self) -> dict[str, int]:
        with _reported("catalog", self._report):
            if self._catalog is not None:
                return self._catalog.realms()
        counts: dict[str, int] = {}
        for note in self._select(None, None):
            counts[note.realm] = counts.get(note.realm, 0) + 1
        return dict(sorted(counts.items()))

    def page(self, realm: str | None = None, kind: str | None = None, limit: int = 50, offset: int = 0) -> list[Note]:
        with _reported("catalog", self._report):
            if self._catalog is not None:
                return self._catalog.page(realm, kind, limit, offset)
        found = self._select(None if realm is None else [realm], kind)
        found.sort(key=lambda note: max(note.created, note.updated), reverse=True)
        return found[offset : offset + limit]

    def holding(self, fragments: Collection[str]) -> list[Note]:
        with _reported("catalog", self._report):
            return self._catalog.holding(fragments) if self._catalog is not None else []
        return []

    def path_of(self, name: str) -> str | None:
        with _reported("catalog", self._report):
            return self._catalog.path_of(name) if self._catalog is not None else None
        return None

    def filed(self, ids: Sequence[str]) -> dict[str, Filed]:
        with _reported("catalog", self._report):
            return self._catalog.filed(ids) if self._catalog is not None else {}
        return {}

    # What notes share and state, from the catalog alone: nothing where it is damaged. See :class:`Graph`.

    def entities_of(self, ids: Sequence[str]) -> dict[str, tuple[str, ...]]:
        return self._linked(lambda graph: graph.entities_of(ids), {})

    def entity_counts(self, entities: Sequence[str], realm: str | None = None) -> dict[str, int]:
        return self._linked(lambda graph: graph.entity_counts(entities, realm), {})

    def sharing(self, entities: Sequence[str], realm: str | None = None, limit: int = 200) -> dict[str, list[str]]:
        return self._linked(lambda graph: graph.sharing(entities, realm, limit), {})

    def degree(self, ids: Sequence[str]) -> dict[str, int]:
        return self._linked(lambda graph: graph.degree(ids), dict.fromkeys(ids, 0))

    def edges(self, name: str, realm: str | None = None) -> list[Edge]:
        return self._linked(lambda graph: graph.edges(name, realm), [])

    def successors(self, ids: Sequence[str]) -> dict[str, tuple[str, ...]]:
        return self._linked(lambda graph: graph.successors(ids), {})

    def between(self, realm: str | None, start: str, end: str, limit: int = 50) -> list[Dated]:
        return self._linked(lambda graph: graph.between(realm, start, end, limit), [])

    def _linked(self, ask: Callable[[Graph], _Answer], nothing: _Answer) -> _Answer:
        with _reported("catalog", self._report):
            return ask(self._catalog.graph) if self._catalog is not None else nothing
        return nothing

    def pending(self) -> int:
        """Notes without a vector; 0 where that cannot be told."""
        with _reported("catalog", self._report):
            return self._catalog.pending() if self._catalog is not None else 0
        return 0

    def _select(self, realms: Collection[str] | None, kind: str | None) -> list[Note]:
        with _reported("keyword", self._report):
            return self._stored.select(realms=realms, kind=kind, limit=_ALL) if self._stored is not None else []
        return []


class Snapshot:
    """An open index. Safe to share between threads; :meth:`close` it when no thread uses it any more.

    ``vectors`` is None when there are none that can be used; ``model`` names the embedder that
    made them. ``damaged`` holds ``catalog``, ``keyword`` or ``vectors``, ``problems`` the sentences.
    """

    def __init__(self, index_dir: str, found: Generation, model: Model | None, with_vectors: bool = True) -> None:
        self.generation = found.number
        self.problems: list[str] = []
        self.damaged: set[str] = set()
        self._index_dir = index_dir
        self._found = found
        self._opened_catalog = catalog = self._open_catalog()
        self._state = self._signature()  # before the rest is opened: what is committed meanwhile makes us stale
        words = self._open_words()
        self.keyword = Words(words, self._report)
        self.catalog = Notes(catalog, words, self._report)
        self.model = ""
        self.vectors: VectorIndex | None = None
        self.agrees = True
        if catalog is not None:
            with _reported("catalog", self._report):
                if with_vectors:
                    self._open_vectors(catalog, model)
                self.agrees = words is None or words.count == catalog.count()
        if not self.agrees:
            self._report("keyword", IndexDamaged("keywords and catalog do not hold the same notes"))

    def fresh(self) -> bool:
        """Whether this is still the latest state of the index; cheap enough to ask before every request."""
        if generation.current(self._index_dir) != self._found:
            return False
        return self._signature() == self._state

    def close(self) -> None:
        if self._opened_catalog is not None:
            self._opened_catalog.close()

    def _open_words(self) -> KeywordIndex | None:
        with _reported("keyword", self._report):
            return KeywordIndex.open(self._found.keyword)
        return None

    def _open_catalog(self) -> Catalog | None:
        with _reported("catalog", self._report):
            return Catalog(self._found.catalog)
        return None

    def _open_vectors(self, catalog: Catalog, wanted: Model | None) -> None:
        had = catalog.model()
        self.model = had.name
        rows = catalog.vector_rows()
        if not rows:
            return
        if wanted is not None and wanted != had:
            self._report(
                "vectors", IndexDamaged(f"vectors were made by {had.name}, not {wanted.name}: run `chitta reindex`")
            )
            return

        def lost(problem: str) -> None:
            self._report("vectors", IndexDamaged(problem))

        found = VectorIndex(self._found.vectors, had.dim, catalog.matrices(), rows, lost)
        self.vectors = found if found.count else None

    def _signature(self) -> tuple[int, ...]:
        """Changes with every commit; of a catalog that cannot be read, with its file."""
        with _reported("catalog", self._report):
            if self._opened_catalog is not None:
                return self._opened_catalog.version()
        with contextlib.suppress(OSError):
            status = os.stat(self._found.catalog)
            return (status.st_ino, status.st_mtime_ns, status.st_size)
        return ()

    def _report(self, part: str, problem: IndexDamaged) -> None:
        self.damaged.add(part)
        if str(problem) not in self.problems:
            self.problems.append(str(problem))


def open_snapshot(index_dir: str, model: Model | None = None, *, with_vectors: bool = True) -> Snapshot | None:
    """The current index, or None when there is none.

    ``model`` is the embedder that will be used; vectors of another one are then left out and
    reported. Not ``with_vectors``: for who asks by words alone, since the places of 100,000 vectors
    take a third of a second to read. Never raises for a damaged index.
    """
    snapshot = None
    for attempt in range(_TRIES):
        found = generation.current(index_dir)
        if found is None:
            return None
        if snapshot is not None:
            snapshot.close()
        snapshot = Snapshot(index_dir, found, model, with_vectors)
        # A writer commits words and then the catalog, and may switch generations: look again before complaining.
        if not snapshot.damaged & {"catalog", "keyword"}:
            return snapshot
        if snapshot.agrees and generation.current(index_dir) == found:
            return snapshot
        time.sleep(0.02 * (attempt + 1))
    return snapshot


@contextlib.contextmanager
def _reported(part: str, report: Report) -> Iterator[None]:
    try:
        yield
    except IndexDamaged as problem:
        report(part, problem)
