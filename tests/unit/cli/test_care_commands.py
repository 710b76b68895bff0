from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from chitta import daemon_client
from chitta import settings as table

Run = Callable[..., Any]


def test_status_of_no_store_says_how_to_begin_and_makes_nothing(chitta: Run, own_home: Path) -> None:
    ran = chitta("status")
    assert ran.code == 0 and "none yet" in ran.out and "not running" in ran.out
    assert not (own_home / ".chitta").exists()


def test_status_counts(chitta: Run) -> None:
    chitta("remember", "some words")
    chitta("remember", "other words", "--realm", "project:a")
    facts = chitta("status", "--json").value
    assert facts["realms"] == {"global": 1, "project:a": 1} and facts["notes"] == 2
    assert facts["pending"] == 2 and facts["vectors"] == 0 and facts["level"] is True
    assert facts["daemon"] == {"running": False} and facts["index_bytes"] > 0
    assert "2 notes in 2 realms" in chitta("status").out


def test_status_tells_of_malformed_settings(chitta: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CHITTA_LANE_K", "many")
    assert "CHITTA_LANE_K" in chitta("status").err


def test_reindex_finds_what_was_written_by_hand(chitta: Run, own_home: Path) -> None:
    chitta("remember", "some words")
    (own_home / ".chitta" / "notes" / "global" / "hand.md").write_text("# Hand\n\nwritten\n")
    done = chitta("reindex", "--json").value
    assert (done["added"], done["unchanged"], done["pending"]) == (1, 1, 2)
    full = chitta("reindex", "--full", "--json").value
    assert full["generation"] > done["generation"] and full["unchanged"] == 2
    assert "by words only" in chitta("reindex").out


def test_stop_without_a_daemon_finds_nothing(chitta: Run) -> None:
    ran = chitta("stop")
    assert (ran.code, ran.out) == (1, "") and "not running" in ran.err


def test_start_is_refused_where_the_daemon_is_forbidden(chitta: Run) -> None:
    ran = chitta("start")
    assert ran.code == 111 and "CHITTA_NO_DAEMON" in ran.err and "\nhint: " in ran.err


@pytest.fixture
def with_daemon(chitta: Run, monkeypatch: pytest.MonkeyPatch) -> Iterator[Run]:
    monkeypatch.delenv("CHITTA_NO_DAEMON")
    yield chitta
    daemon_client.stop(table.load())


def test_the_daemon_is_started_seen_used_and_stopped(with_daemon: Run) -> None:
    with_daemon("remember", "the first words")
    started = with_daemon("start")
    assert started.code == 0 and "started (process" in started.out
    assert "already running" in with_daemon("start").out
    daemon = with_daemon("status", "--json").value["daemon"]
    assert daemon["running"] and str(daemon["pid"]) in started.out
    assert "second" in with_daemon("remember", "the second words", "--id", "second").out
    rows = with_daemon("recall", "second", "--strategy", "keyword", "--json").value["rows"]
    assert [row["id"] for row in rows] == ["second"]
    assert with_daemon("recall", "second", "--strategy", "semantic").code == 111
    assert with_daemon("stop").out == "stopped\n"
    assert not daemon_client.running(table.load())
