from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from chitta.admission import policy
from chitta.cli import checkout

Run = Callable[..., Any]

pytestmark = pytest.mark.skipif(checkout.root() is None, reason="the hook is not here")


@pytest.fixture
def store(chitta: Run, monkeypatch: pytest.MonkeyPatch) -> Run:
    for name in ("CHITTA_HOOK_BUDGET_MS", "CHITTA_LANE_LIMIT_MS", "CHITTA_HYBRID_LIMIT_MS"):
        monkeypatch.setenv(name, "60000")  # no lane is late, however busy this machine is
    chitta("correct", "--wrong", "npm install", "--right", "pnpm install")
    return chitta


def test_a_correction_goes_through_the_real_hook(store: Run) -> None:
    value = store("try", "now run npm install in the web folder", "--json").value
    assert "pnpm install" in value["block"] and value["reason"] == "" and value["realm"] == "global"
    assert list(value["admitted"].values()) == ["corrk"]
    assert value["record"]["lanes"]["correction-key"]["state"] == "ok" and value["wall_ms"] > 0


def test_it_is_explained_for_people(store: Run) -> None:
    ran = store("try", "now run npm install in the web folder")
    assert ran.code == 0
    assert "What the model sees:" in ran.out and "pnpm install" in ran.out
    shown = [line.split()[0] for line in ran.out.splitlines() if line.split()]
    assert {row.lane for row in policy.LANES} <= set(shown)
    assert "ms for the whole process" in ran.out


def test_silence_says_why(store: Run) -> None:
    ran = store("try", "/clear")
    assert ran.code == 0 and "(silence) nothing was asked of the store" in ran.out


def test_the_realm_is_the_folder_s_or_the_one_given(store: Run, tmp_path_factory: pytest.TempPathFactory) -> None:
    project = tmp_path_factory.mktemp("proj")
    (project / ".git" / "objects").mkdir(parents=True)
    (project / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
    (project / ".git" / "config").write_text('[remote "origin"]\n\turl = git@example.org:a/b.git\n')
    words = ["try", "now run npm install", "--json"]
    assert store(*words, "--cwd", str(project)).value["record"]["realm"] == "project:example.org/a/b"
    assert store(*words, "--realm", "project:z").value["record"]["realm"] == "project:z"


def test_turns_of_one_session_are_counted(store: Run) -> None:
    words = ["try", "why does the webhook answer 400", "--session", "s1", "--json"]
    assert [store(*words).value["record"]["turn"] for _ in range(2)] == [1, 2]


@pytest.mark.parametrize("words", [[" "], [], ["x", "--realm", "../x"], ["x", "--cwd", "/no/such/folder"]])
def test_misuse(store: Run, words: list[str]) -> None:
    ran = store("try", *words)
    assert (ran.code, ran.out) == (2, "")
