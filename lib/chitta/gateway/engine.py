"""The engine that answers a lane: which notes, with what evidence.

An engine is bound to one snapshot of the index and to the models that are loaded right now; it
is cheap to make and safe to share between threads. Without an embedder the lanes that know words
answer from words alone and say so; the lanes that know only meaning are unavailable.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Sequence
from typing import TYPE_CHECKING, NamedTuple

from chitta.admission.calibration import Calibration
from chitta.admission.tokens import distinctive
from chitta.gateway.reading import Reading, read_prompt
from chitta.index.terms import Terms
from chitta.notes.correction import match_triggers
from chitta.notes.note import KNOWLEDGE_KINDS, Note
from chitta.recall import rerank
from chitta.recall.evidence import NO_COSINE, Evidence, note_signals, prompt_signals
from chitta.recall.fuse import Ranking, convex, ordered
from chitta.settings import Settings
from chitta.wire.request import Request
from chitta.wire.rows import Header, Row

if TYPE_CHECKING:
    import numpy as np

    from chitta.index.snapshot import Snapshot
    from chitta.models.protocol import Embedder, Reranker

#: The lanes that this engine answers, by file name.
LANES = ("semantic", "context", "hybrid", "keyword", "cross-realm", "correction", "correction-key")
#: What a person may ask for.
STRATEGIES = ("hybrid", "semantic", "keyword")
#: Candidates of each arm before fusion: deep enough that fusion, not the cut, decides.
POOL = 50
#: Head of a fused ranking whose evidence is weighed. The calibration was fitted on pages of ten.
PAGE = 10
#: Characters of a note's text in a row; the block shows less.
ROW_TEXT_CHARS = 1_500


class Unavailable(Exception):
    """This lane cannot answer now; the sentence says why (exit code 111)."""


class Page(NamedTuple):
    """One ranked page: the ranking, each id's evidence, and how meaning could be used."""

    ranking: Ranking
    evidence: dict[str, Evidence]
    note: str


