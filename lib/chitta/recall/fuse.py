"""Joining rankings of different arms into one.

A ranking is a sequence of ``(id, score)``, best first. Scores of different arms have no common
scale: reciprocal rank fusion forgets them, convex fusion stretches each arm to 0–1 first.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

Ranking = Sequence[tuple[str, float]]

#: Constant of reciprocal rank fusion (Cormack, Clarke and Buettcher, SIGIR 2009).
RECIPROCAL_RANK_K = 60


def ordered(scores: Mapping[str, float]) -> list[tuple[str, float]]:
    """The scores as a ranking: by score, ties by id, so that equal inputs give equal orders."""
    return sorted(scores.items(), key=lambda item: (-item[1], item[0]))


def min_max(ranking: Ranking) -> dict[str, float]:
    """Each id's score stretched so that the arm's best is 1 and its worst is 0.

    An arm whose scores are all equal gives 1 to each: it does say that they match.
    """
    if not ranking:
        return {}
    scores = [score for _, score in ranking]
    low, high = min(scores), max(scores)
    if high <= low:
        return {name: 1.0 for name, _ in ranking}
    return {name: (score - low) / (high - low) for name, score in ranking}


def convex(dense: Ranking, sparse: Ranking, alpha: float) -> list[tuple[str, float]]:
    """``alpha · minmax(dense) + (1 − alpha) · minmax(sparse)``; an absent id counts 0 in that arm.

    Convex combination after Bruch, Gai and Ingber (TOIS 2023). With one arm empty the other is
    used alone, at its full weight.
    """
    if not dense or not sparse:
        return ordered(min_max(dense or sparse))
    near, exact = min_max(dense), min_max(sparse)
    names = near.keys() | exact.keys()
    return ordered({name: alpha * near.get(name, 0.0) + (1.0 - alpha) * exact.get(name, 0.0) for name in names})


def reciprocal_rank(
    rankings: Sequence[Ranking], k: int = RECIPROCAL_RANK_K, weights: Sequence[float] | None = None
) -> list[tuple[str, float]]:
    """``Σ weight / (k + rank)`` over the arms, ranks counted from 1; an absent id adds nothing."""
    scores: dict[str, float] = {}
    for arm, ranking in enumerate(rankings):
        weight = weights[arm] if weights else 1.0
        for rank, (name, _) in enumerate(ranking, start=1):
            scores[name] = scores.get(name, 0.0) + weight / (k + rank)
    return ordered(scores)
