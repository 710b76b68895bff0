"""The clients under test: where npm puts each, how it runs one prompt, and how its hooks are written down.

All of it is from the clients' own documentation; `docs/harnesses.md` sums it up. Every client gets a
home of its own, a dummy key and the stand-in's address, with telemetry, updates and error reports off.
"""

from __future__ import annotations

import json
import os
import shlex
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from dialects import Json, ToolCall

ROOT = Path(__file__).resolve().parents[2]
KEY = "not-a-key"
#: What the model asks a subagent to do.
TASK = "Count the dashboards of the provisioning folder."

#: The hook's file and its seconds, by what happens.
HOOKS = {"prompt": ("prompt-core.sh", 10), "session": ("session-start.sh", 15), "subagent": ("subagent-start.sh", 10)}


class Client(ABC):
    """One coding agent. ``events`` names what it can tell a hook, by the words of :data:`HOOKS`."""

    name: str
    programs: tuple[str, ...]
    events: Mapping[str, str]
    subagent: ToolCall | None = None

    def program(self, folder: Path) -> Path | None:
        """The client's program among what npm has installed in ``folder``."""
        found = (path for pattern in self.programs for path in sorted((folder / "node_modules").glob(pattern)))
        return next(found, None)

    @abstractmethod
    def command(self, program: Path, prompt: str) -> list[str]:
        """The command line of one prompt without a terminal."""

    @abstractmethod
    def configure(self, home: Path, url: str) -> dict[str, str]:
        """Write the client's settings below ``home``; the variables that it needs besides HOME and PATH."""

    @abstractmethod
    def wire(self, home: Path, kinds: Iterable[str]) -> None:
        """Write the hooks of these kinds into the client's user settings."""

    def hook(self, kind: str) -> str:
        """The shell command of a hook."""
        return f"{shlex.quote(str(ROOT / 'hooks' / HOOKS[kind][0]))} {self.name}"

    def _groups(self, kinds: Iterable[str], unit: int = 1, **more: str) -> Json:
        """Hooks in the nested form of Claude Code, Codex and Gemini CLI; ``unit`` is the limit's units per second."""
        return {
            self.events[kind]: [
                {"hooks": [{"type": "command", "command": self.hook(kind), "timeout": HOOKS[kind][1] * unit, **more}]}
            ]
            for kind in kinds
        }


class Codex(Client):
    name = "codex"
    programs = (".bin/codex",)
    events = {"prompt": "UserPromptSubmit", "session": "SessionStart", "subagent": "SubagentStart"}
    subagent = ToolCall("spawn_agent@multi_agent_v1", {"message": TASK})

    def command(self, program: Path, prompt: str) -> list[str]:
        # Hooks are trusted by hand in the terminal interface; the flag stands in for that. No sandbox: the model only
        # ever says one sentence.
        flags = ["--dangerously-bypass-hook-trust", "--dangerously-bypass-approvals-and-sandbox"]
        return [str(program), "exec", "--skip-git-repo-check", *flags, prompt]

    def configure(self, home: Path, url: str) -> dict[str, str]:
        _write(
            home / ".codex" / "config.toml",
            f"""\
model = "stand-in"
model_provider = "stand-in"
check_for_update_on_startup = false

[analytics]
enabled = false

[feedback]
enabled = false

[model_providers.stand-in]
name = "stand-in"
base_url = "{url}/v1"
wire_api = "responses"
env_key = "STAND_IN_KEY"
""",
        )
        return {"STAND_IN_KEY": KEY}

    def wire(self, home: Path, kinds: Iterable[str]) -> None:
        _merge(home / ".codex" / "hooks.json", {"hooks": self._groups(kinds)})


