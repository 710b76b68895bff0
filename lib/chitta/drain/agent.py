"""Running the person's own agent command: without a shell, within bounds, and with nothing left of it afterwards."""

from __future__ import annotations

import os
import selectors
import shlex
import shutil
import signal
import subprocess
import time
from collections.abc import Mapping
from typing import NamedTuple

#: Seconds between two looks at whether the command has ended while something still holds its output open.
_LOOK_S = 0.1
#: Rounds in which processes are ended that the command has started in sessions of their own.
_ROUNDS = 5
#: Variables of the session that a drain was started from; a client refuses to start inside of itself by the first.
_OF_A_SESSION = frozenset({"CLAUDECODE", "CLAUDE_CODE_ENTRYPOINT", "CLAUDE_PROJECT_DIR", "CHITTA_REALM"})
#: By this variable whatever the command has started is known.
TOKEN = "CHITTA_DRAIN_CHILD"

TIME, SIZE, EXIT = "time", "size", "exit"


class NoCommand(Exception):
    """The command cannot be started; ``hint`` says what to do."""

    hint = "CHITTA_DRAIN_CMD must be a command that reads a prompt from standard input, such as `claude -p`"


class Reply(NamedTuple):
    """Standard output, and why it is no answer ("" where it is one): too late, too long, or exit ``code``."""

    out: bytes
    problem: str = ""
    code: int = 0
    seconds: float = 0.0


def command_of(text: str) -> list[str]:
    """The words of CHITTA_DRAIN_CMD, the first as the path of a program. Raises :class:`NoCommand`."""
    try:
        words = shlex.split(text)
    except ValueError as problem:
        raise NoCommand(f"CHITTA_DRAIN_CMD cannot be read: {problem}") from None
    program = shutil.which(os.path.expanduser(words[0])) if words else None
    if program is None:
        raise NoCommand(f"CHITTA_DRAIN_CMD names no program: {(words or [text])[0]}")
    return [os.path.abspath(program), *words[1:]]


def ask(command: list[str], prompt: str, folder: str, token: str, *, seconds: float, most_bytes: int) -> Reply:
    """Give the prompt to the command, which runs in ``folder``, and wait for what it says.

    ``token`` marks what it starts. Its process group is killed at the end, however that came, and on Linux also what
    left the group. Raises :class:`NoCommand`.
    """
    began = time.monotonic()
    try:
        child = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            cwd=folder,
            env=variables(os.environ, token),
            start_new_session=True,
        )
    except OSError as fault:
        raise NoCommand(f"CHITTA_DRAIN_CMD cannot be started: {fault.strerror or fault}") from None
    try:
        out, problem = _talk(child, prompt.encode("utf-8", "replace"), began + seconds, most_bytes)
    finally:
        _end(child, token)
    if not problem and child.returncode:
        problem = EXIT
    return Reply(out, problem, child.returncode, time.monotonic() - began)


def variables(environ: Mapping[str, str], token: str) -> dict[str, str]:
    """The command's environment: the person's, with chitta's hooks silent in it."""
    kept = {name: value for name, value in environ.items() if name not in _OF_A_SESSION}
    return {**kept, "CHITTA_HEADLESS": "1", TOKEN: token}


def _talk(child: subprocess.Popen[bytes], prompt: bytes, end: float, most_bytes: int) -> tuple[bytes, str]:
    """What the command has written, and the problem that made an end of it."""
    assert child.stdin is not None and child.stdout is not None
    out = bytearray()
    with selectors.DefaultSelector() as waiting:
        for stream, event in ((child.stdin, selectors.EVENT_WRITE), (child.stdout, selectors.EVENT_READ)):
            os.set_blocking(stream.fileno(), False)
            waiting.register(stream, event)
        ended = False
        while waiting.get_map():
            left = end - time.monotonic()
            if left <= 0:
                return bytes(out), TIME
            ready = waiting.select(0.0 if ended else min(left, _LOOK_S))
            if ended and not any(key.fileobj is child.stdout for key, _ in ready):
                break  # it is gone, and somebody else keeps its output open
            for key, _ in ready:
                if key.fileobj is child.stdin:
                    prompt = _fed(child, prompt)
                    if not prompt:
                        waiting.unregister(child.stdin)
                        _close(child)
                elif part := os.read(key.fd, 65_536):
                    out += part
                    if len(out) > most_bytes:
                        return bytes(out[:most_bytes]), SIZE
                else:
                    waiting.unregister(child.stdout)
            ended = ended or _has_ended(child)
    while not _has_ended(child):
        if time.monotonic() >= end:
            return bytes(out), TIME
        time.sleep(min(_LOOK_S, 0.02))
    return bytes(out), ""


def _fed(child: subprocess.Popen[bytes], prompt: bytes) -> bytes:
    """What is left of the prompt; nothing when the command does not read it."""
    assert child.stdin is not None
    try:
        return prompt[os.write(child.stdin.fileno(), prompt[:65_536]) :]
    except BlockingIOError:
        return prompt
    except BrokenPipeError:
        return b""


def _close(child: subprocess.Popen[bytes]) -> None:
    assert child.stdin is not None
    try:
        child.stdin.close()
    except BrokenPipeError:
        pass


def _has_ended(child: subprocess.Popen[bytes]) -> bool:
    """Whether the command is over. It is left unreaped where that can be, so that its group keeps its number."""
    if not hasattr(os, "waitid"):
        return child.poll() is not None
    try:
        return os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None
    except ChildProcessError:
        return True


def _end(child: subprocess.Popen[bytes], token: str) -> None:
    try:
        os.killpg(child.pid, signal.SIGKILL)
    except (ProcessLookupError, PermissionError):
        pass
    for stream in (child.stdin, child.stdout):
        try:
            if stream is not None:
                stream.close()
        except OSError:
            pass
    child.wait()
    end_marked(token)


def end_marked(token: str) -> None:
    """Kill what has this token in its environment, where a system lets one look (Linux)."""
    sign = f"{TOKEN}={token}".encode()
    for _ in range(_ROUNDS):
        found = [pid for pid in _own_processes() if sign in _environment(pid)]
        if not found:
            return
        for pid in found:
            try:
                os.kill(pid, signal.SIGKILL)
            except (ProcessLookupError, PermissionError):
                continue
        time.sleep(0.02)


def _own_processes() -> list[int]:
    try:
        return [int(name) for name in os.listdir("/proc") if name.isdigit() and int(name) != os.getpid()]
    except OSError:
        return []


def _environment(pid: int) -> list[bytes]:
    try:
        with open(f"/proc/{pid}/environ", "rb") as file:
            return file.read().split(b"\0")
    except OSError:
        return []
