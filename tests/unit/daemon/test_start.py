"""The daemon as a process of its own: starts, ends, and what is left of it."""

from __future__ import annotations

import fcntl
import os
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from chitta import __version__, daemon_client
from chitta import settings as table
from chitta.daemon import lifecycle, start
from chitta.settings import Settings

Popen = subprocess.Popen
Launch = Callable[..., "Popen[str]"]


@pytest.fixture
def settings(monkeypatch: pytest.MonkeyPatch) -> Settings:
    """A store whose models cannot be loaded: the process is the point here."""
    monkeypatch.setenv("CHITTA_EMBED_MODEL", "no-such-model")
    monkeypatch.setenv("CHITTA_RERANK_MODEL", "none")
    return table.load()


@pytest.fixture
def launch(settings: Settings) -> Iterator[Launch]:
    """Start ``python -m chitta.daemon``; whatever still runs after the test is killed by its id."""
    started: list[Popen[str]] = []

    def launch(*arguments: str, **options: Any) -> Popen[str]:
        command = [sys.executable, "-m", "chitta.daemon", *arguments]
        environ = {**os.environ, **options.pop("env", {})}
        started.append(Popen(command, env=environ, stderr=subprocess.PIPE, text=True, **options))
        return started[-1]

    yield launch
    pid = lifecycle.read_pid(settings.run_dir)
    for process in started:
        process.kill()
        process.communicate()
    if pid is not None and pid not in [process.pid for process in started]:
        try:
            os.kill(pid, signal.SIGKILL)
        except OSError:
            pass


def answers(settings: Settings, seconds: float = 120) -> dict[str, Any]:
    end = time.monotonic() + seconds
    while True:
        try:
            return daemon_client.call(settings, "ping", timeout=60)
        except daemon_client.DaemonAway:
            assert time.monotonic() < end
            time.sleep(0.02)


def left_over(settings: Settings) -> list[str]:
    return sorted(set(os.listdir(settings.run_dir)) - {lifecycle.LOCK_NAME})


def test_fault_28_two_starts_at_once_have_one_winner(launch: Launch, settings: Settings) -> None:
    processes = [launch() for _ in range(4)]
    pid = answers(settings)["pid"]
    others = [process for process in processes if process.pid != pid]
    assert len(others) == 3
    for process in others:
        assert process.wait(60) == 0
        assert process.stderr is not None and "already running" in process.stderr.read()
    assert daemon_client.call(settings, "ping")["pid"] == pid


def test_detached_returns_when_it_listens(launch: Launch, settings: Settings) -> None:
    assert launch("--detached").wait(60) == 0
    pid = daemon_client.call(settings, "ping")["pid"]
    assert lifecycle.read_pid(settings.run_dir) == pid
    assert os.getsid(pid) == pid
    assert "start" in (Path(settings.state_dir) / "chittad.log").read_text()
    assert daemon_client.stop(settings, 60)
    assert left_over(settings) == []


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_signal_ends_it_in_good_order(launch: Launch, settings: Settings, number: int) -> None:
    process = launch()
    answers(settings)
    process.send_signal(number)
    assert process.wait(60) == 0
    assert left_over(settings) == []


def test_killed_daemon_leaves_nothing_in_the_way_of_the_next(launch: Launch, settings: Settings) -> None:
    first = launch()
    answers(settings)
    first.kill()
    first.wait(60)
    assert lifecycle.SOCKET_NAME in left_over(settings)
    assert not daemon_client.running(settings)
    second = launch()
    assert answers(settings)["pid"] == second.pid


def test_idle_daemon_leaves(launch: Launch, settings: Settings) -> None:
    process = launch(env={"CHITTA_IDLE_TIMEOUT": "1"})
    assert process.wait(60) == 0
    assert left_over(settings) == []


