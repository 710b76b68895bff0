"""One form of what happens in a session, whichever harness wrote it down.

Imported by the capture hook's short path: nothing but ``typing``.
"""

from __future__ import annotations

from typing import NamedTuple

#: What a person typed; what the agent said; a tool called, and what it gave; a list of things to do as it stands now;
#: a compaction, after which earlier words may come again as a summary.
PERSON, AGENT, CALL, RESULT, TODOS, COMPACT = "person", "agent", "call", "result", "todos", "compact"
#: Names of tools that are the same thing in every harness; any other keeps its own name.
SHELL, EDIT = "shell", "edit"
#: Where a thing to do stands.
DONE = "completed"

#: Characters of a text that are kept: its head, and its end, where errors and exit codes stand.
MAX_TEXT_CHARS = 16_000
MAX_COMMAND_CHARS = 4_000
MAX_PATHS = 40
_GAP = "\n…\n"


class Change(NamedTuple):
    """One edit of a file: its path, and the words before and after where the tool said them."""

    path: str
    old: str = ""
    new: str = ""


class Todo(NamedTuple):
    """One thing of a list, and whether it is done."""

    text: str
    done: bool


class Event(NamedTuple):
    """One event. ``tool`` and ``call`` (the call's id) belong to calls and results, as do ``command`` of a shell and
    ``changes`` of an edit. ``ok`` of a result: True, False, or None where the harness did not say. ``time`` is
    ISO 8601 as the harness wrote it, "" where it did not."""

    kind: str
    text: str = ""
    tool: str = ""
    call: str = ""
    command: str = ""
    changes: tuple[Change, ...] = ()
    ok: bool | None = None
    todos: tuple[Todo, ...] = ()
    session: str = ""
    cwd: str = ""
    time: str = ""


def bounded(text: str, limit: int = MAX_TEXT_CHARS) -> str:
    """The text within ``limit`` characters: its first quarter and its end."""
    if len(text) <= limit:
        return text
    head = limit // 4
    return text[:head] + _GAP + text[-(limit - head - len(_GAP)) :]
