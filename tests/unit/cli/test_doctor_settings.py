from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path

import pytest

from chitta import settings as table
from chitta.cli import checkout
from chitta.cli import doctor_settings as checks
from chitta.cli.finding import FAIL, OK, WARN, Finding
from chitta.settings import Settings


def found(check: Callable[[Settings], Iterable[Finding]]) -> list[Finding]:
    return list(check(table.load()))


def states(check: Callable[[Settings], Iterable[Finding]]) -> list[str]:
    return [finding.state for finding in found(check)]


def test_settings(own_home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    home = own_home / ".chitta"
    home.mkdir()
    assert states(checks.settings_problems) == [OK]
    monkeypatch.setenv("CHITTA_LANE_K", "many")
    (home / "chitta.toml").write_text("no_such_setting = 1\n")
    assert states(checks.settings_problems) == [WARN, WARN]
    (home / "chitta.toml").write_text("not toml at all\n")
    assert sorted(states(checks.settings_problems)) == [FAIL, WARN]


def test_a_variable_that_is_no_setting_is_named_with_the_one_that_was_meant(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in (*checks.INTERNAL, "CHITTA_LANE_K", "CHITTA_PYTHON"):
        monkeypatch.setenv(name, "1")
    assert found(checks.unknown_variables) == []
    monkeypatch.setenv("CHITTA_MAX_MEMORY", "1")
    monkeypatch.setenv("CHITTA_QQQQQQQQQQQQ", "1")
    close, other = found(checks.unknown_variables)
    assert close.state == other.state == WARN
    assert "CHITTA_MAX_MEMORY " in close.detail and close.todo == "did you mean CHITTA_MAX_MEMORIES?"
    assert "unset CHITTA_QQQQQQQQQQQQ" in other.todo


def test_lanes_left_out_and_names_that_leave_out_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    assert found(checks.ablation) == []
    monkeypatch.setenv("CHITTA_ABLATE_LANES", "sem, corrk, semantik, kw")
    fixed, unknown, out = found(checks.ablation)
    assert {fixed.state, unknown.state, out.state} == {WARN}
    assert "corrk cannot be left out" in fixed.detail and fixed.todo == "write CHITTA_ABLATE_LANES=sem,kw"
    assert "semantik is no lane" in unknown.detail and "did you mean semantic?" in unknown.todo
    assert out.detail.endswith("semantic, keyword")


def test_a_shadow_lane_can_be_left_out(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for path in (folder / checkout.HOOK, folder / "lanes" / "graph"):
        path.parent.mkdir()
        path.write_text("#!/bin/sh\n")
        path.chmod(0o755)
    monkeypatch.setenv("CHITTA_ROOT", str(folder))
    monkeypatch.setenv("CHITTA_ABLATE_LANES", "graph")
    (finding,) = found(checks.ablation)
    assert finding.detail.endswith("left out by CHITTA_ABLATE_LANES: graph")
    monkeypatch.setenv("CHITTA_ABLATE_LANES", "corrk")
    assert found(checks.ablation)[0].todo == "unset CHITTA_ABLATE_LANES"
