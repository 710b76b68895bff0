"""Scores of rankings by ir-measures, and how far they can be trusted, by scipy's bootstrap."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from chitta.evaluate.runs import Run

#: What is measured of a ranking, by its name in tables; the names of ir-measures stand beside them.
MEASURES: dict[str, str] = {
    "recall@5": "R@5",
    "recall@10": "R@10",
    "hit@3": "Success@3",
    "nDCG@10": "nDCG@10",
    "nDCG@20": "nDCG@20",
    "MRR": "RR",
}
#: Deepest rank that a measure looks at; MRR looks as deep as the run goes.
DEPTH = 50
RESAMPLES = 1000
LEVEL = 0.95
_SEED = 20_240


class Interval(NamedTuple):
    """A mean and the bootstrap interval around it."""

    mean: float
    low: float
    high: float

    def __str__(self) -> str:
        return f"{self.mean:.3f} [{self.low:.3f}, {self.high:.3f}]"

    def signed(self) -> str:
        """As a change: "same" where nothing changed for any query."""
        if not (self.mean or self.low or self.high):
            return "same"
        return f"{self.mean:+.3f} [{self.low:+.3f}, {self.high:+.3f}]"


def per_query(run: Run, judgements: Mapping[str, Mapping[str, int]]) -> dict[str, dict[str, float]]:
    """Each measure's value by query; a query for which nothing was found counts 0."""
    from ir_measures import Qrel, ScoredDoc, iter_calc, parse_measure

    names = {parse_measure(theirs): ours for ours, theirs in MEASURES.items()}
    judged = [Qrel(query, name, grade) for query, grades in judgements.items() for name, grade in grades.items()]
    found = [
        ScoredDoc(query, name, float(len(ranked) - rank))
        for query, ranked in run.items()
        for rank, name in enumerate(ranked)
    ]
    values: dict[str, dict[str, float]] = {name: {} for name in MEASURES}
    for metric in iter_calc(list(names), judged, found):
        values[names[metric.measure]][metric.query_id] = metric.value
    return {name: {query: by_query.get(query, 0.0) for query in judgements} for name, by_query in values.items()}


def interval(values: Sequence[float]) -> Interval:
    """The mean with its 95 % percentile bootstrap interval (1,000 resamples, a fixed seed)."""
    return ratio_interval(values, [1.0] * len(values)) or Interval(0.0, 0.0, 0.0)


def ratio_interval(parts: Sequence[float], wholes: Sequence[float]) -> Interval | None:
    """The ratio of two sums over the same cases, which are resampled together; None where the whole is 0."""
    if not sum(wholes):
        return None
    return _resampled((parts, wholes), lambda part, whole: _ratio(part, whole))


def ratio_difference(now: Sequence[tuple[float, float]], before: Sequence[tuple[float, float]]) -> Interval:
    """The change of a ratio of sums, from (part, whole) of the same cases, which are resampled together.

    A ratio of nothing counts as 0.
    """
    if not now:
        return Interval(0.0, 0.0, 0.0)
    columns = (*zip(*now, strict=True), *zip(*before, strict=True))
    return _resampled(columns, lambda a, b, c, d: _ratio(a, b) - _ratio(c, d))


def _ratio(part: Any, whole: Any) -> Any:
    import numpy as np

    return part / np.maximum(whole, 1e-12)


def _resampled(columns: Sequence[Sequence[float]], combine: Callable[..., Any]) -> Interval:
    """``combine`` of the columns' sums, with the interval of resampled rows."""
    import numpy as np
    from scipy.stats import bootstrap

    arrays = tuple(np.asarray(column, dtype=float) for column in columns)

    def statistic(*sample: Any, axis: int = -1) -> Any:
        return combine(*(array.sum(axis=axis) for array in sample))

    value = float(statistic(*arrays))
    if len(arrays[0]) < 2 or not any(np.ptp(array) for array in arrays):
        return Interval(value, value, value)
    found = bootstrap(
        arrays,
        statistic,
        paired=True,
        vectorized=True,
        n_resamples=RESAMPLES,
        confidence_level=LEVEL,
        method="percentile",
        rng=np.random.default_rng(_SEED),
    ).confidence_interval
    return Interval(value, float(found.low), float(found.high))


def paired(now: Mapping[str, float], before: Mapping[str, float]) -> Interval:
    """The mean difference over the queries that both have, resampled as pairs."""
    return interval([now[query] - before[query] for query in now if query in before])
