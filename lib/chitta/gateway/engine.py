"""The engine that answers a lane: which notes, with what evidence.

An engine is bound to one snapshot of the index and to the models that are loaded right now; it
is cheap to make and safe to share between threads. Lanes that ask about one text share its reading.
Without an embedder the lanes that know words answer from words alone and say so; the lanes that know
only meaning are unavailable.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from chitta.admission.calibration import Calibration
from chitta.admission.tokens import distinctive
from chitta.gateway.reading import ROW_TEXT_CHARS, Reading, read_prompt
from chitta.gateway.readings import Readings
from chitta.notes.correction import match_triggers, only_mentioned
from chitta.notes.note import KNOWLEDGE_KINDS, Note
from chitta.notes.realms import GLOBAL
from chitta.recall import rerank
from chitta.recall.evidence import NO_COSINE, Evidence, note_signals, prompt_signals
from chitta.recall.fuse import Ranking, convex, ordered
from chitta.settings import Settings
from chitta.wire.request import Request
from chitta.wire.rows import Header, Row

if TYPE_CHECKING:
    from chitta.index.snapshot import Snapshot
    from chitta.index.vectors import Comparison
    from chitta.models.protocol import Embedder, Reranker

#: The lanes that this engine answers, by file name.
LANES = ("semantic", "context", "hybrid", "keyword", "cross-realm", "correction", "correction-key")
#: What a person may ask for.
STRATEGIES = ("hybrid", "semantic", "keyword")
#: Candidates of each arm before fusion: deep enough that fusion, not the cut, decides.
POOL = 50
#: Head of a fused ranking whose evidence is weighed. The calibration was fitted on pages of ten.
PAGE = 10


class Unavailable(Exception):
    """This lane cannot answer now; the sentence says why (exit code 111)."""


class Page(NamedTuple):
    """One ranked page: the ranking, each id's evidence, and how meaning could be used."""

    ranking: Ranking
    evidence: dict[str, Evidence]
    note: str


