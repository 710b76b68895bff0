"""A person's question, answered: the steps of ranking, and around them filters, gate, diversity and reasons.

What the arms and the reranker found is kept for a question asked again (:mod:`chitta.gateway.cache`);
filters, boosts, gate and cut are applied anew each time.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from datetime import datetime, timezone
from typing import TYPE_CHECKING, Any, NamedTuple

from chitta.admission.tokens import distinctive
from chitta.gateway import clock, surroundings
from chitta.gateway.arms import DEEP_POOL, NOTHING_ASKED, OFF, OK, POOL, Search, weights_of
from chitta.gateway.cache import Fetch
from chitta.gateway.engine import Engine, Unavailable
from chitta.gateway.question import CONTEXT, Question
from chitta.gateway.ranking import Page, Settled
from chitta.gateway.reading import read_prompt
from chitta.recall import filters, rerank, validity
from chitta.recall.diversify import maximal_marginal_relevance
from chitta.recall.filters import PROMPT
from chitta.recall.fuse import Ranking
from chitta.recall.overlap import gated
from chitta.recall.persona import PersonaLine, asks_of_habits, persona_of
from chitta.recall.score import Asked, factors, replicated
from chitta.recall.time_phrases import window_of
from chitta.wire.request import Request
from chitta.wire.rows import Header, Row

if TYPE_CHECKING:
    from chitta.notes.note import Note

#: Best rows that are looked through for doubles and contradictions, and that diversity chooses from.
WINDOW = 20
#: Settings that change what is found, beside the arms' weights.
_FETCHED_BY = (
    "CHITTA_FUSION",
    "CHITTA_FUSION_ALPHA",
    "CHITTA_RRF_K",
    "CHITTA_ARM_FLOORS",
    "CHITTA_EVENT_ORDER",
    "CHITTA_ENTITY_BOOST",
    "CHITTA_CROSS_CHANNEL",
    "CHITTA_QUERY_INSTRUCTION",
    "CHITTA_RERANK_MODEL",
    "CHITTA_RERANK_ONNX_DIR",
    "CHITTA_RERANK_MAX_LEN",
)
#: Notes that are looked through for habits.
MOST_NOTES = 20_000
#: Newest notes that are read at a time until there are enough that may be shown.
_NEWEST_AT_ONCE = 100


class Answer(NamedTuple):
    """Rows, best first, and why they are these.

    ``reasons`` by id: ranks and scores of each stage. ``dropped`` counts candidates by the cause that
    left them out. ``health`` says of each arm ``ok``, ``off`` or why it found nothing. ``persona`` is the one
    line that answers a question about habits. ``cached`` is ``exact``, ``fuzzy`` or "".
    """

    header: Header
    rows: tuple[Row, ...] = ()
    reasons: Mapping[str, dict[str, Any]] = {}
    dropped: Mapping[str, int] = {}
    health: Mapping[str, str] = {}
    persona: PersonaLine | None = None
    cached: str = ""


class Fetched(NamedTuple):
    """What is kept of a question: its page before any filter, and the reranker's judgement by query and id."""

    page: Page
    judged: dict[str, dict[str, float]]

    def logits(self, query: str) -> dict[str, float]:
        """The judgement of a query: one in other words is judged anew."""
        return self.judged.setdefault(query, {})


def as_json(engine: Engine, answer: Answer, question: Question) -> dict[str, Any]:
    """The answer as a daemon's reply; at the depth of :data:`CONTEXT` with what is around each note."""
    facts: dict[str, Any] = {
        "header": answer.header._asdict(),
        "rows": [row._asdict() for row in answer.rows],
        "reasons": dict(answer.reasons),
        "dropped": dict(answer.dropped),
        "health": dict(answer.health),
        "persona": answer.persona._asdict() if answer.persona is not None else None,
        "cached": answer.cached,
    }
    if question.depth >= CONTEXT and engine.snapshot is not None:
        notes = engine.snapshot.catalog.notes([row.id for row in answer.rows])
        facts["around"] = {
            name: surroundings.as_json(surroundings.surroundings(engine.snapshot, note)) for name, note in notes.items()
        }
    return facts


