"""Models that load in the background, fail, or are not the ones that a request names."""

from __future__ import annotations

import threading
import time
from pathlib import Path
from typing import Any

import pytest

from chitta import settings
from chitta.daemon import warmup
from chitta.daemon.logbook import Logbook
from chitta.daemon.warmup import Loaders, Models
from chitta.settings import Settings


class Reranker:
    name = "counts"

    def score(self, query: str, passages: list[str], *, deadline: float | None = None) -> list[float]:
        return [0.0 for _ in passages]


def asked(**variables: str) -> Settings:
    return settings.load(variables)


def models(tmp_path: Path, embedder: Any, reranker: Any = lambda settings: None, ready: Any = lambda: None) -> Models:
    return Models(Loaders(embedder, reranker), Logbook(str(tmp_path / "log")), ready)


def wait_until(condition: Any) -> None:
    end = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.005)


def under_way(models: Models) -> list[str]:
    return [name for name, state in models.states().items() if state.state == "loading"]


def test_nothing_loads_until_it_is_wanted(tmp_path: Path, embedder: Any) -> None:
    loaded = models(tmp_path, lambda settings: embedder).loaded()
    assert loaded == (None, None, True)


def test_reranker_is_left_alone_until_someone_reranks(tmp_path: Path, embedder: Any) -> None:
    loads: list[str] = []

    def reranker(settings: Settings) -> Any:
        loads.append("reranker")
        return Reranker()

    loading = models(tmp_path, lambda settings: embedder, reranker)
    for _ in range(3):
        loading.want(asked(), rerank=False)
        loading.wait_for_embedder(60)
        loading.wait_for_reranker(60)
    assert (loads, loading.states()["reranker"].state, loading.loaded().reranker) == ([], "unused", None)
    for _ in range(3):
        loading.want(asked())
        loading.wait_for_reranker(60)
        loading.want(asked(), rerank=False)
    assert (loads, loading.states()["reranker"].state) == (["reranker"], "ready")
    assert loading.loaded().reranker is not None and loading.loaded().embedder is not None


def test_embedder_is_warmed_and_ready_before_the_reranker(tmp_path: Path, embedder: Any) -> None:
    gate = threading.Event()
    ready: list[bool] = []

    def reranker(settings: Settings) -> Any:
        gate.wait(60)
        return Reranker()

    loading = models(tmp_path, lambda settings: embedder, reranker, lambda: ready.append(True))
    loading.want(asked())
    loading.wait_for_embedder(60)
    loaded = loading.loaded()
    assert loaded.embedder is not None and loaded.embedder.name == embedder.name
    assert loaded.reranker is None and not loaded.warming
    assert len(embedder.queries) == 1
    assert loading.states()["reranker"].state == "loading"
    gate.set()
    wait_until(lambda: loading.states()["reranker"].state == "ready")
    assert ready == [True]


def test_waiting_ends_at_its_time(tmp_path: Path, embedder: Any) -> None:
    embedder.gate.clear()
    loading = models(tmp_path, lambda settings: embedder)
    loading.want(asked())
    loading.wait_for_embedder(0.05)
    loading.wait_for_embedder(-1)
    assert loading.loaded().warming
    embedder.gate.set()
    loading.wait_for_embedder(60)
    assert not loading.loaded().warming


def test_failure_is_a_state_with_a_reason_and_ends_the_wait(tmp_path: Path) -> None:
    def fail(settings: Settings) -> Any:
        raise OSError("no such model")

    loading = models(tmp_path, fail, fail)
    loading.want(asked())
    loading.wait_for_embedder(60)
    assert loading.loaded() == (None, None, False)
    assert loading.states()["embedder"] == (asked().text("CHITTA_EMBED_MODEL"), "failed", "no such model")
    wait_until(lambda: loading.states()["reranker"].state == "failed")


def test_no_reranker_is_off_not_failed(tmp_path: Path, embedder: Any) -> None:
    loading = models(tmp_path, lambda settings: embedder)
    loading.want(asked(CHITTA_RERANK_MODEL="none"))
    wait_until(lambda: loading.states()["reranker"].state == "off")


def test_the_same_models_are_loaded_once(tmp_path: Path, embedder: Any) -> None:
    loads: list[str] = []

    def load(settings: Settings) -> Any:
        loads.append(settings.text("CHITTA_EMBED_MODEL"))
        return embedder

    loading = models(tmp_path, load)
    for _ in range(3):
        loading.want(asked(CHITTA_EMBED_MODEL="one", CHITTA_LANE_K="3"))
        loading.wait_for_embedder(60)
    assert loads == ["one"]


def test_another_model_is_loaded_but_not_back_and_forth(
    tmp_path: Path, embedder: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    loads: list[str] = []

    def load(settings: Settings) -> Any:
        loads.append(settings.text("CHITTA_EMBED_MODEL"))
        return embedder

    loading = models(tmp_path, load)

    def want(name: str) -> None:
        loading.want(asked(CHITTA_EMBED_MODEL=name))
        wait_until(lambda: not under_way(loading))

    want("one")
    want("two")
    assert loads == ["one"]
    monkeypatch.setattr(warmup, "SWITCH_REST_S", 0.0)
    want("two")
    assert loads == ["one", "two"]
    assert loading.loaded().embedder is not None


def test_failed_model_is_tried_again_later(tmp_path: Path, embedder: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    attempts: list[int] = []

    def second_time(settings: Settings) -> Any:
        attempts.append(1)
        if len(attempts) == 1:
            raise OSError("not yet")
        return embedder

    loading = models(tmp_path, second_time)
    loading.want(asked())
    wait_until(lambda: not under_way(loading))
    loading.want(asked())
    assert len(attempts) == 1
    monkeypatch.setattr(warmup, "RETRY_S", 0.0)
    loading.want(asked())
    wait_until(lambda: loading.loaded().embedder is not None)
