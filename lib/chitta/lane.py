"""What every lane that ships with chitta does: a request in, rows out, an exit code.

``lanes/NAME <request.json >rows.jsonl``. The daemon answers; this module forwards bytes and keeps
the time. Without the daemon, the lanes that know words answer in this process.
"""

import posix
import sys
import time

from chitta import client
from chitta.client import LATE, MISUSE, OK, UNAVAILABLE

#: Seconds that a lane may take when nobody says otherwise.
DEFAULT_DEADLINE_S = 2.0
#: Share of the deadline that the lanes which must answer give the daemon.
_DAEMON_SHARE = 0.6
#: Share that those give it which know words as well.
_PATIENT_SHARE = 0.75
#: Seconds that must be left to a lane that has waited for the daemon's index, so that it may look up words itself:
#: of 300,000 notes that takes 0.3 s.
_WORDS_S = 0.5
#: Milliseconds to wait for a daemon that is starting, when nobody says otherwise.
_WARM_WAIT_MS = 1200
#: Bytes of a ``chitta.toml`` that :mod:`chitta.settings` reads.
_MOST_FILE_BYTES = 100_000
MAX_REQUEST_BYTES = 16 * 1024 * 1024
_CHUNK_BYTES = 256 * 1024

#: These know words alone: they answer here, at once, when the daemon cannot.
_AT_ONCE = frozenset({"keyword", "correction-key"})
#: These wait for a daemon that is starting, and then make do with words.
_AFTER_WAITING = frozenset({"hybrid", "cross-realm", "correction"})


def main(name: str) -> None:
    """Run the lane called ``name`` as this process; does not return."""
    arguments = sys.argv[1:]
    if arguments or posix.isatty(0):
        _by_hand(name, arguments)
    client.pin_interpreter("-I", "-S", "-E")
    seconds = client.number("CHITTA_DEADLINE_MS", DEFAULT_DEADLINE_S * 1000) / 1000
    client.alarm(seconds)
    code, body = answer(name, _read_request(), seconds)
    if code != OK:
        client.complain(f"{name}: {body.decode('utf-8', 'replace').strip() or 'no answer'}")
    elif not client.write_all(1, body):
        code = UNAVAILABLE
    # Everything is written; the interpreter's own leave-taking would cost a seventh of its life.
    posix._exit(code)


def answer(name: str, request: bytes, seconds: float, warm_wait: float = -1.0) -> tuple[int, bytes]:
    """The exit code and the rows, or the exit code and one line saying why there are none.

    ``warm_wait``: seconds to wait for a daemon that is starting or loading its models, where it
    is not what CHITTA_WARM_WAIT_MS says.
    """
    end = time.monotonic() + seconds
    if not request.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"{"):
        return MISUSE, b"standard input holds no request"
    verb = b"lane " + name.encode()
    if client.flag("CHITTA_NO_DAEMON"):
        return in_process(name, request)
    try:
        code, body = client.ask(verb, request, _patience(name, seconds), _waiting(warm_wait))
    except client.Away:
        return _without_daemon(name, request, end, warm_wait)
    except client.Broken as problem:
        code, body = UNAVAILABLE, str(problem).encode("utf-8", "replace")
    if code == OK and not body.startswith(b"{"):
        code, body = UNAVAILABLE, b"the daemon sent no rows"
    words_do = name in _AT_ONCE or (name in _AFTER_WAITING and end - time.monotonic() >= _WORDS_S)
    if words_do and code in (UNAVAILABLE, LATE):
        return in_process(name, request)
    return code, body


def _patience(name: str, seconds: float) -> float:
    """How many of its ``seconds`` a lane gives the daemon: what knows words keeps enough to look them up."""
    if name in _AT_ONCE:
        return seconds * _DAEMON_SHARE
    keeps = name in _AFTER_WAITING and seconds * (1 - _PATIENT_SHARE) >= _WORDS_S
    return seconds * _PATIENT_SHARE if keeps else seconds


def _waiting(seconds: float) -> tuple[tuple[bytes, bytes], ...]:
    """What to tell the daemon of how long to wait for its models; nothing where the person's setting holds."""
    return ((b"CHITTA_WARM_WAIT_MS", b"%d" % (seconds * 1000)),) if seconds >= 0 else ()


