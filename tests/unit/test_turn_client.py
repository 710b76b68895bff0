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


@pytest.fixture
def pipe() -> Iterator[tuple[int, int]]:
    ends = os.pipe()
    yield ends
    for end in ends:
        try:
            os.close(end)
        except OSError:
            pass


@pytest.fixture
def variables(monkeypatch: pytest.MonkeyPatch, own_home: Path) -> pytest.MonkeyPatch:
    for name in [name for name in posix.environ if name.startswith(b"CHITTA_")]:
        monkeypatch.delitem(posix.environ, name)
    monkeypatch.setitem(posix.environ, b"CHITTA_HOME", os.fsencode(own_home / ".chitta"))
    monkeypatch.setitem(posix.environ, b"CHITTA_STDIN_WAIT_MS", b"400")
    return monkeypatch


def write_later(descriptor: int, *parts: tuple[float, bytes], close: bool = True) -> threading.Thread:
    """Write each part after its pause in seconds, then close or not."""

    def write() -> None:
        for pause, part in parts:
            time.sleep(pause)
            os.write(descriptor, part)
        if close:
            os.close(descriptor)

    thread = threading.Thread(target=write, daemon=True)
    thread.start()
    return thread


def test_a_payload_ends_with_the_pipe(pipe: tuple[int, int], variables: pytest.MonkeyPatch) -> None:
    write_later(pipe[1], (0.0, PAYLOAD[:10]), (0.1, PAYLOAD[10:]))
    assert turn_client.read_payload(pipe[0]) == PAYLOAD


def test_a_whole_object_on_an_open_pipe_is_enough(pipe: tuple[int, int], variables: pytest.MonkeyPatch) -> None:
    variables.setitem(posix.environ, b"CHITTA_STDIN_WAIT_MS", b"30000")
    variables.setitem(posix.environ, b"CHITTA_HOOK_BUDGET_MS", b"60000")
    write_later(pipe[1], (0.0, PAYLOAD[:20]), (0.2, PAYLOAD[20:] + b"\n"), close=False).join()
    began = time.monotonic()
    assert turn_client.read_payload(pipe[0]) == PAYLOAD + b"\n"
    assert time.monotonic() - began < 15  # it did not sit out the thirty seconds


def test_a_brace_inside_the_prompt_is_not_the_end(pipe: tuple[int, int], variables: pytest.MonkeyPatch) -> None:
    variables.setitem(posix.environ, b"CHITTA_STDIN_WAIT_MS", b"2000")
    whole = b'{"prompt": "fn main() {}"}'
    cut = whole.index(b'}"}') + 1
    write_later(pipe[1], (0.0, whole[:cut]), (0.3, whole[cut:]))
    assert turn_client.read_payload(pipe[0]) == whole


@pytest.mark.parametrize("written", [b"", b'{"prompt": "cut', b"[]"])
def test_after_the_wait_what_has_come_is_all(
    pipe: tuple[int, int], variables: pytest.MonkeyPatch, written: bytes
) -> None:
    os.write(pipe[1], written)
    assert turn_client.read_payload(pipe[0]) == written


def test_a_writer_without_end_is_cut_off_by_time(pipe: tuple[int, int], variables: pytest.MonkeyPatch) -> None:
    stop = threading.Event()

    def drip() -> None:
        while not stop.wait(0.01):
            os.write(pipe[1], b" ")

    thread = threading.Thread(target=drip)
    thread.start()
    try:
        assert set(turn_client.read_payload(pipe[0])) == {ord(" ")}
    finally:
        stop.set()
        thread.join()


def test_a_payload_beyond_all_measure_is_cut(
    pipe: tuple[int, int], variables: pytest.MonkeyPatch, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(turn_client, "MAX_PAYLOAD_BYTES", 1000)
    write_later(pipe[1], (0.0, b"x" * 5000))
    assert turn_client.read_payload(pipe[0]) == b"x" * 1000


def test_no_standard_input_at_all_is_an_empty_payload(pipe: tuple[int, int], variables: pytest.MonkeyPatch) -> None:
    os.close(pipe[0])
    assert turn_client.read_payload(pipe[0]) == b""


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


def turn(tmp_path: Path, payload: bytes, harness: str = "claude", **variables: str) -> tuple[dict[str, str], Path]:
    """Run the step in a run folder of its own; the facts it printed and the request's path."""
    folder = tmp_path / "chitta.run"
    folder.mkdir(exist_ok=True)
    (folder / "started").touch()
    done = subprocess.run(
        [
            sys.executable,
            "-I",
            "-S",
            "-E",
            str(CHECKOUT / "bin" / "chitta-turn"),
            str(folder / "request.json"),
            harness,
        ],
        input=payload,
        env={**os.environ, **variables},
        cwd=tmp_path,
        capture_output=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return dict(line.split("=", 1) for line in done.stdout.decode().splitlines() if line), folder / "request.json"


def test_the_daemon_prepares(tmp_path: Path, own_home: Path) -> None:
    with FakeDaemon(str(own_home / ".chitta" / "run")) as daemon:
        facts, path = turn(tmp_path, PAYLOAD, "codex")
    assert (facts["go"], facts["budget_ms"], facts["limit.hybrid"]) == ("1", "6000", "3000")
    assert 0 < int(facts["left_ms"]) <= 6000
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


def test_what_is_left_counts_from_the_marker(tmp_path: Path) -> None:
    marker = tmp_path / "started"
    marker.touch()
    now = time.time()
    os.utime(marker, (now - 2, now - 2))
    assert 3000 < turn_client.left_ms(str(tmp_path), b"go=1\nbudget_ms=6000\n") <= 4000
    os.utime(marker, (now - 60, now - 60))
    assert turn_client.left_ms(str(tmp_path), b"budget_ms=6000") == 100
    os.utime(marker, (now + 60, now + 60))  # a clock that was set back
    assert turn_client.left_ms(str(tmp_path), b"budget_ms=6000") == 6000
