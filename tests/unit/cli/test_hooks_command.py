from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from chitta.cli import hooks_command
from chitta.wiring.harness import BY_NAME, SCRIPTS, TABLE, Harness, file_of, template

from .conftest import Run

ROWS = pytest.mark.parametrize("row", TABLE, ids=lambda row: row.name)


@pytest.fixture(autouse=True)
def clients(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A PATH that holds no client but those that a test puts into the folder returned."""
    place = tmp_path / "clients"
    place.mkdir()
    monkeypatch.setenv("PATH", f"{place}:/usr/bin:/bin")
    for row in TABLE:
        if row.home_variable:
            monkeypatch.delenv(row.home_variable, raising=False)
    return place


@pytest.fixture(autouse=True)
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A checkout to wire to."""
    place = tmp_path / "a checkout"
    for part in [*(f"hooks/{script}" for script in SCRIPTS), ".venv/bin/python"]:
        (place / part).parent.mkdir(parents=True, exist_ok=True)
        (place / part).write_text("")
        (place / part).chmod(0o755)
    monkeypatch.setenv("CHITTA_ROOT", str(place))
    return place


def client(place: Path, name: str) -> None:
    (place / name).write_text("#!/bin/sh\n")
    (place / name).chmod(0o755)


def file(row: Harness, home: Path) -> Path:
    return file_of(row, "user", home, home, {})


def foreign(row: Harness) -> bytes:
    """Settings with hooks of the person's own, written in a way of their own."""
    hook = b'{ "type":"command", "command":"/me/session-start.sh", "bash":"/me/session-start.sh" }'
    inner = hook if not row.grouped else b'{ "hooks":[ ' + hook + b" ] }"
    return (
        b'\xef\xbb\xbf{\r\n\t"model" : "big",\r\n\t"hooks": {\r\n\t\t"'
        + row.events[0].name.encode()
        + b'": [ '
        + inner
        + b' ],\r\n\t\t"Other": []\r\n\t},\r\n\t"n": 1.50\r\n}'
    )


@ROWS
def test_install_status_uninstall_over_foreign_hooks(row: Harness, chitta: Run, own_home: Path) -> None:
    settings, before = file(row, own_home), foreign(row)
    settings.parent.mkdir(parents=True)
    settings.write_bytes(before)
    done = chitta("hooks", "install", row.name)
    assert done.code == 0 and str(settings) in done.out
    wired = settings.read_bytes()
    assert b"/me/session-start.sh" in wired and wired.count(b"a checkout/hooks/") == len(row.events)
    found = chitta("hooks", "status", row.name)
    problems = [] if row.name != "codex" else ['Codex drops the whole file because of its key "model"']
    (fact,) = chitta("hooks", "status", row.name, "--json").value
    assert [problem for problem in fact["problems"] if '"n"' not in problem] == problems
    assert found.code == (1 if problems else 0)
    assert chitta("hooks", "install", row.name).code == 0
    assert settings.read_bytes() == wired
    assert chitta("hooks", "uninstall", row.name).code == 0
    assert settings.read_bytes() == before
    assert chitta("hooks", "status", row.name).code == 1


@ROWS
def test_a_dry_run_shows_the_difference_and_writes_nothing(row: Harness, chitta: Run, own_home: Path) -> None:
    settings = file(row, own_home)
    done = chitta("hooks", "install", row.name, "--dry-run")
    assert done.out.startswith("--- /dev/null\n+++ " + str(settings))
    assert [line for line in done.out.splitlines() if "prompt-core.sh" in line][0].startswith("+")
    assert not settings.parent.exists() and not (own_home / ".chitta").exists()
    chitta("hooks", "install", row.name)
    before = settings.read_bytes()
    assert "+++ /dev/null" in chitta("hooks", "uninstall", row.name, "--dry-run").out
    assert settings.read_bytes() == before


def test_all_wires_the_harnesses_that_are_here(chitta: Run, own_home: Path, clients: Path) -> None:
    client(clients, "codex")
    (own_home / ".gemini").mkdir()
    assert chitta("hooks", "install").code == 0
    assert [row.name for row in TABLE if file(row, own_home).exists()] == ["codex", "gemini"]
    facts = {fact["harness"]: fact for fact in chitta("hooks", "status", "--json").value}
    assert facts["codex"]["here"] and not facts["gemini"]["here"]
    assert all(fact["good"] for fact in facts.values())
    assert chitta("hooks", "status").code == 0
    chitta("hooks", "uninstall", "all")
    assert not (own_home / ".codex").exists()
    assert list((own_home / ".gemini").iterdir()) == []


def test_with_no_harness_here_all_says_so(chitta: Run) -> None:
    done = chitta("hooks", "status")
    assert done.code == 0
    with_words = chitta("hooks", "install")
    assert with_words.code == 111
    assert with_words.err.startswith("chitta: none of the harnesses is here\nhint: ")


def test_a_harness_that_is_here_and_not_wired_is_to_be_done(chitta: Run, clients: Path) -> None:
    client(clients, "claude")
    done = chitta("hooks", "status")
    assert done.code == 1
    assert "chitta hooks install claude" in done.out


def test_codex_is_told_of_its_trust_and_claude_of_its_folders(chitta: Run) -> None:
    said = chitta("hooks", "install", "codex").err
    assert "/hooks" in said and "approve" in said and "codex exec" in said and "asks again" in said
    assert "trusted the folder" in chitta("hooks", "install", "claude").err


@ROWS
def test_a_project_is_wired_at_its_top_and_the_person_told_what_is_in_the_file(
    row: Harness, chitta: Run, folder: Path, own_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / ".git").mkdir()
    (folder / "deep").mkdir()
    monkeypatch.chdir(folder / "deep")
    done = chitta("hooks", "install", row.name, "--scope", "project")
    assert (folder / row.project_file).exists()
    assert "commit" in done.err
    assert [path.name for path in own_home.iterdir()] == [".chitta"]
    assert chitta("hooks", "status", row.name, "--scope", "project").code == 0
    chitta("hooks", "uninstall", row.name, "--scope", "project")
    assert sorted(path.name for path in folder.iterdir()) == [".git", "deep"]


@pytest.mark.parametrize("text", ['{"a": 1, // note\n}', '{"a": 1,}', "{"])
def test_a_file_that_cannot_be_read_is_left_alone_and_the_entry_shown(text: str, chitta: Run, own_home: Path) -> None:
    row = BY_NAME["gemini"]
    file(row, own_home).parent.mkdir()
    file(row, own_home).write_text(text)
    done = chitta("hooks", "install", "gemini")
    assert done.code == 1
    assert "chitta: Gemini CLI:" in done.err and "\nhint: " in done.err
    assert "prompt-core.sh" in json.dumps(done.value)
    assert file(row, own_home).read_text() == text
    assert chitta("hooks", "status", "gemini").code == 1
    assert chitta("hooks", "uninstall", "gemini").code == 1
    assert file(row, own_home).read_text() == text


def test_one_refusal_does_not_keep_the_others_from_being_wired(chitta: Run, own_home: Path) -> None:
    for name in ("claude", "copilot"):
        file(BY_NAME[name], own_home).parent.mkdir(parents=True)
    file(BY_NAME["claude"], own_home).write_text("{")
    assert chitta("hooks", "install").code == 1
    assert file(BY_NAME["copilot"], own_home).exists()


def test_a_stale_checkout_is_found_and_mended(chitta: Run, own_home: Path) -> None:
    row = BY_NAME["claude"]
    file(row, own_home).parent.mkdir()
    file(row, own_home).write_text(template(row, "/no/longer/there"))
    done = chitta("hooks", "status", "claude")
    assert done.code == 1
    assert "/no/longer/there is not there" in done.out
    chitta("hooks", "install", "claude")
    assert chitta("hooks", "status", "claude").code == 0


def test_install_says_what_keeps_the_hooks_from_running(chitta: Run, own_home: Path) -> None:
    row = BY_NAME["claude"]
    file(row, own_home).parent.mkdir()
    file(row, own_home).write_text('{"disableAllHooks": true}')
    assert "disableAllHooks" in chitta("hooks", "install", "claude").err


def test_every_harness_has_words_for_afterwards() -> None:
    assert set(hooks_command.AFTERWARDS) == {row.name for row in TABLE}
    assert {which.value for which in hooks_command.Which} == {*hooks_command.AFTERWARDS, "all"}


def test_an_unwritable_folder_is_said_in_words(chitta: Run, own_home: Path) -> None:
    (own_home / ".claude").write_text("a file where the folder should be")
    done = chitta("hooks", "install", "claude")
    assert done.code == 1
    assert "chitta: Claude Code: " in done.err and "Traceback" not in done.err
    assert os.path.isfile(own_home / ".claude")


def test_the_root_of_all_folders_is_no_project(chitta: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hooks_command, "_project", lambda: Path("/"))
    done = chitta("hooks", "install", "claude", "--scope", "project", "--dry-run")
    assert done.code != 0 and "no project" in done.err
