from __future__ import annotations

import shlex
import subprocess
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

from chitta.settings import BY_NAME as SETTINGS
from chitta.wiring import harness, plugin
from chitta.wiring.harness import BY_NAME, FLUSH, MARK, PROMPT, TABLE, TEMPLATES, Harness

REPO = Path(__file__).parents[3]
ROWS = pytest.mark.parametrize("row", TABLE, ids=lambda row: row.name)
PATHS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1, max_size=12)


def handlers(row: Harness, value: dict[str, Any]) -> list[dict[str, Any]]:
    listed = [member for members in value["hooks"].values() for member in members]
    return [entry for member in listed for entry in (member["hooks"] if row.grouped else [member])]


@pytest.mark.parametrize("name", TEMPLATES)
def test_the_templates_are_what_the_table_says(name: str) -> None:
    """After a change of the table: python -m chitta.wiring ."""
    assert (REPO / "hooks" / "wiring" / f"{name}.json").read_text() == harness.template(TEMPLATES[name])


def test_there_is_no_template_that_the_table_does_not_know() -> None:
    assert {path.stem for path in (REPO / "hooks" / "wiring").glob("*.json")} == set(TEMPLATES)


def test_the_plugins_hooks_are_what_the_table_says() -> None:
    assert (REPO / plugin.FILE).read_text() == plugin.hooks_text()


@pytest.mark.parametrize("root", ["/plain", "/a folder", '/it\'s "so" `x` $HOME \\t', "/R&D | é"])
@pytest.mark.parametrize("name", TEMPLATES)
def test_fill_prints_what_install_writes(name: str, root: str, tmp_path: Path) -> None:
    place = tmp_path / root[1:] / "hooks" / "wiring"
    place.mkdir(parents=True)
    for file in [REPO / "hooks" / "wiring" / "fill", REPO / "hooks" / "wiring" / f"{name}.json"]:
        (place / file.name).write_bytes(file.read_bytes())
    (place / "fill").chmod(0o755)
    done = subprocess.run([place / "fill", name], capture_output=True, check=True)
    assert done.stdout.decode() == harness.template(TEMPLATES[name], str(place.parent.parent.resolve()))


@given(path=PATHS, row=st.sampled_from([*TABLE, TEMPLATES["claude-code-shell"]]))
def test_an_entry_is_recognised_whatever_its_checkout_is_called(path: str, row: Harness) -> None:
    for event in row.events:
        found = harness.recognise(row, harness.handler(row, event, "/" + path))
        assert found == ("/" + path, event.script, True)


@given(path=PATHS)
def test_a_shells_line_starts_the_script_with_the_harness_name(path: str) -> None:
    # shlex keeps backslashes before ` and $ that a shell takes away, so a shell is asked
    if "\r" in path:
        return
    word = harness.in_shell(path)
    done = subprocess.run(["/bin/sh", "-c", f"printf %s {word}"], capture_output=True, check=True)
    assert done.stdout.decode() == path


@ROWS
@pytest.mark.parametrize(
    "entry",
    [
        {"type": "command", "command": "/home/me/.claude/hooks/session-start.sh"},
        {"type": "command", "command": "bash hooks/session-flush.sh claude"},
        {"type": "command", "command": "/x/hooks/session-start.sh", "args": ["start"]},
        {"type": "command", "command": "/x/hooks/session-start.sh nobody"},
        {"type": "command", "command": "/x/myhooks/prompt-core.sh claude"},
        {"type": "command", "command": "/x/hooks/prompt-core.sh.bak"},
        {"type": "command", "command": 7},
        {"type": "mcp_tool"},
        "text",
        None,
    ],
)
def test_what_is_not_chittas_is_not_taken_for_it(row: Harness, entry: Any) -> None:
    assert harness.recognise(row, entry) is None


@ROWS
def test_fault_03_every_limit_is_in_the_harness_unit_and_above_what_the_hook_may_take(row: Harness) -> None:
    budget_ms = int(SETTINGS["CHITTA_HOOK_BUDGET_MS"].default)
    for event, entry in zip(row.events, handlers(row, harness.document(row, MARK)), strict=True):
        ms = entry[row.limit_key] * 1000 // row.per_second
        assert 2000 <= ms <= 30_000
        assert event.script != PROMPT or ms >= budget_ms + 1000
    if row.name == "codex":  # it gives a session's end 3 s at most
        assert max(event.limit_s for event in row.events if event.name == "SessionEnd") == 3


