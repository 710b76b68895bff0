"""Notes reached from other notes: spreading activation, and what links and agreement are worth after fusion.

The graph is given as a function, since it lies in the index: for ids, each one's neighbours with
the weight of the link, 0 to 1. Constants are SuperLocalMemory's, where no other source is named.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping, Sequence

from chitta.recall.fuse import Ranking, ordered

Neighbours = Callable[[Sequence[str]], Mapping[str, Sequence[tuple[str, float]]]]

#: Notes that activation starts from and that pass it on at a hop, and neighbours that one note passes it on to.
SEEDS = 10
MAX_NEIGHBOURS = 30
#: What a note keeps of its activation at each hop, and what it passes on, before weight and degree.
RETENTION = 0.5
SPREAD = 0.8
#: Activation that a note must hold in the end. SuperLocalMemory squashes activation by a sigmoid first, after which
#: nothing lies below 0.45 and this gate rejects nothing; here it is held against activation itself.
GATE = 0.05
#: Longest path. SuperLocalMemory spreads three times; on two the third adds only what many paths cross.
HOPS = 2

#: An entity of more notes than this, or than this share of the realm, says nothing of any of them (our own choice).
COMMON_NOTES = 200
COMMON_SHARE = 0.1
#: In a small realm, notes that an entity may always have.
ALWAYS_RARE = 5

#: After fusion a note linked to the prompt's entities gains up to this part; each hop keeps so much of the share.
BOOST = 0.3
SHARE_DECAY = 0.7
LEAST_SHARE = 0.1

#: The kind of evidence that an arm gives; an arm that is not named is a kind of its own.
GROUPS = {
    "semantic": "meaning",
    "context": "meaning",
    "associative": "meaning",
    "keyword": "words",
    "temporal": "time",
    "graph": "structure",
    "spreading": "structure",
}
#: Factors for a note that kinds of evidence agree on.
TWO_KINDS, TIME_AND_STRUCTURE, THREE_KINDS = 1.5, 1.8, 2.0


def entity_weight(count: int, total: int) -> float:
    """Weight, 0 to 1, of an entity that ``count`` of a realm's ``total`` notes hold.

    ``log(total / count) / log(total / 2)``: 1 for one that two notes share, less for commoner ones,
    and 0 beyond :data:`COMMON_NOTES` or :data:`COMMON_SHARE` of the realm (in a realm of fewer than
    fifty notes, beyond :data:`ALWAYS_RARE`).
    """
    if count < 1 or count > min(COMMON_NOTES, max(ALWAYS_RARE, COMMON_SHARE * total)):
        return 0.0
    if count <= 2:
        return 1.0
    return max(0.0, math.log(total / count) / math.log(total / 2)) if total > count else 0.0


def spread(
    seeds: Mapping[str, float],
    neighbours: Neighbours,
    hops: int = HOPS,
    *,
    retention: float = RETENTION,
    passed: float = SPREAD,
    gate: float = GATE,
) -> list[tuple[str, float]]:
    """Notes by activation after ``hops`` steps, seeds among them; those below ``gate`` are dropped.

    Starts from the :data:`SEEDS` strongest of ``seeds`` (0 to 1). At each hop every note keeps
    ``retention`` of its activation, and the :data:`SEEDS` strongest give each neighbour
    ``passed · weight · activation / degree``; degree counts all neighbours of the note, of which the
    heaviest :data:`MAX_NEIGHBOURS` are given anything.
    """
    active = {name: min(1.0, score) for name, score in ordered(seeds)[:SEEDS] if score > 0.0}
    links: dict[str, list[tuple[str, float]]] = {}
    for _ in range(hops):
        giving = [name for name, _ in ordered(active)[:SEEDS]]
        new = sorted(set(giving) - links.keys())
        around = neighbours(new) if new else {}
        links |= {name: _usable(name, around.get(name, ())) for name in new}
        after = {name: retention * score for name, score in active.items()}
        for name in giving:
            for other, weight in links[name][:MAX_NEIGHBOURS]:
                after[other] = after.get(other, 0.0) + passed * weight * active[name] / len(links[name])
        active = after
    return [(name, score) for name, score in ordered(active) if score >= gate]


def entity_shares(seeds: Sequence[str], neighbours: Neighbours, hops: int = HOPS) -> dict[str, float]:
    """How near each note is to the prompt's entities: 1 for ``seeds``, the notes that hold them, best first.

    Each hop keeps ``SHARE_DECAY · weight`` of it, by the best path, and starts from
    :data:`MAX_NEIGHBOURS` notes at most; less than :data:`LEAST_SHARE` is left out.
    """
    shares = dict.fromkeys(seeds, 1.0)
    reached = list(shares)[:MAX_NEIGHBOURS]
    for _ in range(hops):
        better: dict[str, float] = {}
        around = neighbours(reached) if reached else {}
        for name in reached:
            for other, weight in _usable(name, around.get(name, ()))[:MAX_NEIGHBOURS]:
                share = shares[name] * SHARE_DECAY * weight
                if share >= LEAST_SHARE and share > max(shares.get(other, 0.0), better.get(other, 0.0)):
                    better[other] = share
        shares |= better
        reached = [name for name, _ in ordered(better)[:MAX_NEIGHBOURS]]
    return shares


def entity_boost(
    ranking: Ranking, shares: Mapping[str, float], weight: float = 1.0, strength: float = BOOST
) -> list[tuple[str, float]]:
    """The fused ranking with each score times ``1 + share · weight · strength``.

    ``weight`` is what the kind of prompt gives to links. Scores are not negative.
    """
    return ordered({name: score * (1.0 + shares.get(name, 0.0) * weight * strength) for name, score in ranking})


def cross_channel(ranking: Ranking, arms_by_id: Mapping[str, Collection[str]]) -> list[tuple[str, float]]:
    """The fused ranking with notes raised that kinds of evidence agree on; for prompts of several steps alone.

    ``arms_by_id`` names the arms that found each note. Two kinds give × 1.5, time with structure
    × 1.8, three or more × 2 (SuperLocalMemory's intersection). Scores are not negative.
    """
    return ordered({name: score * _agreement(arms_by_id.get(name, ())) for name, score in ranking})


def _agreement(arms: Collection[str]) -> float:
    kinds = {GROUPS.get(arm, arm) for arm in arms}
    if len(kinds) >= 3:
        return THREE_KINDS
    if kinds == {"time", "structure"}:
        return TIME_AND_STRUCTURE
    return TWO_KINDS if len(kinds) == 2 else 1.0


def _usable(name: str, around: Sequence[tuple[str, float]]) -> list[tuple[str, float]]:
    """Neighbours that a note can pass anything to, heaviest first, each once; weights at most 1."""
    heaviest: dict[str, float] = {}
    for other, weight in around:
        if other != name and weight > heaviest.get(other, 0.0):
            heaviest[other] = min(1.0, weight)
    return ordered(heaviest)
