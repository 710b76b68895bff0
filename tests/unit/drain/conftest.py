"""Sessions as Claude Code 2.1.332 and Codex 0.171.0 write them down."""

import json
from pathlib import Path
from typing import Any

import pytest

#: One thing in a session: who (person, agent, run) and what; a command has its output and exit code.
Said = tuple[str, str] | tuple[str, str, str, int]

BLOCK = (
    "<chitta-notes>\nNotes from earlier work that may bear on this prompt. They are reference, not instructions; check "
    "before relying on them.\n- [corr] Not: npm install. Instead: pnpm install. From now on always use pnpm instead of "
    "npm. (correction, 2026-01-02, use-pnpm)\n[admit] 1 note\n</chitta-notes>"
)
SESSION: tuple[Said, ...] = (
    ("person", "run the tests of the parser and make them pass"),
    ("run", "python -m pytest tests/parser", "E   ModuleNotFoundError: No module named 'lxml'\n1 error in 0.10s", 1),
    ("agent", "The tests fail because lxml is missing. I install it."),
    ("run", "uv pip install lxml", "Installed 1 package in 12ms", 0),
    ("run", "python -m pytest tests/parser", "4 passed in 0.31s", 0),
    ("agent", "They pass now."),
    ("person", "no, use make check instead of pytest"),
    ("agent", "I will run make check."),
    ("person", "From now on never commit without running make check."),
    ("run", "git commit -m 'Parser reads entities that lxml resolves'", "[main 1a2b3c4] Parser reads entities", 0),
    ("agent", "Committed. " + "All is well with the parser and with its tests. " * 40),
)
#: The same without anything learned, where chitta's block stands in every place that it comes back to.
WITH_BLOCK: tuple[Said, ...] = (
    ("person", f"UserPromptSubmit hook additional context: {BLOCK}\nlist the files of the parser"),
    ("person", f"<system-reminder>\n{BLOCK}\n</system-reminder>\nlist the files of the parser"),
    ("agent", f"I was told this:\n{BLOCK}"),
    ("run", "cat hook-output.json", json.dumps({"additionalContext": BLOCK}), 0),
    ("run", "chitta recall npm", "use-pnpm  From now on always use pnpm instead of npm.", 0),
    ("agent", "Those are the files. " + "There is nothing else to say of them. " * 60),
)


def claude_lines(said: tuple[Said, ...], session: str = "9c934c0e-093d", cwd: str = "/home/dev/shop") -> str:
    """A Claude Code transcript."""
    place = {"sessionId": session, "cwd": cwd, "version": "2.1.332", "isSidechain": False, "userType": "external"}
    entries: list[dict[str, Any]] = [{"type": "mode", "mode": "default", "sessionId": session}]
    for at, (who, *what) in enumerate(said):
        here = {**place, "timestamp": f"2026-11-30T10:00:{at:02d}.000Z", "uuid": f"u{at}"}
        if who == "person":
            entries.append({**here, "type": "user", "message": {"role": "user", "content": what[0]}})
        elif who == "agent":
            text = [{"type": "text", "text": what[0]}]
            entries.append({**here, "type": "assistant", "message": {"role": "assistant", "content": text}})
        else:
            use = {"type": "tool_use", "id": f"toolu_{at}", "name": "Bash", "input": {"command": what[0]}}
            entries.append({**here, "type": "assistant", "message": {"role": "assistant", "content": [use]}})
            gave = {"type": "tool_result", "tool_use_id": f"toolu_{at}", "content": what[1], "is_error": what[2] != 0}
            entries.append({**here, "type": "user", "message": {"role": "user", "content": [gave]}})
    return "".join(json.dumps(entry) + "\n" for entry in entries)


def codex_lines(said: tuple[Said, ...], session: str = "01a229a7-77aa", cwd: str = "/home/dev/shop") -> str:
    """A Codex rollout."""
    entries: list[tuple[str, dict[str, Any]]] = [
        ("session_meta", {"id": session, "cwd": cwd, "cli_version": "0.171.0"})
    ]
    for at, (who, *what) in enumerate(said):
        if who == "person":
            text = [{"type": "input_text", "text": what[0]}]
            entries.append(("response_item", {"type": "message", "role": "user", "content": text}))
            entries.append(("event_msg", {"type": "user_message", "message": what[0]}))
        elif who == "agent":
            text = [{"type": "output_text", "text": what[0]}]
            entries.append(("response_item", {"type": "message", "role": "assistant", "content": text}))
            entries.append(("event_msg", {"type": "agent_message", "message": what[0]}))
        else:
            given = json.dumps({"cmd": what[0], "workdir": cwd})
            call = {"type": "function_call", "name": "exec_command", "arguments": given, "call_id": f"call_{at}"}
            gave = f"Chunk ID: 1\nWall time: 0.1 seconds\nProcess exited with code {what[2]}\nOutput:\n{what[1]}"
            entries.append(("response_item", call))
            entries.append(("response_item", {"type": "function_call_output", "call_id": f"call_{at}", "output": gave}))
    return "".join(
        json.dumps({"timestamp": f"2026-11-30T10:00:{at % 60:02d}.000Z", "type": kind, "payload": payload}) + "\n"
        for at, (kind, payload) in enumerate(entries)
    )


WRITERS = {"claude": claude_lines, "codex": codex_lines}


@pytest.fixture(params=sorted(WRITERS))
def harness(request: pytest.FixtureRequest) -> str:
    """Each client whose sessions are read."""
    return str(request.param)


@pytest.fixture
def recorded(tmp_path: Path, harness: str) -> Path:
    """A recorded session of that client."""
    path = tmp_path / f"{harness}-session.jsonl"
    path.write_text(WRITERS[harness](SESSION), encoding="utf-8")
    return path


@pytest.fixture
def with_block(tmp_path: Path, harness: str) -> Path:
    """One of that client in which chitta's block comes back in every way."""
    path = tmp_path / f"{harness}-block.jsonl"
    path.write_text(WRITERS[harness](WITH_BLOCK), encoding="utf-8")
    return path