class Engine:
    """Answers questions from one snapshot. ``embedder`` None means that meaning is not to be had."""

    def __init__(
        self,
        settings: Settings,
        snapshot: Snapshot | None,
        embedder: Embedder | None,
        reranker: Reranker | None,
        calibration: Calibration,
        warming: bool = False,
    ) -> None:
        self.settings = settings
        self.snapshot = snapshot
        self.embedder = embedder
        self.reranker = reranker
        self.calibration = calibration
        self.warming = warming
        self._alpha = settings.real("CHITTA_FUSION_ALPHA")
        answers: tuple[Callable[[Request, Settings], tuple[Header, list[Row]]], ...] = (
            self._semantic,
            self._context,
            self._hybrid,
            self._keyword,
            self._cross_realm,
            self._correction,
            self._correction_key,
        )
        self._lanes = dict(zip(LANES, answers, strict=True))

    def rows(self, lane: str, request: Request, settings: Settings) -> tuple[Header, list[Row]]:
        """The lane's answer. Raises :class:`Unavailable`, or ``KeyError`` for a lane that is not here."""
        started = time.perf_counter()
        answer = self._lanes[lane]
        if self.snapshot is None:
            return Header(lane, k=request.k, exhausted=True, note="the store is empty"), []
        header, rows = answer(request, settings)
        return header._replace(ms=round((time.perf_counter() - started) * 1000, 1)), rows

    # The lanes

    def _semantic(self, request: Request, settings: Settings) -> tuple[Header, list[Row]]:
        return self._by_meaning("semantic", request.query, request)

    def _context(self, request: Request, settings: Settings) -> tuple[Header, list[Row]]:
        if not request.context_query:
            return Header("context", k=request.k, note="no earlier turn"), []
        return self._by_meaning("context", request.context_query, request)

    def _hybrid(self, request: Request, settings: Settings) -> tuple[Header, list[Row]]:
        return self._joined("hybrid", request.realm, request, settings)

    def _cross_realm(self, request: Request, settings: Settings) -> tuple[Header, list[Row]]:
        return self._joined("cross-realm", None, request, settings)

    def _keyword(self, request: Request, settings: Settings) -> tuple[Header, list[Row]]:
        if "keyword" in self._snapshot().damaged:
            raise Unavailable("the keyword index is damaged: run chitta reindex")
        reading = self._read(request.query, request)
        found = self._words(reading.terms, request.realm, request.k, KNOWLEDGE_KINDS)
        names = [name for name, _ in found]
        vector = self._vector(request.query) if found else None
        cosines = self._cosines(vector, names)
        evidence = reading.weigh(names, words=dict(found), cosines=cosines, centre=self._centre(vector))
        return self._answer("keyword", found, evidence, reading, request)

    def _correction(self, request: Request, settings: Settings) -> tuple[Header, list[Row]]:
        snapshot = self._snapshot()
        reading = self._read(request.query, request)
        vector = self._vector(request.query)
        scopes = dict.fromkeys((request.realm, "global"))
        kinds = ("correction",)
        words = dict(hit for scope in scopes for hit in self._words(reading.terms, scope, request.k, kinds))
        names = [note.id for note in snapshot.catalog.corrections(list(scopes))]
        cosines = self._cosines(vector, names)
        candidates = [name for name in names if name in cosines or name in words]
        evidence = reading.weigh(candidates, words=words, cosines=cosines, centre=self._centre(vector))
        scores = cosines or words
        ranking = ordered({name: scores.get(name, 0.0) for name in candidates})
        return self._answer("correction", ranking[: request.k], evidence, reading, request)

    def _correction_key(self, request: Request, settings: Settings) -> tuple[Header, list[Row]]:
        notes = self._snapshot().catalog.corrections(list(dict.fromkeys((request.realm, "global"))))
        fired = [(note, match_triggers(request.prompt, note.triggers, note.right)) for note in notes]
        rows = [
            self._row(note, 1.0, Evidence(), (), conf=1.0)._replace(why=trigger) for note, trigger in fired if trigger
        ]
        rows.sort(key=lambda row: (-len(row.why), row.id))
        header = Header("correction-key", n=len(rows), k=request.k, exhausted=len(rows) < request.k)
        return header, rows[: request.k]

    def recall(self, query: str, *, strategy: str, limit: int, realm: str | None) -> tuple[Header, list[Row]]:
        """A person's question: ``strategy`` is hybrid, semantic or keyword; ``realm`` None means all.

        No kinds are left out and the reranker takes the time it needs. Raises :class:`Unavailable`
        for a semantic question without a model, ``KeyError`` for an unknown strategy.
        """
        request = Request(prompt=query, query=query, tokens=distinctive(query), realm=realm or "", k=limit)
        if strategy not in STRATEGIES:
            raise KeyError(strategy)
        if self.snapshot is None:
            return Header(strategy, k=limit, exhausted=True, note="the store is empty"), []
        reading = self._read(query, request)
        if strategy == "keyword":
            found = self._words(reading.terms, realm, limit, None)
            evidence = reading.weigh([name for name, _ in found], words=dict(found))
            return self._answer(strategy, found, evidence, reading, request)
        page = self.page(query, realm, reading, 1.0 if strategy == "semantic" else self._alpha, limit)
        if strategy == "semantic" and page.note:
            raise Unavailable(page.note)
        ranking = page.ranking
        if strategy == "hybrid" and not page.note and rerank.wanted(query):
            ranking = self.reranked(query, ranking, reading, None)
        header, rows = self._answer(strategy, ranking[:limit], page.evidence, reading, request)
        return header._replace(maxrel=self._relevance(page, ranking, reading), note=page.note), rows

    # Arms

    def _words(self, terms: Terms, realm: str | None, limit: int, kinds: Collection[str] | None) -> Ranking:
        return self._snapshot().keyword.search(terms, realm=realm, kinds=kinds, limit=limit)

    def _by_meaning(self, lane: str, text: str, request: Request) -> tuple[Header, list[Row]]:
        reading = self._read(text, request)
        vector = self._vector(text)
        if vector is None:
            raise Unavailable(self._why_no_meaning())
        vectors = self._snapshot().vectors
        found = vectors.search(vector, realm=request.realm, limit=request.k) if vectors else []
        words = dict(self._words(reading.terms, request.realm, POOL, None))
        evidence = reading.weigh(
            [name for name, _ in found], words=words, cosines=dict(found), centre=self._centre(vector)
        )
        return self._answer(lane, found, evidence, reading, request)

    def page(self, text: str, realm: str | None, reading: Reading, alpha: float, depth: int = PAGE) -> Page:
        """Both arms joined, with the evidence of at least the first ``depth`` notes.

        From words alone, and saying why, where meaning cannot be had.
        """
        depth = max(depth, PAGE)
        words = self._words(reading.terms, realm, max(POOL, depth), None)
        vector = self._vector(text)
        vectors = self._snapshot().vectors
        if vector is None or vectors is None:
            ranking: Ranking = words
            evidence = reading.weigh([name for name, _ in words[:depth]], words=dict(words))
            return Page(ranking, evidence, self._why_no_meaning())
        near = vectors.search(vector, realm=realm, limit=max(POOL, depth))
        ranking = convex(near, words, alpha)
        names = [name for name, _ in ranking[:depth]]
        near_by_name = dict(near)
        cosines = {**near_by_name, **self._cosines(vector, [name for name in names if name not in near_by_name])}
        evidence = reading.weigh(names, words=dict(words), cosines=cosines, centre=self._centre(vector))
        return Page(ranking, evidence, "")

    def _joined(self, lane: str, realm: str | None, request: Request, settings: Settings) -> tuple[Header, list[Row]]:
        reading = self._read(request.query, request)
        page = self.page(request.query, realm, reading, settings.real("CHITTA_FUSION_ALPHA"), request.k)
        budget = settings.integer("CHITTA_RERANK_BUDGET_MS")
        ranking = page.ranking
        if not page.note and budget and rerank.wanted(request.prompt):
            ranking = self.reranked(request.prompt, ranking, reading, time.monotonic() + budget / 1000)
        header, rows = self._answer(lane, ranking[: request.k], page.evidence, reading, request)
        size = self._snapshot().catalog.count(realm)
        return header._replace(maxrel=self._relevance(page, ranking, reading), note=page.note, size=size), rows

    def reranked(self, prompt: str, ranking: Ranking, reading: Reading, deadline: float | None) -> Ranking:
        """The ranking after the cross-encoder has read as many of its head as time allowed."""
        if self.reranker is None:
            return ranking
        head = [name for name, _ in ranking[: rerank.WINDOW]]
        notes = self._notes(head)
        passages = [
            rerank.best_passage(notes[name].title, notes[name].text, reading.plain) for name in head if name in notes
        ]
        if len(passages) < len(head):
            return ranking
        return rerank.blend(ranking, self.reranker.score(prompt, passages, deadline=deadline))

    def _relevance(self, page: Page, ranking: Ranking, reading: Reading) -> float | None:
        """Raw maxrel; None when meaning was not measured, since words alone cannot say that nothing is known."""
        if page.note:
            return None
        ordered = [page.evidence[name] for name, _ in ranking[:PAGE] if name in page.evidence]
        signals = prompt_signals(ordered, reading.mass, len(reading.terms.words))
        return round(self.calibration.prompt.probability(signals), 4) if signals else 0.0

    # Rows

    def _answer(
        self, lane: str, ranking: Ranking, evidence: dict[str, Evidence], reading: Reading, request: Request
    ) -> tuple[Header, list[Row]]:
        notes = self._notes([name for name, _ in ranking])
        rows = [
            self._row(notes[name], score, evidence.get(name, Evidence()), reading.shared_with(name))
            for name, score in ranking
            if name in notes
        ]
        header = Header(
            lane,
            n=len(rows),
            k=request.k,
            exhausted=len(rows) < request.k,
            warming=self.warming and self.embedder is None,
        )
        return header, rows

    def _row(
        self, note: Note, score: float, evidence: Evidence, shared: Sequence[str], conf: float | None = None
    ) -> Row:
        fit = self.calibration.note_words_only if evidence.cos == NO_COSINE else self.calibration.note
        return Row(
            id=note.id,
            score=round(score, 6),
            kind=note.kind,
            realm=note.realm,
            title=note.title,
            text=note.text[:ROW_TEXT_CHARS],
            created=note.created,
            conf=round(fit.probability(note_signals(evidence)), 4) if conf is None else conf,
            cos=round(evidence.cos, 4),
            bm25=round(evidence.bm25, 4),
            coverage=round(evidence.coverage, 4),
            shared=tuple(shared),
            superseded_by=note.superseded_by,
            quarantine=note.quarantine,
            valid_until=note.valid_until,
            source=note.source,
            confidence=note.confidence,
        )

    def _notes(self, names: Sequence[str]) -> dict[str, Note]:
        return self._snapshot().catalog.notes(names)

    def _snapshot(self) -> Snapshot:
        if self.snapshot is None:
            raise Unavailable("the store is empty")
        return self.snapshot

    # Meaning

    def _read(self, text: str, request: Request) -> Reading:
        return read_prompt(self._snapshot(), text, request.tokens)

    def _usable(self) -> bool:
        snapshot = self._snapshot()
        return self.embedder is not None and snapshot.vectors is not None and snapshot.model == self.embedder.name

    def _vector(self, text: str) -> np.ndarray | None:
        return self.embedder.embed_query(text) if self.embedder is not None and self._usable() else None

    def _cosines(self, vector: np.ndarray | None, names: Sequence[str]) -> dict[str, float]:
        vectors = self._snapshot().vectors
        return vectors.cosines(vector, names) if vector is not None and vectors is not None else {}

    def _centre(self, vector: np.ndarray | None) -> float:
        """Cosine of the prompt with the store's mean note."""
        vectors = self._snapshot().vectors
        return vectors.centre(vector) if vector is not None and vectors is not None else 0.0

    def _why_no_meaning(self) -> str:
        snapshot = self._snapshot()
        if self.embedder is None:
            return "the model is still loading" if self.warming else "no model is loaded"
        if snapshot.vectors is None:
            return "there are no vectors yet: run chitta reindex"
        if snapshot.model != self.embedder.name:
            return f"vectors were made by {snapshot.model or 'no model'}, not {self.embedder.name}: run chitta reindex"
        return "meaning was not measured"
