"""Associative recall: what lies near to the pattern that a query calls up, rather than to the query itself.

One update of a modern Hopfield network (Ramsauer et al., "Hopfield Networks is All You Need", 2020, equation 3): the
stored vectors are weighed by their likeness to the query, their weighted mean is the pattern, and they are ranked by
their cosine to it.

numpy is imported when a pattern is first asked for, not with this module.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Matrix = NDArray[np.float32]
    Wide = NDArray[np.float64]

#: Most vectors that make up a pattern (SuperLocalMemory's nearest candidates).
CANDIDATES = 500
SCORE_DIGITS = 6


def default_beta(dim: int) -> float:
    """``1 / √dim``, the inverse temperature of Ramsauer et al. (the scale of attention) and of SuperLocalMemory.

    For unit vectors it averages nearly everything: dot products lie within ±1, so no weight is more than
    ``exp(2 / √dim)`` times another (1.11 for 384). The pattern is then close to the candidates' mean, and the ranking
    says how typical of them a note is. With ``√dim`` (19.6) a difference of 0.1 in cosine is a factor of 7.
    """
    return 1.0 / math.sqrt(dim)


def associate(
    query: Matrix,
    vectors: Matrix,
    ids: Sequence[str],
    beta: float | None = None,
    steps: int = 1,
    limit: int = 10,
) -> list[tuple[str, float]]:
    """The ``limit`` candidates of highest cosine (−1 to 1) to the pattern that ``query`` calls up, ties by id.

    ``query`` is a vector (dim,), ``vectors`` one row (n, dim) for each of ``ids``; of more than :data:`CANDIDATES` the
    nearest to the query are used. ``pattern = normalise(Σ softmax(beta · X · query) · X)``; with more ``steps`` the
    pattern is the next query. ``beta`` None means :func:`default_beta`; 0 gives the plain mean. Rows that are zero or
    not finite are left out; a query that is so finds nothing.

    Raises ``ValueError`` for shapes that do not fit, and for a ``beta`` or ``steps`` that make no pattern.
    """
    import numpy as np

    state = np.asarray(query, dtype=np.float64)
    rows = np.asarray(vectors)
    if state.ndim != 1 or rows.shape != (len(ids), len(state)):
        raise ValueError(f"a query of shape {state.shape} and vectors of shape {rows.shape} for {len(ids)} ids")
    if steps < 1 or beta is not None and not 0.0 <= beta < math.inf:
        raise ValueError(f"no pattern after {steps} steps with a beta of {beta}")
    length = _length(state)
    if not ids or limit <= 0 or not 0.0 < length < math.inf:
        return []
    state = state / length
    candidates = _nearest(state, rows, ids)
    if not candidates:
        return []
    kept = _units(rows[candidates])
    sharpness = default_beta(len(state)) if beta is None else beta
    for _ in range(steps):
        state = _pattern(state, kept, sharpness)
        if not state.any():
            return []
    scores = [round(score, SCORE_DIGITS) for score in _dot(kept, state).tolist()]
    ranked = sorted(zip((ids[at] for at in candidates), scores, strict=True), key=lambda hit: (-hit[1], hit[0]))
    return ranked[:limit]


def _pattern(state: Wide, rows: Wide, beta: float) -> Wide:
    """One update: the unit mean of ``rows``, weighed by softmax; zero when they cancel out."""
    import numpy as np

    dots = _dot(rows, state)
    weights = np.exp(beta * (dots - dots.max()))
    mean: Wide = np.einsum("i,ij->j", weights / weights.sum(), rows)
    length = _length(mean)
    return mean / length if length > 1e-12 else np.zeros_like(mean)


def _nearest(state: Wide, rows: Matrix, ids: Sequence[str]) -> list[int]:
    """Places of the usable rows, the nearest :data:`CANDIDATES` of them, in order of id.

    The order of a sum changes its last digits: with one order, the order that rows come in changes nothing.
    """
    import numpy as np

    lengths = np.sqrt(np.einsum("ij,ij->i", rows, rows))
    usable: list[int] = np.flatnonzero(np.isfinite(lengths) & (lengths > 0.0)).tolist()
    if len(usable) > CANDIDATES:
        dots = np.einsum("ij,j->i", rows, state.astype(rows.dtype))
        near = np.divide(dots, lengths, out=np.zeros_like(dots), where=lengths > 0.0).round(SCORE_DIGITS).tolist()
        usable = heapq.nsmallest(CANDIDATES, usable, key=lambda at: (-near[at], ids[at]))
    return sorted(usable, key=lambda at: ids[at])


def _units(rows: Matrix) -> Wide:
    """Each row at length 1."""
    import numpy as np

    wide = rows.astype(np.float64)
    units: Wide = wide / np.sqrt(np.einsum("ij,ij->i", wide, wide))[:, None]
    return units


def _length(vector: Wide) -> float:
    return math.sqrt(float((vector * vector).sum()))


def _dot(rows: Wide, vector: Wide) -> Wide:
    """``rows @ vector`` without BLAS, whose thread pool stalls for milliseconds on a busy machine."""
    import numpy as np

    result: Wide = np.einsum("ij,j->i", rows, vector)
    return result