class Engine:
    """Answers questions from one snapshot. ``embedder`` None means that meaning is not to be had.

    ``readings`` are those of ``snapshot``, where engines share them.
    """

    def __init__(
        self,
        settings: Settings,
        snapshot: Snapshot | None,
        embedder: Embedder | None,
        reranker: Reranker | None,
        calibration: Calibration,
        warming: bool = False,
        readings: Readings | None = None,
    ) -> None:
        self.settings = settings
        self.snapshot = snapshot
        self.embedder = embedder
        self.reranker = reranker
        self.calibration = calibration
        self.warming = warming
        self._readings = Readings(snapshot) if readings is None and snapshot is not None else readings
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
        found = reading.words(request.realm, request.k, KNOWLEDGE_KINDS)
        near = self._near(request.query, reading) if found else None
        evidence = self._weigh(reading, [name for name, _ in found], dict(found), near)
        return self._answer("keyword", found, evidence, reading, request)

    def _correction(self, request: Request, settings: Settings) -> tuple[Header, list[Row]]:
        reading = self._read(request.query, request)
        names = [note.id for note in self._shared().corrections(request.realm)]
        near = self._near(request.query, reading) if names else None
        scopes = dict.fromkeys((request.realm, GLOBAL)) if names else ()
        words = dict(hit for scope in scopes for hit in reading.words(scope, request.k, ("correction",)))
        cosines = near.cosines(names) if near is not None else {}
        scores = cosines or words
        ranking = ordered({name: scores.get(name, 0.0) for name in names if name in cosines or name in words})
        ranking = ranking[: request.k]
        evidence = self._weigh(reading, [name for name, _ in ranking], words, near)
        return self._answer("correction", ranking, evidence, reading, request)

    def _correction_key(self, request: Request, settings: Settings) -> tuple[Header, list[Row]]:
        notes = self._shared().corrections(request.realm)
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
        if strategy not in STRATEGIES:
            raise KeyError(strategy)
        if self.snapshot is None:
            return Header(strategy, k=limit, exhausted=True, note="the store is empty"), []
        request = Request(prompt=query, query=query, tokens=distinctive(query), realm=realm or "", k=limit)
        reading, page = self.find(query, strategy=strategy, limit=limit, realm=realm)
        header, rows = self._answer(strategy, page.ranking[:limit], page.evidence, reading, request)
        if strategy == "keyword":
            return header, rows
        return header._replace(maxrel=self._relevance(page, page.ranking, reading), note=page.note), rows

    def find(self, query: str, *, strategy: str, limit: int, realm: str | None) -> tuple[Reading, Page]:
        """What a strategy finds: ``fused`` is hybrid before the reranker, as the hybrid lane has it.

        Raises as :meth:`recall` does, and :class:`Unavailable` where there is no store.
        """
        reading = read_prompt(self._snapshot(), query, distinctive(query))  # asked once, by one person: not shared
        if strategy == "keyword":
            found = reading.words(realm, limit)
            return reading, Page(found, reading.weigh([name for name, _ in found], words=dict(found)), "")
        page = self.page(query, realm, reading, 1.0 if strategy == "semantic" else self._alpha, limit)
        if strategy == "semantic" and page.note:
            raise Unavailable(page.note)
        if strategy == "hybrid" and not page.note:
            page = page._replace(ranking=self.reranked(query, page.ranking, reading, None))
        return reading, page

    # Arms

    def _by_meaning(self, lane: str, text: str, request: Request) -> tuple[Header, list[Row]]:
        reading = self._read(text, request)
        near = self._near(text, reading)
        if near is None:
            raise Unavailable(self._why_no_meaning())
        found = near.search(realm=request.realm, limit=request.k)
        words = dict(reading.words(request.realm, POOL))
        evidence = self._weigh(reading, [name for name, _ in found], words, near)
        return self._answer(lane, found, evidence, reading, request)

    def page(self, text: str, realm: str | None, reading: Reading, alpha: float, depth: int = PAGE) -> Page:
        """Both arms joined, with the evidence of at least the first ``depth`` notes.

        From words alone, and saying why, where meaning cannot be had.
        """
        depth = max(depth, PAGE)
        words = reading.words(realm, max(POOL, depth))
        near = self._near(text, reading)
        if near is None:
            evidence = reading.weigh([name for name, _ in words[:depth]], words=dict(words))
            return Page(words, evidence, self._why_no_meaning())
        ranking = convex(near.search(realm=realm, limit=max(POOL, depth)), words, alpha)
        evidence = self._weigh(reading, [name for name, _ in ranking[:depth]], dict(words), near)
        return Page(ranking, evidence, "")

    def _joined(self, lane: str, realm: str | None, request: Request, settings: Settings) -> tuple[Header, list[Row]]:
        reading = self._read(request.query, request)
        page = self.page(request.query, realm, reading, settings.real("CHITTA_FUSION_ALPHA"), request.k)
        budget = settings.integer("CHITTA_RERANK_BUDGET_MS")
        ranking = page.ranking
        if not page.note and budget:
            ranking = self.reranked(request.prompt, ranking, reading, time.monotonic() + budget / 1000)
        header, rows = self._answer(lane, ranking[: request.k], page.evidence, reading, request)
        size = self._shared().size(realm)
        return header._replace(maxrel=self._relevance(page, ranking, reading), note=page.note, size=size), rows

    def reranked(self, prompt: str, ranking: Ranking, reading: Reading, deadline: float | None) -> Ranking:
        """The ranking after the cross-encoder has read as many of its head as time allowed."""
        plan = rerank.plan(prompt)
        if self.reranker is None or plan is None:
            return ranking
        head = [name for name, _ in ranking[: plan.window]]
        notes = self._snapshot().catalog.notes(head)
        passages = [
            rerank.best_passage(notes[name].title, notes[name].text, reading.plain) for name in head if name in notes
        ]
        if len(passages) < len(head):
            return ranking
        return rerank.blend(ranking, self.reranker.score(prompt, passages, deadline=deadline), plan.weight)

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
        notes = reading.notes(name for name, _ in ranking)
        rows = [
            self._row(notes[name], score, evidence.get(name, Evidence()), reading.shared_with(name))._replace(
                only_mentioned=only_mentioned(request.prompt, notes[name].triggers, notes[name].right)
            )
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

    def _snapshot(self) -> Snapshot:
        if self.snapshot is None:
            raise Unavailable("the store is empty")
        return self.snapshot

    def _shared(self) -> Readings:
        if self._readings is None:
            raise Unavailable("the store is empty")
        return self._readings

    # Meaning

    def _read(self, text: str, request: Request) -> Reading:
        return self._shared().of(text, request.tokens)

    def _usable(self) -> bool:
        snapshot = self._snapshot()
        return self.embedder is not None and snapshot.vectors is not None and snapshot.model == self.embedder.name

    def _near(self, text: str, reading: Reading) -> Comparison | None:
        """The text against the store's vectors; None where meaning is not to be had."""
        if self.embedder is None or not self._usable():
            return None
        return reading.compared(self.embedder.embed_query(text))

    @staticmethod
    def _weigh(
        reading: Reading, names: Sequence[str], words: Mapping[str, float], near: Comparison | None
    ) -> dict[str, Evidence]:
        """Evidence of notes from their BM25 scores and, where it is to be had, from meaning."""
        if near is None:
            return reading.weigh(names, words=words)
        return reading.weigh(names, words=words, cosines=near.cosines(names), centre=near.centre())

    def _why_no_meaning(self) -> str:
        snapshot = self._snapshot()
        if self.embedder is None:
            return "the model is still loading" if self.warming else "no model is loaded"
        if snapshot.vectors is None:
            return "there are no vectors yet: run chitta reindex"
        if snapshot.model != self.embedder.name:
            return f"vectors were made by {snapshot.model or 'no model'}, not {self.embedder.name}: run chitta reindex"
        return "meaning was not measured"
