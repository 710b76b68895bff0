"""The socket side, with an answer that is no more than an echo."""

from __future__ import annotations

import os
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from chitta.daemon import lifecycle, server
from chitta.daemon.logbook import Logbook
from chitta.daemon.server import Answer, Server
from chitta.wire.codec import MAX_FRAME_BYTES


class Running:
    """A server in a thread, over a socket of its own."""

    def __init__(self, folder: Path, answer: Callable[[bytes, float], Answer], **options: Any) -> None:
        self.folder = lifecycle.private_folder(str(folder))
        self.listener = lifecycle.listen(self.folder)
        options = {"idle_s": lambda: 60.0, **options}
        self.server = Server(self.listener, answer, log=Logbook(str(folder / "log")), **options)
        self.reason = ""
        self.thread = threading.Thread(target=self._serve)
        self.thread.start()

    def _serve(self) -> None:
        self.reason = self.server.serve()

    def connect(self) -> socket.socket:
        client = socket.socket(socket.AF_UNIX)
        client.settimeout(60)
        client.connect(self.listener.path)
        return client

    def ask(self, payload: bytes) -> bytes:
        with self.connect() as client:
            client.sendall(framed(payload))
            return reply(client)

    def ended(self) -> str:
        self.thread.join(120)
        assert not self.thread.is_alive()
        return self.reason


def framed(payload: bytes) -> bytes:
    return len(payload).to_bytes(4, "big") + payload


def reply(client: socket.socket) -> bytes:
    """The reply's payload; empty when the connection was closed without one."""
    data = b""
    while part := client.recv(1 << 16):
        data += part
    assert len(data) == 0 or int.from_bytes(data[:4], "big") == len(data) - 4
    return data[4:]


def echo(payload: bytes, arrived: float) -> Answer:
    return Answer(payload[::-1])


def dropped(client: socket.socket) -> bool:
    """Wait until the server has hung up; whether it did so without a word."""
    try:
        return client.recv(1) == b""
    except ConnectionResetError:
        return True


Make = Callable[..., Running]


@pytest.fixture(autouse=True)
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """A server that is as patient as the slowest machine needs, except where a test is about its patience."""
    monkeypatch.setattr(server, "SILENCE_S", 60.0)
    monkeypatch.setattr(server, "GRACE_S", 60.0)


@pytest.fixture
def run(tmp_path: Path) -> Iterator[Make]:
    made: list[Running] = []

    def make(answer: Callable[[bytes, float], Answer] = echo, **options: Any) -> Running:
        made.append(Running(tmp_path / f"run{len(made)}", answer, **options))
        return made[-1]

    yield make
    for running in made:
        running.server.leave("the test is over")
        running.ended()


def test_a_frame_gets_its_reply(run: Make) -> None:
    assert run().ask(b"abc") == b"cba"


@pytest.mark.parametrize("payload", [b"", b"x" * 3_000_000])
def test_sizes(run: Make, payload: bytes) -> None:
    assert run().ask(payload) == payload[::-1]


def test_frame_in_single_bytes(run: Make) -> None:
    with run().connect() as client:
        for byte in framed(b"abc"):
            client.sendall(bytes([byte]))
            time.sleep(0.005)
        assert reply(client) == b"cba"


def test_client_that_shuts_its_sending_side_is_answered(run: Make) -> None:
    with run().connect() as client:
        client.sendall(framed(b"abc"))
        client.shutdown(socket.SHUT_WR)
        assert reply(client) == b"cba"


@pytest.mark.parametrize("beginning", [b"", b"\0\0", b"\0\0\0\x09half"])
def test_client_that_leaves_half_way_hurts_nobody(run: Make, beginning: bytes) -> None:
    running = run()
    with running.connect() as client:
        client.sendall(beginning)
    assert running.ask(b"abc") == b"cba"


@pytest.mark.parametrize("beginning", [b"", b"\0\0", b"\0\0\0\x09half"])
def test_silent_client_is_dropped(run: Make, beginning: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server, "SILENCE_S", 0.2)
    with run().connect() as client:
        with suppress(BrokenPipeError):  # it may have lost patience before this was sent
            client.sendall(beginning)
        assert dropped(client)


def test_silent_clients_take_no_worker(run: Make) -> None:
    running = run()
    silent = [running.connect() for _ in range(server.WORKERS * 3)]
    assert running.ask(b"abc") == b"cba"
    for client in silent:
        client.close()


def test_frame_that_is_too_long_is_closed(run: Make) -> None:
    with run().connect() as client:
        client.sendall((MAX_FRAME_BYTES + 1).to_bytes(4, "big"))
        assert client.recv(1) == b""


