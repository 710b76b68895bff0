"""What a tool call says, by whichever name and shape its harness gave it: the command, the edits, the list of todos."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from chitta.capture.events import DONE, EDIT, MAX_COMMAND_CHARS, MAX_PATHS, SHELL, Change, Todo, bounded

_SHELLS = frozenset(
    "bash shell exec_command shell_command local_shell local_shell_call powershell container.exec "
    "run_terminal_command run_shell_command execute".split()
)
_EDITS = frozenset(
    "edit write multiedit notebookedit create apply_patch str_replace_editor str_replace write_file replace".split()
)
#: Tools that write the whole list of things to do at once.
LISTS = frozenset(("TodoWrite", "update_plan", "update_todo"))
#: Claude Code's list, one thing at a time.
TASK_NEW, TASK_CHANGED = "TaskCreate", "TaskUpdate"
MAX_TODOS = 60
_MAX_TODO_CHARS = 200
_MAX_EDIT_CHARS = 400
_PATCHED = re.compile(r"^\*\*\* (?:Add|Update|Delete) File: ([^\n]{1,400})$", re.MULTILINE)
_CHECKED = re.compile(r"^[ \t]{0,8}[-*] \[([ xX])\] ([^\n]{1,400})$", re.MULTILINE)
_TASK_MADE = re.compile(r"Task #(\d{1,6}) created|\"id\": ?\"(\d{1,6})\"")


def kind_of(name: str) -> str:
    """:data:`SHELL`, :data:`EDIT`, or the tool's own name."""
    low = name.lower()
    return SHELL if low in _SHELLS else EDIT if low in _EDITS else name


def arguments(value: Any) -> Mapping[str, Any]:
    """A call's arguments as an object; JSON in a string is read, other text is under ``input``."""
    if isinstance(value, str):
        try:
            read = json.loads(value)
        except (ValueError, RecursionError):
            return {"input": value}
        value = read
    return value if isinstance(value, Mapping) else {}


def command_of(given: Mapping[str, Any]) -> str:
    """The command of a shell's call: a line, or the words of an argument list (`bash -lc LINE` is its line)."""
    value = next((given[key] for key in ("command", "cmd", "script") if key in given), "")
    if isinstance(value, list):
        words = [str(word) for word in value]
        shell = len(words) >= 3 and words[-2] in ("-c", "-lc") and words[0].rsplit("/", 1)[-1] in ("bash", "sh", "zsh")
        value = words[-1] if shell else " ".join(words)
    return bounded(value, MAX_COMMAND_CHARS).strip() if isinstance(value, str) else ""


def changes_of(given: Mapping[str, Any]) -> tuple[Change, ...]:
    """The files that an edit's call changes, with the words before and after where they are short."""
    patch = next((given[key] for key in ("input", "patch") if isinstance(given.get(key), str)), "")
    if patch:
        return tuple(Change(path.strip()) for path in _PATCHED.findall(patch[:200_000])[:MAX_PATHS])
    keys = ("file_path", "path", "notebook_path", "filePath")
    path = next((given[key] for key in keys if isinstance(given.get(key), str)), "")
    if not path:
        return ()
    edits = given.get("edits") if isinstance(given.get("edits"), list) else [given]
    found = [
        Change(path, _short(edit, "old"), _short(edit, "new")) for edit in edits or [] if isinstance(edit, Mapping)
    ]
    return tuple(found[:MAX_PATHS])


def _short(edit: Mapping[str, Any], which: str) -> str:
    value = next((edit[key] for key in (f"{which}_string", f"{which}_str") if isinstance(edit.get(key), str)), "")
    return value if len(value) <= _MAX_EDIT_CHARS else ""


def todos_of(given: Mapping[str, Any]) -> tuple[Todo, ...]:
    """A whole list of things to do as one call gives it."""
    listed = next((given[key] for key in ("todos", "plan") if key in given), None)
    if isinstance(listed, str):
        return tuple(_todo(text, mark != " ") for mark, text in _CHECKED.findall(listed[:50_000])[:MAX_TODOS])
    found = []
    for entry in listed[:MAX_TODOS] if isinstance(listed, list) else []:
        text = (
            next((entry[key] for key in ("content", "step", "title") if isinstance(entry.get(key), str)), "")
            if (isinstance(entry, Mapping))
            else ""
        )
        if text.strip():
            found.append(_todo(text, entry.get("status") in (DONE, "done")))
    return tuple(found)


def _todo(text: str, done: bool) -> Todo:
    return Todo(" ".join(text.split())[:_MAX_TODO_CHARS], done)


class Tasks:
    """A list that grows and changes one thing at a time; ``known`` maps an id to its words and whether it is done."""

    def __init__(self, known: Mapping[str, Todo] | None = None) -> None:
        self.known: dict[str, Todo] = dict(known or {})

    def take(self, tool: str, given: Mapping[str, Any], answer: str) -> tuple[Todo, ...]:
        """The list as it stands after a call that went well; () where the call was no such call or changed nothing."""
        if tool in LISTS:
            return todos_of(given)
        if tool == TASK_NEW and isinstance(given.get("subject"), str):
            made = _TASK_MADE.search(answer[:400])
            name = (made[1] or made[2]) if made else str(len(self.known) + 1)
            if all(task.done for task in self.known.values()):
                self.known = {}  # a list that was finished is behind us
            if len(self.known) < MAX_TODOS:
                self.known[name] = _todo(given["subject"], False)
        elif tool == TASK_CHANGED:
            name, status = str(given.get("taskId", "")), given.get("status")
            if name in self.known and status == "deleted":
                del self.known[name]
            elif name in self.known and isinstance(status, str):
                self.known[name] = self.known[name]._replace(done=status == DONE)
        else:
            return ()
        return tuple(self.known.values())
