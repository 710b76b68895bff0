"""One table of harnesses: files by scope, events, scripts, time limits, and the form of an entry.

Everything that names an entry comes from here: `chitta hooks`, the templates in ``hooks/wiring/`` and the hooks of
the Claude Code plugin. Sources: the harnesses' own documents, and their behaviour as measured on Claude Code 2.1.332,
Codex 0.171.0, Copilot CLI 1.0.102 and Gemini CLI 0.61.0.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal, NamedTuple

Scope = Literal["user", "project"]
#: How a handler says what to run: a program with arguments, a shell's line, or a line that ends well whatever happens.
Form = Literal["exec", "shell", "guarded"]

PROMPT, START, SUBAGENT, FLUSH = "prompt-core.sh", "session-start.sh", "subagent-start.sh", "session-flush.sh"
CAPTURE = "capture.sh"
SCRIPTS = (PROMPT, START, SUBAGENT, FLUSH, CAPTURE)
#: Seconds that a harness waits at most for each script; the scripts' own budgets lie below (6, 10, 5, 1 and 1 s).
LIMIT_S = {PROMPT: 10, START: 15, SUBAGENT: 10, FLUSH: 5, CAPTURE: 5}
#: Stands for the checkout in the templates.
MARK = "@CHITTA_ROOT@"


class Event(NamedTuple):
    """One event of a harness: its name there, the script that answers it, and the time limit in seconds.

    ``matcher`` names the tools it is for, where its harness asks that of a group; "" is all."""

    name: str
    script: str
    limit_s: int
    matcher: str = ""


class Harness(NamedTuple):
    """One row of the table.

    ``home_variable`` names the variable that moves ``user_folder``; ``file`` lies in that folder, ``project_file`` in
    the project. ``grouped``: an event's list holds groups with a list ``hooks`` each, else the handlers themselves.
    ``limit_key`` and ``per_second``: how a time limit is written. ``top``: keys that the file must have besides hooks;
    Codex drops a whole file that has one it does not know. ``capture``: events that only who asks for capture gets;
    ``unwaited``: nobody waits for their hooks (``async``).
    """

    name: str
    title: str
    program: str
    home_variable: str
    user_folder: str
    file: str
    project_file: str
    events: tuple[Event, ...]
    form: Form
    grouped: bool = True
    limit_key: str = "timeout"
    per_second: int = 1
    command_key: str = "command"
    extra: Mapping[str, str] = {}
    top: Mapping[str, Any] = {}
    capture: tuple[Event, ...] = ()
    unwaited: bool = False

    def wired(self, capture: bool) -> tuple[Event, ...]:
        """The events to be wired: with those of capture, or without."""
        return (*self.events, *self.capture) if capture else self.events


def _events(names: Mapping[str, str], **limits: int) -> tuple[Event, ...]:
    return tuple(Event(name, script, limits.get(name, LIMIT_S[script])) for name, script in names.items())


_CLAUDE_EVENTS = {
    "UserPromptSubmit": PROMPT,
    "SessionStart": START,
    "SubagentStart": SUBAGENT,
    "PreCompact": FLUSH,
    "Stop": FLUSH,
    "SubagentStop": FLUSH,
    "SessionEnd": FLUSH,
}

#: Tools whose results capture looks at: commands, lists of things to do, edits.
_CAPTURED_TOOLS = "Bash|TodoWrite|TaskCreate|TaskUpdate|Edit|Write|MultiEdit|NotebookEdit"


def _capture(*names: str, matcher: str = "", prompt: str = "") -> tuple[Event, ...]:
    tools = tuple(Event(name, CAPTURE, LIMIT_S[CAPTURE], matcher) for name in names)
    return (*tools, Event(prompt, CAPTURE, LIMIT_S[CAPTURE])) if prompt else tools


TABLE: tuple[Harness, ...] = (
    # A program that is gone is a notice, and the prompt goes on.
    Harness(
        "claude",
        "Claude Code",
        "claude",
        "CLAUDE_CONFIG_DIR",
        ".claude",
        "settings.json",
        ".claude/settings.json",
        _events(_CLAUDE_EVENTS),
        "exec",
        capture=_capture("PostToolUse", "PostToolUseFailure", matcher=_CAPTURED_TOOLS, prompt="UserPromptSubmit"),
        unwaited=True,
    ),
    # `args` is ignored, hence a shell's line; SessionEnd is given 3 s at most.
    Harness(
        "codex",
        "Codex",
        "codex",
        "CODEX_HOME",
        ".codex",
        "hooks.json",
        ".codex/hooks.json",
        _events(_CLAUDE_EVENTS, SessionEnd=3),
        "shell",
        # Its tools go by other names (update_plan, apply_patch), and each one that is not named would be missed.
        capture=_capture("PostToolUse", prompt="UserPromptSubmit"),
        unwaited=True,
    ),
    Harness(
        "copilot",
        "Copilot CLI",
        "copilot",
        "COPILOT_HOME",
        ".copilot",
        "hooks/chitta.json",
        ".github/hooks/chitta.json",
        _events(
            {
                "userPromptSubmitted": PROMPT,
                "sessionStart": START,
                "subagentStart": SUBAGENT,
                "preCompact": FLUSH,
                "agentStop": FLUSH,
                "sessionEnd": FLUSH,
            }
        ),
        "shell",
        grouped=False,
        limit_key="timeoutSec",
        command_key="bash",
        top={"version": 1},
        capture=_capture("postToolUse"),
    ),
    # Any exit code but 0 and 1 discards the prompt, 127 of a checkout that is gone too: hence the guard.
    Harness(
        "gemini",
        "Gemini CLI",
        "gemini",
        "",
        ".gemini",
        "settings.json",
        ".gemini/settings.json",
        _events(
            {
                "BeforeAgent": PROMPT,
                "SessionStart": START,
                "PreCompress": FLUSH,
                "AfterAgent": FLUSH,
                "SessionEnd": FLUSH,
            }
        ),
        "guarded",
        per_second=1000,
        extra={"name": "chitta"},
    ),
)
BY_NAME = {row.name: row for row in TABLE}

#: The templates in ``hooks/wiring/`` by name. The shell form for Claude Code is for those before 2.1.139.
TEMPLATES: Mapping[str, Harness] = {
    "claude-code": BY_NAME["claude"],
    "claude-code-shell": BY_NAME["claude"]._replace(form="shell"),
    "codex": BY_NAME["codex"],
    "copilot": BY_NAME["copilot"],
    "gemini": BY_NAME["gemini"],
}


def file_of(row: Harness, scope: str, home: Path, project: Path, environ: Mapping[str, str] = os.environ) -> Path:
    """The file that holds the harness's hooks in this scope; the harness's own variable moves the user's."""
    if scope == "project":
        return project / row.project_file
    named = environ.get(row.home_variable, "") if row.home_variable else ""
    return (Path(named) if named else home / row.user_folder) / row.file


