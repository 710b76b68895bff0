"""What each switch of ranking is worth: one at a time turned the other way, over the queries of a data set.

Questions are answered as `chitta recall` answers them, without the reranker: what it is worth is the
difference between two systems of :mod:`chitta.evaluate.retrieval`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime, timezone
from typing import NamedTuple

from chitta.admission import calibration
from chitta.cli.bookshelf import opened
from chitta.daemon.embedding import SharedEmbedder
from chitta.evaluate.bench_store import TODAY, with_changes
from chitta.evaluate.dataset import Dataset
from chitta.evaluate.scores import Interval, interval, paired, per_query
from chitta.gateway.answer import answer
from chitta.gateway.engine import Engine
from chitta.gateway.question import Question
from chitta.index.indexer import Progress
from chitta.models.registry import load_embedder
from chitta.settings import Settings

DEFAULT = "as shipped"
#: Deepest rank that is asked for.
LIMIT = 20
#: The measures of the table.
SHOWN = ("nDCG@10", "recall@10", "hit@3")
#: What is turned the other way, by what it is called in tables.
SWITCHES: dict[str, dict[str, str]] = {
    "without the instruction": {"CHITTA_QUERY_INSTRUCTION": "0"},
    "words alone": {"CHITTA_FUSION_ALPHA": "0"},
    "meaning alone": {"CHITTA_FUSION_ALPHA": "1"},
    "alpha 0.3": {"CHITTA_FUSION_ALPHA": "0.3"},
    "alpha 0.7": {"CHITTA_FUSION_ALPHA": "0.7"},
    "reciprocal ranks, k 15": {"CHITTA_FUSION": "rrf"},
    "reciprocal ranks, k 60": {"CHITTA_FUSION": "rrf", "CHITTA_RRF_K": "60"},
    "arms weighed by query class": {"CHITTA_QUERY_CLASSES": "1"},
    "without the temporal arm": {"CHITTA_TEMPORAL_WEIGHT": "0"},
    "temporal arm at 1": {"CHITTA_TEMPORAL_WEIGHT": "1"},
    "event order": {"CHITTA_EVENT_ORDER": "1"},
    "graph arm at 0.1": {"CHITTA_GRAPH_WEIGHT": "0.1"},
    "graph arm at 0.3": {"CHITTA_GRAPH_WEIGHT": "0.3"},
    "associative arm at 0.1": {"CHITTA_ASSOCIATIVE_WEIGHT": "0.1"},
    "associative arm at 0.3": {"CHITTA_ASSOCIATIVE_WEIGHT": "0.3"},
    "hyperdimensional arm at 0.1": {"CHITTA_HDC_WEIGHT": "0.1"},
    "hyperdimensional arm at 0.3": {"CHITTA_HDC_WEIGHT": "0.3"},
    "coverage floor 0.1 on meaning": {"CHITTA_ARM_FLOORS": "semantic=0.1"},
    "coverage floor 0.2 on words": {"CHITTA_ARM_FLOORS": "keyword=0.2"},
    "entity boost 0.3": {"CHITTA_ENTITY_BOOST": "0.3"},
    "cross-channel boost": {"CHITTA_CROSS_CHANNEL": "1"},
    "without recency": {"CHITTA_RECENCY_ALPHA": "0"},
    "recency at 1": {"CHITTA_RECENCY_ALPHA": "1"},
    "without confidence": {"CHITTA_CONFIDENCE_ALPHA": "0"},
    "without proof, authority, speculative": {
        "CHITTA_PROOF_ALPHA": "0",
        "CHITTA_AUTHORITY_ALPHA": "0",
        "CHITTA_SPECULATIVE_ALPHA": "0",
    },
    "doubles not collapsed": {"CHITTA_COLLAPSE_DUPLICATES": "0"},
    "contradictions not settled": {"CHITTA_SETTLE_CONTRADICTIONS": "0"},
    "diversity, lambda 0.7": {"CHITTA_MMR_LAMBDA": "0.7"},
    "overlap gate 0.2": {"CHITTA_MIN_OVERLAP": "0.2"},
}


class Row(NamedTuple):
    """One switch over one data set: each measure, and its paired change to the ranking as shipped."""

    dataset: str
    switch: str
    settings: Mapping[str, str]
    scores: dict[str, Interval]
    changes: dict[str, Interval]


def measure(store: Settings, dataset: Dataset, progress: Progress | None = None) -> list[Row]:
    """Every switch over the data set, the ranking as shipped first. Raises ``ModelUnavailable``."""
    rows: list[Row] = []
    shipped: dict[str, dict[str, float]] = {}
    embedder = SharedEmbedder(load_embedder(store), kept=4 * len(dataset.queries))
    with opened(store) as snapshot:
        for switch, changes in {DEFAULT: {}, **SWITCHES}.items():
            settings = with_changes(store, {**changes, "CHITTA_RECALL_CACHE": "0"})
            engine = Engine(settings, snapshot, embedder, None, calibration.load(settings))
            values = per_query(_run(engine, dataset, f"{dataset.name} {switch}", progress), dataset.judgements)
            shipped = shipped or values
            scores = {name: interval(list(values[name].values())) for name in SHOWN}
            rows.append(Row(dataset.name, switch, changes, scores, {n: paired(values[n], shipped[n]) for n in SHOWN}))
    return rows


def _run(engine: Engine, dataset: Dataset, label: str, progress: Progress | None) -> dict[str, list[str]]:
    now = datetime.fromisoformat(TODAY).replace(tzinfo=timezone.utc)
    run: dict[str, list[str]] = {}
    for done, query in enumerate(dataset.queries, start=1):
        found = answer(engine, Question(query.text, limit=LIMIT, realm=query.realm), now)
        run[query.id] = [row.id for row in found.rows]
        if progress and done % 50 == 0:
            progress(label, done, len(dataset.queries))
    return run


def table(rows: Sequence[Row]) -> list[list[str]]:
    """Rows for people: the scores as shipped, then each switch's change; the first row holds the headings."""
    cells = [["data set", "switch", *SHOWN]]
    for row in rows:
        shown = row.scores if row.switch == DEFAULT else row.changes
        texts = (str(shown[name]) if row.switch == DEFAULT else shown[name].signed() for name in SHOWN)
        cells.append([row.dataset, row.switch, *texts])
    return cells