def _without_daemon(name: str, request: bytes, end: float, warm_wait: float) -> tuple[int, bytes]:
    """Start the daemon, and wait for it as long as this lane's kind of answer is worth.

    Next to nothing is imported by a lane that waits: the daemon and the lanes that answer at once need the processor.
    """
    from chitta import starter

    rules = _settings_file()
    # Before the settings are read, which costs time that a lane may not have; unless they may forbid it.
    may_forbid = b"no_daemon" in rules.lower()
    coming = not may_forbid and starter.start_daemon()
    alone, wait = _told(warm_wait, bool(rules))
    if alone:
        return in_process(name, request)
    if may_forbid:
        coming = starter.start_daemon()
    if name in _AT_ONCE:
        return in_process(name, request)
    code, why = UNAVAILABLE, b"there is no daemon"
    if coming:
        try:
            code, why = _wait_for_daemon(name, request, end, wait)
        except client.Away:
            why = b"the daemon is still starting"
        except client.Broken as problem:
            why = str(problem).encode("utf-8", "replace")
    words_do = name in _AFTER_WAITING and code in (UNAVAILABLE, LATE)
    return in_process(name, request) if words_do else (code, why)


def _settings_file() -> bytes:
    """``chitta.toml``, as far as one is read; nothing where there is none."""
    try:
        descriptor = posix.open(client.home() + "/chitta.toml", posix.O_RDONLY | posix.O_NONBLOCK)
        try:
            return posix.read(descriptor, _MOST_FILE_BYTES)
        finally:
            posix.close(descriptor)
    except OSError:
        return b""


def _told(warm_wait: float, with_file: bool) -> tuple[bool, float]:
    """Whether no daemon may be started, and the seconds to wait for one that starts; ``chitta.toml`` costs imports."""
    alone, wait_ms = False, client.number("CHITTA_WARM_WAIT_MS", _WARM_WAIT_MS)
    if with_file:
        client.bring_packages()
        from chitta.settings import load

        settings = load()
        alone, wait_ms = settings.flag("CHITTA_NO_DAEMON"), settings.integer("CHITTA_WARM_WAIT_MS")
    return alone, warm_wait if warm_wait >= 0 else wait_ms / 1000


def _wait_for_daemon(name: str, request: bytes, end: float, wait: float) -> tuple[int, bytes]:
    """Ask as soon as it listens; what the wait has used is no longer the daemon's to wait for its models."""
    give_up = time.monotonic() + wait
    while True:
        left = max(give_up - time.monotonic(), 0.0)
        try:
            return client.ask(b"lane " + name.encode(), request, end - time.monotonic(), _waiting(left))
        except client.Away:
            if left <= client.LOOK_EVERY_S:
                raise
        time.sleep(client.LOOK_EVERY_S)


def in_process(name: str, request: bytes) -> tuple[int, bytes]:
    """The same answer, made in this process; a dependency that cannot be had is 111."""
    client.bring_packages()
    import os

    kept = posix.dup(1)
    posix.dup2(2, 1)  # whatever a library prints is not a row
    try:
        from chitta.gateway.inprocess import answer as answer_here

        return answer_here(name, request, dict(os.environ))
    except (ImportError, OSError) as problem:
        return UNAVAILABLE, f"cannot answer without the daemon: {problem}".encode("utf-8", "replace")
    finally:
        posix.dup2(kept, 1)
        posix.close(kept)


def _read_request() -> bytes:
    """All of standard input, cut at the size that no request reaches; empty when there is none."""
    parts: list[bytes] = []
    size = 0
    try:
        while size < MAX_REQUEST_BYTES and (part := posix.read(0, _CHUNK_BYTES)):
            parts.append(part)
            size += len(part)
    except OSError:
        pass
    return b"".join(parts)


def _by_hand(name: str, arguments: list[str]) -> None:
    """``lanes/NAME "some words"`` and ``--help``: typer, imported only here. Does not return."""
    if not arguments:
        client.complain(f"{name}: no request on standard input", f'{name} "some words", or {name} --help')
        posix._exit(MISUSE)
    client.pin_interpreter("-I")
    client.bring_packages()
    try:
        from chitta.cli.lane_by_hand import run
    except ImportError as problem:
        client.complain(f"not installed: {problem}", f"run {client.root()}/install.sh")
        posix._exit(UNAVAILABLE)
    run(name)
    posix._exit(OK)
