"""How well each strategy ranks the documents of a data set, by the engine that lanes and `chitta recall` use."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from chitta.admission import calibration
from chitta.cli.bookshelf import opened
from chitta.evaluate.dataset import Dataset
from chitta.evaluate.runs import Run
from chitta.evaluate.scores import DEPTH, MEASURES, Interval, interval, paired, per_query
from chitta.gateway.engine import Engine
from chitta.index.indexer import Progress
from chitta.models.registry import load_embedder, load_reranker
from chitta.settings import Settings

#: Every system that can be measured, with what it is. ``keyword`` and ``semantic`` are one arm each.
SYSTEMS: dict[str, str] = {
    "keyword": "the words' arm alone (BM25)",
    "semantic": "the meaning's arm alone (cosine)",
    "fused": "both arms joined, as the hybrid lane has them on a prompt",
    "hybrid": "the same after the reranker, as `chitta recall` has them",
    "temporal": "notes of a time that the query names, alone",
    "graph": "notes that links and shared names lead to, from the best ten of words and meaning",
    "associative": "notes near to what the nearest have in common (Hopfield), alone",
    "hyperdimensional": "notes with the same words in the same roles, alone",
}
#: Those that are measured where none is named.
USUAL = ("keyword", "semantic", "fused", "hybrid")


class Measured(NamedTuple):
    """One system over one data set: its run, each measure by query, and the queries it answers in a second."""

    dataset: str
    system: str
    run: Run
    values: dict[str, dict[str, float]]
    per_second: float

    def score(self, measure: str) -> Interval:
        return interval(list(self.values[measure].values()))

    def change(self, measure: str, before: Mapping[str, Mapping[str, float]]) -> Interval:
        """The paired difference to the values of another run."""
        return paired(self.values[measure], before[measure])


def measure(
    store: Settings, dataset: Dataset, systems: Sequence[str], progress: Progress | None = None
) -> list[Measured]:
    """Ask every query of every system in turn. Raises ``ModelUnavailable`` and what the index raises."""
    with opened(store) as snapshot:
        reranker = load_reranker(store) if "hybrid" in systems else None
        engine = Engine(store, snapshot, load_embedder(store), reranker, calibration.load(store))
        return [_measure_one(engine, dataset, system, progress) for system in systems]


def _measure_one(engine: Engine, dataset: Dataset, system: str, progress: Progress | None) -> Measured:
    run: dict[str, list[str]] = {}
    started = time.perf_counter()
    for done, query in enumerate(dataset.queries, start=1):
        _, page = engine.find(query.text, strategy=system, limit=DEPTH, realm=query.realm)
        run[query.id] = [name for name, _ in page.ranking[:DEPTH]]
        if progress:
            progress(f"{dataset.name} {system}", done, len(dataset.queries))
    seconds = time.perf_counter() - started
    values = per_query(run, dataset.judgements)
    return Measured(dataset.name, system, run, values, len(run) / seconds if seconds else 0.0)


def table(measured: Sequence[Measured]) -> list[list[str]]:
    """Rows for people: each data set and system with its scores; the first row holds the headings."""
    rows = [["data set", "queries", "system", *MEASURES]]
    for one in measured:
        scores = [str(one.score(name)) for name in MEASURES]
        rows.append([one.dataset, f"{len(one.run):,}", one.system, *scores])
    return rows


def speed_table(measured: Sequence[Measured]) -> list[list[str]]:
    """Queries a second: apart from the scores, since it is never the same twice."""
    return [
        ["data set", "system", "queries per second"],
        *([one.dataset, one.system, f"{one.per_second:.1f}"] for one in measured),
    ]
