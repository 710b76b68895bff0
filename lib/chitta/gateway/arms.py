"""The arms: the ways of finding notes for one text, each run by itself.

Words and meaning are always asked. The others find what belongs to a text without resembling it,
and are asked only where a setting gives them a weight: notes of the time that it names, notes that
links and shared names lead to, notes near to what the nearest have in common, notes with the same
words in the same roles. An arm that fails finds nothing, says why, and stops no other.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, NamedTuple

from chitta.index import IndexFault
from chitta.index.terms import analyse
from chitta.recall.fuse import Ranking, convex, reciprocal_rank
from chitta.recall.query_class import MULTIPLIERS, classify
from chitta.recall.temporal import event_order, in_utc, in_window, later, ordered_by_time, spoken
from chitta.settings import Settings

if TYPE_CHECKING:
    from chitta.gateway.meaning import Meaning
    from chitta.gateway.reading import Reading
    from chitta.gateway.readings import Readings
    from chitta.index.snapshot import Snapshot
    from chitta.recall.time_phrases import Window

#: Every arm, in the order in which they run: later ones start from what the first two found.
ARMS = ("semantic", "keyword", "temporal", "graph", "associative", "hyperdimensional")
#: Candidates of each arm before fusion: deep enough that fusion, not the cut, decides.
POOL = 50
#: Candidates where filters will drop many of them.
DEEP_POOL = 500
#: The arms' weights as settings, and their column in the table of query classes; meaning and words share 1.
_WEIGHTS = {
    "temporal": "CHITTA_TEMPORAL_WEIGHT",
    "graph": "CHITTA_GRAPH_WEIGHT",
    "associative": "CHITTA_ASSOCIATIVE_WEIGHT",
    "hyperdimensional": "CHITTA_HDC_WEIGHT",
}
_COLUMNS = {"semantic": 0, "keyword": 1, "temporal": 3, "graph": 4, "associative": 5}
#: Notes of a window of time that are known by name (reflect), and those whose words are looked at.
MOST_DATED = 5000
_DATED = 300
#: Best notes of words and meaning that the graph starts from, and that are put in order of time.
_SEEDS = 10
_EVENTS = 20

OK, OFF, NOTHING_ASKED = "ok", "off", "not asked for by this text"


class Search(NamedTuple):
    """One text to find notes for: in a realm (None: all), ``depth`` notes of each arm, at this time.

    ``window`` is the time that a question named beside ``text``; None where the text itself may name one.
    """

    text: str
    realm: str | None
    reading: Reading
    depth: int
    now: datetime
    window: Window | None = None


class Found(NamedTuple):
    """Rankings and health by arm: ``ok``, ``off``, or why it found nothing."""

    rankings: dict[str, Ranking]
    health: dict[str, str]

    def arms_of(self) -> dict[str, tuple[str, ...]]:
        """Which arms found each note."""
        by_id: dict[str, tuple[str, ...]] = {}
        for arm, ranking in self.rankings.items():
            for name, _ in ranking:
                by_id[name] = (*by_id.get(name, ()), arm)
        return by_id


def weights_of(settings: Settings, text: str) -> dict[str, float]:
    """Each arm's weight for this text; 0 is off."""
    alpha = settings.real("CHITTA_FUSION_ALPHA")
    weights = {"semantic": alpha, "keyword": 1.0 - alpha}
    weights |= {arm: settings.real(name) for arm, name in _WEIGHTS.items()}
    if settings.flag("CHITTA_QUERY_CLASSES"):
        row = MULTIPLIERS[classify(text).subject]
        weights = {arm: weight * (row[_COLUMNS[arm]] if arm in _COLUMNS else 1.0) for arm, weight in weights.items()}
    return weights


def joined(found: Found, weights: Mapping[str, float], settings: Settings) -> list[tuple[str, float]]:
    """The arms' rankings as one, by the fusion that the settings name."""
    arms = [arm for arm in ARMS if weights.get(arm, 0.0) > 0.0 and found.rankings.get(arm)]
    rankings, shares = [found.rankings[arm] for arm in arms], [weights[arm] for arm in arms]
    if settings.text("CHITTA_FUSION").strip().lower() == "rrf":
        return reciprocal_rank(rankings, settings.integer("CHITTA_RRF_K"), shares)
    return convex(rankings, shares)


