"""Golden prompts through the real hook and a daemon of their own."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from chitta import daemon_client
from chitta.cli import trial
from chitta.cli.failure import Unavailable
from chitta.evaluate import prompting
from chitta.evaluate.golden import ANSWERABLE, FIRE, QUIET, TWO_TURN, UNANSWERABLE, Case, read_golden
from chitta.evaluate.prompting import PATIENT, Bench, bench
from chitta.notes.note import Note
from chitta.settings import Settings, load


def test_prompts_through_the_real_hook(store: Settings, golden_folder: Path) -> None:
    golden = read_golden(golden_folder)
    steps: list[int] = []
    with bench(store, golden.realm, notes=golden.corrections) as warm:
        home = Path(warm.settings.home)
        assert home != Path(store.home) and daemon_client.call(warm.settings, "ping")["pid"]
        cases = golden.of(ANSWERABLE, UNANSWERABLE, TWO_TURN, FIRE, QUIET)
        answers = {
            answer.case.id: answer
            for answer in warm.answer(cases, progress=lambda stage, done, total: steps.append(done))
        }
        (silent,) = warm.answer(cases[:1], {"CHITTA_ABLATE_LANES": "corr,kw,sem,ctx,hyb,xr"})
    assert steps == list(range(1, len(cases) + 1)) and not any(answer.late for answer in answers.values())
    assert answers["a1"].shown[0] == "stripe-raw-body" and answers["a1"].characters > 100
    assert answers["a1"].maxrel is not None and answers["a1"].percent is not None and answers["a1"].wall_ms > 0
    assert answers["u1"].shown == () and answers["u1"].characters == 0
    assert "nginx-upload-limit" in answers["t1"].shown
    assert "use-pnpm" in answers["c1f"].shown and "use-pnpm" not in answers["c1q"].shown
    assert silent.shown == (), "another setting, and a session that was shown nothing before"
    assert not home.exists()
    with pytest.raises(daemon_client.DaemonAway):
        daemon_client.call(warm.settings, "ping")
    assert not Path(store.state_dir).exists()


class Asked:
    """Stands in for the hook: keeps what it was asked with, and shows what it is told to."""

    def __init__(self, **found: Any) -> None:
        self.calls: list[dict[str, Any]] = []
        self.found = {"admitted": {}, "block": "", "wall_ms": 1.0, "record": {}, "stdout": ""} | found

    def __call__(self, settings: Settings, prompt: str, **more: Any) -> Any:
        self.calls.append({"prompt": prompt, **more})
        return SimpleNamespace(**self.found)


def test_every_case_is_a_session_of_its_own_whatever_the_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = Asked()
    monkeypatch.setattr(trial, "run", asked)
    warm = Bench(load({"CHITTA_HOME": "/a/store"}), "project:x", {"CHITTA_HOOK_BUDGET_MS": "60000"})
    cases = [Case("t", TWO_TURN, "", ("first", "second")), Case("a", ANSWERABLE, "", ("alone",))]
    warm.answer(cases)
    warm.answer(cases[1:], {"CHITTA_ABLATE_LANES": "kw"})
    assert [call["prompt"] for call in asked.calls] == ["first", "second", "alone", "alone"]
    one, two, three, four = (call["session"] for call in asked.calls)
    assert one == two and len({two, three, four}) == 3
    assert {call["realm"] for call in asked.calls} == {"project:x"}
    environs: list[Mapping[str, str]] = [call["environ"] for call in asked.calls]
    assert {environ["CHITTA_HOOK_BUDGET_MS"] for environ in environs} == {"60000"}
    assert [environ.get("CHITTA_ABLATE_LANES") for environ in environs] == [None, None, None, "kw"]


def test_the_answer_is_of_the_last_turn(monkeypatch: pytest.MonkeyPatch) -> None:
    record = {"maxrel": 0.75, "percent": 80, "degraded": ["hybrid late"]}
    monkeypatch.setattr(
        trial, "run", Asked(admitted={"b": "sem", "a": "kw"}, block="12345", record=record, wall_ms=7.0)
    )
    case = Case("a", ANSWERABLE, "", ("?",))
    (answer,) = Bench(load({}), "global", {}).answer([case])
    assert answer == prompting.Answered(case, ("b", "a"), 5, 7.0, 0.75, 80, ("hybrid late",))


@pytest.mark.parametrize("found", [{"admitted": {"a": "kw"}}, {"block": "text"}])
def test_a_log_that_does_not_agree_with_the_block_is_no_answer(
    monkeypatch: pytest.MonkeyPatch, found: dict[str, Any]
) -> None:
    monkeypatch.setattr(trial, "run", Asked(**found))
    with pytest.raises(RuntimeError, match="the recall log and the block differ"):
        Bench(load({}), "global", {}).answer([Case("a", ANSWERABLE, "", ("?",))])


def test_lanes_get_a_minute_each() -> None:
    settings = load(PATIENT)
    assert not settings.problems and {settings.integer(name) for name in PATIENT} == {60_000}


def test_without_a_daemon_there_is_no_measurement(word_store: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    def away(settings: Settings) -> None:
        raise daemon_client.DaemonAway("it cannot be started")

    monkeypatch.setattr(daemon_client, "ensure", away)
    homes: list[str] = []
    monkeypatch.setattr(prompting, "_stop", lambda settings: homes.append(settings.home))
    with (
        pytest.raises(Unavailable, match="it cannot be started"),
        bench(word_store, "global", notes=[Note("n", text="x")]),
    ):
        pytest.fail("there is no bench")
    assert len(homes) == 1 and not Path(homes[0]).exists()
