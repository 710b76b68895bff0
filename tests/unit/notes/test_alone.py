"""One writer of notes at a time."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from chitta.notes.alone import alone


def test_a_second_writer_is_told_that_it_did_not_get_its_turn(tmp_path: Path) -> None:
    with alone(str(tmp_path)) as first, alone(str(tmp_path), wait=0.0) as second:
        assert first and not second
    with alone(str(tmp_path), wait=0.0) as after:
        assert after


def test_what_a_killed_writer_held_is_free(tmp_path: Path) -> None:
    script = (
        "import os, sys\nfrom chitta.notes.alone import alone\n"
        "with alone(sys.argv[1]):\n    print('had', flush=True)\n    sys.stdin.read()\n"
    )
    child = subprocess.Popen(
        [sys.executable, "-c", script, str(tmp_path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert child.stdout is not None and child.stdout.readline() == "had\n"
    with alone(str(tmp_path), wait=0.0) as had:
        assert not had
    child.kill()
    child.communicate()
    with alone(str(tmp_path)) as had:
        assert had


def test_its_folder_is_made_for_its_owner_alone(tmp_path: Path) -> None:
    with alone(str(tmp_path / "state")):
        assert os.stat(tmp_path / "state").st_mode & 0o077 == 0
        assert os.stat(tmp_path / "state" / "notes.lock").st_mode & 0o077 == 0


def test_a_pipe_in_the_locks_place_holds_nobody(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "notes.lock")
    with pytest.raises(OSError, match="plain file"), alone(str(tmp_path)):
        pass
