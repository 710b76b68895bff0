from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from pathlib import Path

import pytest

from chitta import settings as table
from chitta.admission import policy
from chitta.cli import doctor_installation as checks
from chitta.cli.finding import FAIL, OK, WARN, Finding
from chitta.settings import Settings


@pytest.fixture
def a_checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A checkout in which everything is there and does nothing."""
    for path in ("hooks/prompt-core.sh", "bin/chitta-turn", "bin/chitta-merge", "bin/chittad"):
        executable(tmp_path / path)
    for row in policy.LANES:
        executable(tmp_path / "lanes" / row.lane)
    monkeypatch.setenv("CHITTA_ROOT", str(tmp_path))
    monkeypatch.setenv("CHITTA_PYTHON", sys.executable)
    return tmp_path


def executable(path: Path, body: str = "cat >/dev/null") -> None:
    path.parent.mkdir(exist_ok=True)
    path.write_text(f"#!/bin/sh\n{body}\n")
    path.chmod(0o755)


def one(check: Callable[[Settings], Iterable[Finding]]) -> Finding:
    (finding,) = check(table.load())
    return finding


def test_everything_there_is_in_order(a_checkout: Path) -> None:
    assert one(checks.packages).state == one(checks.hook).state == one(checks.lanes).state == OK
    assert {finding.state for finding in checks.models(table.load())} == {OK}


def test_an_interpreter_that_is_gone(a_checkout: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CHITTA_PYTHON", "/no/such/python")
    finding = one(checks.interpreter)
    assert finding.state == FAIL and "/no/such/python" in finding.detail and "install.sh" in finding.todo


def test_another_interpreter_than_the_hook_s(a_checkout: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    executable(a_checkout / "bin" / "other-python")
    monkeypatch.setenv("CHITTA_PYTHON", str(a_checkout / "bin" / "other-python"))
    assert one(checks.interpreter).state == WARN


def test_a_package_that_cannot_be_imported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checks, "PACKAGES", ("json", "no_such_package"))
    finding = one(checks.packages)
    assert finding.state == FAIL and "no_such_package" in finding.detail and "json" not in finding.detail


@pytest.mark.parametrize("name", ["hooks/prompt-core.sh", "bin/chitta-merge"])
def test_a_part_of_the_hook_that_is_not_executable(a_checkout: Path, name: str) -> None:
    (a_checkout / name).chmod(0o644)
    finding = one(checks.hook)
    assert finding.state == FAIL and finding.todo == f"chmod +x {a_checkout / name}"


@pytest.mark.parametrize("body", ["cat >/dev/null; echo noise", "exit 1"])
def test_a_hook_that_does_not_stay_silent_given_nothing(a_checkout: Path, body: str) -> None:
    executable(a_checkout / "hooks" / "prompt-core.sh", body)
    assert one(checks.hook).state == FAIL


def test_fault_42_the_hook_is_run_with_next_to_no_path(a_checkout: Path) -> None:
    executable(a_checkout / "hooks" / "prompt-core.sh", f'echo "$PATH" >"{a_checkout}/path"')
    one(checks.hook)
    assert (a_checkout / "path").read_text() == "/usr/bin:/bin\n"


def test_lanes_that_are_missing_or_in_shadow(a_checkout: Path) -> None:
    (a_checkout / "lanes" / "keyword").chmod(0o644)
    executable(a_checkout / "lanes" / "graph")
    assert one(checks.lanes).state == FAIL and "keyword" in one(checks.lanes).detail
    (a_checkout / "lanes" / "keyword").chmod(0o755)
    assert "in shadow: graph" in one(checks.lanes).detail


def test_a_model_that_cannot_load(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CHITTA_EMBED_MODEL", "/no/such/model")
    findings = {finding.detail.split(":")[0]: finding for finding in checks.models(table.load())}
    assert findings["embedder"].state == FAIL and findings["embedder"].todo
    assert findings["reranker"].state == OK
