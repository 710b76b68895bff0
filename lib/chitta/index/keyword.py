"""The keyword index: BM25 over the terms of notes, held by tantivy.

A note is one document: its id, realm and kind as filters, its terms, and the whole note, so
that keyword search answers even when the catalog is lost. Title terms are counted twice before
saturation, the simple form of weighted fields (Robertson, Zaragoza and Taylor, CIKM 2004).

Queries are built from terms, never parsed: tantivy's query parser fails on most prompts and
can be made to overflow the stack by nested brackets.
"""

from __future__ import annotations

import contextlib
import math
import os
from collections.abc import Collection, Iterable, Iterator, Sequence
from functools import cached_property
from typing import Any

import tantivy
from tantivy import Occur, Query

from chitta.index import Hit, failure
from chitta.index.stored import pack, unpack
from chitta.index.terms import Apart, Terms, analyse, take_apart
from chitta.notes.note import BOOKKEEPING_KINDS, Note, without_surrogates

TITLE_WEIGHT = 2
# An identifier is found by its words too; its exact form only adds to them.
EXACT_WEIGHT = 0.5
WRITER_HEAP = 50_000_000  # bytes
#: Ids by place, and weights by term, that are kept: 6 MB and 3 MB.
KEPT_NAMES = 20_000
KEPT_WEIGHTS = 20_000
# Scores are 32-bit sums whose last digits depend on segment layout; equal notes must tie.
SCORE_DIGITS = 4


def _schema() -> tantivy.Schema:
    builder = tantivy.SchemaBuilder()
    for name in ("id", "realm", "kind"):
        builder.add_text_field(name, stored=name == "id", tokenizer_name="raw", index_option="basic")
    builder.add_text_field("terms", tokenizer_name="whitespace", index_option="freq")
    builder.add_bytes_field("note", stored=True)
    return builder.build()


class KeywordIndex:
    """The read side: one searcher, fixed at the commit it was opened on. Safe to share by threads."""

    def __init__(self, schema: tantivy.Schema, searcher: tantivy.Searcher) -> None:
        self._schema = schema
        self._searcher = searcher
        self._names: dict[tuple[int, int], str] = {}
        self._weights: dict[str, float] = {}

    @classmethod
    def open(cls, path: str) -> KeywordIndex:
        """Open the index in folder ``path``. Raises :class:`chitta.index.IndexDamaged`."""
        with _damage(path):
            try:
                index = tantivy.Index.open(path)
                index.config_reader("manual")
                return cls(index.schema, index.searcher())
            except ValueError:
                if not os.path.isfile(os.path.join(path, "meta.json")):
                    raise
                return cls._open_read_only(path)

    @classmethod
    def _open_read_only(cls, path: str) -> KeywordIndex:
        """tantivy locks a file to open an index; where none can be made, lock one in a folder of links."""
        import tempfile

        with tempfile.TemporaryDirectory(prefix="chitta-keyword-") as links:
            for name in os.listdir(path):
                if not name.endswith(".lock"):
                    os.symlink(os.path.join(os.path.abspath(path), name), os.path.join(links, name))
            index = tantivy.Index.open(links)
            index.config_reader("manual")
            return cls(index.schema, index.searcher())  # maps every file, so the links may go

    @property
    def count(self) -> int:
        """Notes in the index."""
        return int(self._searcher.num_docs)

    def search(
        self,
        terms: Terms,
        *,
        realm: str | None = None,
        kinds: Collection[str] | None = None,
        without: Collection[str] = (),
        limit: int = 10,
    ) -> list[Hit]:
        """The best ``limit`` notes that hold any of ``terms``, by BM25, ties by id.

        ``realm``, ``kinds`` and the kinds of ``without`` leave notes out without changing the score of the others.
        Raises :class:`chitta.index.IndexDamaged` when the index cannot be read.
        """
        query = self._query(terms, realm, kinds, without)
        if query is None or limit <= 0:
            return []
        with _damage("keyword index"):
            return self._top(query, limit)

    def _query(
        self, terms: Terms, realm: str | None, kinds: Collection[str] | None, without: Collection[str]
    ) -> Query | None:
        if not terms.words and not terms.exact or kinds is not None and not kinds:
            return None
        wanted = [(Occur.Should, self._term("terms", word, "freq")) for word in terms.words]
        wanted += [
            (Occur.Should, Query.boost_query(self._term("terms", form, "freq"), EXACT_WEIGHT)) for form in terms.exact
        ]
        parts = [(Occur.Must, Query.boolean_query(wanted))]
        if realm is not None:
            parts.append((Occur.Must, Query.const_score_query(self._term("realm", realm, "basic"), 0.0)))
        if kinds is not None:
            parts.append((Occur.Must, Query.const_score_query(self._any_kind(kinds), 0.0)))
        if without:
            parts.append((Occur.MustNot, self._any_kind(without)))
        return Query.boolean_query(parts)

    def _any_kind(self, kinds: Collection[str]) -> Query:
        return Query.term_set_query(self._schema, "kind", sorted(map(without_surrogates, kinds)))

    def _term(self, field: str, value: str, option: str) -> Query:
        return Query.term_query(self._schema, field, without_surrogates(value), option)  # it takes UTF-8 alone

    def _top(self, query: Query, limit: int) -> list[Hit]:
        """``limit`` hits by score then id: a tie across the cut is fetched whole before it is cut."""
        fetched = limit + 16
        while True:
            found = self._searcher.search(query, max(min(fetched, self.count), 1), count=False).hits
            scores = [round(score, SCORE_DIGITS) for score, _ in found]
            if len(found) < fetched or scores[-1] < scores[limit - 1]:
                break
            fetched *= 4
        cut = scores[limit - 1] if len(scores) > limit else -math.inf
        hits = [
            Hit(self._name(address), score) for score, (_, address) in zip(scores, found, strict=True) if score >= cut
        ]
        hits.sort(key=lambda hit: (-hit.score, hit.id))
        return hits[:limit]

    def _name(self, address: tantivy.DocAddress) -> str:
        """The id of a document. Reading one costs as much as a tenth of a search, and a search has fifty."""
        key = (address.segment_ord, address.doc)
        name = self._names.get(key)
        if name is None:
            if len(self._names) >= KEPT_NAMES:
                self._names.clear()
            name = self._names[key] = str(self._searcher.doc(address).get_first("id"))
        return name

    def idf(self, terms: Iterable[str]) -> dict[str, float]:
        """``ln(1 + (N − n + ½) / (n + ½))`` by term, the weight that BM25 gives it (Robertson and Walker, 1994).

        N notes, n of them holding the term; a term that no note holds has the highest weight. Notes that only record
        what happened do not count: a hundred captured commits make no word common.
        """
        with _damage("keyword index"):
            return {term: self._weights.get(term) or self._weigh(term) for term in terms}

    def _weigh(self, term: str) -> float:
        total = self.count - self._bookkeeping
        if self._bookkeeping:
            parts = [
                (Occur.Must, self._term("terms", term, "freq")),
                (Occur.MustNot, self._any_kind(BOOKKEEPING_KINDS)),
            ]
            holding = self._count(Query.boolean_query(parts))
        else:
            holding = self._searcher.doc_freq("terms", term)
        holding = min(holding, total)
        weight = math.log(1 + (total - holding + 0.5) / (holding + 0.5))
        if len(self._weights) >= KEPT_WEIGHTS:
            self._weights.clear()
        self._weights[term] = weight
        return weight

    @cached_property
    def _bookkeeping(self) -> int:
        return self._count(self._any_kind(BOOKKEEPING_KINDS))

    def _count(self, query: Query) -> int:
        found: Any = self._searcher.search(query, 1, count=True)  # its stubs know nothing of `count`
        return int(found.count)

    def notes(self, ids: Sequence[str]) -> dict[str, Note]:
        """The notes of these ids as they were when indexed; unknown ids are left out."""
        wanted = [(Occur.Should, self._term("id", name, "basic")) for name in ids]
        return {note.id: note for note in self._stored(Query.boolean_query(wanted), len(ids))} if wanted else {}

    def select(self, *, realms: Collection[str] | None, kind: str | None, limit: int) -> list[Note]:
        """Notes of these realms and of this kind, by id."""
        parts = []
        if realms is not None:
            parts.append(
                (Occur.Must, Query.term_set_query(self._schema, "realm", sorted(map(without_surrogates, realms))))
            )
        if kind is not None:
            parts.append((Occur.Must, self._term("kind", kind, "basic")))
        query = Query.boolean_query(parts) if parts else Query.all_query()
        return sorted(self._stored(query, limit), key=lambda note: note.id)

    def _stored(self, query: Query, limit: int) -> list[Note]:
        with _damage("keyword index"):
            found = self._searcher.search(query, max(min(limit, self.count), 1), count=False).hits
            raw = [self._searcher.doc(address).get_first("note") for _, address in found]
            return [unpack(bytes(packed)) for packed in raw if packed]


