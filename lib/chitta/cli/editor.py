"""The person's editor."""

from __future__ import annotations

import os
import shlex
import subprocess
from pathlib import Path

from chitta.cli.failure import Failure


def run_editor(path: Path) -> None:
    """Let the person edit the file. Raises ``Failure`` when no editor could, or it ended with an error."""
    try:
        command = shlex.split(os.environ.get("VISUAL") or os.environ.get("EDITOR") or "")
    except ValueError as problem:
        raise Failure(f"VISUAL or EDITOR cannot be read: {problem}", "mind its quotes") from None
    if not command:
        raise Failure("no editor is set", f"set EDITOR, or edit {path} by any means: it is indexed by itself")
    try:
        ended = subprocess.run([*command, str(path)], check=False).returncode
    except OSError as problem:
        raise Failure(f"{command[0]} cannot be run: {problem.strerror}", "set EDITOR to another program") from None
    if ended != 0:
        raise Failure(f"{command[0]} ended with {ended}", f"the note is in {path}")
