"""Lines of a Claude Code transcript (``~/.claude/projects/*/*.jsonl``) as events."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from chitta.capture.calls import Calls
from chitta.capture.events import AGENT, COMPACT, PERSON, Event, bounded
from chitta.capture.tools import arguments
from chitta.capture.typed import words_of
from chitta.turn import PERSON_SOURCES

#: Results that say that the person or the client did not let the tool run: nothing failed.
_NOT_RUN = ("The user doesn't want to", "[Request interrupted", "<tool_use_error>", "Permission to use", "Cancelled:")
#: Values of ``promptSource`` that say so are a machine's; others, and none, are a person's.
_MACHINES = frozenset({"system", "loop_wakeup", "schedule_wakeup", "poll_event", "hook"})


class Reader:
    def __init__(self) -> None:
        self._calls = Calls()

    def take(self, entry: dict[str, Any]) -> Iterator[Event]:
        if entry.get("isSidechain") is True:
            return
        place = Event("", session=_text(entry, "sessionId"), cwd=_text(entry, "cwd"), time=_text(entry, "timestamp"))
        kind = entry.get("type")
        if kind == "system" and entry.get("subtype") == "compact_boundary":
            yield place._replace(kind=COMPACT)
        message = entry.get("message")
        if kind not in ("user", "assistant") or not isinstance(message, dict):
            return
        content = message.get("content")
        blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content
        blocks = [block for block in blocks if isinstance(block, dict)] if isinstance(blocks, list) else []
        if kind == "assistant":
            yield from self._said(blocks, place)
        else:
            yield from self._given(entry, blocks, place)

    def _said(self, blocks: list[dict[str, Any]], place: Event) -> Iterator[Event]:
        for block in blocks:
            if block.get("type") == "text" and str(block.get("text", "")).strip():
                yield place._replace(kind=AGENT, text=bounded(str(block["text"])))
            elif block.get("type") == "tool_use":
                given = arguments(block.get("input"))
                yield self._calls.call(str(block.get("id", "")), str(block.get("name", "")), given, place)

    def _given(self, entry: dict[str, Any], blocks: list[dict[str, Any]], place: Event) -> Iterator[Event]:
        if entry.get("isCompactSummary") is True:
            yield place._replace(kind=COMPACT)
            return
        typed = []
        for block in blocks:
            if block.get("type") == "tool_result":
                text = _flat(block.get("content"))
                ok = None if text.startswith(_NOT_RUN) else block.get("is_error") is not True
                extra = entry.get("toolUseResult")
                if isinstance(extra, dict) and extra.get("interrupted") is True:
                    ok = None
                yield from self._calls.result(str(block.get("tool_use_id", "")), text, ok, place)
            elif block.get("type") == "text":
                typed.append(str(block.get("text", "")))
        machine = entry.get("isMeta") is True or entry.get("promptSource") in _MACHINES - PERSON_SOURCES
        words = "" if machine else "\n".join(filter(None, map(words_of, typed)))
        if words:
            yield place._replace(kind=PERSON, text=words)


def _flat(content: Any) -> str:
    """A result's text: itself, or the texts of its parts."""
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else []
    return "\n".join(str(part.get("text", "")) for part in parts if isinstance(part, dict) and part.get("text"))


def _text(entry: dict[str, Any], key: str) -> str:
    value = entry.get(key)
    return value[:4096] if isinstance(value, str) else ""
