"""Asking the daemon, for hands: the command line, tests, measurements.

The lanes and the hook have a leaner client of their own (:mod:`chitta.client`), because a person
waits for them; this one may import what it likes.
"""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from typing import Any

from chitta import edition
from chitta.daemon import lifecycle
from chitta.settings import Settings
from chitta.wire import codec

#: Seconds for a daemon that is there to answer a ping, even while it is loading.
PING_S = 2.0
#: Seconds for a daemon that was asked to stop to be gone.
STOP_S = 3.0


class DaemonAway(Exception):
    """No daemon answers for this store; ``hint`` says what to do."""

    def __init__(self, what: str, hint: str = "`chitta doctor` checks the installation") -> None:
        super().__init__(what)
        self.hint = hint


class DaemonRefused(Exception):
    """The daemon answered with another code than 000: ``code`` and its sentence."""

    def __init__(self, code: int, why: str) -> None:
        super().__init__(why)
        self.code = code


def call(settings: Settings, op: str, body: dict[str, Any] | None = None, timeout: float = 30.0) -> dict[str, Any]:
    """Ask for one operation and return its JSON object.

    Raises :class:`DaemonAway` when nobody answers within ``timeout`` seconds, :class:`DaemonRefused`
    when the answer is a refusal.
    """
    code, answer = ask(settings, "call", (op,), codec.dumps(body or {}), timeout)
    if code != codec.OK:
        raise DaemonRefused(code, answer.decode("utf-8", "replace").strip())
    try:
        value = codec.loads(answer)
    except ValueError:
        value = None
    if not isinstance(value, dict):
        raise DaemonAway("the daemon's answer could not be read", "stop it with `chitta stop` and try again")
    return value


def ask(
    settings: Settings, verb: str, arguments: tuple[str, ...], body: bytes, timeout: float = 30.0
) -> tuple[int, bytes]:
    """Send one request of the wire; the reply's code and body. Raises :class:`DaemonAway`."""
    environ = {name: value for name, value in os.environ.items() if name.startswith("CHITTA_")}
    environ["CHITTA_HOME"] = settings.home
    payload = codec.encode_request_payload(verb, arguments, body, environ)
    end = time.monotonic() + timeout
    try:
        with _connect(settings, timeout) as connection:
            connection.sendall(len(payload).to_bytes(4, "big") + payload)
            size = int.from_bytes(_receive(connection, 4, end), "big")
            if size > codec.MAX_FRAME_BYTES:
                raise DaemonAway("the daemon's answer is too long")
            return codec.decode_reply_payload(_receive(connection, size, end))
    except TimeoutError:
        raise DaemonAway(f"the daemon did not answer within {timeout:g} seconds") from None
    except (OSError, ValueError) as problem:
        raise DaemonAway(f"the daemon does not answer: {problem}") from None


def running(settings: Settings) -> bool:
    """Whether a daemon answers for this store."""
    try:
        call(settings, "ping", timeout=PING_S)
    except DaemonRefused:
        return True
    except DaemonAway:
        return False
    return True


def is_of_this_code(settings: Settings) -> bool:
    """Whether the daemon that answers runs the code of this checkout as it is now. Raises :class:`DaemonAway`."""
    try:
        return bool(call(settings, "ping", timeout=PING_S).get("edition") == edition.here())
    except DaemonRefused:  # it speaks another version of the wire
        return False


def retire_other(settings: Settings) -> bool:
    """Have a daemon of other code leave, so that the next start is of this; whether there was one.

    Raises :class:`DaemonAway` where it does not leave.
    """
    try:
        if is_of_this_code(settings):
            return False
    except DaemonAway:
        return False
    return stop(settings)


