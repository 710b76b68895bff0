"""Lines of a Copilot CLI session (``~/.copilot/session-state/*/events.jsonl``) as events."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from chitta.capture.calls import Calls
from chitta.capture.events import AGENT, COMPACT, PERSON, Event, bounded
from chitta.capture.tools import arguments
from chitta.capture.typed import words_of

#: What Copilot CLI writes below a command's output.
EXITED = re.compile(r"<(?:shellId: [^\n<>]{1,40} completed|exited) with exit code (-?\d{1,4})>\s*\Z")


class Reader:
    def __init__(self) -> None:
        self._calls = Calls()
        self._session = self._cwd = ""

    def take(self, entry: dict[str, Any]) -> Iterator[Event]:
        data, kind = entry.get("data"), str(entry.get("type", ""))
        if not isinstance(data, dict) or data.get("parentToolCallId") or data.get("agentId"):
            return  # a subagent's
        context = data.get("context")
        if kind in ("session.start", "session.resume"):
            self._session = str(data.get("sessionId") or self._session)
            self._cwd = str(context.get("cwd") or self._cwd) if isinstance(context, dict) else self._cwd
        place = Event("", session=self._session, cwd=self._cwd, time=str(entry.get("timestamp") or ""))
        if kind == "session.compaction_complete":
            yield place._replace(kind=COMPACT)
        elif kind == "user.message":
            source = str(data.get("source") or "user")
            words = words_of(str(data.get("content") or "")) if source in ("user", "sdk") else ""
            if words:
                yield place._replace(kind=PERSON, text=words)
        elif kind == "assistant.message" and str(data.get("content") or "").strip():
            yield place._replace(kind=AGENT, text=bounded(str(data["content"])))
        elif kind == "tool.execution_start":
            given = arguments(data.get("arguments"))
            yield self._calls.call(str(data.get("toolCallId", "")), str(data.get("toolName", "")), given, place)
        elif kind == "tool.execution_complete":
            yield from self._completed(data, place)

    def _completed(self, data: dict[str, Any], place: Event) -> Iterator[Event]:
        result, error, shell = data.get("result"), data.get("error"), data.get("shellExecution")
        text = str(result.get("content") or "") if isinstance(result, dict) else ""
        if isinstance(error, dict):
            text = str(error.get("message") or "")
        text, code = outcome(text)
        if isinstance(shell, dict) and isinstance(shell.get("exitCode"), int):
            code = shell["exitCode"]
        ok = data.get("success") is True and code in (None, 0)
        yield from self._calls.result(str(data.get("toolCallId", "")), text, ok, place)


def outcome(text: str) -> tuple[str, int | None]:
    """A command's output without the line on its exit code, and that code."""
    found = EXITED.search(text[-200:])
    if found is None:
        return text, None
    return text[: len(text) - len(found[0])].rstrip(), int(found[1])
