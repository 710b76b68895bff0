from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from chitta import settings as table
from chitta.admission import policy
from chitta.cli import checkout

Run = Callable[..., Any]


def test_settings_shows_every_setting(chitta: Run) -> None:
    value = chitta("settings", "--json").value
    assert [fact["name"] for fact in value["settings"]] == [setting.name for setting in table.TABLE]
    assert all(setting.name in chitta("settings").out for setting in table.TABLE)


def test_settings_say_where_a_value_came_from(chitta: Run, own_home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    home = own_home / ".chitta"
    home.mkdir()
    (home / "chitta.toml").write_text("lane_k = 7\nmax_memories = 5\nhook_budget_ms = 'soon'\n")
    monkeypatch.setenv("CHITTA_MAX_MEMORIES", "4")
    monkeypatch.setenv("CHITTA_LANE_LIMIT_MS", "never")
    value = chitta("settings", "--json").value
    facts = {fact["name"]: (fact["value"], fact["from"]) for fact in value["settings"]}
    assert facts["CHITTA_LANE_K"] == (7, "chitta.toml")
    assert facts["CHITTA_MAX_MEMORIES"] == (4, "environment")
    assert facts["CHITTA_LANE_LIMIT_MS"][1] == facts["CHITTA_HOOK_BUDGET_MS"][1] == "default"
    assert facts["CHITTA_HOME"] == (str(home), "default")  # bin/chitta sets it to that itself
    assert len(value["problems"]) == 2
    changed = {fact["name"] for fact in chitta("settings", "--changed", "--json").value["settings"]}
    assert {"CHITTA_LANE_K", "CHITTA_MAX_MEMORIES"} <= changed and "CHITTA_LANE_LIMIT_MS" not in changed


@pytest.mark.skipif(checkout.root() is None, reason="the lanes are not here")
def test_lanes_join_files_and_policy(chitta: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CHITTA_ABLATE_LANES", "sem,corrk")
    facts = {fact["lane"]: fact for fact in chitta("lanes", "--json").value}
    assert list(facts)[: len(policy.LANES)] == [row.lane for row in policy.LANES]
    assert facts["semantic"]["state"] == "ablated" and facts["correction-key"]["state"] == "active"
    assert all(facts[row.lane]["headers"]["Tag"] == row.tag for row in policy.LANES)


def test_a_lane_that_the_policy_does_not_name_is_in_shadow_and_other_files_are_none(
    chitta: Run, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("hooks", "lanes"):
        (folder / name).mkdir()
    (folder / "hooks" / "prompt-core.sh").write_text("#!/bin/sh\n")
    for name in ("graph", "graph~", "README", "graph.orig"):
        (folder / "lanes" / name).write_text("#!/bin/sh\n# Summary: Walks links.\n# Tag: gr\n")
        (folder / "lanes" / name).chmod(0o755)
    monkeypatch.setenv("CHITTA_ROOT", str(folder))
    facts = chitta("lanes", "--json").value
    assert [fact["lane"] for fact in facts if fact["state"] == "shadow"] == ["graph"]
    assert facts[-1]["summary"] == "Walks links." and facts[-1]["tag"] == "gr"
    assert {fact["state"] for fact in facts[:-1]} == {"missing"}