@ROWS
def test_each_script_has_its_event_and_the_prompt_exactly_one(row: Harness) -> None:
    scripts = [event.script for event in row.events]
    assert scripts.count(PROMPT) == 1
    flushes = {"PreCompact", "Stop", "SubagentStop", "SessionEnd"} if row.name in ("claude", "codex") else None
    assert scripts.count(FLUSH) == (len(flushes) if flushes else 3)
    assert flushes is None or {event.name for event in row.events if event.script == FLUSH} == flushes
    assert row.name == "gemini" or set(scripts) == set(harness.SCRIPTS) - {harness.CAPTURE}


def test_gemini_is_never_given_a_failure_when_the_checkout_is_gone(tmp_path: Path) -> None:
    row = BY_NAME["gemini"]
    for entry in handlers(row, harness.document(row, str(tmp_path / "gone"))):
        done = subprocess.run(["/bin/bash", "-c", entry["command"]], capture_output=True, input=b"{}")
        assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


@ROWS
def test_no_entry_blocks_when_the_checkout_is_gone(row: Harness, tmp_path: Path) -> None:
    """Exit code 2 blocks everywhere; Gemini CLI takes any code but 0 and 1 for a block."""
    for entry in handlers(row, harness.document(row, str(tmp_path / "it's gone"))):
        if "args" in entry:
            assert not Path(entry["command"]).exists()  # a program that is not there: Claude Code says so and goes on
            continue
        done = subprocess.run(["/bin/sh", "-c", entry[row.command_key]], capture_output=True, input=b"{}")
        assert done.returncode in ((0,) if row.name == "gemini" else (0, 127))


@ROWS
def test_an_entry_runs_its_script_with_the_harness_name(row: Harness, tmp_path: Path) -> None:
    root = tmp_path / 'a "b" $c `d`'
    (root / "hooks").mkdir(parents=True)
    for script in harness.SCRIPTS:
        (root / "hooks" / script).write_text('#!/bin/sh\nprintf "%s %s" "${0##*/}" "$*"; cat\n')
        (root / "hooks" / script).chmod(0o755)
    for event, entry in zip(row.events, handlers(row, harness.document(row, str(root))), strict=True):
        words = [entry["command"], *entry["args"]] if "args" in entry else ["/bin/sh", "-c", entry[row.command_key]]
        done = subprocess.run(words, capture_output=True, input=b" in", check=True)
        assert done.stdout.decode() == f"{event.script} {row.name} in"


def test_codex_is_given_no_key_that_makes_it_drop_the_file_and_no_arguments_apart() -> None:
    value = harness.document(BY_NAME["codex"], MARK)
    assert set(value) == {"hooks"}
    assert all("args" not in entry for entry in handlers(BY_NAME["codex"], value))
    assert shlex.split(handlers(BY_NAME["codex"], value)[0]["command"])[1:] == ["codex"]


#: Codex as measured: no other key at the top, lists of groups of command handlers.
CODEX_SHAPE = {
    "type": "object",
    "required": ["hooks"],
    "additionalProperties": False,
    "properties": {
        "hooks": {
            "additionalProperties": {
                "type": "array",
                "minItems": 1,
                "items": {
                    "type": "object",
                    "required": ["hooks"],
                    "properties": {
                        "hooks": {
                            "type": "array",
                            "minItems": 1,
                            "items": {
                                "required": ["type", "command"],
                                "properties": {"type": {"const": "command"}, "timeout": {"type": "integer"}},
                            },
                        }
                    },
                },
            }
        }
    },
}


@pytest.mark.parametrize("name", ["claude", "codex"])
def test_the_grouped_files_have_the_shape_that_is_asked_for(name: str) -> None:
    jsonschema.validate(harness.document(BY_NAME[name], MARK), CODEX_SHAPE)


def test_the_users_file_moves_with_the_harness_own_variable(tmp_path: Path) -> None:
    found = {row.name: harness.file_of(row, "user", Path("/h"), Path("/p"), {}) for row in TABLE}
    assert {name: str(path) for name, path in found.items()} == {
        "claude": "/h/.claude/settings.json",
        "codex": "/h/.codex/hooks.json",
        "copilot": "/h/.copilot/hooks/chitta.json",
        "gemini": "/h/.gemini/settings.json",
    }
    moved = harness.file_of(BY_NAME["copilot"], "user", Path("/h"), Path("/p"), {"COPILOT_HOME": "/c"})
    assert str(moved) == "/c/hooks/chitta.json"
    assert {str(harness.file_of(row, "project", Path("/h"), Path("/p"), {"CODEX_HOME": "/c"})) for row in TABLE} == {
        "/p/.claude/settings.json",
        "/p/.codex/hooks.json",
        "/p/.github/hooks/chitta.json",
        "/p/.gemini/settings.json",
    }
