"""One drain at a time, in a folder that is empty again afterwards."""

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from chitta.drain import agent, work
from chitta.drain.work import DEBOUNCE_S, FOLDER, Busy, Workplace, began, is_inside, is_soon

NOW = 1_800_000_000.0


def test_the_second_finds_it_busy_and_the_third_does_not(tmp_path: Path) -> None:
    with Workplace(str(tmp_path)), pytest.raises(Busy):
        Workplace(str(tmp_path))
    with Workplace(str(tmp_path)):
        pass


def test_what_was_copied_there_goes(tmp_path: Path) -> None:
    with Workplace(str(tmp_path)) as place:
        room = Path(place.room())
        (room / "copy.jsonl").write_text("private")
        assert room.stat().st_mode & 0o077 == 0 and place.room() != str(room)
    assert not (tmp_path / FOLDER).exists()


def test_a_lock_whose_holder_was_killed_is_free_and_what_it_left_is_removed(tmp_path: Path) -> None:
    program = (
        "import sys, subprocess, time; from chitta.drain.work import Workplace; from chitta.drain import agent\n"
        "place = Workplace(sys.argv[1]).__enter__(); open(place.room() + '/copy', 'w').close()\n"
        "child = subprocess.Popen(['sleep', '600'], env={**agent.variables({'PATH': '/usr/bin:/bin'}, place.token)},"
        " start_new_session=True)\n"
        "print(child.pid, flush=True); time.sleep(600)"
    )
    holder = subprocess.Popen([sys.executable, "-I", "-c", program, str(tmp_path)], stdout=subprocess.PIPE)
    assert holder.stdout is not None
    child = int(holder.stdout.readline())
    try:
        with pytest.raises(Busy):
            Workplace(str(tmp_path))
        holder.kill()
        holder.wait()
        with Workplace(str(tmp_path)):
            assert os.listdir(tmp_path / FOLDER) == ["token"]
        if os.path.isdir("/proc/self"):
            end = time.monotonic() + 20
            while f"{agent.TOKEN}=".encode() in _environment(child) and time.monotonic() < end:
                time.sleep(0.02)
            assert f"{agent.TOKEN}=".encode() not in _environment(child)
    finally:
        holder.kill()
        holder.wait()
        holder.stdout.close()
        try:
            os.kill(child, 9)
        except ProcessLookupError:
            pass


def test_an_automatic_run_is_not_again_within_ten_minutes(tmp_path: Path) -> None:
    assert not is_soon(str(tmp_path), NOW)
    began(str(tmp_path), NOW)
    assert is_soon(str(tmp_path), NOW + DEBOUNCE_S - 1) and not is_soon(str(tmp_path), NOW + DEBOUNCE_S)
    assert not is_soon(str(tmp_path), NOW - 1)


def test_the_hook_and_the_drain_agree_on_when_it_is_soon() -> None:
    from chitta.session_hooks import drain_start

    assert (drain_start.LAST, drain_start.DEBOUNCE_S) == (work.LAST, work.DEBOUNCE_S)


def test_a_session_in_a_folder_of_ours_is_a_childs(tmp_path: Path) -> None:
    state = str(tmp_path)
    assert is_inside(f"{state}/{FOLDER}/tmpx", state)
    assert not any(is_inside(folder, state) for folder in ("", state, f"{state}/{FOLDER}-other", "/"))


def _environment(pid: int) -> bytes:
    try:
        return Path(f"/proc/{pid}/environ").read_bytes()
    except OSError:
        return b""