def test_daemon_leaves_with_its_home(launch: Launch, settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    process = launch()
    answers(settings)
    os.rename(settings.home, settings.home + ".gone")
    assert process.wait(60) == 0
    assert not os.path.exists(settings.home)


def test_it_takes_over_the_lock_that_its_starter_holds(launch: Launch, settings: Settings) -> None:
    folder = lifecycle.private_folder(settings.run_dir)
    lock = lifecycle.take_lock(folder)
    process = launch(env={start.LOCK_VARIABLE: str(lock)}, pass_fds=[lock])
    os.close(lock)
    assert answers(settings)["pid"] == process.pid
    assert lifecycle.is_locked(os.path.join(folder, lifecycle.LOCK_NAME))


def test_it_holds_nothing_of_its_starter_open(launch: Launch, settings: Settings) -> None:
    """A caller that waits for the end of a pipe must not wait for the daemon."""
    read, write = os.pipe()
    os.set_inheritable(write, True)
    out, into = os.pipe()
    process = launch("--detached", pass_fds=[write], stdout=into, stdin=subprocess.PIPE)
    os.close(write)
    os.close(into)
    assert process.wait(60) == 0
    for end in (read, out):
        os.set_blocking(end, False)
        assert os.read(end, 1) == b""  # an open writer would raise BlockingIOError
        os.close(end)
    assert process.stderr is not None and process.stderr.read() == ""
    assert answers(settings)


def test_nobody_can_read_what_it_makes(launch: Launch, settings: Settings) -> None:
    before = os.umask(0o022)
    try:
        launch("--detached").wait(60)
    finally:
        os.umask(before)
    daemon_client.call(settings, "sync", {"patience_s": 0}, timeout=60)
    for folder, folders, files in os.walk(settings.home):
        for name in folders + files:
            mode = os.lstat(os.path.join(folder, name)).st_mode
            assert os.path.islink(os.path.join(folder, name)) or mode & 0o077 == 0, name
        assert os.stat(settings.run_dir).st_mode & 0o077 == 0


def test_the_starters_variables_do_not_stay(launch: Launch, settings: Settings) -> None:
    process = launch(env={"CHITTA_LANE_K": "99", "CHITTA_REALM": "project:other"})
    answers(settings)
    payload = b'{"prompt":"how many gaskets are there","session_id":"s","cwd":"/"}'
    code, body = daemon_client.ask(settings, "turn", ("claude", "%2F"), payload)
    assert code == 0 and b'"k":10' in body and b'"realm":"global"' in body
    process.terminate()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a folder away")
def test_run_folder_of_another_user_is_an_error_for_people(launch: Launch, settings: Settings) -> None:
    os.makedirs(settings.run_dir)
    os.chown(settings.run_dir, 12345, 12345)
    process = launch("--detached")
    assert process.wait(60) == start.UNAVAILABLE
    assert process.stderr is not None
    assert re.match(r"chitta: .*another user\nhint: .*CHITTA_RUN_DIR", process.stderr.read())


def test_a_store_that_others_may_write_to_is_not_served(launch: Launch, settings: Settings) -> None:
    os.makedirs(settings.notes_dir)
    os.chmod(settings.notes_dir, 0o777)
    process = launch()
    assert process.wait(60) == start.UNAVAILABLE
    assert process.stderr is not None
    assert re.match(r"chitta: others may write into .*\nhint: chmod", process.stderr.read())


def test_home_that_is_a_file_is_an_error_for_people(launch: Launch, settings: Settings) -> None:
    Path(settings.home).write_text("")
    process = launch()
    assert process.wait(60) == start.UNAVAILABLE
    assert process.stderr is not None and process.stderr.read().startswith("chitta: the run folder")


def test_long_path_with_spaces(launch: Launch, own_home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CHITTA_HOME", str(own_home / ("a long folder " * 10) / "store"))
    settings = table.load()
    process = launch()
    assert answers(settings)["pid"] == process.pid
    process.terminate()
    assert process.wait(60) == 0
    assert left_over(settings) == []


def test_a_relative_home_is_never_below_the_folder_one_is_in(
    launch: Launch, settings: Settings, tmp_path: Path, own_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    process = launch(cwd=tmp_path, env={"CHITTA_HOME": "store"})
    monkeypatch.chdir(tmp_path)
    settings = table.load({"CHITTA_HOME": "store"})
    assert answers(settings)["pid"] == process.pid
    assert daemon_client.call(settings, "status")["home"] == str(own_home / "store")
    process.terminate()


def test_fault_29_foreign_listener_gives_way_to_the_holder_of_the_lock(launch: Launch, settings: Settings) -> None:
    folder = lifecycle.private_folder(settings.run_dir)
    with socket.socket(socket.AF_UNIX) as foreign:
        foreign.bind(os.path.join(folder, lifecycle.SOCKET_NAME))
        foreign.listen()
        process = launch()
        end = time.monotonic() + 60
        while lifecycle.read_pid(folder) != process.pid:
            assert time.monotonic() < end
            time.sleep(0.02)
        assert answers(settings)["pid"] == process.pid


def test_lock_of_another_process_is_respected(launch: Launch, settings: Settings) -> None:
    folder = lifecycle.private_folder(settings.run_dir)
    with open(os.path.join(folder, lifecycle.LOCK_NAME), "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        assert launch().wait(60) == 0
    assert left_over(settings) == []


@pytest.mark.parametrize(("words", "code"), [(["--help"], 0), (["--version"], 0), (["--nonsense"], start.MISUSE)])
def test_words_on_the_command_line(words: list[str], code: int, capsys: pytest.CaptureFixture[str]) -> None:
    assert start.main(words) == code
    said = capsys.readouterr()
    assert ("Usage: chittad" in said.out) == (words == ["--help"])
    assert (__version__ in said.out) == (words == ["--version"])
    assert ("hint:" in said.err) == (code != 0)


def test_both_modes_at_once_mean_nothing() -> None:
    assert start.main(["--foreground", "--detached"]) == start.MISUSE


def test_nothing_heavy_is_imported_before_it_listens() -> None:
    """What is imported until then is what a client that has just started it waits for."""
    code = "import sys, chitta.daemon.start; print(*sorted(sys.modules))"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    heavy = {"numpy", "orjson", "tantivy", "onnxruntime", "tokenizers", "json", "argparse", "typer", "sqlite3", "yaml"}
    assert heavy.isdisjoint(loaded)
