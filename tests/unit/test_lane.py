"""The lane runner as a process, against a daemon of every kind of manners and against none."""

from __future__ import annotations

import json
import os
import posix
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from chitta import daemon_client, settings
from chitta import lane as runner
from chitta.wire.request import Request, encode_request
from chitta.wire.rows import parse_rows

CHECKOUT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(CHECKOUT / "tests" / "bats" / "support"))
from fake_daemon import FakeDaemon  # noqa: E402

ALARM = -signal.SIGALRM
REQUEST = encode_request(Request(prompt="why does the webhook answer 400", query="why does the webhook answer 400"))
AT_ONCE = ("keyword", "correction-key")
AFTER_WAITING = ("hybrid", "cross-realm", "correction")
MEANING = ("semantic", "context")
ALL = AT_ONCE + AFTER_WAITING + MEANING


@pytest.fixture
def run_dir(own_home: Path) -> Path:
    return own_home / ".chitta" / "run"


@pytest.fixture(autouse=True)
def no_daemon_stays(own_home: Path) -> Iterator[None]:
    """End the daemon that a lane may have started, by the lock's holder's own pid file."""
    yield
    run = own_home / ".chitta" / "run"
    end = time.monotonic() + 60
    while (run / "daemon.lock").exists():
        try:
            daemon_client.stop(settings.load({"CHITTA_HOME": str(run.parent)}))
            return
        except daemon_client.DaemonAway:  # it has the lock and is still starting
            assert time.monotonic() < end


def lane(
    name: str, request: bytes = REQUEST, deadline_ms: int = 60_000, program: tuple[str, ...] = (), **variables: str
) -> subprocess.CompletedProcess[bytes]:
    """Run a lane as the launcher does."""
    program = program or (str(CHECKOUT / "lanes" / name),)
    environ = {**os.environ, "CHITTA_PYTHON": sys.executable, "CHITTA_DEADLINE_MS": str(deadline_ms), **variables}
    command = [sys.executable, "-I", "-S", "-E", *program]
    return subprocess.run(command, input=request, env=environ, capture_output=True, timeout=120, check=False)


@pytest.mark.parametrize("name", ALL)
def test_the_daemons_rows_go_to_standard_output(run_dir: Path, name: str) -> None:
    with FakeDaemon(str(run_dir)) as daemon:
        done = lane(name, CHITTA_REALM="mine")
    assert (done.returncode, done.stderr) == (0, b"")
    assert [row.id for row in parse_rows(name, "ok", 0.0, done.stdout).rows] == [f"note-of-{name}"]
    lines, body = daemon.seen[0]
    assert lines[0] == f"lane {name} v1" and "CHITTA_REALM=mine" in lines
    assert body == REQUEST


@pytest.mark.parametrize(("code", "expected"), [(100, 100), (111, 111), (142, 142)])
def test_a_refusal_is_the_exit_code_and_a_line_on_standard_error(run_dir: Path, code: int, expected: int) -> None:
    with FakeDaemon(str(run_dir), answer=lambda verb, body: (code, b"because")):
        done = lane("semantic")
    assert (done.returncode, done.stdout) == (expected, b"")
    assert done.stderr == b"chitta: semantic: because\n"


@pytest.mark.parametrize("request_bytes", [b"", b"nonsense", b"[1]", b"\xff\xfe"])
@pytest.mark.parametrize("name", ["keyword", "semantic"])
def test_no_request_is_misuse(name: str, request_bytes: bytes) -> None:
    done = lane(name, request_bytes, CHITTA_NO_DAEMON="1")
    assert (done.returncode, done.stdout) == (100, b"")


@pytest.mark.parametrize("manner", ["silent", "half", "lying", "foreign", "dripping", "failing", "hangup"])
@pytest.mark.parametrize("name", AT_ONCE)
def test_fault_02_lanes_that_must_answer_do_so_whatever_the_daemon_does(run_dir: Path, name: str, manner: str) -> None:
    # As the lane's file does, but with most of the time kept for the answer, so that none is late on a busy machine.
    program = f"import sys\nsys.path.insert(0, {str(CHECKOUT / 'lib')!r})\n"
    program += f"from chitta import lane\nlane._DAEMON_SHARE = 0.05\nsys.argv = [{name!r}]\nlane.main({name!r})\n"
    with FakeDaemon(str(run_dir), manner):
        done = lane(name, program=("-c", program))
    assert (done.returncode, done.stderr) == (0, b"")
    assert parse_rows(name, "ok", 0.0, done.stdout).state == "ok"


@pytest.mark.parametrize("manner", ["half", "lying", "foreign", "failing"])
@pytest.mark.parametrize("name", MEANING)
def test_the_others_say_that_they_cannot(run_dir: Path, name: str, manner: str) -> None:
    with FakeDaemon(str(run_dir), manner):
        done = lane(name)
    assert (done.returncode, done.stdout) == (111, b"")
    assert done.stderr.startswith(f"chitta: {name}: ".encode())


