"""Asking the daemon, and making do without one."""

from __future__ import annotations

import os
import socket
import threading
from collections.abc import Iterator
from typing import Any

import pytest

from chitta import daemon_client
from chitta import settings as table
from chitta.daemon import lifecycle
from chitta.daemon_client import DaemonAway, DaemonRefused
from chitta.settings import Settings
from chitta.wire import codec


@pytest.fixture
def settings(monkeypatch: pytest.MonkeyPatch) -> Iterator[Settings]:
    monkeypatch.setenv("CHITTA_EMBED_MODEL", "no-such-model")
    monkeypatch.setenv("CHITTA_RERANK_MODEL", "none")
    made = table.load()
    yield made
    daemon_client.stop(made, 60)


@pytest.fixture
def impostor(settings: Settings) -> Iterator[Any]:
    """Something that listens at the address and answers each connection with given bytes, or never."""
    folder = lifecycle.private_folder(settings.run_dir)
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(os.path.join(folder, lifecycle.SOCKET_NAME))
    listener.listen()
    held: list[socket.socket] = []

    def answer(raw: bytes | None) -> None:
        def serve() -> None:
            client, _ = listener.accept()
            held.append(client)
            client.recv(1 << 16)
            if raw is not None:
                client.sendall(raw)
                client.close()

        threading.Thread(target=serve, daemon=True).start()

    yield answer
    listener.close()
    for client in held:
        client.close()


def framed(payload: bytes) -> bytes:
    return len(payload).to_bytes(4, "big") + payload


def test_without_a_daemon_nobody_answers(settings: Settings) -> None:
    assert not daemon_client.running(settings)
    with pytest.raises(DaemonAway) as caught:
        daemon_client.call(settings, "ping")
    assert caught.value.hint
    assert not daemon_client.stop(settings)


def test_ensure_starts_one_and_stop_ends_it(settings: Settings) -> None:
    assert daemon_client.ensure(settings, 60)
    pid = daemon_client.call(settings, "ping")["pid"]
    assert daemon_client.ensure(settings, 60)
    assert daemon_client.call(settings, "ping")["pid"] == pid
    assert daemon_client.stop(settings, 60)
    assert not daemon_client.running(settings)


def test_many_who_ensure_at_once_share_one(settings: Settings) -> None:
    outcomes: list[bool] = []
    threads = [threading.Thread(target=lambda: outcomes.append(daemon_client.ensure(settings, 60))) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert outcomes == [True] * 4


def test_no_daemon_means_no_daemon(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CHITTA_NO_DAEMON", "1")
    forbidden = table.load()
    assert not daemon_client.ensure(forbidden)
    assert not os.path.exists(settings.run_dir)


def test_daemon_that_cannot_start_says_why(settings: Settings, own_home: Any) -> None:
    (own_home / ".chitta").write_text("a file where the home should be")
    with pytest.raises(DaemonAway, match="run folder") as caught:
        daemon_client.ensure(settings, 60)
    assert "CHITTA_RUN_DIR" in caught.value.hint


def test_interpreter_that_is_missing_says_so(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CHITTA_PYTHON", "/nowhere/python")
    with pytest.raises(DaemonAway, match="/nowhere/python"):
        daemon_client.ensure(table.load())


def test_refusal_has_its_code_and_sentence(settings: Settings, impostor: Any) -> None:
    impostor(framed(codec.encode_reply_payload(111, b"the model is still loading")))
    with pytest.raises(DaemonRefused, match="still loading") as caught:
        daemon_client.call(settings, "embed")
    assert caught.value.code == 111


def test_answer_is_a_json_object(settings: Settings, impostor: Any) -> None:
    impostor(framed(codec.encode_reply_payload(0, b'{"a":1}')))
    assert daemon_client.call(settings, "status") == {"a": 1}


@pytest.mark.parametrize(
    "raw",
    [
        b"",
        b"\0\0",
        b"\0\0\0\x09000\n",
        framed(b"nonsense"),
        framed(b""),
        framed(b"000\n[1]"),
        framed(b"000\nno json"),
        b"\xff\xff\xff\xff",
    ],
)
def test_whatever_is_no_answer_is_nobody(settings: Settings, impostor: Any, raw: bytes) -> None:
    impostor(raw)
    with pytest.raises(DaemonAway):
        daemon_client.call(settings, "status", timeout=60)


def test_listener_that_never_answers_is_given_up(settings: Settings, impostor: Any) -> None:
    impostor(None)
    with pytest.raises(DaemonAway, match="within 0.2 seconds"):
        daemon_client.call(settings, "status", timeout=0.2)


def test_callers_variables_go_along_with_the_store_named(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CHITTA_LANE_K", "3")
    monkeypatch.delenv("CHITTA_HOME")
    seen: list[bytes] = []
    one, other = socket.socketpair(socket.AF_UNIX)
    monkeypatch.setattr(daemon_client, "_connect", lambda settings, timeout: one)

    def serve() -> None:
        seen.append(other.recv(1 << 16))
        other.sendall(framed(codec.encode_reply_payload(0, b"{}")))

    thread = threading.Thread(target=serve)
    thread.start()
    daemon_client.call(settings, "ping")
    thread.join()
    other.close()
    head, _ = codec.decode_request_payload(seen[0][4:])
    assert (head.verb, head.arguments) == ("call", ("ping",))
    assert head.environ["CHITTA_LANE_K"] == "3"
    assert head.environ["CHITTA_HOME"] == settings.home


def test_a_daemon_of_this_code_stays(settings: Settings) -> None:
    assert daemon_client.ensure(settings, 60)
    assert daemon_client.is_of_this_code(settings)
    assert not daemon_client.retire_other(settings)
    assert daemon_client.running(settings)


def test_an_older_daemon_is_asked_to_leave_and_replaced(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    assert daemon_client.ensure(settings, 60)
    first = daemon_client.call(settings, "ping")["pid"]
    ask = daemon_client.call

    def older(*given: Any, **named: Any) -> dict[str, Any]:
        answer = ask(*given, **named)
        return {**answer, "edition": "another"} if answer.get("pid") == first else answer

    monkeypatch.setattr(daemon_client, "call", older)
    assert daemon_client.ensure(settings, 60)
    assert ask(settings, "ping")["pid"] != first


def test_a_request_of_another_version_is_refused_politely(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    assert daemon_client.ensure(settings, 60)
    with monkeypatch.context() as patch:
        patch.setattr(codec, "PROTOCOL", "v2")
        with pytest.raises(DaemonRefused, match="not a v1 request") as caught:
            daemon_client.call(settings, "ping")
        assert caught.value.code == codec.MISUSE
        assert not daemon_client.is_of_this_code(settings)
        assert daemon_client.retire_other(settings)  # by the signal, since it does not know the words
    assert not daemon_client.running(settings)
