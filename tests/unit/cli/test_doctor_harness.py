from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from chitta import breadcrumb
from chitta import settings as table
from chitta.cli import doctor_harness as checks
from chitta.cli.finding import FAIL, OK, WARN, Finding
from chitta.wiring import status


@pytest.fixture
def clients(own_home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[dict[tuple[str, str], Any]]:
    """What each client's file says, by harness and scope; no client's program is on the PATH."""
    wired: dict[tuple[str, str], Any] = {}

    def inspect(harness: str, scope: str, home: Path, project: Path, root: Path) -> status.Wired:
        nothing = status.Wired(harness, scope, home / "file", False, (), ("UserPromptSubmit",), ())
        return nothing._replace(**wired.get((harness, scope), {}))

    monkeypatch.setattr(status, "inspect", inspect)
    monkeypatch.setenv("PATH", "/nowhere")
    monkeypatch.setenv("HOME", str(own_home))
    monkeypatch.chdir(tmp_path)
    yield wired


def wiring() -> list[Finding]:
    return list(checks.wiring(table.load()))


WIRED = {"exists": True, "events": ("UserPromptSubmit",), "missing": ()}


def test_a_machine_without_a_client_is_in_order(clients: dict[tuple[str, str], Any]) -> None:
    assert [finding.state for finding in wiring()] == [OK]


def test_a_client_that_is_here_and_not_wired(clients: dict[tuple[str, str], Any], own_home: Path) -> None:
    (own_home / ".codex").mkdir()
    (finding,) = wiring()
    assert finding.state == WARN and finding.todo == "chitta hooks install codex"
    clients["claude", "user"] = WIRED
    assert [finding.state for finding in wiring()] == [OK, OK]


def test_what_is_wired_is_told_by_scope(clients: dict[tuple[str, str], Any]) -> None:
    clients["claude", "user"] = clients["gemini", "project"] = WIRED
    found = wiring()
    assert [finding.state for finding in found] == [OK, OK]
    assert "claude (user)" in found[0].detail and "gemini (project)" in found[1].detail


def test_a_wiring_with_gaps_or_faults_says_what_to_do(clients: dict[tuple[str, str], Any]) -> None:
    clients["claude", "user"] = {**WIRED, "missing": ("SessionStart",)}
    clients["codex", "user"] = {**WIRED, "problems": ("the entry leads to a checkout that is gone",)}
    clients["gemini", "project"] = {"exists": True, "problems": ("it is no JSON",)}
    lacking, faulty, broken = wiring()
    assert lacking.state == WARN and "no entry for SessionStart" in lacking.detail
    assert faulty.state == WARN and "gone" in faulty.detail
    assert broken.state == FAIL and broken.todo == "chitta hooks install gemini --scope project"


def failure(where: str, days_ago: float) -> Finding:
    breadcrumb.leave(
        table.load().state_dir, where, "sync: OSError", "writing.py:175", now=time.time() - days_ago * 86_400
    )
    (finding,) = checks.last_failure(table.load())
    return finding


def test_no_failure_is_in_order() -> None:
    assert [finding.state for finding in checks.last_failure(table.load())] == [OK]


@pytest.mark.parametrize(
    ("where", "days", "state", "words"),
    [
        ("daemon", 0.1, WARN, "2 hours ago, daemon: sync: OSError at writing.py:175"),
        ("merge", 0.0, WARN, "a moment ago"),
        ("lanes", 0.0, OK, "lanes"),
        ("daemon", 3, OK, "3 days ago"),
        ("daemon", 40, OK, "none"),
    ],
)
def test_a_failure_is_told_with_its_age_and_what_to_do(where: str, days: float, state: str, words: str) -> None:
    finding = failure(where, days)
    assert finding.state == state and words in finding.detail
    assert bool(finding.todo) == (words != "none") and "{" not in finding.todo


def test_a_time_that_is_none_is_long_ago(tmp_path: Path) -> None:
    state = Path(table.load().state_dir)
    state.mkdir(parents=True)
    (state / breadcrumb.NAME).write_text('{"ts": "soon", "where": "x", "what": "y"}')
    assert [finding.state for finding in checks.last_failure(table.load())] == [OK]