class Gemini(Client):
    name = "gemini"
    programs = (".bin/gemini",)
    events = {"prompt": "BeforeAgent", "session": "SessionStart"}

    def command(self, program: Path, prompt: str) -> list[str]:
        return [str(program), "--model", "gemini-2.5-flash", "--skip-trust", "--prompt", prompt]

    def configure(self, home: Path, url: str) -> dict[str, str]:
        settings = {
            "general": {"enableAutoUpdate": False, "enableAutoUpdateNotification": False},
            "privacy": {"usageStatisticsEnabled": False},
            "security": {"auth": {"selectedType": "gemini-api-key"}},
            "telemetry": {"enabled": False},
        }
        _merge(home / ".gemini" / "settings.json", settings)
        return {"GEMINI_API_KEY": KEY, "GOOGLE_GEMINI_BASE_URL": url}

    def wire(self, home: Path, kinds: Iterable[str]) -> None:
        _merge(home / ".gemini" / "settings.json", {"hooks": self._groups(kinds, unit=1000, name="chitta")})


class ClaudeCode(Client):
    name = "claude"
    # The package's own launcher is put in place by a script of its, and scripts are not run.
    programs = ("@anthropic-ai/claude-code-*/claude",)
    events = {"prompt": "UserPromptSubmit", "session": "SessionStart", "subagent": "SubagentStart"}
    subagent = ToolCall(
        "Agent",
        {"description": "count dashboards", "prompt": TASK, "subagent_type": "general-purpose"},
    )

    def command(self, program: Path, prompt: str) -> list[str]:
        return [str(program), "--print", prompt]

    def configure(self, home: Path, url: str) -> dict[str, str]:
        traffic = "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC"
        off = ("DISABLE_AUTOUPDATER", "DISABLE_TELEMETRY", "DISABLE_ERROR_REPORTING", traffic)
        return {"ANTHROPIC_API_KEY": KEY, "ANTHROPIC_BASE_URL": url, **dict.fromkeys(off, "1")}

    def wire(self, home: Path, kinds: Iterable[str]) -> None:
        _merge(home / ".claude" / "settings.json", {"hooks": self._groups(kinds)})


class Copilot(Client):
    name = "copilot"
    programs = (".bin/copilot",)
    events = {"prompt": "userPromptSubmitted", "session": "sessionStart", "subagent": "subagentStart"}
    subagent = ToolCall(
        "task",
        {
            "name": "counter",
            "description": "count dashboards",
            "prompt": TASK,
            "agent_type": "general-purpose",
            "mode": "sync",
        },
    )

    def command(self, program: Path, prompt: str) -> list[str]:
        return [str(program), "--prompt", prompt, "--allow-all-tools", "--disable-builtin-mcps"]

    def configure(self, home: Path, url: str) -> dict[str, str]:
        return {
            "COPILOT_OFFLINE": "true",
            "COPILOT_AUTO_UPDATE": "false",
            "COPILOT_PROVIDER_BASE_URL": f"{url}/v1",
            "COPILOT_PROVIDER_API_KEY": KEY,
            "COPILOT_MODEL": "gpt-4.1",
        }

    def wire(self, home: Path, kinds: Iterable[str]) -> None:
        hooks = {
            self.events[kind]: [{"type": "command", "bash": self.hook(kind), "timeoutSec": HOOKS[kind][1]}]
            for kind in kinds
        }
        _merge(home / ".copilot" / "hooks" / "chitta.json", {"version": 1, "hooks": hooks})


CLIENTS: dict[str, Client] = {client.name: client for client in (ClaudeCode(), Codex(), Copilot(), Gemini())}


def variables(home: Path, store: Path) -> dict[str, str]:
    """What every client gets, and nothing of the environment that the tests run in but the search path."""
    temporary = home / "tmp"
    temporary.mkdir(parents=True, exist_ok=True)
    return {
        "HOME": str(home),
        "PATH": os.environ["PATH"],
        "TMPDIR": str(temporary),
        "LANG": "C.UTF-8",
        "TERM": "xterm-256color",
        "CI": "1",
        "CHITTA_HOME": str(store),
    }


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def _merge(path: Path, settings: Mapping[str, Any]) -> None:
    """Add top-level keys to a JSON file."""
    known = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    _write(path, json.dumps({**known, **settings}, indent=2) + "\n")