@pytest.mark.parametrize("name", AFTER_WAITING)
def test_words_do_where_the_daemon_cannot_answer_yet_and_there_is_time(run_dir: Path, name: str) -> None:
    refusal = (111, b"the index is still being opened")
    with FakeDaemon(str(run_dir), answer=lambda verb, body: refusal):
        done = lane(name)
        in_a_hurry = lane(name, deadline_ms=400)
    assert (done.returncode, done.stderr) == (0, b"")
    assert parse_rows(name, "ok", 0.0, done.stdout).state == "ok"
    assert in_a_hurry.stdout == b"" and in_a_hurry.returncode in (ALARM, 111)


@pytest.mark.parametrize("name", ALL)
def test_a_daemon_that_has_just_come_and_still_opens_its_index_costs_no_answer_in_words(
    own_home: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setattr("chitta.starter.start_daemon", lambda: True)
    monkeypatch.setattr(runner, "_wait_for_daemon", lambda *asked: (111, b"the index is still being opened"))
    monkeypatch.setattr(runner, "in_process", lambda lane, request: (0, lane.encode()))
    refused = (111, b"the index is still being opened")
    expected = refused if name in MEANING else (0, name.encode())
    assert runner._without_daemon(name, REQUEST, time.monotonic() + 60, -1.0) == expected


@pytest.mark.parametrize("manner", ["silent", "half", "lying", "foreign", "failing"])
@pytest.mark.parametrize("name", AFTER_WAITING)
def test_fault_02_words_do_where_the_daemon_does_not_work(run_dir: Path, name: str, manner: str) -> None:
    program = f"import sys\nsys.path.insert(0, {str(CHECKOUT / 'lib')!r})\n"
    program += f"from chitta import lane\nlane._PATIENT_SHARE = 0.01\nsys.argv = [{name!r}]\nlane.main({name!r})\n"
    with FakeDaemon(str(run_dir), manner):
        done = lane(name, program=("-c", program))
    assert (done.returncode, done.stderr) == (0, b"")
    assert parse_rows(name, "ok", 0.0, done.stdout).state == "ok"


@pytest.mark.parametrize("name", AFTER_WAITING + MEANING)
def test_the_others_end_by_their_own_alarm(run_dir: Path, name: str) -> None:
    with FakeDaemon(str(run_dir), "silent"):
        done = lane(name, deadline_ms=200)
    assert (done.returncode, done.stdout) in ((ALARM, b""), (111, b""))


def test_an_ignored_alarm_still_ends_a_lane(run_dir: Path) -> None:
    command = ["/bin/sh", "-c", 'trap "" ALRM; exec "$@"', "sh", sys.executable, "-I", "-S", "-E"]
    with FakeDaemon(str(run_dir), "silent"):
        done = subprocess.run(
            [*command, str(CHECKOUT / "lanes" / "semantic")],
            input=REQUEST,
            env={**os.environ, "CHITTA_PYTHON": sys.executable, "CHITTA_DEADLINE_MS": "100"},
            capture_output=True,
            timeout=120,
            check=False,
        )
    assert done.returncode in (ALARM, 111)


@pytest.mark.parametrize("name", AT_ONCE + AFTER_WAITING)
def test_fault_06_words_are_answered_without_a_daemon(own_home: Path, name: str) -> None:
    done = lane(name, CHITTA_NO_DAEMON="1")
    assert (done.returncode, done.stderr) == (0, b"")
    assert parse_rows(name, "ok", 0.0, done.stdout).state == "ok"
    assert not (own_home / ".chitta" / "run").exists()


@pytest.mark.parametrize("name", AT_ONCE + AFTER_WAITING)
def test_a_daemon_that_cannot_be_started_costs_no_answer(own_home: Path, name: str) -> None:
    blocked = own_home / "a file"
    blocked.write_text("")
    done = lane(name, CHITTA_RUN_DIR=str(blocked / "run"))
    assert (done.returncode, done.stderr) == (0, b"")


@pytest.mark.parametrize("name", MEANING)
def test_meaning_says_that_there_is_no_daemon(own_home: Path, name: str) -> None:
    blocked = own_home / "a file"
    blocked.write_text("")
    done = lane(name, CHITTA_RUN_DIR=str(blocked / "run"))
    assert (done.returncode, done.stdout) == (111, b"")
    assert b"no daemon" in done.stderr


def test_the_file_of_settings_can_forbid_the_daemon(own_home: Path) -> None:
    home = own_home / ".chitta"
    home.mkdir()
    (home / "chitta.toml").write_text("no_daemon = true\n")
    assert lane("keyword").returncode == 0
    assert not (home / "run").exists()


def test_a_settings_file_that_is_a_pipe_or_a_folder_is_none(own_home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = own_home / ".chitta" / "chitta.toml"
    monkeypatch.setitem(posix.environ, b"CHITTA_HOME", os.fsencode(path.parent))
    path.parent.mkdir(exist_ok=True)
    os.mkfifo(path)
    assert runner._settings_file() == b""
    path.unlink()
    path.mkdir()
    assert runner._settings_file() == b""


def test_what_a_lane_takes_for_granted_is_what_the_settings_say() -> None:
    assert runner._MOST_FILE_BYTES == settings._MOST_FILE_BYTES
    assert runner._WARM_WAIT_MS == settings.BY_NAME["CHITTA_WARM_WAIT_MS"].default


@pytest.mark.parametrize(
    ("text", "asked", "told"),
    [
        ("", -1.0, (False, 0.7)),
        ("", 2.5, (False, 2.5)),
        ("warm_wait_ms = 300", -1.0, (False, 0.7)),
        ("no_daemon = true", 2.5, (True, 2.5)),
    ],
)
def test_a_lane_without_a_daemon_reads_the_settings_file_where_there_is_one(
    own_home: Path, monkeypatch: pytest.MonkeyPatch, text: str, asked: float, told: tuple[bool, float]
) -> None:
    monkeypatch.setenv("CHITTA_WARM_WAIT_MS", "700")
    store = own_home / ".chitta"
    for name, value in ((b"CHITTA_WARM_WAIT_MS", b"700"), (b"CHITTA_HOME", os.fsencode(store))):
        monkeypatch.setitem(posix.environ, name, value)
    store.mkdir(exist_ok=True)
    if text:
        (store / "chitta.toml").write_text(text)
    assert runner._settings_file() == text.encode()
    assert runner._told(asked, bool(text)) == told


def test_a_reader_that_has_left_is_no_crash(run_dir: Path) -> None:
    read_end, write_end = os.pipe()
    os.close(read_end)
    environ = {**os.environ, "CHITTA_PYTHON": sys.executable, "CHITTA_DEADLINE_MS": "60000"}
    with FakeDaemon(str(run_dir)):
        done = subprocess.run(
            [sys.executable, "-I", "-S", "-E", str(CHECKOUT / "lanes" / "keyword")],
            input=REQUEST,
            env=environ,
            stdout=write_end,
            stderr=subprocess.PIPE,
            timeout=120,
            check=False,
        )
    os.close(write_end)
    assert (done.returncode, done.stderr) == (111, b"")


def test_a_lane_that_is_linked_to_finds_its_checkout(run_dir: Path, tmp_path: Path) -> None:
    link = tmp_path / "somewhere" / "kw"
    link.parent.mkdir()
    link.symlink_to(CHECKOUT / "lanes" / "keyword")
    with FakeDaemon(str(run_dir)):
        done = subprocess.run(
            [str(link)],
            input=REQUEST,
            env={**os.environ, "CHITTA_PYTHON": sys.executable, "CHITTA_DEADLINE_MS": "60000"},
            capture_output=True,
            timeout=120,
            check=False,
        )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout.splitlines()[1])["id"] == "note-of-keyword"


# By hand


def by_hand(name: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [str(CHECKOUT / "lanes" / name), *arguments],
        stdin=subprocess.DEVNULL,
        env={**os.environ, "CHITTA_PYTHON": sys.executable, "NO_COLOR": "1"},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def test_words_on_the_command_line_give_a_table(run_dir: Path) -> None:
    with FakeDaemon(str(run_dir)) as daemon:
        done = by_hand("keyword", "stripe", "webhook", "--k", "3", "--realm", "global")
    assert done.returncode == 0, done.stderr
    assert "note-of-keyword" in done.stdout and "a title" in done.stdout
    asked = json.loads(daemon.seen[0][1])
    assert (asked["prompt"], asked["k"], asked["realm"]) == ("stripe webhook", 3, "global")
    assert asked["tokens"] == ["stripe", "webhook"]


def test_json_by_hand_is_the_rows(run_dir: Path) -> None:
    with FakeDaemon(str(run_dir)):
        done = by_hand("keyword", "stripe", "--json")
    assert [row.id for row in parse_rows("keyword", "ok", 0.0, done.stdout.encode()).rows] == ["note-of-keyword"]


@pytest.mark.parametrize("arguments", [("--nonsense",), ("",), ("--k", "0", "words"), ("--realm", "..", "words")])
def test_misuse_by_hand_is_100(arguments: tuple[str, ...]) -> None:
    done = by_hand("keyword", *arguments)
    assert (done.returncode, done.stdout) == (100, "")
    assert done.stderr.startswith("chitta: ")
