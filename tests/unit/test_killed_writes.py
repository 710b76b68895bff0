"""kill -9 at every step of what writes: the actions of tests/faults/store_kill.py that take a moment."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

BATTERY = Path(__file__).resolve().parents[1] / "faults" / "store_kill.py"


@pytest.mark.parametrize(
    "action",
    [
        *("write", "rewrite", "remove", "capture", "supersede", "supersede-same-id"),
        *("feedback", "session", "log", "queue", "export-folder"),
    ],
)
def test_fault_27_a_kill_at_any_step_of(action: str) -> None:
    done = subprocess.run([sys.executable, str(BATTERY), action], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