class KeywordWriter:
    """The write side. One at a time, under the index's write lock; used by the indexer only.

    The index is opened by the first change, and made when it is not there.
    """

    def __init__(self, path: str) -> None:
        self._path = path
        self._opened: tantivy.IndexWriter | None = None

    @property
    def _writer(self) -> tantivy.IndexWriter:
        if self._opened is None:
            with _damage(self._path):
                os.makedirs(self._path, mode=0o700, exist_ok=True)
                there = tantivy.Index.exists(self._path)
                index = tantivy.Index.open(self._path) if there else tantivy.Index(_schema(), self._path)
                self._opened = index.writer(WRITER_HEAP, 1)
        return self._opened

    def put(self, note: Note, apart: Apart | None = None) -> None:
        """Add the note, in place of any other with its id."""
        self._writer.delete_documents_by_term("id", note.id)
        document = tantivy.Document()
        document.add_text("id", note.id)
        document.add_text("realm", note.realm)
        document.add_text("kind", note.kind)
        document.add_text("terms", " ".join(note_terms(note, apart)))
        document.add_bytes("note", pack(note))
        self._writer.add_document(document)

    def drop(self, name: str) -> None:
        self._writer.delete_documents_by_term("id", name)

    def commit(self) -> None:
        """Make all of it visible at once; before this, nothing is. Without changes, an empty index is made."""
        if self._opened is not None or not os.path.isfile(os.path.join(self._path, "meta.json")):
            with _damage(self._path):
                self._writer.commit()

    def close(self) -> None:
        """Wait for merges in the background and let go of the index."""
        if self._opened is not None:
            with _damage(self._path):
                self._opened.wait_merging_threads()
            self._opened = None


def note_terms(note: Note, apart: Apart | None = None) -> tuple[str, ...]:
    """What a note is found by: the terms of its title, twice, and of its text and tags."""
    title, text = apart or take_apart(note.title, note.text)
    return title.all * TITLE_WEIGHT + text.all + analyse("\n".join(note.tags), limit=None).all


@contextlib.contextmanager
def _damage(what: str) -> Iterator[None]:
    """tantivy's errors, its panics included (they are no ``Exception``), as faults of the index."""
    try:
        yield
    except (KeyboardInterrupt, SystemExit, GeneratorExit, MemoryError):
        raise
    except BaseException as problem:
        raise failure(what, problem) from None