class Arms:
    """The arms of one snapshot and the models there are. Safe to share between threads."""

    def __init__(self, snapshot: Snapshot, readings: Readings, meaning: Meaning, settings: Settings) -> None:
        self._snapshot = snapshot
        self._readings = readings
        self._meaning = meaning
        self._settings = settings
        self._run: dict[str, Callable[[Search, Found], Ranking]] = {
            "semantic": self._semantic,
            "keyword": self._keyword,
            "temporal": self._temporal,
            "graph": self._graph,
            "associative": self._associative,
            "hyperdimensional": self._hyperdimensional,
        }

    def find(self, search: Search, weights: Mapping[str, float]) -> Found:
        """What every arm that has a weight finds. Never raises."""
        found = Found({}, {})
        floors = _floors(self._settings.text("CHITTA_ARM_FLOORS"))
        for arm in ARMS:
            if weights.get(arm, 0.0) <= 0.0:
                found.health[arm] = OFF
                continue
            found.health[arm] = OK
            try:
                ranking = self._above_floor(self._run[arm](search, found), floors.get(arm, 0.0), search.reading)
            except Exception as problem:  # whatever an arm throws, the others have answers
                ranking, found.health[arm] = [], str(problem) if isinstance(problem, IndexFault) else _named(problem)
            found.rankings[arm] = ranking
        return found

    def _semantic(self, search: Search, found: Found) -> Ranking:
        compared = self._meaning.search(search.text, search.reading)
        if compared is None:
            found.health["semantic"] = self._meaning.why_not()
            return []
        return compared.search(realm=search.realm, limit=search.depth)

    def _keyword(self, search: Search, found: Found) -> Ranking:
        ranking = search.reading.words(search.realm, search.depth)
        if "keyword" in self._snapshot.damaged:  # maybe noticed only now
            found.health["keyword"] = "the keyword index is damaged: run chitta reindex"
            return []
        return ranking

    def _temporal(self, search: Search, found: Found) -> Ranking:
        """Notes of the time that the text names; where it names none but asks for the first or the last, the best
        notes of the arms before in order of time.
        """
        window, rest = search.window, search.text
        if window is None:
            from chitta.recall.time_phrases import window_of  # dear to import; lanes without the daemon go without

            window = window_of(spoken(search.text), search.now)
            rest = search.text[: window.span[0]] + search.text[window.span[1] :] if window is not None else ""
        if window is None:
            order = event_order(search.text) if self._settings.flag("CHITTA_EVENT_ORDER") else None
            if order is None:
                found.health["temporal"] = NOTHING_ASKED
                return []
            best = convex([found.rankings.get("semantic", []), found.rankings.get("keyword", [])], [0.5, 0.5])
            notes = search.reading.notes(name for name, _ in best[:_EVENTS])
            return ordered_by_time(notes.values(), order)
        dated = written_in(self._snapshot, window, search.realm)
        known = [name for name, _ in search.reading.words(search.realm, _DATED) if name in dated]
        middle = in_utc(window.start + (window.end - window.start) / 2)
        others = sorted(dated.keys() - set(known), key=lambda name: (_apart(dated[name], middle), name))
        names = [*known, *others][:_DATED]
        terms = {name: held for name, (_, held) in self._snapshot.catalog.with_terms(names).items()}
        notes = search.reading.notes(terms)
        ranking = in_window(notes.values(), window, analyse(rest).all, lambda note: terms[note.id].whole)
        return ranking[: search.depth]

    def _graph(self, search: Search, found: Found) -> Ranking:
        from chitta.gateway.graph_arm import linked

        best = convex([found.rankings.get("semantic", []), found.rankings.get("keyword", [])], [0.5, 0.5])
        ranking = linked(self._snapshot, search.text, search.realm, search.depth, dict(best[:_SEEDS]))
        if "catalog" in self._snapshot.damaged:
            found.health["graph"] = "the catalog is damaged: run chitta reindex"
        return ranking

    def _associative(self, search: Search, found: Found) -> Ranking:
        from chitta.recall.associative import CANDIDATES, associate

        compared, vectors = self._meaning.search(search.text, search.reading), self._snapshot.vectors
        if compared is None or vectors is None:
            found.health["associative"] = self._meaning.why_not()
            return []
        names = [hit.id for hit in compared.search(realm=search.realm, limit=CANDIDATES)]
        beta = vectors.dim**0.5
        return associate(compared.query, vectors.of(names), names, beta, limit=search.depth)

    def _hyperdimensional(self, search: Search, found: Found) -> Ranking:
        from chitta.gateway.hyper_arm import resembling

        return resembling(self._readings, search.text, search.realm, search.depth)

    @staticmethod
    def _above_floor(ranking: Ranking, floor: float, reading: Reading) -> Ranking:
        """Without the notes that hold less than ``floor`` of the text's words, weighed by rarity."""
        if floor <= 0.0 or not ranking:
            return ranking
        evidence = reading.weigh([name for name, _ in ranking], words={})
        return [(name, score) for name, score in ranking if name in evidence and evidence[name].coverage >= floor]


def timed(query: str, now: datetime) -> tuple[str, Window | None]:
    """A question without the time that it names, and that time; the whole question and None where it names none."""
    from chitta.recall.time_phrases import window_of

    window = window_of(spoken(query), now)
    if window is None:
        return query, None
    start, end = window.span
    return " ".join((query[:start] + " " + query[end:]).split()), window


def written_in(snapshot: Snapshot, window: Window, realm: str | None) -> dict[str, str]:
    """The stamps, in UTC, of at most :data:`MOST_DATED` notes created or updated in a window, newest first."""
    start, end = in_utc(window.start).isoformat(), later(in_utc(window.end), datetime.resolution).isoformat()
    return {hit.id: hit.stamp for hit in snapshot.catalog.between(realm, start, end, MOST_DATED)}


def _apart(stamp: str, moment: datetime) -> timedelta:
    return abs(datetime.fromisoformat(stamp) - moment)


def _floors(text: str) -> dict[str, float]:
    """``keyword=0.2,graph=0.1`` as a mapping; parts that mean nothing are passed over."""
    floors: dict[str, float] = {}
    for part in text.split(","):
        arm, _, share = part.partition("=")
        try:
            floors[arm.strip()] = min(1.0, max(0.0, float(share)))
        except ValueError:
            continue
    return floors


def _named(problem: Exception) -> str:
    return f"failed: {type(problem).__name__}"
