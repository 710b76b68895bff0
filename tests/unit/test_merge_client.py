"""The merge step: the wait, the late, the renames, what is told to the daemon, and doing it alone."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest

from chitta import client, merge_client, starter
from chitta.merge_client import Lane
from chitta.wire import codec
from chitta.wire.request import Request, encode_request
from chitta.wire.rows import Header, Row, encode_rows

CHECKOUT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(CHECKOUT / "tests" / "bats" / "support"))
from fake_daemon import FakeDaemon  # noqa: E402

#: The step as bin/chitta-merge runs it, but for the daemon's time: that is a minute, however busy this machine is.
PATIENT = (
    f"import sys\nsys.path.insert(0, {str(CHECKOUT / 'lib')!r})\n"
    "from chitta import merge_client\nmerge_client._DAEMON_S = 60.0\nmerge_client.main()\n"
)
REQUEST = encode_request(Request(prompt="why does the webhook answer 400", query="the webhook", session="s"))
ROWS = encode_rows(Header("keyword", n=1, k=10), [Row("a-note", 2.0, kind="insight", title="t", text="the webhook")])


@pytest.fixture
def run(tmp_path: Path) -> Path:
    """A run folder as the hook leaves it when merge starts."""
    folder = tmp_path / "chitta.run"
    folder.mkdir(mode=0o700)
    (folder / "started").touch()
    (folder / "request.json").write_bytes(REQUEST)
    return folder


@pytest.fixture
def groups() -> Iterator[list[subprocess.Popen[bytes]]]:
    """Process groups that a lane might be; ended after the test."""
    made: list[subprocess.Popen[bytes]] = []
    yield made
    for process in made:
        if process.poll() is None:
            process.kill()
        process.wait()


def group(groups: list[subprocess.Popen[bytes]]) -> subprocess.Popen[bytes]:
    groups.append(subprocess.Popen(["sleep", "600"], start_new_session=True))
    return groups[-1]


def answered(folder: Path, name: str, code: int = 0, rows: bytes = ROWS) -> None:
    """What the launcher leaves of a lane that has ended."""
    (folder / f"{name}.part").write_bytes(rows)
    (folder / f"{name}.exit").write_text(f"{code}\n")


def merge(
    folder: Path, *lanes: str, program: tuple[str, ...] = (), **variables: str
) -> subprocess.CompletedProcess[bytes]:
    program = program or (str(CHECKOUT / "bin" / "chitta-merge"),)
    (folder / "launched").write_text(" ".join(("120000", *lanes)) + "\n")
    command = [sys.executable, "-I", "-S", "-E", *program, str(folder), str(os.getpid())]
    return subprocess.run(command, env={**os.environ, **variables}, capture_output=True, timeout=200, check=False)


# The wait


def test_an_answer_is_published_by_renames(run: Path) -> None:
    answered(run, "keyword")
    lane = Lane("keyword", 0, 1000)
    merge_client.wait(str(run), [lane], time.monotonic() + 10)
    merge_client.collect(str(run), lane, (run / "started").stat().st_mtime)
    assert sorted(path.name for path in run.iterdir()) == ["keyword.jsonl", "keyword.rc", "request.json", "started"]
    assert (lane.state, lane.rows) == ("ok", ROWS)


@pytest.mark.parametrize(
    ("code", "state"),
    [(100, "misuse"), (111, "unavailable"), (142, "late"), (1, "crash"), (2, "crash"), (137, "crash")],
)
def test_a_lane_that_failed_leaves_no_rows(run: Path, code: int, state: str) -> None:
    answered(run, "keyword", code)
    lane = Lane("keyword", 0, 1000)
    merge_client.wait(str(run), [lane], time.monotonic() + 10)
    merge_client.collect(str(run), lane, 0.0)
    assert (lane.state, lane.rows) == (state, b"")
    assert not (run / "keyword.jsonl").exists() and (run / "keyword.part").exists()


def test_half_an_exit_code_is_none(run: Path) -> None:
    (run / "keyword.part").write_bytes(ROWS)
    (run / "keyword.exit").write_text("")
    assert merge_client.publish(str(run), Lane("keyword", 0, 1)) is False
    assert not (run / "keyword.rc").exists()


def test_each_lane_is_late_by_its_own_limit(run: Path, groups: list[subprocess.Popen[bytes]]) -> None:
    slow, patient = group(groups), group(groups)
    lanes = [Lane("slow", slow.pid, 50), Lane("patient", patient.pid, 600_000)]
    (run / "slow.part").write_bytes(ROWS)

    def answer_late() -> None:
        slow.wait(120)
        answered(run, "patient")

    thread = threading.Thread(target=answer_late)
    thread.start()
    merge_client.wait(str(run), lanes, time.monotonic() + 120)
    thread.join()
    assert (lanes[0].state, slow.returncode) == ("late", -signal.SIGKILL)
    assert (lanes[1].state, patient.poll()) == ("", None)


def test_merging_here_is_made_ready_after_a_while_and_only_where_no_daemon_came(
    run: Path, own_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made_ready: list[bool] = []
    monkeypatch.setattr(merge_client, "_import_merge", lambda: made_ready.append(True))
    lanes = [Lane("nobody", 0, 60_000)]
    monkeypatch.setattr(merge_client, "_IMPORT_AFTER_S", 60.0)
    merge_client.wait(str(run), lanes, time.monotonic() + 0.05)
    assert made_ready == []
    monkeypatch.setattr(merge_client, "_IMPORT_AFTER_S", 0.0)
    for there, expected in ((True, []), (False, [True])):
        monkeypatch.setattr(merge_client, "merges_here", lambda there=there: not there)
        merge_client.wait(str(run), [Lane("nobody", 0, 60_000)], time.monotonic() + 0.05)
        assert made_ready == expected


def test_a_lane_that_ended_where_there_was_no_room_to_say_so_is_a_crash(
    run: Path, groups: list[subprocess.Popen[bytes]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(merge_client, "_EARLY_S", 0.0)
    ended, waits = group(groups), group(groups)
    ended.kill()
    ended.wait()
    lanes = [Lane("ended", ended.pid, 600_000), Lane("waits", waits.pid, 200)]
    merge_client.wait(str(run), lanes, time.monotonic() + 120)
    assert [lane.state for lane in lanes] == ["crash", "late"]


def test_at_the_end_of_the_budget_all_are_late(run: Path, groups: list[subprocess.Popen[bytes]]) -> None:
    processes = [group(groups), group(groups)]
    lanes = [Lane(f"lane{n}", process.pid, 60_000) for n, process in enumerate(processes)]
    merge_client.wait(str(run), lanes, time.monotonic() + 0.05)
    assert [lane.state for lane in lanes] == ["late", "late"]
    assert [process.wait(120) for process in processes] == [-signal.SIGKILL] * 2


@pytest.mark.parametrize("number", [0, 1, -1])
def test_no_group_but_a_lanes_is_killed(number: int, monkeypatch: pytest.MonkeyPatch) -> None:
    killed: list[int] = []
    monkeypatch.setattr("posix.kill", lambda target, _: killed.append(target))
    merge_client.kill(number)
    assert killed == []


def test_an_answer_beyond_the_cap_is_a_crash(run: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(merge_client, "MAX_ANSWER_BYTES", len(ROWS) - 1)
    answered(run, "keyword")
    lane = Lane("keyword", 0, 1000)
    merge_client.wait(str(run), [lane], time.monotonic() + 10)
    merge_client.collect(str(run), lane, 0.0)
    assert (lane.state, lane.rows) == ("crash", b"")


def test_time_is_from_the_first_line_to_the_exit(run: Path) -> None:
    answered(run, "keyword")
    os.utime(run / "started", (1000.0, 1000.0))
    os.utime(run / "keyword.exit", (1000.25, 1000.25))
    lane = Lane("keyword", 0, 1000)
    merge_client.wait(str(run), [lane], time.monotonic() + 10)
    merge_client.collect(str(run), lane, 1000.0)
    assert lane.ms == pytest.approx(250.0, abs=0.01)


@pytest.mark.parametrize(("age", "left"), [(0, 6000), (2, 4000), (600, 100), (-600, 6000)])
def test_fault_05_the_budget_began_with_the_hook(
    age: float, left: float, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "started").touch()
    os.utime(tmp_path / "started", (1_000_000.0 - age, 1_000_000.0 - age))
    monkeypatch.setattr(merge_client, "time", SimpleNamespace(time=lambda: 1_000_000.0))
    assert merge_client.remaining_ms(6000, merge_client.age_ms(str(tmp_path))) == left


def test_a_tiny_budget_is_not_stretched() -> None:
    assert merge_client.remaining_ms(60, 9000) == 60


@pytest.mark.parametrize("argument", ["keyword", "keyword=", "keyword=x:1", "keyword=1"])
def test_a_malformed_lane_is_refused(argument: str) -> None:
    with pytest.raises(ValueError):
        merge_client.parse_lane(argument)


def test_the_body_is_what_the_codec_reads() -> None:
    lane = Lane("keyword", 9, 1000, "ok")
    lane.rows, lane.ms = ROWS, 12.5
    body = merge_client.encode_body(REQUEST, [lane, Lane("semantic", 0, 0, "ablated")], 99.0, 0.5)
    (name, facts, raw), first, second = codec.decode_parts(body)
    assert (name, facts, raw) == ("request", {"total_ms": "99.0", "within_ms": "500"}, REQUEST)
    assert first == ("lane", {"name": "keyword", "state": "ok", "ms": "12.5"}, ROWS)
    assert second == ("lane", {"name": "semantic", "state": "ablated", "ms": "0.0"}, b"")


# The process


@pytest.fixture
def run_dir(own_home: Path) -> Path:
    return own_home / ".chitta" / "run"


def test_the_daemons_words_are_printed_and_the_folder_is_gone(run: Path, run_dir: Path) -> None:
    answered(run, "keyword")
    with FakeDaemon(str(run_dir)):
        done = merge(run, "keyword=0:2000", "semantic=ablated", program=("-c", PATIENT))
    assert (done.returncode, done.stdout, done.stderr) == (0, b'{"merged": "keyword semantic"}', b"")
    assert not run.exists()


def test_what_the_daemon_has_for_standard_error_goes_there(run: Path, run_dir: Path) -> None:
    def answer(verb: str, body: bytes) -> tuple[int, bytes]:
        return 0, codec.encode_part("out", b"") + codec.encode_part("err", b"chitta: kw admitted\n")

    answered(run, "keyword")
    with FakeDaemon(str(run_dir), answer=answer):
        done = merge(run, "keyword=0:2000", program=("-c", PATIENT), CHITTA_RECALL_PROFILE="1")
    assert (done.returncode, done.stdout) == (0, b"")
    first, second = done.stderr.decode().splitlines()
    assert first == "chitta: kw admitted"
    assert second.startswith("chitta: profile turn=") and " keyword=" in second and "(ok)" in second


def test_everything_a_lane_left_running_is_ended(
    run: Path, run_dir: Path, groups: list[subprocess.Popen[bytes]]
) -> None:
    left_behind = group(groups)
    answered(run, "shadow")
    with FakeDaemon(str(run_dir)):
        merge(run, f"shadow={left_behind.pid}:2000")
    assert left_behind.wait(120) == -signal.SIGKILL


@pytest.mark.parametrize("manner", ["silent", "half", "lying", "foreign", "hangup", "failing"])
def test_whatever_the_daemon_does_the_answers_are_merged(run: Path, run_dir: Path, own_home: Path, manner: str) -> None:
    answered(run, "keyword")
    with FakeDaemon(str(run_dir), manner):
        done = merge(run, "keyword=0:2000")
    assert done.returncode == 0, done.stderr
    assert b"merging here" in done.stderr
    log = (own_home / ".chitta" / "state" / "recall-log.jsonl").read_text()
    assert json.loads(log)["lanes"]["keyword"]["rows"] == 1


@pytest.mark.parametrize(
    "raw", [b'{"a":{', b"{}{}", b"[]", b"no", b"", b"{" * 50_000, b'{"a":"\xff"}', b'{"a":01}', b"{'a':1}"]
)
def test_fault_18_what_is_no_object_is_not_printed(raw: bytes) -> None:
    assert not merge_client._is_object(raw)


def test_fault_18_an_object_is() -> None:
    value = {"a": "größe\n\u001b", "b": [1, 2.5, True, None], "c": {}}
    for raw in (json.dumps(value), json.dumps(value, ensure_ascii=False) + "\n"):
        assert merge_client._is_object(raw.encode())


def test_without_a_daemon_the_answers_are_merged_here(run: Path, own_home: Path) -> None:
    answered(run, "keyword")
    answered(run, "hybrid", 111)
    done = merge(run, "keyword=0:2000", "hybrid=0:2000", "semantic=ablated", CHITTA_NO_DAEMON="1")
    assert (done.returncode, done.stderr) == (0, b"")
    lanes = json.loads((own_home / ".chitta" / "state" / "recall-log.jsonl").read_text())["lanes"]
    assert {name: lane["state"] for name, lane in lanes.items()} == {
        "keyword": "ok",
        "hybrid": "unavailable",
        "semantic": "ablated",
    }


@pytest.mark.parametrize("arguments", [("keyword=oops",), ("keyword=1",)])
def test_a_problem_is_exit_1_and_silence(run: Path, arguments: tuple[str, ...]) -> None:
    done = merge(run, *arguments)
    assert (done.returncode, done.stdout) == (1, b"")
    assert done.stderr.startswith(b"chitta: merge: ")


def test_it_waits_until_the_hook_has_said_what_it_started(run: Path) -> None:
    answered(run, "keyword")
    command = [sys.executable, str(CHECKOUT / "bin" / "chitta-merge"), str(run), str(os.getpid())]
    merging = subprocess.Popen(command, env={**os.environ, "CHITTA_NO_DAEMON": "1"}, stdout=subprocess.PIPE)
    try:
        (run / "launched").write_text("120000 keyword=0:2000")  # half a line is none
        with pytest.raises(subprocess.TimeoutExpired):
            merging.wait(0.3)
        (run / "launched").write_text("120000 keyword=0:2000\n")
        assert merging.wait(120) == 0
    finally:
        merging.kill()
        merging.communicate()
    assert not run.exists()


def test_it_ends_when_nothing_will_be_started(run: Path) -> None:
    merging = subprocess.Popen([sys.executable, str(CHECKOUT / "bin" / "chitta-merge"), str(run), str(os.getpid())])
    try:
        shutil.rmtree(run)  # as the first step does when there is nothing to recall
        assert merging.wait(120) == 0
    finally:
        merging.kill()
        merging.wait()


def test_it_ends_and_clears_up_when_the_hook_is_gone(run: Path) -> None:
    merge = f"{CHECKOUT / 'bin' / 'chitta-merge'}"
    script = '"$0" "$1" "$2" $$ </dev/null & exit 0'
    subprocess.run(["/bin/sh", "-c", script, sys.executable, merge, str(run)], check=True)
    end = time.monotonic() + 120
    while run.exists() and time.monotonic() < end:
        time.sleep(0.02)
    assert not run.exists()


def test_a_request_that_is_gone_is_exit_1(run: Path) -> None:
    (run / "request.json").unlink()
    answered(run, "keyword")
    assert merge(run, "keyword=0:2000", CHITTA_NO_DAEMON="1").returncode == 1


def test_no_answer_is_taken_through_a_link(run: Path, tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_bytes(ROWS)
    (run / "keyword.part").symlink_to(secret)
    (run / "keyword.exit").write_text("0\n")
    lane = Lane("keyword", 0, 1000)
    merge_client.wait(str(run), [lane], time.monotonic() + 10)
    merge_client.collect(str(run), lane, 0.0)
    assert (lane.state, lane.rows) == ("crash", b"")


def test_the_names_in_the_run_dir_are_the_daemons() -> None:
    from chitta.daemon import lifecycle

    assert (client.SOCKET_NAME, starter.LOCK_NAME) == (lifecycle.SOCKET_NAME, lifecycle.LOCK_NAME)
