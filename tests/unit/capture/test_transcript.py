"""Transcripts as Claude Code 2.1.332, Codex 0.171.0 and Copilot CLI 1.0.102 wrote them, and odd ones."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chitta.capture import transcript
from chitta.capture.events import AGENT, COMPACT, EDIT, PERSON, RESULT, SHELL, TODOS, Event

DATA = Path(__file__).parent / "data"
CLIENTS = ("claude", "codex", "copilot")


def of(name: str, kind: str) -> list[Event]:
    return [event for event in transcript.read(DATA / f"{name}.jsonl") if event.kind == kind]


def written(path: Path, *entries: object) -> list[Event]:
    path.write_text("".join(json.dumps(entry) + "\n" for entry in entries), encoding="utf-8")
    return list(transcript.read(path))


@pytest.mark.parametrize("client", CLIENTS)
def test_the_failure_and_the_pass_are_told_apart(client: str) -> None:
    runs = [event.ok for event in of(client, RESULT) if event.command == "python3 test_cart.py"]
    assert runs == [False, True]


@pytest.mark.parametrize("client", CLIENTS)
def test_a_session_begins_with_what_the_person_typed(client: str) -> None:
    first = of(client, PERSON)[0]
    assert first.text == "fix the cart total, the test fails"
    assert first.cwd == "/home/dev/shop"
    assert first.session and first.time.startswith("2026-11-30T")


@pytest.mark.parametrize("client", CLIENTS)
def test_each_prompt_is_there_once(client: str) -> None:
    texts = [event.text for event in of(client, PERSON)]
    assert len(texts) == len(set(texts))


@pytest.mark.parametrize("client", CLIENTS)
def test_the_harness_shows_itself_or_is_told(client: str) -> None:
    path = DATA / f"{client}.jsonl"
    assert list(transcript.read(path)) == list(transcript.read(path, client))


@pytest.mark.parametrize("client", ["claude", "copilot"])
def test_edits_name_their_file(client: str) -> None:
    (edit,) = [event for event in of(client, RESULT) if event.tool == EDIT]
    assert [(change.path, change.old, change.new) for change in edit.changes] == [
        ("/home/dev/shop/cart.py", " + 1", "")
    ]


def test_a_list_of_tasks_is_followed() -> None:
    lists = [event.todos for event in transcript.read(DATA / "claude-tasks.jsonl") if event.kind == TODOS]
    assert [[(todo.text, todo.done) for todo in todos] for todos in lists] == [
        [("Fix the total", False)],
        [("Fix the total", True)],
    ]


def claude(content: object, kind: str = "user", **more: object) -> dict[str, object]:
    return {"type": kind, "sessionId": "s", "message": {"role": kind, "content": content}, **more}


@pytest.mark.parametrize(
    "entry",
    [
        claude("never use var in JavaScript", isMeta=True),
        claude("never use var in JavaScript", isSidechain=True),
        claude("never use var in JavaScript", promptSource="system"),
        claude("<command-name>/x</command-name>\nnever use var in JavaScript"),
        claude("<task-notification>never use var in JavaScript</task-notification>"),
        claude("<system-reminder>never use var in JavaScript</system-reminder>"),
        claude([{"type": "tool_result", "tool_use_id": "x", "content": "never use var in JavaScript"}]),
        claude("This session is being continued from a previous conversation. never use var"),
        claude("never use var in JavaScript", isCompactSummary=True),
    ],
)
def test_what_nobody_typed_is_no_word_of_the_person(tmp_path: Path, entry: dict[str, object]) -> None:
    events = written(tmp_path / "t.jsonl", claude("hello there"), entry)
    assert [event.text for event in events if event.kind == PERSON] == ["hello there"]


def test_a_compaction_is_an_event(tmp_path: Path) -> None:
    events = written(tmp_path / "t.jsonl", claude("a summary", isCompactSummary=True))
    assert [event.kind for event in events] == [COMPACT]


def test_a_refused_tool_has_not_failed(tmp_path: Path) -> None:
    call = claude([{"type": "tool_use", "id": "1", "name": "Bash", "input": {"command": "make"}}], "assistant")
    result = {
        "type": "tool_result",
        "tool_use_id": "1",
        "is_error": True,
        "content": "The user doesn't want to proceed",
    }
    events = written(tmp_path / "t.jsonl", call, claude([result]))
    assert [event.ok for event in events if event.kind == RESULT] == [None]


def codex(payload: dict[str, object], kind: str = "response_item") -> dict[str, object]:
    return {"timestamp": "2026-01-02T03:04:05Z", "type": kind, "payload": payload}


def test_older_rollouts_of_codex(tmp_path: Path) -> None:
    output = json.dumps({"output": "boom", "metadata": {"exit_code": 2}})
    events = written(
        tmp_path / "t.jsonl",
        codex({"id": "s", "cwd": "/r"}, "session_meta"),
        codex({"type": "user_message", "message": "run it"}, "event_msg"),
        codex(
            {
                "type": "function_call",
                "call_id": "1",
                "name": "shell",
                "arguments": '{"command": ["bash", "-lc", "make"]}',
            }
        ),
        codex({"type": "function_call_output", "call_id": "1", "output": output}),
        codex({"type": "local_shell_call", "call_id": "2", "action": {"command": ["ls", "x"]}}),
        codex({"type": "exec_command_end", "call_id": "2", "exit_code": 0}, "event_msg"),
        codex({"type": "function_call_output", "call_id": "2", "output": "x"}),
        codex({"type": "custom_tool_call", "call_id": "3", "name": "apply_patch", "input": "*** Update File: a.py\n"}),
        codex(
            {"type": "custom_tool_call_output", "call_id": "3", "output": '{"output":"ok","metadata":{"exit_code":0}}'}
        ),
        codex(
            {
                "type": "function_call",
                "call_id": "4",
                "name": "update_plan",
                "arguments": '{"plan":[{"step":"a","status":"completed"}]}',
            }
        ),
        codex({"type": "function_call_output", "call_id": "4", "output": "Plan updated"}),
        codex({"message": "summary"}, "compacted"),
    )
    results = [(event.tool, event.command, event.ok) for event in events if event.kind == RESULT]
    assert results[:2] == [(SHELL, "make", False), (SHELL, "ls x", True)]
    assert [change.path for event in events for change in event.changes if event.kind == RESULT] == ["a.py"]
    assert [event.kind for event in events][-2:] == [TODOS, COMPACT]
    assert [event.text for event in events if event.kind == PERSON] == ["run it"]


def test_only_the_end_of_a_long_transcript_is_read(tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    whole = written(path, *(claude(f"prompt {number} of many") for number in range(50)))
    last = list(transcript.read(path, last_bytes=500))
    assert 0 < len(last) < len(whole)
    assert last == whole[-len(last) :]


def test_a_line_that_is_too_long_is_passed_over(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(transcript, "MAX_LINE_BYTES", 200)
    events = written(tmp_path / "t.jsonl", claude("hello there"), claude("x " * 500), claude("and again"))
    assert [event.text for event in events] == ["hello there", "and again"]


_KEYS = [
    "type",
    "message",
    "content",
    "payload",
    "data",
    "item",
    "call_id",
    "arguments",
    "output",
    "input",
    "todos",
    "plan",
]
_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=20),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from(_KEYS) | st.text(max_size=5), inner, max_size=5)
    ),
    max_leaves=15,
)


@given(st.lists(_JSON, max_size=5), st.sampled_from([*CLIENTS, ""]), st.binary(max_size=50))
def test_any_lines_are_read(
    tmp_path_factory: pytest.TempPathFactory, entries: list[object], harness: str, raw: bytes
) -> None:
    path = tmp_path_factory.mktemp("t") / "t.jsonl"
    path.write_bytes(raw + b"\n" + b"".join(json.dumps(entry).encode() + b"\n" for entry in entries))
    for event in transcript.read(path, harness):
        assert isinstance(event, Event)


def test_the_agents_words_are_its_own() -> None:
    assert all(of(client, AGENT)[-1].text == "The stand-in has answered." for client in CLIENTS)
