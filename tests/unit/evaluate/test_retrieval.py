"""Rankings of a small data set by the real engine, with a quick embedder."""

from __future__ import annotations

from pathlib import Path

import pytest

from chitta.evaluate import retrieval
from chitta.evaluate.bench_store import build_store
from chitta.evaluate.dataset import Dataset, Query, read_dataset
from chitta.evaluate.retrieval import Measured, measure, speed_table, table
from chitta.evaluate.scores import DEPTH, MEASURES, Interval, interval
from chitta.notes.note import Note
from chitta.settings import Settings


@pytest.fixture
def dataset(sample: Path) -> Dataset:
    return read_dataset(str(sample))


def test_every_system_ranks_every_query(
    word_store: Settings, dataset: Dataset, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(retrieval, "load_reranker", lambda settings: None)
    steps: list[tuple[str, int, int]] = []
    found = measure(word_store, dataset, list(retrieval.SYSTEMS), lambda *step: steps.append(step))
    assert [(one.dataset, one.system) for one in found] == [("sample", name) for name in retrieval.SYSTEMS]
    for one in found:
        assert list(one.run) == [query.id for query in dataset.queries] and one.per_second > 0
        assert all(len(set(names)) == len(names) <= DEPTH for names in one.run.values())
        assert set(one.values) == set(MEASURES)
    assert steps[5] == ("sample keyword", 6, 6) and len(steps) == len(retrieval.SYSTEMS) * 6
    assert found[0].run["q1"][0] == "stripe-raw-body" and found[0].values["MRR"]["q1"] == 1.0


def test_the_reranker_is_loaded_only_for_what_uses_it(
    word_store: Settings, dataset: Dataset, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(retrieval, "load_reranker", lambda settings: pytest.fail("loaded"))
    first, second = (measure(word_store, dataset, ["keyword", "fused"]) for _ in range(2))
    assert [(one.run, one.values) for one in first] == [(one.run, one.values) for one in second]


def test_a_query_is_asked_in_its_own_realm(words: object) -> None:
    notes = tuple(Note(name, realm=f"conversation:{name}", text="the same words") for name in ("one", "two"))
    queries = (Query("in one", "same words", "conversation:one"), Query("in all", "same words", None))
    dataset = Dataset("talks", notes, queries, {query.id: {"one": 1} for query in queries})
    (found,) = measure(build_store("talks", notes), dataset, ["keyword"])
    assert found.run["in one"] == ["one"] and sorted(found.run["in all"]) == ["one", "two"]


MADE_UP = Measured(
    "a set",
    "keyword",
    {"q1": ["a"], "q2": []},
    {name: {"q1": 1.0, "q2": 0.0} for name in MEASURES},
    12.34,
)


def test_a_score_is_the_mean_over_queries_and_a_change_is_paired() -> None:
    assert MADE_UP.score("MRR") == interval([1.0, 0.0]) and MADE_UP.score("MRR").mean == (1.0 + 0.0) / 2
    assert MADE_UP.change("MRR", {"MRR": {"q1": 0.5, "q2": 0.0}}).mean == (0.5 + 0.0) / 2
    assert MADE_UP.change("MRR", MADE_UP.values) == Interval(0.0, 0.0, 0.0)


def test_tables_keep_times_apart_from_scores() -> None:
    head, row = table([MADE_UP])
    assert head == ["data set", "queries", "system", *MEASURES]
    assert row == ["a set", "2", "keyword", *(str(interval([1.0, 0.0])) for _ in MEASURES)]
    assert speed_table([MADE_UP])[1] == ["a set", "keyword", "12.3"]
