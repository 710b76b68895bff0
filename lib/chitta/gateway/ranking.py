"""One ranked page for a text: arms, fusion, reranker, boosts, and what replaces what.

Each step takes a ranking and gives one; the hybrid lane and ``chitta recall`` take the same steps.
docs/ranking.md has them in order, with the source of every constant.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from chitta.gateway.arms import POOL, Arms, Found, Search, joined, weights_of
from chitta.gateway.reading import ROW_TEXT_CHARS
from chitta.gateway.scoring import Scoring
from chitta.recall import rerank
from chitta.recall.diversify import Contradiction, contradictions, near_duplicates, settle
from chitta.recall.evidence import Evidence, prompt_signals
from chitta.recall.filters import drop_cause, without_copies
from chitta.recall.fuse import Ranking, convex
from chitta.recall.query_class import classify
from chitta.recall.score import WINDOW as BOOSTED
from chitta.recall.score import Asked, boosted, kind_prior
from chitta.recall.spreading import cross_channel, entity_boost
from chitta.settings import Settings

if TYPE_CHECKING:
    from chitta.admission.calibration import Calibration
    from chitta.gateway.meaning import Meaning
    from chitta.gateway.reading import Reading
    from chitta.gateway.readings import Readings
    from chitta.index.snapshot import Snapshot
    from chitta.index.vectors import Comparison, Matrix
    from chitta.models.protocol import Reranker
    from chitta.notes.note import Note

#: Head of a fused ranking whose evidence is weighed. The calibration was fitted on pages of ten.
PAGE = 10


class Page(NamedTuple):
    """One ranked page: the ranking, each id's evidence, and why meaning was not used ("" where it was).

    ``plain`` is the order by words and by the prompt as it stands: what its relevance is read from.
    ``found`` is what each arm said.
    """

    ranking: Ranking
    evidence: dict[str, Evidence]
    note: str
    plain: Ranking
    found: Found


class Settled(NamedTuple):
    """A ranking without doubles and with replaced notes below; ``doubles``: whose double each left-out note is."""

    ranking: Ranking
    doubles: dict[str, str]
    replaced: dict[str, Contradiction]


class Ranker:
    """The steps of ranking, over one snapshot and the models there are. Safe to share between threads."""

    def __init__(
        self,
        settings: Settings,
        snapshot: Snapshot,
        readings: Readings,
        meaning: Meaning,
        reranker: Reranker | None,
        calibration: Calibration,
        scoring: Scoring,
    ) -> None:
        self.meaning = meaning
        self.reranker = reranker
        self.scoring = scoring
        self._settings = settings
        self._snapshot = snapshot
        self._calibration = calibration
        self._arms = Arms(snapshot, readings, meaning, settings)

    def page(
        self, search: Search, weights: Mapping[str, float] | None = None, depth: int = PAGE, measured: bool = True
    ) -> Page:
        """The arms joined, with the evidence of at least the first ``depth`` notes. ``weights`` None: the settings'.

        With ``measured`` False no model is used beside those of the arms.
        """
        depth = max(depth, PAGE)
        weights = weights_of(self._settings, search.text) if weights is None else weights
        found = self._arms.find(search._replace(depth=max(search.depth, POOL, depth)), weights)
        ranking = self._linked(joined(found, weights, self._settings), found, search)
        words = search.reading.words(search.realm, max(search.depth, POOL, depth))
        near = self.meaning.near(search.text, search.reading) if measured else None
        plain = ranking if near is None else self._plain(near, words, search.realm)
        names = dict.fromkeys(name for name, _ in (*ranking[:depth], *plain[:PAGE]))
        evidence = search.reading.weighed(list(names), dict(words), near)
        return Page(ranking, evidence, "" if near is not None else self.meaning.why_not(), plain, found)

    def evidence(self, page: Page, names: Iterable[str], search: Search) -> dict[str, Evidence]:
        """The page's evidence, and that of these notes: later steps raise some that it did not weigh."""
        missing = [name for name in names if name not in page.evidence]
        if not missing:
            return page.evidence
        words = dict(search.reading.words(search.realm, max(search.depth, POOL)))
        near = None if page.note else self.meaning.near(search.text, search.reading)
        return page.evidence | search.reading.weighed(missing, words, near)

    def _plain(self, near: Comparison, words: Ranking, realm: str | None) -> Ranking:
        alpha = self._settings.real("CHITTA_FUSION_ALPHA")
        return convex([near.search(realm=realm, limit=POOL), words[:POOL]], [alpha, 1.0 - alpha])

    def _linked(self, ranking: Ranking, found: Found, search: Search) -> Ranking:
        """After fusion: raised by links to the text's names, and by agreement of several kinds of evidence."""
        strength = self._settings.real("CHITTA_ENTITY_BOOST")
        if strength > 0.0:
            from chitta.gateway.graph_arm import shares

            ranking = entity_boost(ranking, shares(self._snapshot, search.text, search.realm), strength=strength)
        if self._settings.flag("CHITTA_CROSS_CHANNEL") and classify(search.text).subject == "multi_hop":
            ranking = cross_channel(ranking, found.arms_of())
        return ranking

    def relevance(self, page: Page, reading: Reading) -> float | None:
        """Raw maxrel; None when meaning was not measured, since words alone cannot say that nothing is known."""
        if page.note:
            return None
        ordered = [page.evidence[name] for name, _ in page.plain[:PAGE] if name in page.evidence]
        signals = prompt_signals(ordered, reading.mass, len(reading.terms.words))
        return round(self._calibration.prompt.probability(signals), 4) if signals else 0.0

    def logits(self, prompt: str, ranking: Ranking, reading: Reading, deadline: float | None) -> list[float]:
        """The cross-encoder's judgement of as many of the ranking's head as the plan and the time allow."""
        plan = rerank.plan(prompt)
        if self.reranker is None or plan is None:
            return []
        head = [name for name, _ in ranking[: plan.window]]
        notes = self._snapshot.catalog.notes(head)
        if len(notes) < len(head):
            return []
        passages = [rerank.best_passage(notes[name].title, notes[name].text, reading.plain) for name in head]
        return self.reranker.score(prompt, passages, deadline=deadline)

    def reranked(self, prompt: str, ranking: Ranking, reading: Reading, logits: Sequence[float]) -> Ranking:
        """The ranking after the cross-encoder's judgement, with the priors of kinds."""
        plan = rerank.plan(prompt)
        if plan is None or not logits:
            return ranking
        notes = reading.notes(name for name, _ in ranking[: len(logits)])
        kinds = [notes[name].kind if name in notes else "" for name, _ in ranking[: len(logits)]]
        priors = [kind_prior(kind, self.scoring.priors) for kind in kinds]
        return rerank.blend(ranking, logits, plan.weight, priors)

    def boosted(self, ranking: Ranking, reading: Reading, asked: Asked) -> Ranking:
        """The ranking after the boosts; unchanged where every one is off."""
        if not any(self.scoring.alphas):
            return ranking
        notes = reading.notes(name for name, _ in ranking[:BOOSTED])
        return boosted(ranking, notes, asked, self.scoring.alphas, BOOSTED)

    def settled(self, ranking: Ranking, reading: Reading, window: int, thorough: bool = False) -> Settled:
        """The first ``window`` without doubles, replaced notes below what replaces them; the rest follows.

        ``thorough`` looks for doubles in other words, too, which takes some milliseconds; without it notes that
        admission will drop settle nothing: one in quarantine, or expired, does not take its double along.
        """
        head, rest = ranking[:window], ranking[window:]
        notes = self.whole(reading, [name for name, _ in head])
        head = without_copies(head, notes)
        if not thorough:
            dropped = {
                name for name, note in notes.items() if drop_cause(note, now=reading.now, include_superseded=True)
            }
            notes = {name: note for name, note in notes.items() if name not in dropped}
        doubles: dict[str, str] = {}
        if self._settings.flag("CHITTA_COLLAPSE_DUPLICATES"):
            likeness = self.likeness([name for name, _ in head]) if thorough else None
            head, doubles = near_duplicates(head, notes, likeness)
        found: list[Contradiction] = []
        if self._settings.flag("CHITTA_SETTLE_CONTRADICTIONS"):
            found = contradictions([notes[name] for name, _ in head if name in notes])
            head = settle(head, found)
        return Settled([*head, *rest], doubles, {one.loser: one for one in found})

    def whole(self, reading: Reading, names: Sequence[str]) -> dict[str, Note]:
        """The reading's notes with all of their text: two long ones may differ where a row no longer shows it."""
        notes = reading.notes(names)
        cut = [name for name, note in notes.items() if len(note.text) >= ROW_TEXT_CHARS]
        for name, note in self._snapshot.catalog.notes(cut).items() if cut else ():
            notes[name] = notes[name]._replace(text=note.text)
        return notes

    def likeness(self, names: Sequence[str]) -> Likeness | None:
        """How alike these notes are to each other; None without vectors."""
        vectors = self._snapshot.vectors
        return Likeness(names, vectors.of(names)) if vectors is not None and names else None


class Likeness:
    """The cosine of two of these notes."""

    def __init__(self, names: Sequence[str], vectors: Matrix) -> None:
        self._at = {name: place for place, name in enumerate(names)}
        self._cosines = (vectors @ vectors.T).tolist()

    def __call__(self, one: str, other: str) -> float:
        return float(self._cosines[self._at[one]][self._at[other]])
