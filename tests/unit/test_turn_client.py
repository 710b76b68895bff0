"""The turn step: reading a payload that comes whole, in pieces, late or never; asking; falling back."""

from __future__ import annotations

import json
import os
import posix
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from urllib.parse import unquote_to_bytes

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chitta import turn_client
from chitta.wire.request import parse_request

CHECKOUT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(CHECKOUT / "tests" / "bats" / "support"))
from fake_daemon import FakeDaemon  # noqa: E402

PAYLOAD = json.dumps({"session_id": "s", "prompt": "why does the webhook answer 400", "cwd": "/"}).encode()


#: The step as bin/chitta-turn runs it, but for the daemon's time: that is a minute, however busy this machine is.
PATIENT = (
    f"import sys\nsys.path.insert(0, {str(CHECKOUT / 'lib')!r})\n"
    "from chitta import turn_client\nturn_client._DAEMON_S = 60.0\nturn_client.main()\n"
)


class Pipe:
    """A pipe, and the threads that write into it. Each end is closed once, by whoever comes first."""

    def __init__(self) -> None:
        self.out, self.into = os.pipe()
        self._open = {self.out, self.into}
        self._writers: list[threading.Thread] = []

    def write_later(self, *parts: tuple[float, bytes], close: bool = True) -> threading.Thread:
        """Write each part after at least its pause in seconds, then close or not."""

        def write() -> None:
            for pause, part in parts:
                time.sleep(pause)
                os.write(self.into, part)
            if close:
                self.close(self.into)

        self._writers.append(threading.Thread(target=write, daemon=True))
        self._writers[-1].start()
        return self._writers[-1]

    def close(self, end: int) -> None:
        if end in self._open:
            self._open.remove(end)
            os.close(end)

    def end(self) -> None:
        """Wait for the writers, then close what is open."""
        for writer in self._writers:
            writer.join()
        for each in (self.out, self.into):
            self.close(each)


@pytest.fixture
def pipe() -> Iterator[Pipe]:
    made = Pipe()
    yield made
    made.end()


@pytest.fixture
def variables(monkeypatch: pytest.MonkeyPatch, own_home: Path) -> pytest.MonkeyPatch:
    for name in [name for name in posix.environ if name.startswith(b"CHITTA_")]:
        monkeypatch.delitem(posix.environ, name)
    monkeypatch.setitem(posix.environ, b"CHITTA_HOME", os.fsencode(own_home / ".chitta"))
    monkeypatch.setitem(posix.environ, b"CHITTA_STDIN_WAIT_MS", b"60000")
    monkeypatch.setitem(posix.environ, b"CHITTA_HOOK_BUDGET_MS", b"120000")
    return monkeypatch


@pytest.fixture
def short_wait(variables: pytest.MonkeyPatch) -> None:
    variables.setitem(posix.environ, b"CHITTA_STDIN_WAIT_MS", b"400")


def test_a_payload_ends_with_the_pipe(pipe: Pipe, variables: pytest.MonkeyPatch) -> None:
    pipe.write_later((0.0, PAYLOAD[:10]), (0.1, PAYLOAD[10:]))
    assert turn_client.read_payload(pipe.out) == PAYLOAD


def test_a_whole_object_on_an_open_pipe_is_enough(pipe: Pipe, variables: pytest.MonkeyPatch) -> None:
    pipe.write_later((0.0, PAYLOAD[:20]), (0.2, PAYLOAD[20:] + b"\n"), close=False).join()
    began = time.monotonic()
    assert turn_client.read_payload(pipe.out) == PAYLOAD + b"\n"
    assert time.monotonic() - began < 40  # it did not sit out the sixty seconds


def test_a_brace_inside_the_prompt_is_not_the_end(pipe: Pipe, variables: pytest.MonkeyPatch) -> None:
    whole = b'{"prompt": "fn main() {}"}'
    cut = whole.index(b'}"}') + 1
    pipe.write_later((0.0, whole[:cut]), (0.3, whole[cut:]))
    assert turn_client.read_payload(pipe.out) == whole


@pytest.mark.parametrize("written", [b"", b'{"prompt": "cut', b"[]"])
def test_after_the_wait_what_has_come_is_all(pipe: Pipe, short_wait: None, written: bytes) -> None:
    os.write(pipe.into, written)
    assert turn_client.read_payload(pipe.out) == written


def test_a_writer_without_end_is_cut_off_by_time(pipe: Pipe, short_wait: None) -> None:
    stop = threading.Event()
    os.write(pipe.into, b" ")

    def drip() -> None:
        while not stop.wait(0.01):
            os.write(pipe.into, b" ")

    thread = threading.Thread(target=drip)
    thread.start()
    try:
        assert set(turn_client.read_payload(pipe.out)) == {ord(" ")}
    finally:
        stop.set()
        thread.join()


