"""The agent's command: what it gets, within which bounds, and that nothing of it is left."""

import os
import stat
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from chitta.drain import agent
from chitta.drain.agent import EXIT, SIZE, TIME, NoCommand, Reply, ask, command_of, variables

Script = Callable[[str], list[str]]


@pytest.fixture
def script(tmp_path: Path) -> Script:
    def make(body: str) -> list[str]:
        path = tmp_path / "an agent"
        path.write_text(f"#!/bin/sh\n{body}\n")
        path.chmod(path.stat().st_mode | stat.S_IXUSR)
        return [str(path)]

    return make


def said(command: list[str], folder: Path, prompt: str = "task\n", seconds: float = 60.0, most: int = 10_000) -> Reply:
    return ask(
        command, prompt, str(folder), f"token-{os.getpid()}-{time.monotonic_ns()}", seconds=seconds, most_bytes=most
    )


def is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    if not os.path.isdir("/proc/self"):
        return True
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def is_gone_soon(pid: int) -> bool:
    end = time.monotonic() + 20
    while is_alive(pid) and time.monotonic() < end:
        time.sleep(0.02)
    return not is_alive(pid)


def test_it_reads_the_prompt_and_its_output_comes_back(script: Script, tmp_path: Path) -> None:
    found = said(script("cat; pwd"), tmp_path, "one\ntwo\n")
    assert (found.out.decode(), found.problem, found.code) == (f"one\ntwo\n{tmp_path}\n", "", 0)


def test_a_large_prompt_and_an_answer_at_the_same_time(script: Script, tmp_path: Path) -> None:
    found = said(script("cat"), tmp_path, "x" * 300_000, most=400_000)
    assert len(found.out) == 300_000 and not found.problem


def test_one_that_does_not_read_its_prompt_is_no_fault(script: Script, tmp_path: Path) -> None:
    assert said(script("exec <&-; echo hello"), tmp_path, "x" * 300_000).out == b"hello\n"


def test_it_fails_by_its_exit_code(script: Script, tmp_path: Path) -> None:
    found = said(script("echo half; exit 3"), tmp_path)
    assert (found.out, found.problem, found.code) == (b"half\n", EXIT, 3)


def test_one_that_hangs_is_ended(script: Script, tmp_path: Path) -> None:
    found = said(script("echo $$; exec sleep 600"), tmp_path, seconds=0.5)
    assert found.problem == TIME and is_gone_soon(int(found.out))


def test_one_that_hangs_with_its_output_closed_is_ended(script: Script, tmp_path: Path) -> None:
    found = said(script("echo $$; exec >&- 2>&-; exec sleep 600"), tmp_path, seconds=0.5)
    assert found.problem == TIME and is_gone_soon(int(found.out))


def test_one_that_writes_without_end_is_ended(script: Script, tmp_path: Path) -> None:
    found = said(script("echo $$ >pid; exec yes"), tmp_path, most=5_000)
    assert found.problem == SIZE and len(found.out) == 5_000 and is_gone_soon(int((tmp_path / "pid").read_text()))


def test_a_child_that_outlives_it_is_not_waited_for_and_not_left(script: Script, tmp_path: Path) -> None:
    found = said(script("sleep 600 & echo $!"), tmp_path)
    assert not found.problem and is_gone_soon(int(found.out))


@pytest.mark.skipif(not os.path.isdir("/proc/self"), reason="processes cannot be looked at here")
def test_a_child_in_a_session_of_its_own_is_not_left(script: Script, tmp_path: Path) -> None:
    detached = "import os, time; os.setsid(); print(os.getpid(), flush=True); time.sleep(600)"
    found = said(script(f"'{sys.executable}' -I -c '{detached}' & while ! grep -q . out 2>/dev/null; do :; done"
                        .replace(" & ", " >out & ") + "; cat out"), tmp_path)  # fmt: skip
    assert not found.problem and is_gone_soon(int(found.out))


def test_hooks_are_silent_in_it_and_no_descriptor_of_ours_is_open(script: Script, tmp_path: Path) -> None:
    kept = os.open(tmp_path / "kept", os.O_CREAT | os.O_WRONLY)
    os.set_inheritable(kept, True)
    try:
        found = said(script(f'echo "$CHITTA_HEADLESS"; if (: >&{kept}) 2>/dev/null; then echo open; fi'), tmp_path)
    finally:
        os.close(kept)
    assert found.out == b"1\n"


def test_it_is_not_told_that_it_runs_inside_of_a_client() -> None:
    found = variables({"CLAUDECODE": "1", "CHITTA_REALM": "r", "ANTHROPIC_API_KEY": "k", "CHITTA_HEADLESS": "0"}, "t")
    assert found == {"ANTHROPIC_API_KEY": "k", "CHITTA_HEADLESS": "1", agent.TOKEN: "t"}


def test_the_command_is_words_and_no_shell(script: Script, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = script('printf "%s|" "$@"')[0]
    words = command_of(f"'{path}' -p 'two words' '$(touch hit)' ';'")
    assert said(words, tmp_path).out == b"-p|two words|$(touch hit)|;|" and not (tmp_path / "hit").exists()


@pytest.mark.parametrize("text", ["no-such-program-of-anybody -p", "'open", "", "/"])
def test_what_is_no_command_is_said_before_anything_is_done(text: str) -> None:
    with pytest.raises(NoCommand, match="CHITTA_DRAIN_CMD"):
        command_of(text)


def test_a_file_that_cannot_be_run_is_no_command(script: Script, tmp_path: Path) -> None:
    path = script("exit 0")[0]
    Path(path).write_bytes(b"\x7fnot a program")
    with pytest.raises(NoCommand):
        said([path], tmp_path)
