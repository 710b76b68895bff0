"""The engine that answers a lane: which notes, with what evidence.

An engine is bound to one snapshot of the index and to the models that are loaded right now; it
is cheap to make and safe to share between threads. Lanes that ask about one text share its reading.
Without an embedder the lanes that know words answer from words alone and say so; the lanes that know
only meaning are unavailable.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any

from chitta.admission.calibration import SHIPPED, Calibration, prior_odds
from chitta.admission.tokens import distinctive
from chitta.gateway import clock, scoring
from chitta.gateway.arms import ARMS, DEEP_POOL, OK, POOL, Found, Search, timed
from chitta.gateway.cache import CandidateCache
from chitta.gateway.meaning import Meaning
from chitta.gateway.question import STRATEGIES
from chitta.gateway.ranking import Page, Ranker
from chitta.gateway.reading import ROW_TEXT_CHARS, Reading, read_prompt
from chitta.gateway.readings import Readings
from chitta.notes.correction import match_triggers, only_mentioned
from chitta.notes.note import KNOWLEDGE_KINDS, Note
from chitta.notes.realms import GLOBAL
from chitta.recall.evidence import NO_COSINE, Evidence, note_signals
from chitta.recall.filters import contradicted, drop_cause, is_retired, named
from chitta.recall.fuse import Ranking, ordered
from chitta.recall.score import Asked
from chitta.settings import Settings
from chitta.wire.request import Request
from chitta.wire.rows import MAX_CONFLICTS, MAX_TAGS, Header, Row

if TYPE_CHECKING:
    from chitta.index.snapshot import Snapshot
    from chitta.index.vectors import Comparison
    from chitta.models.protocol import Embedder, Reranker

#: The lanes that this engine answers, by file name.
LANES = ("semantic", "context", "hybrid", "keyword", "cross-realm", "correction", "correction-key")
#: What can be measured besides: both main arms before the reranker, and each further arm alone.
MEASURED = ("fused", *ARMS[2:])
#: Rows past those asked for that are looked through for doubles and for what replaces what.
_SPARE = 5


class Unavailable(Exception):
    """This lane cannot answer now; the sentence says why (exit code 111)."""


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
        self.calibration = calibration
        self.warming = warming
        self.meaning = Meaning(settings, snapshot, embedder, warming)
        self._readings = Readings(snapshot) if readings is None and snapshot is not None else readings
        self._ranker: Ranker | None = None
        if snapshot is not None and self._readings is not None:
            score = scoring.load(settings)
            self._ranker = Ranker(settings, snapshot, self._readings, self.meaning, reranker, calibration, score)
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
        reading = self._read(request.query, request)
        near, search = self.meaning.near(request.query, reading), self.meaning.search(request.query, reading)
        return self._by_meaning("semantic", reading, near, search, request)

    def _context(self, request: Request, settings: Settings) -> tuple[Header, list[Row]]:
        if not request.context_query:
            return Header("context", k=request.k, note="no earlier turn"), []
        turns = request.context_turns or (request.context_query,)
        reading = self._read(request.context_query, request)
        # Three turns are no question: the instruction to search changes no golden result here.
        near = self.meaning.near_all(turns, reading)
        return self._by_meaning("context", reading, near, near, request)

    def _hybrid(self, request: Request, settings: Settings) -> tuple[Header, list[Row]]:
        return self._joined("hybrid", request.realm, request, settings)

    def _cross_realm(self, request: Request, settings: Settings) -> tuple[Header, list[Row]]:
        return self._joined("cross-realm", None, request, settings)

    def _keyword(self, request: Request, settings: Settings) -> tuple[Header, list[Row]]:
        if "keyword" in self._snapshot().damaged:
            raise Unavailable("the keyword index is damaged: run chitta reindex")
        reading = self._read(request.query, request)
        found = _foremost(lambda depth: reading.words(request.realm, depth, KNOWLEDGE_KINDS), reading, request.k)
        near = self.meaning.near(request.query, reading) if found else None
        evidence = reading.weighed([name for name, _ in found], dict(found), near)
        return self.answered("keyword", found, evidence, reading, request)

    def _correction(self, request: Request, settings: Settings) -> tuple[Header, list[Row]]:
        reading = self._read(request.query, request)
        names = [note.id for note in self._shared().corrections(request.realm)]
        near = self.meaning.near(request.query, reading) if names else None
        scopes = dict.fromkeys((request.realm, GLOBAL)) if names else ()
        words = dict(hit for scope in scopes for hit in reading.words(scope, request.k, ("correction",)))
        cosines = near.cosines(names) if near is not None else {}
        scores = cosines or words
        every = ordered({name: scores.get(name, 0.0) for name in names if name in cosines or name in words})
        ranking = _foremost(lambda depth: every[:depth], reading, request.k)
        evidence = reading.weighed([name for name, _ in ranking], words, near)
        return self.answered("correction", ranking, evidence, reading, request)

    def _correction_key(self, request: Request, settings: Settings) -> tuple[Header, list[Row]]:
        notes = self._shared().corrections(request.realm)
        fired = {note.id: match_triggers(request.prompt, note.triggers, note.right) for note in notes}
        told = self._standing({note.id: note for note in notes if fired[note.id]})
        rows = [
            self._row(note, 1.0, Evidence(), (), conf=1.0)._replace(why=fired[name] or "")
            for name, note in told.items()
        ]
        rows.sort(key=lambda row: (-len(row.why), row.id))
        header = Header("correction-key", n=len(rows), k=request.k, exhausted=len(rows) < request.k)
        return header, rows[: request.k]

    def find(
        self, query: str, *, strategy: str, limit: int, realm: str | None, now: datetime | None = None
    ) -> tuple[Reading, Page]:
        """What a strategy finds, or one of :data:`MEASURED`: ``fused`` is hybrid before the reranker, and each
        further arm is asked alone. Before any filter.

        Raises :class:`Unavailable` where there is no store, for a semantic question without a model, and
        ``KeyError`` for an unknown strategy.
        """
        if strategy not in STRATEGIES and strategy not in MEASURED:
            raise KeyError(strategy)
        ranker, time_of_asking = self.ranker(), now or clock.now(self.settings)
        # asked once, by one person: not shared
        text, window = timed(query, time_of_asking) if strategy == "hybrid" else (query, None)
        reading = read_prompt(self._snapshot(), text, distinctive(text), time_of_asking)
        search = Search(text, realm, reading, max(limit, POOL), time_of_asking, window)
        if strategy == "keyword":
            found = reading.words(realm, limit)
            evidence = reading.weighed([name for name, _ in found], dict(found), None)
            return reading, Page(found, evidence, "", found, Found({"keyword": found}, {"keyword": OK}))
        only = {strategy: 1.0} if strategy in ARMS else None
        page = ranker.page(search, only, limit)
        if strategy == "semantic" and page.note:
            raise Unavailable(page.note)
        if only is not None:
            return reading, page
        ranking = page.ranking
        if strategy == "hybrid" and not page.note:
            ranking = ranker.reranked(query, ranking, reading, ranker.logits(query, ranking, reading, None))
        asked = Asked(now=time_of_asking.date(), realm=realm or "", one_realm=realm is not None)
        ranking = ranker.boosted(ranking, reading, asked)
        evidence = ranker.evidence(page, (name for name, _ in ranking[:limit]), search)
        return reading, page._replace(ranking=ranking, evidence=evidence)

    def cache(self) -> CandidateCache[Any]:
        """What questions asked a moment ago found; gone with the snapshot. Raises :class:`Unavailable` without one."""
        return self._shared().cache

    def ranker(self) -> Ranker:
        """The steps of ranking. Raises :class:`Unavailable` where there is no store."""
        if self._ranker is None:
            raise Unavailable("the store is empty")
        return self._ranker

    # Arms

    def _by_meaning(
        self, lane: str, reading: Reading, near: Comparison | None, search: Comparison | None, request: Request
    ) -> tuple[Header, list[Row]]:
        """The notes nearest by ``search``, judged by ``near``."""
        if near is None or search is None:
            raise Unavailable(self.meaning.why_not())
        found = _foremost(lambda depth: search.search(realm=request.realm, limit=depth), reading, request.k)
        words = dict(reading.words(request.realm, POOL))
        evidence = reading.weighed([name for name, _ in found], words, near)
        return self.answered(lane, found, evidence, reading, request)

    def _joined(self, lane: str, realm: str | None, request: Request, settings: Settings) -> tuple[Header, list[Row]]:
        reading, ranker = self._read(request.query, request), self.ranker()
        now = clock.now(settings)
        search = Search(request.query, realm, reading, POOL, now)
        page = ranker.page(search, None, request.k)
        budget = settings.integer("CHITTA_RERANK_BUDGET_MS")
        ranking = page.ranking
        if not page.note and budget:
            logits = ranker.logits(request.prompt, ranking, reading, time.monotonic() + budget / 1000)
            ranking = ranker.reranked(request.prompt, ranking, reading, logits)
        asked = Asked(now=now.date(), realm=request.realm, one_realm=realm is not None)
        ranking = ranker.boosted(ranking, reading, asked)
        window = request.k + _SPARE
        ranking = ranker.settled(_foremost(lambda depth: ranking[:depth], reading, window), reading, window).ranking
        ranking = ranking[: request.k]
        evidence = ranker.evidence(page, (name for name, _ in ranking), search)
        header, rows = self.answered(lane, ranking, evidence, reading, request)
        size = self._shared().size(realm)
        return header._replace(maxrel=ranker.relevance(page, reading), note=page.note, size=size), rows

    # Rows

    def answered(
        self,
        lane: str,
        ranking: Ranking,
        evidence: dict[str, Evidence],
        reading: Reading,
        request: Request,
        admitted: bool = True,
    ) -> tuple[Header, list[Row]]:
        """The rows of a ranking. ``admitted``: they go to admission, which knows of a note what its row says."""
        notes = self._standing(reading.notes(name for name, _ in ranking))
        beyond = lane == "cross-realm" or not request.realm
        # a wrong correction costs more than a missed one, so its own lane gives no odds
        among = 0 if lane == "correction" else self._shared().size(None if beyond else request.realm)
        rows = [
            self._row(
                notes[name],
                score,
                evidence.get(name, Evidence()),
                reading.shared_with(name),
                among=among,
                admitted=admitted,
            )._replace(only_mentioned=only_mentioned(request.prompt, notes[name].triggers, notes[name].right))
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
        self,
        note: Note,
        score: float,
        evidence: Evidence,
        shared: Sequence[str],
        conf: float | None = None,
        among: int = 0,
        admitted: bool = True,
    ) -> Row:
        if conf is None:
            conf = self._conf(note, evidence, among)
        return Row(
            id=note.id,
            score=round(score, 6),
            kind=note.kind,
            realm=note.realm,
            title=note.title,
            text=note.text[:ROW_TEXT_CHARS],
            created=note.created,
            conf=conf,
            cos=round(evidence.cos, 4),
            bm25=round(evidence.bm25, 4),
            coverage=round(evidence.coverage, 4),
            shared=tuple(shared),
            superseded_by=_replaced_by(note) if admitted else named(note.superseded_by),
            quarantine=note.quarantine,
            valid_until=note.valid_until,
            source=note.source,
            confidence=note.confidence,
            tags=note.tags[:MAX_TAGS],
            conflicts_with=contradicted(note)[:MAX_CONFLICTS],
        )

    def _conf(self, note: Note, evidence: Evidence, among: int) -> float:
        """The calibrated probability of a note that is one ``among`` so many; 0 gives it no odds.

        Nor does a calibration of the store's own, which was fitted to its notes and their number.
        """
        if evidence.cos == NO_COSINE:
            return round(self.calibration.note_words_only.probability(note_signals(evidence)), 4)
        has_odds = among > 0 and note.kind != "correction" and self.calibration.name == SHIPPED
        odds = prior_odds(among, len(note.text)) if has_odds else 0.0
        return round(self.calibration.note.probability(note_signals(evidence), odds), 4)

    def _standing(self, notes: dict[str, Note]) -> dict[str, Note]:
        """The notes as their files stand now, without those that are gone or somewhere else."""
        filed = self._snapshot().catalog.filed(list(notes))
        return self._shared().standing.of(notes, filed, self.settings.notes_dir)

    def _snapshot(self) -> Snapshot:
        if self.snapshot is None:
            raise Unavailable("the store is empty")
        return self.snapshot

    def _shared(self) -> Readings:
        if self._readings is None:
            raise Unavailable("the store is empty")
        return self._readings

    def _read(self, text: str, request: Request) -> Reading:
        return self._shared().of(text, request.tokens)


def _foremost(find: Callable[[int], Ranking], reading: Reading, count: int) -> Ranking:
    """The best ``count`` of what ``find`` gives to a depth, those that admission will drop behind all others.

    Each older version of a note is about as near to a prompt as its newest: a dozen of them took every place.
    """
    depth = count
    while True:
        found = find(depth)
        notes = reading.notes(name for name, _ in found)
        current = [hit for hit in found if hit[0] not in notes or drop_cause(notes[hit[0]], now=reading.now) is None]
        if len(current) >= count or len(found) < depth or depth >= DEEP_POOL:
            break
        depth = min(4 * depth, DEEP_POOL)
    if len(current) == len(found):
        return found
    kept = {name for name, _ in current}
    return [*current, *(hit for hit in found if hit[0] not in kept)][:count]


def _replaced_by(note: Note) -> str:
    """The id of what replaced the note; of one that only its status retires, that status: admission drops both."""
    return named(note.superseded_by) or (str(dict(note.extra)["status"]).strip() if is_retired(note) else "")
