"""The arm that follows links: notes that share the prompt's entities, and notes linked to those.

It finds what belongs to a prompt without sharing its words, so what it finds is related, not
evidence: whoever fuses it decides what it may add.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from itertools import product
from typing import TYPE_CHECKING

from chitta.index import IndexFault
from chitta.notes.links import query_entities, tag_candidates
from chitta.recall.analogy import Analogy, Answer, parse, solve
from chitta.recall.fuse import Ranking, ordered
from chitta.recall.spreading import (
    COMMON_NOTES,
    GATE,
    HOPS,
    MAX_NEIGHBOURS,
    RETENTION,
    entity_shares,
    entity_weight,
    spread,
)

if TYPE_CHECKING:
    from chitta.index.snapshot import Notes, Snapshot


class Links:
    """The graph of one realm, or of all, as :mod:`chitta.recall.spreading` wants it. For one request.

    What was asked once is kept, since one entity is met again and again along the paths.
    """

    def __init__(self, notes: Notes, realm: str | None) -> None:
        self._notes = notes
        self._realm = realm
        self._total = notes.count(realm)
        self._counts: dict[str, int] = {}
        self._holders: dict[str, Sequence[str]] = {}

    def named(self, entities: Sequence[str], known: Collection[str] = ()) -> dict[str, float]:
        """Notes that hold entities of a prompt, each with the summed weights of what it holds, at most 1.

        An entity of more than thirty notes alone picks none of them: the note must hold another one
        too, or be one of ``known``.
        """
        wanted = self._linking(entities, COMMON_NOTES)
        held = self._held_by(wanted)
        times = Counter(name for names in held.values() for name in names)
        scores: dict[str, float] = {}
        for entity, names in held.items():
            rare = self._counts[entity] <= MAX_NEIGHBOURS
            for name in names:
                if rare or times[name] > 1 or name in known:
                    scores[name] = min(1.0, scores.get(name, 0.0) + self._weight(entity))
        return scores

    def neighbours(self, ids: Sequence[str]) -> dict[str, list[tuple[str, float]]]:
        """Notes that share entities with each of these, by the summed weight, at most 1, of what they share.

        Entities of more than thirty notes are not followed: no note passes on to more.
        """
        entities = self._notes.entities_of(ids)
        held = self._held_by(self._linking([each for found in entities.values() for each in found], MAX_NEIGHBOURS))
        around: dict[str, list[tuple[str, float]]] = {}
        for name, found in entities.items():
            weights: dict[str, float] = {}
            for entity in found:
                for other in held.get(entity, ()):
                    weights[other] = min(1.0, weights.get(other, 0.0) + self._weight(entity))
            weights.pop(name, None)
            around[name] = ordered(weights)
        return around

    def shared(self, name: str, others: Sequence[str]) -> dict[str, tuple[str, ...]]:
        """The entities that tie a note to each of the others, the rarest first; as :meth:`neighbours` follows them."""
        linking = self._linking(self._notes.entities_of([name]).get(name, ()), MAX_NEIGHBOURS)
        linking.sort(key=lambda entity: (-self._weight(entity), entity))
        held = self._held_by(linking)
        return {other: tuple(entity for entity in linking if other in held[entity]) for other in others}

    def _linking(self, entities: Sequence[str], most: int) -> list[str]:
        """Those entities that have any weight, of at most ``most`` notes."""
        new = [entity for entity in dict.fromkeys(entities) if entity not in self._counts]
        found = self._notes.entity_counts(new, self._realm) if new else {}
        self._counts |= {entity: found.get(entity, 0) for entity in new}
        kept = [entity for entity in dict.fromkeys(entities) if 0 < self._counts[entity] <= most]
        return [entity for entity in kept if self._weight(entity) > 0.0]

    def _held_by(self, entities: Sequence[str]) -> dict[str, Sequence[str]]:
        new = [entity for entity in entities if entity not in self._holders]
        found = self._notes.sharing(new, self._realm, COMMON_NOTES) if new else {}
        self._holders |= {entity: found.get(entity, ()) for entity in new}
        return {entity: self._holders[entity] for entity in entities}

    def _weight(self, entity: str) -> float:
        return entity_weight(self._counts[entity], self._total)


def linked(
    snapshot: Snapshot, prompt_text: str, realm: str | None, limit: int, seeds: Mapping[str, float] | None = None
) -> Ranking:
    """Notes that the prompt's entities and ``seeds`` lead to within two hops, by activation, at most ``limit``.

    ``seeds`` are notes that other arms found, 0 to 1; one that holds no entity of the prompt is given
    back only when activation came to it from elsewhere. Empty when the catalog is damaged, which the
    snapshot then reports.
    """
    given = {name: min(1.0, score) for name, score in (seeds or {}).items() if score > 0.0}
    try:
        links = Links(snapshot.catalog, realm)
        named = links.named(prompt_entities(prompt_text), given)
        start = {name: min(1.0, named.get(name, 0.0) + given.get(name, 0.0)) for name in (*named, *given)}
        active = spread(start, links.neighbours)
    except IndexFault:
        return []
    kept = RETENTION**HOPS
    found = {name: score - (0.0 if name in named else kept * start.get(name, 0.0)) for name, score in active}
    return ordered({name: score for name, score in found.items() if score >= GATE})[:limit]


def shares(snapshot: Snapshot, prompt_text: str, realm: str | None) -> dict[str, float]:
    """How near notes are to the prompt's entities, for :func:`chitta.recall.spreading.entity_boost`; {} on damage."""
    try:
        links = Links(snapshot.catalog, realm)
        named = links.named(prompt_entities(prompt_text))
        return entity_shares([name for name, _ in ordered(named)], links.neighbours)
    except IndexFault:
        return {}


def transferred(snapshot: Snapshot, text: str, realm: str | None) -> Answer:
    """The answer to an analogy from the realm's notes, or all. Raises ``ValueError`` when ``text`` is none.

    A name that is the id of a note means its title as well, where the name itself leads to nothing.
    """
    typed = parse(text)
    notes = snapshot.catalog.notes(list(dict.fromkeys(typed)))
    titles = {name: note.title for name, note in notes.items() if note.title and realm in (None, note.realm)}
    ways = product(*(dict.fromkeys((name, titles.get(name, name))) for name in typed))
    answers = (solve(Analogy(*names), lambda name: snapshot.catalog.edges(name, realm)) for names in ways)
    first = next(answers)
    answer = first if first.solutions else next((other for other in answers if other.solutions), first)
    if "catalog" in snapshot.damaged:
        return Answer((), "the catalog is damaged: run chitta reindex")
    return answer


def prompt_entities(text: str) -> tuple[str, ...]:
    """The entities that a prompt may mean: those that it names, and its words as tags."""
    return tuple(dict.fromkeys((*query_entities(text), *tag_candidates(text))))
