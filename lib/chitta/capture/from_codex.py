"""Lines of a Codex rollout (``~/.codex/sessions/**/rollout-*.jsonl``) as events.

A command's exit code stands in the event of its end and, in words, in the output that the model is given; older
rollouts have it in the output's own JSON.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from chitta.capture.calls import MAX_OPEN, Calls
from chitta.capture.events import AGENT, COMPACT, PERSON, Event, bounded
from chitta.capture.tools import arguments
from chitta.capture.typed import words_of
from chitta.wire import codec

_EXITED = re.compile(r"(?:Process exited with code|Exit code:) (-?\d{1,4})")
_OUTPUT = re.compile(r"\A(?:[^\n]{0,200}\n){1,8}?Output:\n")
_CALLS = ("function_call", "custom_tool_call", "local_shell_call")
_OUTPUTS = ("function_call_output", "custom_tool_call_output", "local_shell_call_output")
#: The exit code of a command that the session's end has cut short.
_CUT_SHORT = -1


class Reader:
    def __init__(self) -> None:
        self._calls = Calls()
        self._codes: dict[str, int] = {}
        self._session = self._cwd = self._last = ""

    def take(self, entry: dict[str, Any]) -> Iterator[Event]:
        payload = entry.get("payload")
        if not isinstance(payload, dict):
            return
        kind, what = entry.get("type"), str(payload.get("type", ""))
        self._session = (
            str(payload.get("session_id") or payload.get("id") or "") if kind == "session_meta" else self._session
        )
        if kind in ("session_meta", "turn_context") and isinstance(payload.get("cwd"), str):
            self._cwd = payload["cwd"]
        place = Event("", session=self._session, cwd=self._cwd, time=str(entry.get("timestamp") or ""))
        if kind == "compacted" or what == "context_compacted":
            yield place._replace(kind=COMPACT)
        elif kind == "response_item":
            yield from self._item(payload, what, place)
        elif kind == "event_msg":
            yield from self._told(payload, what, place)

    def _item(self, payload: dict[str, Any], what: str, place: Event) -> Iterator[Event]:
        call = str(payload.get("call_id") or payload.get("id") or "")
        if what == "message":
            yield from self._message(payload, place)
        elif what in _CALLS:
            name = "shell" if what == "local_shell_call" else str(payload.get("name", ""))
            given = arguments(payload.get("arguments") or payload.get("input") or payload.get("action"))
            yield self._calls.call(call, name, given, place)
        elif what in _OUTPUTS:
            text, code = outcome(payload.get("output"))
            code = self._codes.pop(call, None) if code is None else code
            ok = None if code is None or code == _CUT_SHORT else code == 0
            ok = True if code is None and "Plan updated" in text[:100] else ok
            yield from self._calls.result(call, text, ok, place)

    def _message(self, payload: dict[str, Any], place: Event) -> Iterator[Event]:
        parts = payload.get("content")
        parts = [part for part in parts if isinstance(part, dict)] if isinstance(parts, list) else []
        texts = [str(part.get("text", "")) for part in parts if part.get("text")]
        if payload.get("role") == "assistant" and texts:
            yield place._replace(kind=AGENT, text=bounded("\n".join(texts)))
        elif payload.get("role") == "user":
            yield from self._typed(texts, place)

    def _typed(self, texts: list[str], place: Event) -> Iterator[Event]:
        """The person's words; the same ones stand twice in a rollout, as an item and as an event."""
        words = "\n".join(filter(None, map(words_of, texts)))
        if words and words != self._last:
            self._last = words
            yield place._replace(kind=PERSON, text=words)

    def _told(self, payload: dict[str, Any], what: str, place: Event) -> Iterator[Event]:
        item = payload.get("item")
        ended = item if isinstance(item, dict) and item.get("type") == "CommandExecution" else payload
        if what == "user_message" and isinstance(payload.get("message"), str):
            yield from self._typed([payload["message"]], place)
        elif what == "agent_message":
            self._last = ""  # the same words may be typed again, now
        elif what == "exec_command_end" or ended is item:
            code = ended.get("exit_code")
            if isinstance(code, int) and len(self._codes) < MAX_OPEN:
                self._codes[str(ended.get("call_id") or ended.get("id") or "")] = code


def outcome(output: Any) -> tuple[str, int | None]:
    """A call's output without what Codex puts before it, and the exit code where it is told."""
    if isinstance(output, str) and output.startswith("{"):
        try:
            output = codec.loads(output.encode("utf-8", "replace"))
        except ValueError:
            pass
    if isinstance(output, dict):
        facts = output.get("metadata")
        code = facts.get("exit_code") if isinstance(facts, dict) else output.get("exit_code")
        return str(output.get("output") or output.get("content") or ""), code if isinstance(code, int) else None
    if isinstance(output, list):
        output = "\n".join(str(part.get("text", "")) for part in output if isinstance(part, dict))
    text = output if isinstance(output, str) else ""
    head = _OUTPUT.match(text)
    exited = _EXITED.search(head[0] if head else "")
    return text[head.end() :] if head else text, int(exited[1]) if exited else None
