from __future__ import annotations

from pathlib import Path

import pytest

from chitta.cli.doctor_drain import LONG, drain
from chitta.cli.finding import OK, WARN
from chitta.drain import poison
from chitta.drain.queue import Entry
from chitta.session_hooks.flush import enqueue
from chitta.session_hooks.occasion import FLUSH, STOP, Occasion
from chitta.settings import Settings, load


def settings(tmp_path: Path, **more: str) -> Settings:
    return load({"CHITTA_HOME": str(tmp_path / "home"), **more})


def fill(state: str, count: int) -> None:
    for at in range(count):
        enqueue(Occasion(FLUSH, "claude", transcript=f"/t/{at}.jsonl", why=STOP), state, 1_800_000_000.0)


def test_a_long_queue_that_nobody_empties_is_worth_a_word(tmp_path: Path) -> None:
    fill(settings(tmp_path).state_dir, LONG - 1)
    assert [one.state for one in drain(settings(tmp_path))] == [OK]
    fill(settings(tmp_path).state_dir, LONG)
    (one,) = drain(settings(tmp_path))
    assert one.state == WARN and str(LONG) in one.detail and "CHITTA_DRAIN=1" in one.todo
    assert [one.state for one in drain(settings(tmp_path, CHITTA_DRAIN="1"))] == [OK]


def test_what_was_set_aside_is_told_with_its_reason(tmp_path: Path) -> None:
    poison.add(settings(tmp_path).state_dir, Entry("/t/a.jsonl"), "the agent declined", "")
    found = list(drain(settings(tmp_path)))
    assert [one.state for one in found] == [OK, WARN]
    assert "the agent declined" in found[1].detail and "--retry-poisoned" in found[1].todo


@pytest.mark.parametrize(("command", "states"), [("sh -c true", [OK]), ("no-such-agent-of-anybody", [OK, WARN])])
def test_a_command_that_is_none_is_told(tmp_path: Path, command: str, states: list[str]) -> None:
    assert [one.state for one in drain(settings(tmp_path, CHITTA_DRAIN_CMD=command))] == states