def handler(row: Harness, event: Event, root: str) -> dict[str, Any]:
    """The entry for one event, as the harness reads it, for the checkout ``root``."""
    script = f"{root}/hooks/{event.script}"
    entry: dict[str, Any] = {**row.extra, "type": "command"}
    if row.form == "exec":
        entry |= {row.command_key: script, "args": [row.name]}
    elif row.form == "shell":
        entry[row.command_key] = f"{in_shell(script)} {row.name}"
    else:
        entry[row.command_key] = f"sh -c '{_GUARD} {row.name}' {in_shell(script)} || true"
    limit: dict[str, Any] = {row.limit_key: event.limit_s * row.per_second}
    return entry | limit | ({"async": True} if row.unwaited and event.script == CAPTURE else {})


_GUARD = '[ ! -x "$0" ] || exec "$0"'


def group(row: Harness, event: Event, root: str) -> dict[str, Any]:
    """What is added to an event's list: the handler in a group of its own, or the handler itself."""
    entry = handler(row, event, root)
    if not row.grouped:
        return entry
    return {"matcher": event.matcher, "hooks": [entry]} if event.matcher else {"hooks": [entry]}


def document(row: Harness, root: str, capture: bool = False) -> dict[str, Any]:
    """A whole file with chitta's hooks and nothing else."""
    hooks: dict[str, list[Any]] = {}
    for event in row.wired(capture):
        hooks.setdefault(event.name, []).append(group(row, event, root))
    return {**row.top, "hooks": hooks}


def template(row: Harness, root: str = MARK, capture: bool = False) -> str:
    """:func:`document` as text."""
    return json.dumps(document(row, root, capture), indent=2, ensure_ascii=False) + "\n"


def in_shell(text: str) -> str:
    """The text as one double-quoted word of a shell, the same in ``hooks/wiring/fill``."""
    return '"' + re.sub(r'([\\"$`])', r"\\\1", text) + '"'


class Ours(NamedTuple):
    """What a chitta entry starts: the checkout, the script, and whether the entry is as chitta writes them."""

    root: str
    script: str
    plain: bool


_SCRIPT = "|".join(map(re.escape, SCRIPTS))
_PROGRAM = re.compile(rf"(.*)/hooks/({_SCRIPT})", re.DOTALL)
_QUOTED = rf'"((?:[^"\\]|\\.)*)/hooks/({_SCRIPT})"'
_LINES = (
    re.compile(rf"{_QUOTED} (\w+)", re.DOTALL),
    re.compile(rf"([^\s\"'\\$`;&|<>()]+)/hooks/({_SCRIPT}) (\w+)"),
    re.compile(rf"sh -c '{re.escape(_GUARD)} (\w+)' {_QUOTED} \|\| true", re.DOTALL),
)
_ADAPTED = re.compile(rf"(?:^|[\s\"'=])([^\s\"'=]*)/hooks/{re.escape(PROMPT)}(?![\w.-])")


def recognise(row: Harness, entry: Any) -> Ours | None:
    """Whether a handler found in a file is chitta's, from whatever checkout; None for somebody else's.

    A script's name alone proves nothing: ``hooks/session-start.sh`` is what people call their own. So the entry must
    be as a chitta writes it. Only ``hooks/prompt-core.sh`` is told from any command; such an adapted entry (with
    a variable in front, say) is not ``plain``.
    """
    if not isinstance(entry, dict):
        return None
    command = entry.get(row.command_key, entry.get("command"))
    if not isinstance(command, str):
        return None
    if "args" in entry:
        found = _PROGRAM.fullmatch(command)
        if found and entry["args"] == [row.name]:
            return Ours(found[1], found[2], True)
    else:
        for line in _LINES:
            found = line.fullmatch(command)
            if found and row.name in found.groups():
                root, script = [part for part in found.groups() if part != row.name][:2]
                return Ours(re.sub(r'\\([\\"$`])', r"\1", root) if '"' in command else root, script, True)
    found = _ADAPTED.search(command)
    return Ours(found[1], PROMPT, False) if found else None
