"""What is kept of a question, when it is found anew, and that neither changes the answer."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import pytest

from chitta.admission import calibration
from chitta.gateway.answer import answer
from chitta.gateway.engine import Engine
from chitta.gateway.question import Question
from chitta.index.indexer import sync
from chitta.index.snapshot import open_snapshot
from chitta.notes.note import Note
from chitta.notes.store import NoteStore
from chitta.settings import load

from .conftest import Judge, Opened, WordEmbedder
from .questions import NOTES, asked, ids

CACHED = "connection pool size worker timeout retry queue"
TURNED = "queue retry timeout worker size pool connection"
REWORDED = f"what is the {TURNED}"


@pytest.mark.parametrize("strategy", ["hybrid", "semantic", "keyword"])
@pytest.mark.parametrize(("query", "tier"), [(CACHED, "exact"), (TURNED, "fuzzy")])
def test_what_was_kept_gives_what_is_found_anew(opened: Opened, strategy: str, query: str, tier: str) -> None:
    warm, fresh = opened(*NOTES, reranker=Judge("pool")), opened(reranker=Judge("pool"), RECALL_CACHE=0)
    assert asked(warm, CACHED, strategy=strategy).cached == ""
    hit, anew = asked(warm, query, strategy=strategy), asked(fresh, query, strategy=strategy)
    assert (hit.cached, anew.cached) == (tier, "")
    assert ids(hit) == ids(anew)
    for row, wanted in zip(hit.rows, anew.rows, strict=True):
        assert row._replace(score=0.0) == wanted._replace(score=0.0)
    if tier == "exact":
        assert hit._replace(cached="") == anew


def test_a_question_in_other_words_has_its_own_evidence(opened: Opened) -> None:
    warm, fresh = opened(*NOTES), opened(RECALL_CACHE=0)
    asked(warm, CACHED)
    hit, anew = asked(warm, REWORDED), asked(fresh, REWORDED)
    assert hit.cached == "fuzzy"
    assert {row.id: (row.cos, row.bm25, row.coverage, row.shared) for row in hit.rows} == {
        row.id: (row.cos, row.bm25, row.coverage, row.shared) for row in anew.rows
    }


def test_filters_are_applied_again_to_what_was_kept(opened: Opened) -> None:
    engine = opened(*NOTES)
    asked(engine, CACHED, kinds=("insight",))
    found = asked(engine, CACHED, kinds=("episode",))
    assert found.cached == "exact" and ids(found) == ["queue"]
    assert asked(engine, CACHED, min_confidence=0.5).cached == "exact"
    assert "both" not in ids(asked(engine, CACHED, min_confidence=0.5))


def test_another_realm_or_strategy_is_found_anew(opened: Opened) -> None:
    engine = opened(*NOTES)
    asked(engine, CACHED)
    assert asked(engine, CACHED, realm="global").cached == ""
    assert asked(engine, CACHED, strategy="keyword").cached == ""


@pytest.mark.parametrize(
    "changed",
    [{"FUSION": "rrf"}, {"RRF_K": 60}, {"FUSION_ALPHA": 0.7}, {"ENTITY_BOOST": 1}, {"EVENT_ORDER": 1},
     {"ARM_FLOORS": "keyword=0.2"}, {"QUERY_INSTRUCTION": 0}, {"CROSS_CHANNEL": 1}, {"RERANK_MODEL": "none"}],
)  # fmt: skip
def test_another_way_of_finding_is_found_anew(opened: Opened, changed: dict[str, Any]) -> None:
    engine = opened(*NOTES)
    asked(engine, CACHED)
    other = load({"CHITTA_HOME": engine.settings.home, **{f"CHITTA_{n}": str(v) for n, v in changed.items()}})
    assert engine._readings is not None

    def again(settings: Any) -> Engine:
        return Engine(settings, engine.snapshot, WordEmbedder(), None, calibration.shipped(), readings=engine._readings)

    assert asked(again(engine.settings), CACHED).cached == "exact"
    assert asked(again(other), CACHED).cached == ""


def test_words_of_time_are_of_the_day_they_are_said(opened: Opened) -> None:
    engine = opened(Note("first", title="Retries", text="retries back off", created="2026-05-31"),
                    Note("second", title="Retries", text="retries are counted", created="2026-06-01"))  # fmt: skip
    question = Question("retries of yesterday", strategy="hybrid")
    first = answer(engine, question, datetime(2026, 6, 1, 23))
    assert answer(engine, question, datetime(2026, 6, 1, 23)).cached == "exact"
    second = answer(engine, question, datetime(2026, 6, 2, 0))
    assert second.cached == ""
    for found, dated in ((first, "first"), (second, "second")):
        assert [name for name in ("first", "second") if "temporal" in found.reasons[name]["arms"]] == [dated]


def test_a_changed_index_forgets(opened: Opened) -> None:
    engine = opened(*NOTES)
    asked(engine, CACHED)
    NoteStore(engine.settings.notes_dir).write(Note("late", title="Connection pool size", text=CACHED))
    sync(engine.settings, WordEmbedder())
    snapshot = open_snapshot(engine.settings.index_dir)
    assert snapshot is not None
    found = asked(Engine(engine.settings, snapshot, WordEmbedder(), None, calibration.shipped()), CACHED)
    assert found.cached == "" and ids(found)[0] == "late"
    snapshot.close()


def test_nothing_is_kept_where_an_arm_failed(opened: Opened, monkeypatch: pytest.MonkeyPatch) -> None:
    engine = opened(*NOTES)

    def broken(*arguments: Any) -> Any:
        raise OSError

    with monkeypatch.context() as patched:
        patched.setitem(engine.ranker()._arms._run, "keyword", broken)
        found = asked(engine, CACHED)
        assert found.health["keyword"] == "failed: OSError" and found.rows
    assert asked(engine, CACHED).cached == ""
    assert asked(engine, CACHED).cached == "exact"


def test_nothing_is_kept_while_there_is_no_model(opened: Opened) -> None:
    engine = opened(*NOTES, embedder=None, warming=True, FUSION_ALPHA=0)
    assert [asked(engine, CACHED).cached for _ in range(2)] == ["", ""]
    assert [asked(engine, CACHED, strategy="keyword").cached for _ in range(2)] == ["", "exact"]


def test_a_judgement_is_kept_for_its_own_words_alone(opened: Opened) -> None:
    judge = Judge("pool")
    engine = opened(*NOTES, reranker=judge)
    for query in (CACHED, CACHED, REWORDED):
        asked(engine, query)
    assert judge.asked == [CACHED, REWORDED]
