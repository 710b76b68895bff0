"""Checks of what happens around prompts: how each agent client is wired, and what failed last."""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from chitta import breadcrumb
from chitta.cli import checkout, output
from chitta.cli.finding import FAIL, OK, WARN, Finding
from chitta.settings import Settings

if TYPE_CHECKING:
    from chitta.wiring.status import Wired

USER, PROJECT = "user", "project"
#: Seconds for which a failure is worth a warning, and after which it is no longer told.
FRESH_S, STALE_S = 86_400.0, 30 * 86_400.0
#: Programs by which a client is known to be on this machine, where they are not named like the harness.
_PROGRAMS = {"cursor": "cursor-agent"}
_TODO = {
    "lanes": "`chitta explain` shows that prompt; `chitta start` before you begin saves the wait for the models",
    "daemon": "look into {state}/chittad.log; `chitta stop` lets the next prompt start a new one",
    "merge": "`chitta try` runs a prompt through the hook; run install.sh again if it fails too",
    "turn": "`chitta try` runs a prompt through the hook; run install.sh again if it fails too",
    "drain": "`chitta drain --status` shows what waits; `chitta drain` runs it before your eyes",
}
_TODO_ELSE = "`chitta try` runs a prompt through the hook"


def wiring(settings: Settings) -> Iterator[Finding]:
    """How each client is wired, for the person and for the folder one is in; what is not wired is no fault."""
    root = checkout.root()
    if root is None:
        return  # the check of the hook says so
    from chitta.wiring import harness, status

    home, project = Path.home(), _here()
    wired, absent = 0, []
    for name in harness.BY_NAME:
        found = [
            state
            for scope in (USER, PROJECT)
            if (state := status.inspect(name, scope, home, project, root)).events or state.problems
        ]
        wired += sum(bool(state.events) for state in found)
        for state in found:
            yield _of_client(state)
        if not found and _is_here(name, home):
            absent.append(name)
    if absent and not wired:
        yield Finding(
            "wiring", WARN, f"no prompt reaches chitta: {_list(absent)} {_be(absent)} not wired", _install(absent)
        )
    elif absent:
        yield Finding("wiring", OK, f"{_list(absent)} {_be(absent)} here and not wired (`{_install(absent)}`)")
    elif not wired:
        yield Finding("wiring", OK, "no agent client was found; `chitta hooks install` wires one")


def last_failure(settings: Settings) -> Iterator[Finding]:
    """What the hook, a lane or the daemon left when it failed last: a warning for a day, then told for a month."""
    crumb = breadcrumb.read(settings.state_dir)
    age = _age(crumb.ts) if crumb is not None else STALE_S
    if crumb is None or age >= STALE_S:
        yield Finding("last failure", OK, "none in the last 30 days")
        return
    place = f" at {crumb.at}" if crumb.at else ""
    todo = _TODO.get(crumb.where, _TODO_ELSE).format(state=settings.state_dir)
    # Lanes are late on a busy machine now and then; how often is what counts, and the check of prompts says that.
    fresh = age < FRESH_S and crumb.where != "lanes"
    yield Finding("last failure", WARN if fresh else OK, f"{_ago(age)}, {crumb.where}: {crumb.what}{place}", todo)


def _of_client(state: Wired) -> Finding:
    where = f"{state.harness} ({state.scope})"
    problems = [*state.problems, *([f"no entry for {', '.join(state.missing)}"] if state.missing else [])]
    from chitta.wiring.status import remedy

    again = remedy(state)
    if state.problems:
        return Finding(
            "wiring", FAIL if state.missing and not state.events else WARN, f"{where}: {'; '.join(problems)}", again
        )
    if state.missing:
        return Finding("wiring", WARN, f"{where}: {problems[0]}, in {state.file}", again)
    approve = "; Codex runs them once they are approved in its /hooks" if state.harness == "codex" else ""
    return Finding("wiring", OK, f"{where}: {output.plural(len(state.events), 'event')} in {state.file}{approve}")


def _is_here(name: str, home: Path) -> bool:
    """Whether the client seems to be on this machine: its program, or the folder that it keeps in the home."""
    return shutil.which(_PROGRAMS.get(name, name)) is not None or (home / f".{name}").is_dir()


def _here() -> Path:
    try:
        return Path.cwd()
    except OSError:  # the folder is gone
        return Path(os.sep)


def _install(names: list[str]) -> str:
    return f"chitta hooks install {names[0] if len(names) == 1 else 'all'}"


def _list(names: list[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def _be(names: list[str]) -> str:
    return "is" if len(names) == 1 else "are"


def _age(moment: str) -> float:
    """Seconds since an ISO time; long ago for what is none."""
    try:
        return max(time.time() - datetime.fromisoformat(moment.replace("Z", "+00:00")).timestamp(), 0.0)
    except ValueError:
        return STALE_S


def _ago(seconds: float) -> str:
    for size, noun in ((86_400, "day"), (3_600, "hour"), (60, "minute")):
        if seconds >= size:
            return f"{output.plural(int(seconds // size), noun)} ago"
    return "a moment ago"
