"""What a payload says, in one form for all harnesses."""

import json
import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chitta.session_hooks.occasion import (
    COMPACT,
    END,
    FLUSH,
    START,
    STOP,
    SUBAGENT,
    SUBAGENT_STOP,
    Occasion,
    in_home,
    read,
)
from chitta.settings import load
from chitta.turn import prepare

CAPTURED = Path(__file__).resolve().parents[4] / "shared/reference/hook-schemas/captured"


def of(part: str, told: str = "claude", **fields: object) -> Occasion | None:
    return read(json.dumps(fields).encode(), part, told, "/here")


def test_claude_and_copilot_say_the_same() -> None:
    claude = of(START, session_id="s", cwd="/w", hook_event_name="SessionStart", source="compact")
    copilot = of(START, "copilot", sessionId="s", cwd="/w", source="compact")
    assert claude == Occasion(START, "claude", "SessionStart", "s", "/w", "compact")
    assert copilot == Occasion(START, "copilot", "", "s", "/w", "compact")


def test_a_subagent_that_stops_names_its_own_transcript() -> None:
    payload = {"hook_event_name": "SubagentStop", "transcript_path": "/t/s.jsonl", "cwd": "/w"}
    found = of(FLUSH, **payload, agent_transcript_path="/t/s/subagents/a.jsonl")
    assert found is not None and (found.why, found.transcript) == (SUBAGENT_STOP, "/t/s/subagents/a.jsonl")
    found = of(FLUSH, **payload)
    assert found is not None and found.transcript == "/t/s.jsonl"
    found = of(FLUSH, **{**payload, "hook_event_name": "Stop"}, agent_transcript_path="/t/other.jsonl")
    assert found is not None and found.transcript == "/t/s.jsonl"


def test_another_event_is_not_for_this_hook() -> None:
    for event in ("UserPromptSubmit", "Stop", "SubagentStart"):
        assert of(START, session_id="s", hook_event_name=event) is None
    assert of(SUBAGENT, hook_event_name="SessionStart") is None
    assert of(FLUSH, hook_event_name="SessionStart") is None
    assert of(FLUSH, session_id="s") is None


@pytest.mark.parametrize(
    ("fields", "why"),
    [
        ({"hook_event_name": "PreCompact", "trigger": "manual"}, COMPACT),
        ({"hook_event_name": "PreCompress", "trigger": "auto"}, COMPACT),
        ({"hook_event_name": "AfterAgent"}, STOP),
        ({"hook_event_name": "Stop"}, STOP),
        ({"hook_event_name": "SessionEnd", "reason": "exit"}, END),
        ({"stopReason": "end_turn", "stop_hook_active": False}, STOP),
        ({"reason": "complete"}, END),
        ({"trigger": "auto", "customInstructions": ""}, COMPACT),
    ],
)
def test_why_a_session_is_put_away(fields: dict[str, object], why: str) -> None:
    found = read(json.dumps(fields).encode(), FLUSH)
    assert found is not None and found.why == why


def test_a_subagents_task() -> None:
    found = of(SUBAGENT, agent_type="Explore", prompt=" find it ", cwd="/w")
    assert found is not None and (found.agent, found.task) == ("Explore", "find it")
    found = of(SUBAGENT, "copilot", agentName="a\nb" * 100, description="d" * 9_000)
    assert found is not None and "\n" not in found.agent and len(found.agent) <= 80 and len(found.task) == 2_000


@pytest.mark.parametrize("session", ["s", "x" * 500, 17])
def test_the_session_is_the_one_that_a_prompt_names(tmp_path: Path, session: object) -> None:
    found = of(START, session_id=session)
    raw = json.dumps({"session_id": session, "prompt": "why does the stripe webhook answer 400"}).encode()
    turn = prepare(raw, settings=load({"CHITTA_HOME": str(tmp_path)}))
    assert found is not None and turn.request is not None and found.session == turn.request.session


def test_home_by_any_way(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / "link").symlink_to(tmp_path)
    assert in_home(str(tmp_path)) and in_home(f"{tmp_path}/") and in_home(str(tmp_path / "link"))
    assert not in_home(str(tmp_path / "work")) and not in_home("/a\x00b")


@given(st.binary(max_size=200), st.sampled_from([START, SUBAGENT, FLUSH]))
def test_any_bytes_are_taken(raw: bytes, part: str) -> None:
    found = read(raw, part)
    assert found is None or isinstance(found.session, str)


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(), lambda c: st.lists(c, max_size=3)
)


@given(
    st.dictionaries(
        st.sampled_from(
            ["session_id", "cwd", "hook_event_name", "source", "trigger", "prompt", "agent_type", "reason"]
        ),
        _JSON,
    ),
    st.sampled_from([START, SUBAGENT, FLUSH]),
)
def test_any_types_are_taken(fields: dict[str, object], part: str) -> None:
    found = read(json.dumps(fields).encode(), part, "codex")
    assert found is None or (found.harness == "codex" and all(isinstance(value, str) for value in found))


@pytest.mark.skipif(not CAPTURED.is_dir(), reason="the captured payloads are not here")
def test_every_captured_payload_of_a_session_is_read() -> None:
    lines = [line for path in sorted(CAPTURED.iterdir()) for line in path.read_bytes().splitlines() if line.strip()]
    starts = [found for line in lines if (found := read(line, START))]
    assert {found.source for found in starts} >= {"startup", "resume", "clear", "compact", "fork", "new"}
    flushes = [found for line in lines if (found := read(line, FLUSH))]
    assert {found.why for found in flushes} == {COMPACT, STOP, END, SUBAGENT_STOP}
    assert all(os.path.isabs(found.cwd) and found.session for found in (*starts, *flushes))