def test_more_requests_than_workers_wait_in_line(run: Make) -> None:
    at_once: list[int] = []
    lock = threading.Lock()
    count = 0

    def slow(payload: bytes, arrived: float) -> Answer:
        nonlocal count
        with lock:
            count += 1
            at_once.append(count)
        time.sleep(0.05)
        with lock:
            count -= 1
        return Answer(payload)

    running = run(slow)
    answers: list[bytes] = []
    threads = [threading.Thread(target=lambda n=n: answers.append(running.ask(b"%d" % n))) for n in range(100)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(answers) == sorted(b"%d" % n for n in range(100))
    assert max(at_once) <= server.WORKERS


def test_more_connections_than_the_server_takes_are_served_in_the_end(
    run: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(server, "MAX_CONNECTIONS", 4)
    running = run()
    clients = [running.connect() for _ in range(20)]
    for client in reversed(clients[4:]):
        client.sendall(framed(b"late"))
    for client in clients[:4]:
        client.sendall(framed(b"abc"))
    assert [reply(client) for client in clients] == [b"cba"] * 4 + [b"etal"] * 16
    for client in clients:
        client.close()


def test_an_answer_that_raises_closes_that_connection_alone(run: Make) -> None:
    def sometimes(payload: bytes, arrived: float) -> Answer:
        if payload == b"bad":
            raise RuntimeError
        return Answer(payload)

    running = run(sometimes)
    assert running.ask(b"bad") == b""
    assert running.ask(b"good") == b"good"


def test_what_comes_afterwards_does_not_delay_the_reply(run: Make) -> None:
    gate = threading.Event()

    def linger() -> None:
        gate.wait()

    running = run(lambda payload, arrived: Answer(payload, linger))
    try:
        assert running.ask(b"abc") == b"abc"
    finally:
        gate.set()


def test_leaving_finishes_what_is_under_way(run: Make) -> None:
    begun = threading.Event()

    def slow(payload: bytes, arrived: float) -> Answer:
        begun.set()
        time.sleep(0.3)
        return Answer(b"done")

    running = run(slow)
    with running.connect() as client:
        client.sendall(framed(b"abc"))
        assert begun.wait(60)
        running.server.leave("asked")
        assert reply(client) == b"done"
    assert running.ended() == "asked"
    assert not os.path.exists(running.listener.path)


def test_leaving_does_not_wait_for_ever(run: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server, "GRACE_S", 0.2)
    begun, gate = threading.Event(), threading.Event()

    def endless(payload: bytes, arrived: float) -> Answer:
        begun.set()
        gate.wait()
        return Answer(b"")

    running = run(endless)
    with running.connect() as client:
        client.sendall(framed(b"abc"))
        assert begun.wait(60)
        running.server.leave("asked")
        try:
            assert running.ended() == "asked"
        finally:
            gate.set()


def test_idle_server_leaves(run: Make) -> None:
    running = run(idle_s=lambda: 0.2)
    assert running.ended() == "idle"
    assert not os.path.exists(running.listener.path)


def test_work_without_a_request_keeps_it_from_being_idle(run: Make) -> None:
    working = threading.Event()
    working.set()
    running = run(idle_s=lambda: 0.1, busy=working.is_set)
    time.sleep(0.5)
    assert running.thread.is_alive()
    working.clear()
    running.server.leave("")  # wakes the loop, so that the test need not wait for its next look
    assert running.ended() == "idle"


def test_it_tidies_up_once_after_work(run: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server, "LOOK_EVERY_S", 0.02)
    monkeypatch.setattr(server, "REST_AFTER_S", 0.1)
    rests: list[float] = []
    running = run(at_rest=lambda: rests.append(time.monotonic()))

    def rested(times: int) -> None:
        end = time.monotonic() + 60
        while len(rests) < times:
            assert time.monotonic() < end
            time.sleep(0.01)

    rested(1)  # from its start
    for _ in range(2):
        before = len(rests)
        asked = time.monotonic()
        assert running.ask(b"abc") == b"cba"
        rested(before + 1)
        time.sleep(0.3)
        assert len(rests) == before + 1
        assert rests[-1] - asked >= 0.1


@pytest.mark.parametrize("what", ["removed", "replaced"])
def test_server_leaves_when_its_address_is_not_its_own(run: Make, what: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server, "LOOK_EVERY_S", 0.05)
    running = run()
    os.unlink(running.listener.path)
    if what == "replaced":
        Path(running.listener.path).write_text("another's")
    assert "socket file" in running.ended()
    assert os.path.exists(running.listener.path) == (what == "replaced")


def test_server_leaves_when_the_home_is_gone(run: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server, "LOOK_EVERY_S", 0.05)
    there = threading.Event()
    running = run(home_is_there=lambda: not there.is_set())
    assert running.ask(b"abc") == b"cba"
    there.set()
    assert running.ended() == "the home is gone"


def test_connection_made_while_it_leaves_is_answered(run: Make) -> None:
    """A client that connected before the address went away gets its reply, not a reset."""
    begun, gate = threading.Event(), threading.Event()

    def slow(payload: bytes, arrived: float) -> Answer:
        if payload == b"first":
            begun.set()
            gate.wait(60)
        return Answer(payload)

    running = run(slow)
    with running.connect() as first, running.connect() as second:
        first.sendall(framed(b"first"))
        assert begun.wait(60)
        running.server.leave("asked")
        second.sendall(framed(b"second"))
        assert reply(second) == b"second"
        gate.set()
        assert reply(first) == b"first"
