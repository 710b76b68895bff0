"""What people and tests ask of a running daemon."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from chitta import __version__
from chitta.daemon.logbook import Logbook
from chitta.daemon.warmup import Loaders
from chitta.daemon_client import DaemonRefused
from chitta.wire.codec import MISUSE, UNAVAILABLE

Make = Callable[..., Any]


@pytest.fixture
def daemon(make_daemon: Make) -> Any:
    made = make_daemon()
    made.note("frobnicator-limits", "The frobnicator takes at most twelve gaskets.")
    made.note("aside", "Another project's frobnicator is blue.", realm="project:elsewhere")
    return made.start()


def test_ping(daemon: Any) -> None:
    answer = daemon.call("ping")
    assert (answer["pid"], answer["version"]) == (os.getpid(), __version__)
    assert answer["uptime_s"] >= 0


def test_sync_reports_what_it_did(daemon: Any) -> None:
    daemon.call("sync")
    daemon.note("third", "Something else entirely.")
    report = daemon.call("sync")
    assert (report["added"], report["updated"], report["removed"]) == (1, 0, 0)
    assert (report["embedded"], report["pending"], report["problems"]) == (1, 0, [])
    full = daemon.call("sync", full=True)
    assert (full["unchanged"], full["embedded"]) == (3, 0)
    assert full["generation"] > report["generation"]


def test_sync_does_not_wait_for_vectors_longer_than_asked(make_daemon: Make, embedder: Any) -> None:
    embedder.gate.clear()  # the embedder is never ready
    daemon = make_daemon()
    daemon.note("one", "Some words.")
    daemon.start()
    report = daemon.call("sync", patience_s=0)
    assert (report["embedded"], report["pending"]) == (0, 1)


def test_status_counts_and_names(daemon: Any, embedder: Any) -> None:
    daemon.call("sync")
    status = daemon.call("status")
    assert status["home"] == daemon.settings.home
    assert (status["notes"], status["vectors"], status["pending"]) == (2, 2, 0)
    assert status["index_model"] == embedder.name
    assert status["models"]["embedder"] == {"name": embedder.name, "state": "ready", "reason": ""}
    assert status["models"]["reranker"]["state"] == "unused"
    assert status["rss_bytes"] > 1_000_000
    assert status["problems"] == []
    assert daemon.call("status")["requests"] > status["requests"]


def test_status_names_settings_that_mean_nothing(daemon: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CHITTA_LANE_K", "many")
    assert any("CHITTA_LANE_K" in problem for problem in daemon.call("status")["problems"])


def test_embed_as_query_and_as_notes(daemon: Any, embedder: Any) -> None:
    answer = daemon.call("embed", texts=["one", "two"])
    assert (answer["model"], answer["dim"]) == (embedder.name, embedder.dim)
    assert np.allclose(answer["vectors"][0], embedder.embed_query("one"))
    notes = daemon.call("embed", texts=["one", "two"], **{"as": "notes"})
    assert np.allclose(notes["vectors"], embedder.embed_notes(["one", "two"]))
    assert daemon.call("embed", texts=[])["vectors"] == []


def test_embed_without_a_model_says_why(make_daemon: Make) -> None:
    def missing(settings: Any) -> Any:
        raise OSError("the model file is missing")

    daemon = make_daemon(Loaders(missing, lambda settings: None)).start()
    with pytest.raises(DaemonRefused, match="missing") as caught:
        daemon.call("embed", texts=["one"])
    assert caught.value.code == UNAVAILABLE


def test_too_many_texts_are_misuse(daemon: Any) -> None:
    with pytest.raises(DaemonRefused) as caught:
        daemon.call("embed", texts=["x"] * 5_000)
    assert caught.value.code == MISUSE


def test_stop_replies_and_leaves(daemon: Any) -> None:
    assert daemon.call("stop") == {"pid": os.getpid()}
    daemon.thread.join(60)
    assert not daemon.thread.is_alive()
    assert daemon.reason == "asked to stop"
    assert not Path(daemon.listener.path).exists()


def test_writer_that_fails_is_a_refusal_and_rests(daemon: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    daemon.call("sync")

    def fail(*arguments: Any, **options: Any) -> Any:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("chitta.index.indexer.sync", fail)
    with pytest.raises(DaemonRefused, match="Permission denied"):
        daemon.call("sync")
    assert daemon.parts.writer.resting()
    assert any("could not be brought level" in problem for problem in daemon.call("status")["problems"])
    assert daemon.call("recall", query="gaskets", strategy="keyword")["rows"] != []


def test_many_syncs_at_once_share_the_work(daemon: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    from chitta.index import indexer

    daemon.call("sync")
    runs: list[bool] = []
    asked: list[Any] = []
    all_asked = threading.Event()
    real, words = indexer.sync, daemon.parts.writer.words

    def counted(settings: Any, embedder: Any, **options: Any) -> Any:
        runs.append(embedder is None)
        assert all_asked.wait(60)
        return real(settings, embedder, **options)

    def submit(job: Any) -> Any:
        submitted = words(job)
        asked.append(job)
        if len(asked) >= 20:
            all_asked.set()
        return submitted

    monkeypatch.setattr("chitta.index.indexer.sync", counted)
    monkeypatch.setattr(daemon.parts.writer, "words", submit)
    threads = [threading.Thread(target=lambda: daemon.call("sync")) for _ in range(20)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert 1 <= runs.count(True) <= 2  # the one under way, and one for all who came meanwhile
    assert len(runs) <= 2 + 20


def test_log_has_no_word_of_what_was_asked(daemon: Any) -> None:
    daemon.call("recall", query="a very private question", strategy="hybrid")
    assert isinstance(daemon.log, Logbook)
    assert "private" not in daemon.log_text()
