from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chitta.wiring import harness, status
from chitta.wiring.harness import BY_NAME, TABLE, Harness
from chitta.wiring.status import Wired

ROWS = pytest.mark.parametrize("row", TABLE, ids=lambda row: row.name)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A checkout with every script and an interpreter."""
    return checkout(tmp_path / "checkout")


def checkout(place: Path) -> Path:
    for part in [*(f"hooks/{script}" for script in harness.SCRIPTS), ".venv/bin/python"]:
        (place / part).parent.mkdir(parents=True, exist_ok=True)
        (place / part).write_text("")
        (place / part).chmod(0o755)
    return place


def put(row: Harness, home: Path, value: Any, scope: str = "user") -> None:
    file = harness.file_of(row, scope, home, home / "project", {})
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(value if isinstance(value, str) else json.dumps(value))


def look(row: Harness, home: Path, root: Path, scope: str = "user") -> Wired:
    return status.inspect(row.name, scope, home, home / "project", root, {})


def first_handler(row: Harness, value: dict[str, Any]) -> dict[str, Any]:
    member: dict[str, Any] = value["hooks"][row.events[0].name][0]
    return member["hooks"][0] if row.grouped else member


@ROWS
def test_what_install_writes_is_in_order(row: Harness, tmp_path: Path, root: Path) -> None:
    put(row, tmp_path, harness.template(row, str(root)))
    found = look(row, tmp_path, root)
    assert found.good
    assert found.events == tuple(event.name for event in row.events)
    assert (found.missing, found.problems, found.exists) == ((), (), True)


@ROWS
@pytest.mark.parametrize("value", [None, "", "{}", '{"hooks": {"Stop": []}}'])
def test_nothing_wired_is_no_problem_but_everything_is_missing(
    row: Harness, value: str | None, tmp_path: Path, root: Path
) -> None:
    if value is not None:
        put(row, tmp_path, value)
    found = look(row, tmp_path, root)
    assert found.exists == (value is not None)
    assert (found.events, found.problems) == ((), ())
    assert found.missing == tuple(event.name for event in row.events)


@ROWS
def test_a_missing_event_is_named(row: Harness, tmp_path: Path, root: Path) -> None:
    value = harness.document(row, str(root))
    del value["hooks"][row.events[1].name]
    put(row, tmp_path, value)
    assert look(row, tmp_path, root).missing == (row.events[1].name,)


@ROWS
def test_a_checkout_that_is_gone_is_a_problem(row: Harness, tmp_path: Path, root: Path) -> None:
    put(row, tmp_path, harness.template(row, "/no/such checkout"))
    assert look(row, tmp_path, root).problems == ("the checkout /no/such checkout is not there",)
    assert status.roots(row, look(row, tmp_path, root).file) == ("/no/such checkout",)


@ROWS
def test_another_checkout_and_parts_that_it_lacks_are_problems(row: Harness, tmp_path: Path, root: Path) -> None:
    other = checkout(tmp_path / "other")
    (other / ".venv" / "bin" / "python").unlink()
    (other / "hooks" / harness.PROMPT).chmod(0o644)
    put(row, tmp_path, harness.template(row, str(other)))
    said = "\n".join(look(row, tmp_path, root).problems)
    assert f"another checkout, {other}" in said
    assert "prompt-core.sh is missing or not executable" in said
    assert "interpreter" in said and "install.sh" in said


@ROWS
def test_fault_03_a_limit_in_the_wrong_unit_is_a_problem(row: Harness, tmp_path: Path, root: Path) -> None:
    value = harness.document(row, str(root))
    first_handler(row, value)[row.limit_key] = 10 if row.per_second == 1000 else 10_000
    put(row, tmp_path, value)
    (problem,) = look(row, tmp_path, root).problems
    assert f"counts in {'milliseconds' if row.name == 'gemini' else 'seconds'}" in problem


@ROWS
def test_fault_04_a_limit_below_what_the_hook_may_take_is_a_problem(row: Harness, tmp_path: Path, root: Path) -> None:
    value = harness.document(row, str(root))
    first_handler(row, value)[row.limit_key] = 2 * row.per_second
    put(row, tmp_path, value)
    (problem,) = look(row, tmp_path, root).problems
    assert "less than the hook may take" in problem


@ROWS
def test_fault_43_double_entries_are_a_problem(row: Harness, tmp_path: Path, root: Path) -> None:
    value = harness.document(row, str(root))
    value["hooks"][row.events[0].name] *= 2
    put(row, tmp_path, value)
    assert look(row, tmp_path, root).problems == (f"{row.events[0].name} has more than one chitta entry",)


@ROWS
def test_both_scopes_wired_is_a_problem_in_each(row: Harness, tmp_path: Path, root: Path) -> None:
    for scope in ("user", "project"):
        put(row, tmp_path, harness.template(row, str(root)), scope)
    for scope in ("user", "project"):
        assert any("both wired" in problem for problem in look(row, tmp_path, root, scope).problems)


@ROWS
@pytest.mark.parametrize("text", ['{"a": 1} // note', "{", '{"hooks": 7}', '{"hooks": {"Stop": 7}}'])
def test_an_unreadable_file_is_one_problem(row: Harness, text: str, tmp_path: Path, root: Path) -> None:
    put(row, tmp_path, text)
    found = look(row, tmp_path, root)
    assert len(found.problems) == 1 and str(found.file) in found.problems[0]
    assert status.roots(row, found.file) == ()


@pytest.mark.parametrize(
    ("name", "change", "words"),
    [
        ("claude", {"disableAllHooks": True}, "disableAllHooks"),
        ("claude", {"enabledPlugins": {"chitta@chitta": True}}, "plugin chitta@chitta"),
        ("codex", {"version": 1}, "drops the whole file"),
        ("copilot", {"version": 2}, '"version" is not 1'),
        ("gemini", {"hooksConfig": {"enabled": False}}, "switched off"),
        ("gemini", {"hooksConfig": {"disabled": ["chitta"]}}, "disabled"),
    ],
)
def test_what_keeps_hooks_from_running_is_a_problem(
    name: str, change: dict[str, Any], words: str, tmp_path: Path, root: Path
) -> None:
    row = BY_NAME[name]
    put(row, tmp_path, {**harness.document(row, str(root)), **change})
    (problem,) = look(row, tmp_path, root).problems
    assert words in problem


def test_codex_with_hooks_off_in_its_configuration_is_a_problem(tmp_path: Path, root: Path) -> None:
    row = BY_NAME["codex"]
    put(row, tmp_path, harness.template(row, str(root)))
    (tmp_path / ".codex" / "config.toml").write_text("[features]\nhooks = false\n")
    (problem,) = look(row, tmp_path, root).problems
    assert "hooks = false" in problem
    (tmp_path / ".codex" / "config.toml").write_text("not = = toml")
    assert look(row, tmp_path, root).good


def test_the_plugin_alone_wires_claude(tmp_path: Path, root: Path) -> None:
    row = BY_NAME["claude"]
    put(row, tmp_path, {"enabledPlugins": {"chitta@somewhere": True, "other@x": True}})
    assert look(row, tmp_path, root).good
    put(row, tmp_path, {"enabledPlugins": {"chitta@somewhere": False}})
    assert not look(row, tmp_path, root).events


@given(data=st.binary(max_size=60) | st.text(max_size=60).map(str.encode), row=st.sampled_from(TABLE))
def test_no_content_makes_it_fail(data: bytes, row: Harness, tmp_path_factory: pytest.TempPathFactory) -> None:
    home = tmp_path_factory.getbasetemp() / "any"
    put(row, home, "")
    harness.file_of(row, "user", home, home, {}).write_bytes(data)
    found = look(row, home, Path("/nowhere"))
    assert found.exists and not found.events


def test_a_pipe_is_no_file_and_nobody_waits_for_it(tmp_path: Path, root: Path) -> None:
    (tmp_path / ".claude").mkdir()
    os.mkfifo(tmp_path / ".claude" / "settings.json")
    assert "it is no file" in look(BY_NAME["claude"], tmp_path, root).problems[0]


def test_a_link_to_nothing_is_told(tmp_path: Path, root: Path) -> None:
    (tmp_path / ".claude").mkdir()
    (tmp_path / ".claude" / "settings.json").symlink_to("nowhere")
    assert "a link to nothing" in look(BY_NAME["claude"], tmp_path, root).problems[0]
