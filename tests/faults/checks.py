"""What must hold after every run of the hook, whatever was wrong."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any, NamedTuple

from tests.faults.world import A_LINE, HALF_A_LINE, MARK, Run

SCHEMAS = Path(__file__).resolve().parents[3] / "shared" / "reference" / "hook-schemas" / "own"
_SCHEMA_NAMES = {"claude": "claude-code", "copilot": "copilot-cli", "gemini": "gemini-cli", "cursor": "cursor"}
#: Milliseconds over the budget that a hook may take.
GRACE_MS = 250
#: Seconds for what was killed to leave the process table.
_DYING_S = 2.0


class Ended(NamedTuple):
    """One hook's end: code, both streams, seconds until it had gone and nobody held its streams."""

    code: int
    stdout: bytes
    stderr: bytes
    seconds: float
    hung: bool


def marked(mark: str) -> list[int]:
    """Processes that have this run's mark in their environment."""
    wanted = f"{MARK}={mark}".encode()
    if not sys.platform.startswith("linux"):
        shown = subprocess.run(["ps", "-axEww", "-o", "pid=,command="], capture_output=True).stdout
        return [int(line.split()[0]) for line in shown.splitlines() if wanted in line]
    found = []
    for name in os.listdir("/proc"):
        if name.isdigit():
            try:
                with open(f"/proc/{name}/environ", "rb") as file:
                    if wanted in file.read().split(b"\0"):
                        found.append(int(name))
            except OSError:
                pass
    return found


def _is_daemon(pid: int) -> bool:
    try:
        return b"chittad" in Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return True  # it has just gone


def problems_of_end(run: Run, ended: Ended, own_payload: bool) -> list[str]:
    """What is wrong with one hook's end, but for its time."""
    found: list[str] = []
    signalled = run.signal is not None and ended.code == -run.signal[0]
    if ended.hung:
        found.append("never ended")
    elif ended.code != 0 and not signalled:
        found.append(f"exit {ended.code}")
    # Bash's own words about a working folder that is gone come before the hook's first line.
    said = b"".join(line for line in ended.stderr.splitlines(True) if not line.startswith(b"shell-init: "))
    if said:
        found.append(f"standard error: {said[:200]!r}")
    if ended.stdout:
        found += problems_of_output(ended.stdout, run.harness, own_payload)
    return found


def problems_of_output(raw: bytes, harness: str, own_payload: bool) -> list[str]:
    """Why these bytes are not exactly one JSON object that this harness reads."""
    try:
        value = json.loads(raw.decode("utf-8"))
    except ValueError as problem:
        return [f"no JSON ({problem}): {raw[:120]!r}"]
    if not isinstance(value, dict):
        return [f"no object: {raw[:120]!r}"]
    keys = {
        "copilot": {"additionalContext"},
        "cursor": {"additional_context"},
        "gemini": {"hookSpecificOutput"},
        "claude": {"hookSpecificOutput", "systemMessage"},
        "codex": {"hookSpecificOutput", "systemMessage"},
    }.get(harness)
    if keys is not None and not set(value) <= keys:
        return [f"{harness} does not know {sorted(set(value) - keys)}"]
    nested = value.get("hookSpecificOutput", {"hookEventName": "x", "additionalContext": ""})
    if not isinstance(nested, dict) or not isinstance(nested.get("hookEventName"), str):
        return ["no event is named"]
    if not isinstance(nested.get("additionalContext"), str) or len(nested["additionalContext"]) > 10_000:
        return ["the context is no text, or too long"]
    return _problems_by_schema(value, harness) if own_payload else []


def _problems_by_schema(value: dict[str, Any], harness: str) -> list[str]:
    path = SCHEMAS / f"{_SCHEMA_NAMES.get(harness, '')}.output.schema.json"
    if not path.is_file() or set(value) == {"systemMessage"}:
        return []
    if harness == "gemini":  # these payloads name Claude Code's event, and the envelope gives back what it was told
        value = {**value, "hookSpecificOutput": {**value["hookSpecificOutput"], "hookEventName": "BeforeAgent"}}
    import jsonschema

    try:
        jsonschema.validate(value, json.loads(path.read_text(encoding="utf-8")))
    except jsonschema.ValidationError as problem:
        return [f"{harness}: {problem.message[:200]}"]
    return []


def problems_of_place(run: Run) -> list[str]:
    """Processes and folders that are left, and what the log should hold."""
    patience = _DYING_S + (run.budget_ms / 1000 + 2 if run.signal is not None else 0)
    end = time.monotonic() + patience
    while True:
        left = [pid for pid in marked(run.mark) if not _is_daemon(pid)]
        folders = [] if run.may_leave_folder else leftovers(run)
        if not (left or folders) or time.monotonic() > end:
            break
        time.sleep(0.01)
    found = [f"{len(left)} processes are left: {_names(left)}"] if left else []
    found += [f"a folder is left: {folders[0]}"] if folders else []
    return found + problems_of_log(run)


def leftovers(run: Run) -> list[str]:
    """Temporary folders of the hook that are still there."""
    found: list[str] = []
    for folder in run.swept:
        try:
            found += [str(folder / name) for name in os.listdir(folder) if name.startswith("chitta.")]
        except OSError:
            pass
    return found


def _names(pids: list[int]) -> str:
    words = []
    for pid in pids[:4]:
        try:
            words.append(Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode("utf-8", "replace")[:80])
        except OSError:
            pass
    return "; ".join(words)


def problems_of_log(run: Run) -> list[str]:
    """One line a prompt, which says what was degraded."""
    if not run.logs:
        return []
    try:
        raw = (run.store / "state" / "recall-log.jsonl").read_bytes()
    except OSError:
        raw = b""
    try:
        lines = [json.loads(line) for line in raw.splitlines() if line not in (HALF_A_LINE, A_LINE)]
    except ValueError:
        return [f"the log holds what is no JSON: {raw[-200:]!r}"]
    # What fails before the prompt is read leaves its line whether something was asked or not.
    least, most = {True: (1, 1), False: (0, 0 if run.degrades is False else 1), None: (0, 1)}[run.asks]
    if run.twice:
        most *= 2
    if not least * run.together <= len(lines) <= most * run.together:
        return [f"{len(lines)} lines in the log for {run.together} prompts: {str(lines)[-300:]}"]
    if run.degrades and run.asks and not all(line.get("degraded") for line in lines):
        return [f"nothing is said to be degraded: {json.dumps(lines)[-300:]}"]
    return []
