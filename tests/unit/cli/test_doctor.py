from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from chitta import settings as table
from chitta.cli import checkout, doctor, doctor_installation
from chitta.cli.finding import FAIL, OK, WARN, Finding
from chitta.settings import Settings

Run = Callable[..., Any]


def only(monkeypatch: pytest.MonkeyPatch, *findings: Finding) -> None:
    monkeypatch.setattr(doctor, "examine", lambda settings: iter(findings))


@pytest.mark.parametrize(
    ("findings", "code", "verdict"),
    [
        ([Finding("a", OK, "fine")], 0, "all in order"),
        ([Finding("a", OK, "fine"), Finding("b", WARN, "hm", "do it")], 0, "works, with 1 warning"),
        ([Finding("a", FAIL, "bad", "do it"), Finding("b", WARN, "hm")], 1, "1 thing broken, 1 warning"),
    ],
)
def test_the_exit_code_and_the_last_line_say_how_it_stands(
    chitta: Run, monkeypatch: pytest.MonkeyPatch, findings: list[Finding], code: int, verdict: str
) -> None:
    only(monkeypatch, *findings)
    ran = chitta("doctor")
    assert ran.code == code and ran.out.rstrip().endswith(verdict)
    value = chitta("doctor", "--json")
    assert value.code == code and [check["state"] for check in value.value["checks"]] == [f.state for f in findings]


def test_each_finding_is_a_line_with_what_to_do(chitta: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    only(monkeypatch, Finding("home", OK, "fine"), Finding("index", FAIL, "word " * 40, "chitta reindex"))
    out = chitta("doctor").out
    assert "ok    home          fine" in out and "FAIL  index" in out and "do: chitta reindex" in out
    assert max(map(len, out.splitlines())) <= 80
    problems = chitta("doctor", "--problems").out
    assert "fine" not in problems and "FAIL" in problems


def test_a_check_that_fails_is_a_finding_and_the_others_go_on(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(settings: Settings) -> Iterator[Finding]:
        raise ValueError("of all things")
        yield

    monkeypatch.setattr(doctor_installation, "interpreter", broken)
    monkeypatch.setenv("CHITTA_NO_DAEMON", "1")
    findings = list(doctor.examine(table.load()))
    assert findings[0].state == FAIL and "ValueError: of all things" in findings[0].detail
    assert {"packages", "settings", "home", "prompts"} <= {finding.name for finding in findings}


@pytest.mark.skipif(checkout.root() is None, reason="the hook is not here")
def test_a_new_store_is_in_order_and_looking_at_it_makes_no_note(
    chitta: Run, own_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("CHITTA_EMBED_MODEL")
    monkeypatch.setattr(doctor_installation, "_HOOK_PATIENCE_S", 120.0)
    states = {check["name"]: check["state"] for check in chitta("doctor", "--json").value["checks"]}
    assert states.pop("daemon") == WARN  # CHITTA_NO_DAEMON
    assert set(states.values()) == {OK}
    assert not (own_home / ".chitta" / "notes").exists()


@pytest.mark.skipif(checkout.root() is None, reason="the hook is not here")
def test_looking_leaves_nothing_outside_of_the_store(own_home: Path) -> None:
    (own_home / ".chitta").mkdir(mode=0o700)
    environ = {name: value for name, value in os.environ.items() if not name.startswith("ORT_")}
    subprocess.run([sys.executable, "-I", "-m", "chitta.cli", "doctor"], env=environ, capture_output=True, check=False)
    assert [path.name for path in own_home.iterdir()] == [".chitta"]


def test_a_bad_setting_is_told_once(chitta: Run, own_home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CHITTA_NO_DAEMON")
    monkeypatch.setenv("CHITTA_LANE_K", "many")
    (own_home / ".chitta").mkdir(mode=0o700)
    told = [check for check in chitta("doctor", "--json").value["checks"] if "CHITTA_LANE_K" in check["detail"]]
    assert [check["name"] for check in told] == ["settings"]
