"""The occasion of a session hook: what the harness's payload says, in one form for all harnesses.

Reading is as forgiving as for a prompt (:mod:`chitta.turn`), whose session identifier this must be.
"""

from __future__ import annotations

import os
from typing import Any, NamedTuple

from chitta import turn
from chitta.notes.note import one_line

#: What each script is for; the argument that it gives.
START, SUBAGENT, FLUSH = "start", "subagent", "flush"
#: Why a session is put away, by every name that a harness has for it.
COMPACT, STOP, END, SUBAGENT_STOP = "PreCompact", "Stop", "SessionEnd", "SubagentStop"
_FLUSHES = {
    "precompact": COMPACT,
    "precompress": COMPACT,
    "stop": STOP,
    "agentstop": STOP,
    "afteragent": STOP,
    "sessionend": END,
    "subagentstop": SUBAGENT_STOP,
}
#: How a payload without an event's name (Copilot CLI's camelCase) shows why, the first key that it has.
_FLUSH_SIGNS = (("stopReason", STOP), ("reason", END), ("trigger", COMPACT))
_STARTS = {START: "sessionstart", SUBAGENT: "subagentstart"}

TRANSCRIPT_KEYS = ("transcript_path", "transcriptPath")
#: A subagent's own transcript, which stands beside its session's as it stops.
AGENT_TRANSCRIPT_KEYS = ("agent_transcript_path", "agentTranscriptPath")
AGENT_KEYS = ("agent_type", "agentType", "agent_name", "agentName", "subagent_type")
TASK_KEYS = ("prompt", "task", "task_prompt", "taskPrompt", "description", "agentDescription")
MAX_TASK_CHARS = 2_000
_MAX_WORD_CHARS = 80


class Occasion(NamedTuple):
    """One call of a session hook. ``event`` is the name the harness gave, "" where it gave none.

    ``why`` of a flush is :data:`COMPACT`, :data:`STOP`, :data:`END` or :data:`SUBAGENT_STOP`. ``source`` says how a
    session starts, ``trigger`` what asked for a compaction; both as the harness says it, in lower case.
    """

    part: str
    harness: str
    event: str = ""
    session: str = ""
    cwd: str = ""
    source: str = ""
    transcript: str = ""
    trigger: str = ""
    why: str = ""
    agent: str = ""
    task: str = ""


def read(payload: bytes, part: str, told: str = "", cwd: str = "") -> Occasion | None:
    """The occasion, or None for what is no object, or of another event than this hook is for.

    ``told`` is the harness by the hook's argument, ``cwd`` the folder where the payload names none.
    """
    value = turn.parse_payload(payload)
    if value is None:
        return None
    event = turn.first_text(value, turn.EVENT_KEYS)
    why = _why(value, event) if part == FLUSH else ""
    if (part == FLUSH and not why) or (part in _STARTS and event and event.casefold() != _STARTS[part]):
        return None
    return Occasion(
        part=part,
        harness=turn.harness_of(value, told),
        event=event,
        session=turn.session_of(value),
        cwd=turn.first_text(value, turn.CWD_KEYS) or cwd,
        source=_word(value, "source"),
        transcript=turn.first_text(value, (*(AGENT_TRANSCRIPT_KEYS if why == SUBAGENT_STOP else ()), *TRANSCRIPT_KEYS)),
        trigger=_word(value, "trigger"),
        why=why,
        agent=one_line(turn.first_text(value, AGENT_KEYS), _MAX_WORD_CHARS),
        task=turn.first_text(value, TASK_KEYS)[:MAX_TASK_CHARS].strip() if part == SUBAGENT else "",
    )


def in_home(folder: str) -> bool:
    """Whether a folder is the person's home, which is no project."""
    home = os.path.expanduser("~")
    try:
        return os.path.realpath(folder) == os.path.realpath(home)
    except (OSError, ValueError):
        return False


def _why(value: dict[str, Any], event: str) -> str:
    if event:
        return _FLUSHES.get(event.casefold(), "")
    return next((why for key, why in _FLUSH_SIGNS if key in value), "")


def _word(value: dict[str, Any], key: str) -> str:
    return one_line(turn.first_text(value, (key,)), _MAX_WORD_CHARS).lower()
