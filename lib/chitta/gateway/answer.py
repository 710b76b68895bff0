"""A person's question, answered: the steps of ranking, and around them filters, gate, diversity and reasons.

What the arms and the reranker found is kept for a question asked again (:mod:`chitta.gateway.cache`);
filters, boosts, gate and cut are applied anew each time.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any, NamedTuple

from chitta.admission.tokens import distinctive
from chitta.gateway import clock, surroundings
from chitta.gateway.arms import DEEP_POOL, NOTHING_ASKED, OFF, OK, POOL, Search, timed, weights_of, written_in
from chitta.gateway.cache import Fetch
from chitta.gateway.engine import Engine, Unavailable
from chitta.gateway.question import CONTEXT, Question
from chitta.gateway.ranking import Page, Settled
from chitta.gateway.reading import read_prompt
from chitta.gateway.sieve import Sieve
from chitta.notes.note import one_line
from chitta.recall import filters, rerank
from chitta.recall.diversify import maximal_marginal_relevance
from chitta.recall.filters import PROMPT
from chitta.recall.fuse import Ranking
from chitta.recall.overlap import gated
from chitta.recall.persona import PersonaLine, asks_of_habits, persona_of
from chitta.recall.score import Asked, factors, replicated
from chitta.recall.temporal import event_order
from chitta.wire.request import Request
from chitta.wire.rows import Header, Row

if TYPE_CHECKING:
    from chitta.notes.note import Note
    from chitta.recall.time_phrases import Window

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
        self.text, self.window = timed(question.query, now) if question.strategy == "hybrid" else (question.query, None)
        self.tokens = distinctive(self.text)
        snapshot = engine.snapshot
        if snapshot is None:
            raise Unavailable("the store is empty")
        self.snapshot = snapshot
        self.reading = read_prompt(snapshot, self.text, self.tokens, now)
        self.sieve = Sieve(snapshot, question, now, engine.settings.flag("CHITTA_INCLUDE_SUPERSEDED"))

    def answer(self) -> Answer:
        question = self.question
        if asks_of_habits(question.query) and not question.filtered:
            line = persona_of(question.query, self._habits())
            if line is not None:
                return Answer(Header(question.strategy, k=question.limit, note="a known habit"), persona=line)
        if filters.about_now(question.query):
            return self._newest()
        if filters.asks_only_when(self.text):
            if self.window is not None:
                return self._of_time(self.window)
            if event_order(question.query) == "newest" or filters.asks_for_newest(question.query):
                return self._newest()
        pool = DEEP_POOL if question.filtered else max(POOL, 2 * question.limit)
        search = Search(self.text, question.realm, self.reading, pool, self.now, self.window)
        fetched, cached = self._fetch(search)
        found = fetched.page.found.rankings
        told = {name for arm in ("keyword", "temporal") for name, _ in found.get(arm, ())}
        kept, dropped = self.sieve.kept(
            fetched.page.ranking, self.reading, told if question.strategy == "hybrid" else None
        )
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
        window = self.window
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
        dropped: Counter[str] = Counter()
        offset = 0
        while len(left) < self.question.limit:  # some are prompts, bookkeeping, or replaced
            read = self.snapshot.catalog.page(self.question.realm, limit=_NEWEST_AT_ONCE, offset=offset)
            if not read:
                break
            notes, causes = self._kept([note.id for note in read])
            left += [note for note in notes if note.kind != PROMPT]
            dropped += causes
            offset += len(read)
        left = filters.newest_first(left)[: self.question.limit]
        told = self._listed([note.id for note in left], "answered from the newest memories", "one of the newest")
        return told._replace(dropped=dropped)

    def _of_time(self, window: Window) -> Answer:
        """What was written in a time, newest first: the question names no other subject."""
        notes, dropped = self._kept(list(written_in(self.snapshot, window, self.question.realm)))
        left = [note.id for note in notes if note.kind != PROMPT]
        when = one_line(window.phrase, 40)
        told = f"answered from the notes written {when}" if left else f"nothing was written {when}"
        return self._listed(left[: self.question.limit], told, f"written {when}")._replace(dropped=dropped)

    def _listed(self, names: Sequence[str], note: str, why: str) -> Answer:
        """Notes that were not searched for, in this order."""
        ranking = [(name, (len(names) - place) / len(names)) for place, name in enumerate(names)]
        request = self._request()
        header, rows = self.engine.answered(self.question.strategy, ranking, {}, self.reading, request, admitted=False)
        return Answer(header._replace(note=note), tuple(row._replace(why=why) for row in rows))

    def _rows(self, ranking: Ranking, page: Page, search: Search) -> tuple[Header, list[Row]]:
        evidence = self.ranker.evidence(page, (name for name, _ in ranking), search)
        header, rows = self.engine.answered(
            self.question.strategy, ranking, evidence, self.reading, self._request(), admitted=False
        )
        if self.question.strategy == "keyword":
            state = page.found.health["keyword"]
            return header._replace(note="" if state == OK else state), rows
        if self.window is not None:
            of_time = dict(page.found.rankings.get("temporal", ()))
            why = f"written {one_line(self.window.phrase, 40)}"
            rows = [row._replace(why=why) if row.id in of_time and row.coverage > 0.0 else row for row in rows]
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
        place = question.realm or question.home
        return Asked(self.now.date(), question.tags, place, question.domain, question.realm is not None)

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
        return self._kept([note.id for note in notes if "persona" in dict(note.extra)])[0]

    def _kept(self, names: Sequence[str]) -> tuple[list[Note], Counter[str]]:
        """Notes that may stay, in this order, and how many may not, by cause."""
        ranking, dropped = self.sieve.kept([(name, 0.0) for name in names], self.reading)
        notes = self.reading.notes(names)
        return [notes[name] for name, _ in ranking], dropped
