"""What a harness tells a hook about one tool, as an event.

Claude Code tells a failure by an event of its own, Copilot CLI by a line below the output. Codex tells no exit code
at all; it stands in the rollout, which is written before the hook is called.
"""

from __future__ import annotations

from typing import Any

from chitta import turn
from chitta.capture import from_codex, from_copilot
from chitta.capture.events import EDIT, RESULT, SHELL, TODOS, Event, bounded
from chitta.capture.tools import Tasks, arguments, changes_of, command_of, kind_of
from chitta.wire import codec

#: Bytes of a rollout's end in which the code of the command that just ended is looked for.
_TAIL_BYTES = 128 * 1024


def events_of(value: dict[str, Any], harness: str, tasks: Tasks) -> list[Event]:
    """The result of a tool, and the list of things to do where it changed that; [] for any other payload."""
    name = turn.first_text(value, ("tool_name", "toolName"))
    if not name:
        return []
    given = arguments(value.get("tool_input", value.get("toolArgs")))
    text, ok = _outcome(value, harness)
    tool = kind_of(name)
    place = Event("", session=turn.session_of(value), cwd=turn.first_text(value, turn.CWD_KEYS))
    result = place._replace(
        kind=RESULT,
        tool=tool,
        text=bounded(text),
        ok=ok,
        command=command_of(given) if tool == SHELL else "",
        # Codex runs apply_patch as a command of its tool's name, with the patch in it.
        changes=changes_of({"input": given["command"]} if name == "apply_patch" and "command" in given else given)
        if tool == EDIT
        else (),
    )
    todos = tasks.take(name, given, text) if ok is not False else ()
    return [result, *([place._replace(kind=TODOS, todos=todos)] if todos else [])]


def _outcome(value: dict[str, Any], harness: str) -> tuple[str, bool | None]:
    """What the tool gave, and whether it went well."""
    error = value.get("error")
    if error is not None:
        text = (
            error if isinstance(error, str) else turn.first_text(error, ("message",)) if isinstance(error, dict) else ""
        )
        return text, None if value.get("is_interrupt") is True else False
    given = value.get("toolResult", value.get("tool_response"))
    if harness == "copilot" and isinstance(given, dict):
        text, code = from_copilot.outcome(turn.first_text(given, ("textResultForLlm", "text_result_for_llm")))
        return text, code == 0 if code is not None else given.get("resultType") == "success"
    if harness == "codex":
        text, code = from_codex.outcome(given)
        code = _code(value) if code is None else code
        return text, None if code is None or code < 0 else code == 0
    if isinstance(given, dict):
        parts = (given.get("stdout"), given.get("stderr"))
        text = "\n".join(part for part in parts if isinstance(part, str) and part)
        return text or codec.dumps(given)[:4_000].decode("utf-8", "replace"), None if given.get(
            "interrupted"
        ) is True else True
    return given if isinstance(given, str) else "", True


def _code(value: dict[str, Any]) -> int | None:
    """The exit code of the call in the end of a Codex rollout; a tool that is no command has none, and went well."""
    if kind_of(turn.first_text(value, ("tool_name",))) != SHELL:
        return 0
    call, path = turn.first_text(value, ("tool_use_id",)), turn.first_text(value, ("transcript_path",))
    if not call or not path:
        return None
    try:
        with open(path, "rb") as file:
            file.seek(max(file.seek(0, 2) - _TAIL_BYTES, 0))
            lines = file.read(_TAIL_BYTES).split(b"\n")
    except (OSError, ValueError):  # a path with a NUL
        return None
    for line in reversed(lines):
        if call.encode() not in line or b"exit_code" not in line:
            continue
        try:
            payload = codec.loads(line)["payload"]
            ended = payload.get("item", payload)
            if call in (ended.get("call_id"), ended.get("id")) and isinstance(ended.get("exit_code"), int):
                return int(ended["exit_code"])
        except (ValueError, KeyError, TypeError, AttributeError):
            continue
    return None
