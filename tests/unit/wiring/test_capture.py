"""Capture's entries: there when asked for, kept when not, gone with the rest."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from chitta.wiring import edit, harness, plugin, status
from chitta.wiring.harness import CAPTURE, Harness

ROWS = pytest.mark.parametrize("row", harness.TABLE, ids=lambda row: row.name)
ROOT = "/opt/chitta"


def scripts(row: Harness, text: str) -> list[tuple[str, str]]:
    return [(found.event, found.ours.script) for found in edit.entries(row, text)]


@ROWS
def test_nothing_is_captured_unless_it_is_asked_for(row: Harness) -> None:
    assert not edit.captures(row, edit.install(row, None, ROOT))
    assert CAPTURE not in harness.template(row) and CAPTURE not in plugin.hooks_text()


@ROWS
def test_capture_comes_beside_the_others_and_stays(row: Harness) -> None:
    plain = edit.install(row, None, ROOT)
    text = edit.install(row, plain, ROOT, True)
    assert edit.captures(row, text) == bool(row.capture)
    assert sorted(scripts(row, text)) == sorted((event.name, event.script) for event in row.wired(True))
    assert edit.install(row, text, ROOT) == text == edit.install(row, text, ROOT, True)
    assert edit.install(row, text, "/elsewhere").count("/elsewhere/") == len(row.wired(True))


@ROWS
def test_a_new_file_has_it_too(row: Harness) -> None:
    text = edit.install(row, None, ROOT, True)
    assert json.loads(text) == harness.document(row, ROOT, True)
    assert json.loads(edit.uninstall(row, text)) in ({}, dict(row.top))


@ROWS
def test_uninstalling_leaves_what_was_there(row: Harness) -> None:
    text = json.dumps({**row.top, "description": "mine"}, indent=2)
    assert edit.uninstall(row, edit.install(row, text, ROOT, True), text) == text


def test_nobody_waits_where_that_can_be_said() -> None:
    for name, told in (("claude", True), ("codex", True), ("copilot", None)):
        row = harness.BY_NAME[name]
        assert {harness.handler(row, event, ROOT).get("async") for event in row.capture} == {told}
        assert all("async" not in harness.handler(row, event, ROOT) for event in row.events)


def test_claude_tells_of_the_tools_that_are_looked_at_alone() -> None:
    row = harness.BY_NAME["claude"]
    hooks = harness.document(row, ROOT, True)["hooks"]
    (group,) = hooks["PostToolUse"]
    assert {"Bash", "TodoWrite", "TaskUpdate", "Edit", "Write"} <= set(group["matcher"].split("|"))
    assert len(hooks["UserPromptSubmit"]) == 2 and all("matcher" not in one for one in hooks["UserPromptSubmit"])


@pytest.mark.parametrize("name", ["claude", "codex", "copilot"])
def test_status_says_what_is_captured(name: str, tmp_path: Path) -> None:
    row = harness.BY_NAME[name]
    home, root = tmp_path / "home", tmp_path / "checkout"
    file = harness.file_of(row, "user", home, tmp_path, {})
    file.parent.mkdir(parents=True)
    for part in (*(f"hooks/{script}" for script in harness.SCRIPTS), ".venv/bin/python"):
        (root / part).parent.mkdir(parents=True, exist_ok=True)
        (root / part).touch(0o755)
    for capture in (False, True):
        file.write_text(edit.install(row, None, str(root), capture), encoding="utf-8")
        found = status.inspect(name, "user", home, tmp_path, root, {})
        assert found.good and not found.problems
        assert found.capture == (tuple(event.name for event in row.capture) if capture else ())
