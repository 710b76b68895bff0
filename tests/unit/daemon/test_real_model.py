"""The daemon with the models that ship: loaded behind the prompts' back, and used."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from chitta import daemon_client
from chitta import settings as table
from chitta.daemon.warmup import shipped_loaders
from chitta.models.registry import describe
from chitta.wire.codec import OK
from chitta.wire.request import Request, encode_request
from chitta.wire.rows import parse_rows

pytestmark = pytest.mark.skipif(
    any(fact.problem for fact in describe(table.load({}))), reason="the shipped models are not installed"
)


def when_loaded(status: Callable[[], dict[str, Any]]) -> dict[str, Any]:
    end = time.monotonic() + 180
    while True:
        found = status()
        if all(state["state"] != "loading" for state in found["models"].values()):
            return found
        assert time.monotonic() < end
        time.sleep(0.05)


def test_meaning_finds_what_words_do_not(make_daemon: Callable[..., Any]) -> None:
    daemon = make_daemon(shipped_loaders())
    daemon.note("canteen", "Lunch is served between noon and two in the east wing.")
    daemon.note("payroll", "Salaries are transferred on the last working day of the month.")
    daemon.note("backups", "Database dumps are copied to the second site every night.")
    daemon.start()
    report = daemon.call("sync", patience_s=60)
    assert (report["pending"], report["problems"]) == (0, [])

    query = "when do I get my wages?"
    raw = encode_request(Request(prompt=query, query=query, deadline_ms=60_000))
    for lane in ("semantic", "hybrid"):
        code, body = daemon.ask("lane", lane, body=raw)
        result = parse_rows(lane, "ok", 0.0, body)
        assert (code, result.rows[0].id) == (OK, "payroll"), lane
        assert result.header is not None and not result.header.warming

    vector = np.array(daemon.call("embed", texts=[query])["vectors"][0])
    assert np.isclose(np.linalg.norm(vector), 1.0, atol=1e-3)
    status = when_loaded(lambda: daemon.call("status"))
    assert [state["state"] for state in status["models"].values()] == ["ready", "unused"]
    assert status["problems"] == []
    found = daemon.call("recall", query=query, strategy="hybrid", realm=None)["rows"]
    assert found[0]["id"] == "payroll"
    assert daemon.call("status")["models"]["reranker"]["state"] == "ready"


def test_the_process_with_its_models_leaves_nothing_outside_the_store(own_home: Path) -> None:
    settings = table.load()
    assert daemon_client.ensure(settings, 60)
    try:
        when_loaded(lambda: daemon_client.call(settings, "status"))
        assert os.listdir(own_home) == [".chitta"]
    finally:
        daemon_client.stop(settings, 60)
    assert os.listdir(own_home) == [".chitta"]
