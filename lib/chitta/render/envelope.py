"""The envelope: the JSON in which each harness takes a block.

docs/harnesses.md says where each shape comes from. Codex refuses an output with a key that it
does not know; Claude Code ignores a context whose event is not the one that ran.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from chitta.wire import codec

#: The event that a harness runs on a prompt, where the payload did not name it.
EVENTS: dict[str, str] = {
    "gemini": "BeforeAgent",
    "copilot": "userPromptSubmitted",
    "cursor": "beforeSubmitPrompt",
}
DEFAULT_EVENT = "UserPromptSubmit"
#: The same for a session's start and a subagent's, by harness; "" is how all others call it.
SESSION_START: dict[str, str] = {"": "SessionStart", "copilot": "sessionStart", "cursor": "sessionStart"}
SUBAGENT_START: dict[str, str] = {"": "SubagentStart", "copilot": "subagentStart", "cursor": "subagentStart"}
#: Harnesses that a subagent's start gives no context to: Gemini CLI has no such event, Cursor only allows or denies.
NO_SUBAGENT_CONTEXT = frozenset({"gemini", "cursor"})
_EVENT_NAME = re.compile(r"[A-Za-z_]{1,64}")

#: Harnesses that show a ``systemMessage`` to the person, beside what the model is given.
TELLS_PERSON = frozenset({"claude", "codex"})

_Shape = Callable[[str, str], dict[str, Any]]


def _nested(text: str, event: str) -> dict[str, Any]:
    return {"hookSpecificOutput": {"hookEventName": event, "additionalContext": text}}


def _flat(text: str, event: str) -> dict[str, Any]:
    return {"additionalContext": text}


def _snake(text: str, event: str) -> dict[str, Any]:
    return {"additional_context": text}


#: How each harness takes context; one that is not here takes it as Claude Code does.
SHAPES: dict[str, _Shape] = {
    "claude": _nested,
    "codex": _nested,
    "gemini": _nested,
    "copilot": _flat,
    "cursor": _snake,
}


def event_of(harness: str, event: str) -> str:
    """The event's name as the harness gave it, or the one it runs on a prompt."""
    return event if _EVENT_NAME.fullmatch(event) else EVENTS.get(harness, DEFAULT_EVENT)


def session_envelope(text: str, harness: str, event: str) -> bytes:
    """What a session's start prints."""
    return envelope(text, harness, event or SESSION_START.get(harness, SESSION_START[""]))


def subagent_envelope(text: str, harness: str, event: str) -> bytes:
    """What a subagent's start prints; nothing where its harness takes no context there."""
    if harness in NO_SUBAGENT_CONTEXT:
        return b""
    return envelope(text, harness, event or SUBAGENT_START.get(harness, SUBAGENT_START[""]))


def envelope(text: str, harness: str, event: str, person: str = "") -> bytes:
    """What the hook prints: one line of JSON, or nothing where there is nothing to say.

    ``person`` is a line for the person, which only some harnesses can show.
    """
    fields = SHAPES.get(harness, _nested)(text, event_of(harness, event)) if text else {}
    if person and harness in TELLS_PERSON:
        fields["systemMessage"] = person
    return codec.dumps(fields) + b"\n" if fields else b""