def ensure(settings: Settings, wait_s: float = 10.0) -> bool:
    """Start the daemon if there is none, or one of other code; whether one answers.

    False, and no start, under ``CHITTA_NO_DAEMON``.

    Raises :class:`DaemonAway` when it cannot be started.
    """
    if settings.flag("CHITTA_NO_DAEMON"):
        return False
    retire_other(settings)
    if running(settings):
        return True
    end = time.monotonic() + wait_s
    _start(settings, wait_s)
    while not running(settings):
        if time.monotonic() >= end:
            return False
        time.sleep(0.05)
    return True


def stop(settings: Settings, wait_s: float = STOP_S) -> bool:
    """Stop the daemon, by asking and then by signals; whether there was one.

    Raises :class:`DaemonAway` when it cannot be made to leave.
    """
    if not _locked(settings):
        return False
    try:
        call(settings, "stop", timeout=PING_S)
    except (DaemonAway, DaemonRefused):
        _signal(settings, signal.SIGTERM)
    if _gone(settings, wait_s):
        return True
    _signal(settings, signal.SIGKILL)
    if _gone(settings, wait_s):
        return True
    raise DaemonAway("the daemon does not leave", f"look for the process that holds {_lock_path(settings)}")


def _connect(settings: Settings, timeout: float) -> socket.socket:
    connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        connection.settimeout(timeout)
        with lifecycle.address(os.path.join(settings.run_dir, lifecycle.SOCKET_NAME)) as name:
            connection.connect(name)
        if not lifecycle.peer_is_us(connection):
            raise DaemonAway("the socket is held by another user", "set CHITTA_RUN_DIR to a folder of your own")
    except BaseException:
        connection.close()
        raise
    return connection


def _receive(connection: socket.socket, size: int, end: float) -> bytes:
    """Exactly ``size`` bytes by the monotonic time ``end``. Raises ``OSError``."""
    parts = []
    while size:
        left = end - time.monotonic()
        if left <= 0:
            raise TimeoutError
        connection.settimeout(left)
        part = connection.recv(min(size, 1 << 20))
        if not part:
            raise ConnectionResetError("it hung up")
        parts.append(part)
        size -= len(part)
    return b"".join(parts)


def _start(settings: Settings, wait_s: float) -> None:
    """Run ``chittad --detached`` to the point where it listens. The lock decides between two starters."""
    package = os.path.dirname(os.path.abspath(__file__))
    paths = [os.path.dirname(package), os.environ.get("PYTHONPATH", "")]
    environ = {**os.environ, "CHITTA_HOME": settings.home, "PYTHONPATH": os.pathsep.join(filter(None, paths))}
    command = [settings.text("CHITTA_PYTHON") or sys.executable, "-m", "chitta.daemon", "--detached"]
    try:
        done = subprocess.run(
            command,
            cwd="/",
            env=environ,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            start_new_session=True,
            timeout=max(wait_s, 0.1),
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise DaemonAway(f"the daemon did not start within {wait_s:g} seconds") from None
    except OSError as problem:
        raise DaemonAway(f"{command[0]} cannot be run: {problem.strerror}") from None
    if done.returncode != 0:
        what, _, hint = done.stderr.decode("utf-8", "replace").strip().partition("\n")
        what, hint = what.removeprefix("chitta: "), hint.partition("\n")[0].removeprefix("hint: ")
        raise DaemonAway(what or f"the daemon ended with {done.returncode}", hint or "`chitta doctor` says more")


def _lock_path(settings: Settings) -> str:
    return os.path.join(settings.run_dir, lifecycle.LOCK_NAME)


def _locked(settings: Settings) -> bool:
    """Whether a process holds the store's lock."""
    return lifecycle.is_locked(_lock_path(settings))


def _gone(settings: Settings, wait_s: float) -> bool:
    end = time.monotonic() + wait_s
    while _locked(settings):
        if time.monotonic() >= end:
            return False
        time.sleep(0.02)
    return True


def _signal(settings: Settings, number: int) -> None:
    """Signal the process in the pid file; it is the one that holds the lock."""
    pid = lifecycle.read_pid(settings.run_dir)
    if pid is None or pid <= 1:
        return
    try:
        os.kill(pid, number)
    except OSError:
        pass