def test_a_payload_beyond_all_measure_is_cut(
    pipe: Pipe, variables: pytest.MonkeyPatch, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(turn_client, "MAX_PAYLOAD_BYTES", 1000)
    pipe.write_later((0.0, b"x" * 5000))
    assert turn_client.read_payload(pipe.out) == b"x" * 1000


def test_no_standard_input_at_all_is_an_empty_payload(pipe: Pipe, variables: pytest.MonkeyPatch) -> None:
    pipe.close(pipe.out)
    assert turn_client.read_payload(pipe.out) == b""


def test_the_wait_is_inside_the_budget(variables: pytest.MonkeyPatch, own_home: Path) -> None:
    variables.setitem(posix.environ, b"CHITTA_STDIN_WAIT_MS", b"60000")
    variables.setitem(posix.environ, b"CHITTA_HOOK_BUDGET_MS", b"1000")
    assert turn_client._stdin_wait() <= 0.5


@given(st.binary(max_size=200))
def test_a_folder_is_one_word_and_comes_back(raw: bytes) -> None:
    word = turn_client.percent_encoded(raw)
    assert not set(word) & set(b" \n\t\x00")
    assert unquote_to_bytes(word) == raw


# The process


def turn(
    tmp_path: Path, payload: bytes, harness: str = "claude", program: tuple[str, ...] = (), **variables: str
) -> tuple[dict[str, str], Path]:
    """Run the step in a run folder of its own; the facts it printed and the request's path."""
    unhurried = {"CHITTA_HOOK_BUDGET_MS": "240000", "CHITTA_STDIN_WAIT_MS": "60000"}
    folder = tmp_path / "chitta.run"
    folder.mkdir(exist_ok=True)
    (folder / "started").touch()
    done = subprocess.run(
        [
            sys.executable,
            "-I",
            "-S",
            "-E",
            *(program or (str(CHECKOUT / "bin" / "chitta-turn"),)),
            str(folder / "request.json"),
            harness,
        ],
        input=payload,
        env={**os.environ, **unhurried, **variables},
        cwd=tmp_path,
        capture_output=True,
        timeout=200,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return dict(line.split("=", 1) for line in done.stdout.decode().splitlines() if line), folder / "request.json"


def test_the_daemon_prepares(tmp_path: Path, own_home: Path) -> None:
    with FakeDaemon(str(own_home / ".chitta" / "run")) as daemon:
        facts, path = turn(tmp_path, PAYLOAD, "codex", ("-c", PATIENT))
    assert (facts["go"], facts["budget_ms"], facts["limit.hybrid"]) == ("1", "60000", "30000")
    assert 0 < int(facts["left_ms"]) <= 60_000
    assert parse_request(path.read_bytes()).prompt == "why does the webhook answer 400"
    assert path.stat().st_mode & 0o777 == 0o600
    lines, body = daemon.seen[0]
    verb, harness, folder, version = lines[0].split(" ")
    assert (verb, harness, version, body) == ("turn", "codex", "v1", PAYLOAD)
    assert os.fsdecode(unquote_to_bytes(folder)) == str(tmp_path.resolve())


@pytest.mark.parametrize("manner", ["silent", "half", "lying", "foreign", "hangup", "failing"])
def test_whatever_the_daemon_does_the_turn_is_prepared(tmp_path: Path, own_home: Path, manner: str) -> None:
    with FakeDaemon(str(own_home / ".chitta" / "run"), manner):
        facts, path = turn(tmp_path, PAYLOAD)
    assert facts["go"] == "1"
    assert parse_request(path.read_bytes()).session == "s"


def test_without_a_daemon_the_facts_are_the_same_kind(tmp_path: Path, own_home: Path) -> None:
    facts, path = turn(tmp_path, PAYLOAD, CHITTA_NO_DAEMON="1", CHITTA_LANE_LIMIT_MS="700", CHITTA_ABLATE_LANES="kw")
    assert (facts["go"], facts["limit_ms"], facts["skip"]) == ("1", "700", "keyword")
    request = parse_request(path.read_bytes())
    assert (request.query, request.cwd, request.harness) == ("why does the webhook answer 400", "/", "claude")


def test_the_folder_of_the_hook_stands_in_for_one_that_the_payload_lacks(tmp_path: Path) -> None:
    _, path = turn(tmp_path, b'{"prompt": "why does the webhook answer 400"}', CHITTA_NO_DAEMON="1")
    assert parse_request(path.read_bytes()).cwd == str(tmp_path.resolve())


@pytest.mark.parametrize("payload", [b"", b"   \n", b"{}", b"null", b"[]", b'{"prompt": ""}', b'{"prompt', b"\x00\xff"])
def test_nothing_to_do_is_go_0_and_leaves_no_folder(tmp_path: Path, payload: bytes) -> None:
    facts, path = turn(tmp_path, payload, CHITTA_NO_DAEMON="1")
    assert facts == {"go": "0"}
    assert not path.parent.exists()


def test_an_agent_that_chitta_started_is_not_answered(tmp_path: Path) -> None:
    facts, path = turn(tmp_path, PAYLOAD, CHITTA_NO_DAEMON="1", CHITTA_HEADLESS="1")
    assert facts == {"go": "0"}
    assert not path.parent.exists()


def test_fault_05_what_is_left_counts_from_the_marker(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    marker = tmp_path / "started"
    marker.touch()
    now = 1_000_000.0
    monkeypatch.setattr(turn_client, "time", SimpleNamespace(time=lambda: now))
    os.utime(marker, (now - 2, now - 2))
    assert turn_client.age_s(str(tmp_path)) == 2
    os.utime(marker, (now + 60, now + 60))  # a clock that was set back
    assert turn_client.age_s(str(tmp_path)) == 0
    assert turn_client.left_ms(2.0, b"go=1\nbudget_ms=6000\n") == 4000
    assert turn_client.left_ms(60.0, b"budget_ms=6000") == 100
    assert turn_client.left_ms(0.0, b"budget_ms=6000") == 6000


def test_of_a_store_that_others_may_write_to_nothing_is_shown(tmp_path: Path, own_home: Path) -> None:
    notes = own_home / ".chitta" / "notes"
    notes.mkdir(parents=True)
    notes.chmod(0o777)
    facts, path = turn(tmp_path, PAYLOAD, CHITTA_NO_DAEMON="1")
    assert facts == {"go": "0"} and not path.exists()
    crumb = json.loads((own_home / ".chitta" / "state" / "last-failure.json").read_bytes())
    assert crumb["what"].startswith("degraded: others may write into") and crumb["where"] == "turn"