def answer(engine: Engine, question: Question, now: datetime | None = None) -> Answer:
    """Answer one question. Raises :class:`Unavailable` for a semantic one without a model.

    One by words whose index is damaged has no rows, and a header that says so.
    """
    if engine.snapshot is None:
        return Answer(Header(question.strategy, k=question.limit, exhausted=True, note="the store is empty"))
    return _Asking(engine, question, now or clock.now(engine.settings)).answer()


class _Asking:
    """One question on its way through the steps."""

    def __init__(self, engine: Engine, question: Question, now: datetime) -> None:
        self.engine = engine
        self.question = question
        self.now = now
        self.settings = engine.settings
        self.ranker = engine.ranker()
        self.tokens = distinctive(question.query)
        snapshot = engine.snapshot
        if snapshot is None:
            raise Unavailable("the store is empty")
        self.snapshot = snapshot
        self.reading = read_prompt(snapshot, question.query, self.tokens)

    def answer(self) -> Answer:
        question = self.question
        if asks_of_habits(question.query) and not question.filtered:
            line = persona_of(question.query, self._habits())
            if line is not None:
                return Answer(Header(question.strategy, k=question.limit, note="a known habit"), persona=line)
        if filters.about_now(question.query):
            return self._newest()
        pool = DEEP_POOL if question.filtered else max(POOL, 2 * question.limit)
        search = Search(question.query, question.realm, self.reading, pool, self.now)
        fetched, cached = self._fetch(search)
        kept, dropped = self._filtered(fetched.page.ranking)
        ranking = self._reranked(kept, fetched)
        asked = self._asked()
        ranking = self.ranker.boosted(ranking, self.reading, asked)
        kinds = {name: note.kind for name, note in self.reading.notes(name for name, _ in ranking).items()}
        ranking = filters.requests_last(ranking, kinds, filters.asks_for_prompts(question.query))
        if self._out_of_domain(ranking):
            dropped["out of domain"] += len(ranking)
            ranking = []
        settled = self.ranker.settled(ranking, self.reading, max(WINDOW, question.limit), thorough=True)
        dropped["duplicate"] += len(settled.doubles)
        chosen = self._diverse(settled.ranking)
        header, rows = self._rows(chosen, fetched.page, search)
        reasons = self._reasons(chosen, fetched, kept, settled, asked)
        return Answer(header, tuple(rows), reasons, +dropped, fetched.page.found.health, cached=cached)

    # What is found

    def _fetch(self, search: Search) -> tuple[Fetched, str]:
        question = self.question
        weights = self._weights()
        fetch = Fetch(str(self.snapshot.generation), question.query, self._mode(weights), search.depth, question.realm)
        cache = self.engine.cache() if self.settings.flag("CHITTA_RECALL_CACHE") else None
        hit = cache.look_up(fetch) if cache is not None else None
        if hit is not None and hit.tier == "exact":
            return hit.value, hit.tier
        if hit is not None:
            page: Page = hit.value.page
            names, bare = list(page.evidence), page._replace(evidence={})  # it was weighed for other words
            return hit.value._replace(page=bare._replace(evidence=self.ranker.evidence(bare, names, search))), hit.tier
        by_words = question.strategy == "keyword"
        page = self.ranker.page(search, weights, max(question.limit, WINDOW), measured=not by_words)
        if question.strategy == "semantic" and page.found.health["semantic"] != OK:
            raise Unavailable(page.found.health["semantic"])
        fetched = Fetched(page, {})
        whole = all(state in (OK, OFF, NOTHING_ASKED) for state in page.found.health.values())
        if cache is not None and whole and (by_words or not page.note) and not self.snapshot.damaged:
            cache.store(fetch, fetched)
        return fetched, ""

    def _mode(self, weights: Mapping[str, float]) -> str:
        """What else decides what is found: strategy, models, settings, and the days that the text names."""
        window = window_of(self.question.query, self.now)
        model = self.engine.embedder.name if self.engine.embedder is not None else ""
        days = [window.start, window.end] if window is not None else []
        chosen = [self.settings.text(name) for name in _FETCHED_BY]
        return repr((self.question.strategy, model, sorted(weights.items()), days, chosen))

    def _weights(self) -> dict[str, float]:
        if self.question.strategy in ("semantic", "keyword"):
            return {self.question.strategy: 1.0}
        return weights_of(self.settings, self.question.query)

    def _reranked(self, kept: Ranking, fetched: Fetched) -> Ranking:
        plan = rerank.plan(self.question.query)
        if plan is None or self.question.strategy != "hybrid" or fetched.page.note:
            return kept
        head, judged = [name for name, _ in kept[: plan.window]], fetched.logits(self.question.query)
        if any(name not in judged for name in head):
            found = self.ranker.logits(self.question.query, kept, self.reading, None)
            judged.update(zip(head, found, strict=False))
        logits = [judged[name] for name in head if name in judged]
        if len(logits) < len(head):
            return kept
        return self.ranker.reranked(self.question.query, kept, self.reading, logits)

    # What may stay

    def _filtered(self, ranking: Ranking) -> tuple[Ranking, Counter[str]]:
        dropped: Counter[str] = Counter()
        notes = self.reading.notes(name for name, _ in ranking)
        then = self.question.as_of is not None
        successors = self._successors(notes) if then else {}
        kept = []
        for name, score in ranking:
            cause = self._cause(notes[name], successors) if name in notes else "gone"
            if cause is None:
                kept.append((name, score))
            else:
                dropped[cause] += 1
        return kept, dropped

    def _cause(self, note: Note, successors: Mapping[str, Note]) -> str | None:
        question = self.question
        with_superseded = (
            question.include_superseded or question.as_of is not None or self.settings.flag("CHITTA_INCLUDE_SUPERSEDED")
        )
        return filters.drop_cause(
            note,
            now=_in_utc(question.valid_at or question.as_of or self.now),
            kinds=question.kinds,
            min_confidence=question.min_confidence,
            include_quarantined=question.include_quarantined,
            include_superseded=with_superseded,
        ) or validity.keep(
            note,
            since=question.since,
            until=question.until,
            as_of=question.as_of,
            known_as_of=question.known_as_of,
            valid_at=question.valid_at,
            successors=successors,
        )

    def _successors(self, notes: Mapping[str, Note]) -> dict[str, Note]:
        catalog = self.snapshot.catalog
        newer = catalog.successors(list(notes))
        found = catalog.notes(list(dict.fromkeys(name for names in newer.values() for name in names)))
        stated = [
            found[name]._replace(supersedes=(*found[name].supersedes, old))  # under whichever of its names
            for old, names in newer.items()
            for name in names
            if name in found
        ]
        return validity.successors_of([*notes.values(), *stated])

    def _out_of_domain(self, ranking: Ranking) -> bool:
        least = self.question.min_overlap
        least = self.settings.real("CHITTA_MIN_OVERLAP") if least is None else least
        if least <= 0.0:
            return False
        notes = self.reading.notes(name for name, _ in ranking[:WINDOW])
        texts = [f"{notes[name].title}\n{notes[name].text}" for name, _ in ranking[:WINDOW] if name in notes]
        return gated(self.question.query, texts, least)

    def _diverse(self, ranking: Ranking) -> Ranking:
        limit, lam = self.question.limit, self.settings.real("CHITTA_MMR_LAMBDA")
        most = self.settings.integer("CHITTA_REPLICATION_MAX")
        if most:
            ranking = replicated(ranking, self.ranker.whole(self.reading, [name for name, _ in ranking]), most)
        if lam >= 1.0:
            return ranking[:limit]
        likeness = self.ranker.likeness([name for name, _ in ranking[:WINDOW]])
        return maximal_marginal_relevance(ranking, likeness, limit, lam, WINDOW)

    # What is said

    def _newest(self) -> Answer:
        """The newest real memories: their words are not in the question."""
        left: list[Note] = []
        offset = 0
        while len(left) < self.question.limit:  # some are prompts, bookkeeping, or replaced
            read = self.snapshot.catalog.page(self.question.realm, limit=_NEWEST_AT_ONCE, offset=offset)
            if not read:
                break
            notes = self.reading.notes(note.id for note in read)
            successors = self._successors(notes) if self.question.as_of is not None else {}
            left += [note for note in notes.values() if note.kind != PROMPT and self._cause(note, successors) is None]
            offset += len(read)
        left = filters.newest_first(left)[: self.question.limit]
        ranking = [(note.id, (len(left) - place) / len(left)) for place, note in enumerate(left)]
        request = self._request()
        header, rows = self.engine.answered(self.question.strategy, ranking, {}, self.reading, request)
        told = tuple(row._replace(why="one of the newest") for row in rows)
        return Answer(header._replace(note="answered from the newest memories"), told)

    def _rows(self, ranking: Ranking, page: Page, search: Search) -> tuple[Header, list[Row]]:
        evidence = self.ranker.evidence(page, (name for name, _ in ranking), search)
        header, rows = self.engine.answered(self.question.strategy, ranking, evidence, self.reading, self._request())
        if self.question.strategy == "keyword":
            state = page.found.health["keyword"]
            return header._replace(note="" if state == OK else state), rows
        return header._replace(maxrel=self.ranker.relevance(page, self.reading), note=page.note), rows

    def _request(self) -> Request:
        question = self.question
        return Request(
            prompt=question.query,
            query=question.query,
            tokens=self.tokens,
            realm=question.realm or "",
            k=question.limit,
        )

    def _asked(self) -> Asked:
        question = self.question
        return Asked(self.now.date(), question.tags, question.realm or "", question.domain, question.realm is not None)

    def _reasons(
        self, chosen: Ranking, fetched: Fetched, kept: Ranking, settled: Settled, asked: Asked
    ) -> dict[str, dict[str, Any]]:
        """Each row's place and score at every stage; factors that are 1 are left out."""
        places = {
            arm: {name: {"rank": at, "score": round(score, 4)} for at, (name, score) in enumerate(ranking, start=1)}
            for arm, ranking in fetched.page.found.rankings.items()
        }
        fused = {name: {"rank": at, "score": round(score, 4)} for at, (name, score) in enumerate(kept, start=1)}
        notes = self.reading.notes(name for name, _ in chosen)
        judged = fetched.logits(self.question.query)
        reasons: dict[str, dict[str, Any]] = {}
        for name, score in chosen:
            why: dict[str, Any] = {"arms": {arm: by_id[name] for arm, by_id in places.items() if name in by_id}}
            why |= {"fused": fused.get(name), "score": round(score, 4)}
            if name in judged:
                why["logit"] = round(judged[name], 3)
            if name in notes:
                named = factors(notes[name], asked, self.ranker.scoring.alphas)
                why["factors"] = {factor: round(value, 4) for factor, value in named.items() if value != 1.0}
            if name in settled.replaced:
                why["replaced"] = settled.replaced[name]._asdict()
            doubles = sorted(double for double, first in settled.doubles.items() if first == name)
            if doubles:
                why["doubles"] = doubles
            reasons[name] = why
        return reasons

    def _habits(self) -> list[Note]:
        """Notes that name a habit and hold still."""
        notes = self.snapshot.catalog.page(self.question.realm, limit=MOST_NOTES)
        known = self.reading.notes(note.id for note in notes if "persona" in dict(note.extra))
        return [note for note in known.values() if self._cause(note, {}) is None]


def _in_utc(moment: datetime) -> datetime:
    return moment.replace(tzinfo=timezone.utc) if moment.tzinfo is None else moment.astimezone(timezone.utc)
