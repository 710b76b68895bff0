"""The hook's payloads as the clients sent them, and what a session is remembered by between two of them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from chitta.capture import armed, hook, process
from chitta.settings import Settings, load

DATA = Path(__file__).parent / "data"


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return load({"CHITTA_HOME": str(tmp_path / "home")})


def payloads(client: str) -> list[bytes]:
    return (DATA / f"{client}-hooks.jsonl").read_bytes().splitlines()


@pytest.mark.parametrize("client", ["claude", "copilot"])
def test_a_session_told_by_its_payloads(client: str, settings: Settings) -> None:
    works = [hook.learned(json.loads(raw), client, settings, now=1e9) for raw in payloads(client)]
    drafts = [draft for work in works for draft in work.drafts]
    assert drafts[0].title == "Fix for python3 test_cart.py: AssertionError: total"
    assert [draft.key for work in works for draft in work.joined] == [drafts[0].key]


@pytest.mark.parametrize("client", ["claude", "copilot"])
def test_the_short_path_lets_through_what_is_learned(
    client: str, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CHITTA_HOME", settings.home)
    for raw in payloads(client):
        known = process.may_tell(raw, client)
        assert known or hook.learned(json.loads(raw), client, settings, now=1e9).drafts == ()


def test_a_plain_result_ends_at_once(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CHITTA_HOME", settings.home)
    raw = b'{"hook_event_name":"PostToolUse","tool_name":"Bash","tool_input":{"command":"ls"},"tool_response":{}}'
    assert not process.may_tell(raw, "claude")


def test_what_is_remembered_is_forgotten_after_two_hours(tmp_path: Path) -> None:
    with armed.Held(str(tmp_path), "s", 1000.0) as held:
        held.state["list"] = "x"
    assert armed.read(str(tmp_path), "s", 1000.0 + armed.LASTS_S - 1)["list"] == "x"
    assert armed.read(str(tmp_path), "s", 1000.0 + armed.LASTS_S) == {}
    assert armed.read(str(tmp_path), "another", 1000.0) == {}


def test_a_state_that_is_too_large_is_none(tmp_path: Path) -> None:
    with armed.Held(str(tmp_path), "s", 1.0) as held:
        held.state["list"] = "x" * armed.MAX_BYTES
    assert armed.read(str(tmp_path), "s", 1.0) == {}


@pytest.mark.parametrize("fields", [{"agent_id": "a"}, {"source": "system"}])
def test_a_prompt_that_no_person_typed(fields: dict[str, str], settings: Settings) -> None:
    value = {"hook_event_name": "UserPromptSubmit", "session_id": "s", "prompt": "never use var in JavaScript"}
    assert len(hook.learned(value, "claude", settings, now=1.0).drafts) == 1
    assert hook.learned({**value, **fields}, "claude", settings, now=1.0).drafts == ()


def test_a_transcript_whose_path_no_system_has_tells_no_code() -> None:
    from chitta.capture import payload
    from chitta.capture.tools import Tasks

    value = {"tool_name": "Bash", "tool_use_id": "1", "transcript_path": "\0", "tool_response": "out"}
    assert [event.ok for event in payload.events_of(value, "codex", Tasks())] == [None]


def test_a_prompt_is_looked_at_when_nobody_waits_any_more(
    tmp_path: Path, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CHITTA_HOME", settings.home)
    monkeypatch.setattr(process, "_left_alone", lambda: False)
    looked: list[object] = []
    monkeypatch.setattr(hook, "learned", lambda *given, **more: looked.append(given))
    process.run(b'{"hook_event_name":"UserPromptSubmit","session_id":"s","prompt":"never use var here"}', "claude")
    assert looked == []


def test_what_is_done_after_a_prompt_was_not_done_before_it(tmp_path: Path, settings: Settings) -> None:
    path = tmp_path / "s.jsonl"
    prompt = "no, use pnpm instead of npm"

    def line(role: str, text: str) -> str:
        content = text if role == "user" else [{"type": "text", "text": text}]
        return json.dumps({"type": role, "sessionId": "s", "cwd": "/w", "message": {"role": role, "content": content}})

    value = {"hook_event_name": "UserPromptSubmit", "session_id": "s", "prompt": prompt, "transcript_path": str(path)}
    path.write_text("\n".join([line("user", prompt), line("assistant", "I use pnpm.")]) + "\n")
    assert hook.learned(value, "claude", settings, now=1.0).drafts == ()
    path.write_text("\n".join([line("assistant", "I used npm."), line("user", prompt), line("assistant", "ok")]) + "\n")
    assert len(hook.learned(value, "claude", settings, now=1.0).drafts) == 1
