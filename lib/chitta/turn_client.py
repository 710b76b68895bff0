"""The first step of a prompt: read the harness's payload, have it prepared, say what to launch.

``chitta-turn DIR/request.json [HARNESS]`` reads the payload from standard input within a time of
its own, writes the request and prints the launch facts (``go=1``, limits, lanes to leave out).
Whatever goes wrong is ``go=0``: then the prompt goes on without memories.
"""

import posix
import select
import sys
import time

from chitta import client
from chitta.client import OK

MAX_PAYLOAD_BYTES = 10 * 1024 * 1024
_CHUNK_BYTES = 256 * 1024
#: Seconds for the daemon to prepare a turn; here, alone, it takes about a fifth of that.
_DAEMON_S = 0.4
#: Seconds without a byte after which a whole JSON object counts as all, though nobody closed the pipe.
_QUIET_S = 0.05
_STDIN_WAIT_MS = 1500
_BUDGET_MS = 6000
#: Most of the budget that this step, and the wait for the payload in it, may use.
_TURN_SHARE = 0.75
_STDIN_SHARE = 0.5
#: Least time that is left to the lanes, however late the payload came.
_LEAST_LEFT_MS = 100
NOTHING = b"go=0\n"


def main() -> None:
    """Run as this process; does not return."""
    started_by = posix.getppid()
    client.alarm(_TURN_SHARE * _budget())
    request_path, harness = sys.argv[1], "".join(sys.argv[2:3])
    folder = request_path.rpartition("/")[0]
    code = 0
    try:
        began = time.monotonic() - age_s(folder)
        payload = read_payload(0)
        # An agent that chitta itself has started has no person in front of it, and its prompt is chitta's own.
        asks = payload.strip() and not client.flag("CHITTA_HEADLESS")
        facts, request = prepare(payload, harness) if asks else (NOTHING, b"")
        if request:
            _write_private(request_path, request)
            facts += b"left_ms=%d\n" % left_ms(time.monotonic() - began, facts)
    except Exception as problem:
        client.complain(f"turn: {type(problem).__name__}: {problem}")
        client.leave_breadcrumb("turn", problem)
        facts, code = NOTHING, 1
    client.write_all(1, facts)
    if facts == NOTHING or posix.getppid() != started_by:
        client.remove_folder(folder)  # nothing follows, or nobody is left to clear up
    posix._exit(code)


def prepare(payload: bytes, harness: str) -> tuple[bytes, bytes]:
    """Launch facts and request, from the daemon or made here; no request means there is nothing to do."""
    if not client.flag("CHITTA_NO_DAEMON"):
        verb = b"turn %s %s" % (percent_encoded(client.to_bytes(harness)), percent_encoded(_folder()))
        try:
            code, body = client.ask(verb, payload, min(_DAEMON_S, _budget() / 4))
        except (client.Away, client.Broken):
            code, body = client.UNAVAILABLE, b""
        facts, _, request = body.partition(b"\n\n")
        if code == OK and facts.startswith(b"go="):
            return _launchable(facts, request)
    return _prepare_here(payload, harness)


def _prepare_here(payload: bytes, harness: str) -> tuple[bytes, bytes]:
    client.bring_packages()
    from chitta import breadcrumb
    from chitta.folders import open_to_others
    from chitta.settings import load
    from chitta.turn import prepare as prepare_turn
    from chitta.wire.request import encode_request

    settings = load()
    open_folder = open_to_others(settings.home, settings.notes_dir)
    if open_folder:
        breadcrumb.leave(settings.state_dir, "turn", f"degraded: {open_folder}")
        return NOTHING, b""
    folder = client.to_text(_folder())
    turn = prepare_turn(payload, settings=settings, harness=harness, cwd=folder, run=f"h{time.time_ns():x}")
    facts = "\n".join(f"{name}={value}" for name, value in turn.facts.items()).encode()
    return _launchable(facts, encode_request(turn.request) if turn.request is not None else b"")


def _launchable(facts: bytes, request: bytes) -> tuple[bytes, bytes]:
    """Facts with a last newline, and the request; both empty-handed unless both say go."""
    go = any(line == b"go=1" for line in facts.split(b"\n")) and request.strip()
    return (facts + b"\n", request) if go else (NOTHING, b"")


# Reading the payload


def read_payload(descriptor: int, most: int = 0) -> bytes:
    """What the harness writes, until it closes the pipe or has sent a whole JSON object and is quiet.

    A harness may keep the pipe open, or begin late; after CHITTA_STDIN_WAIT_MS what has come is
    all. At most ``most`` bytes are kept, :data:`MAX_PAYLOAD_BYTES` unless said.
    """
    most = most or MAX_PAYLOAD_BYTES
    started = time.monotonic()
    wait: float | None = None
    payload = bytearray()
    try:
        while len(payload) < most:
            ready, _, _ = select.select([descriptor], [], [], _QUIET_S)
            if ready:
                chunk = posix.read(descriptor, _CHUNK_BYTES)
                if not chunk:
                    break
                payload += chunk
            elif _is_whole(payload):
                break
            passed = time.monotonic() - started
            if passed >= _QUIET_S:
                wait = _stdin_wait() if wait is None else wait
                if passed >= wait:
                    break
    except OSError:
        pass
    return bytes(payload[:most])


def _is_whole(payload: bytearray) -> bool:
    if not payload.rstrip().endswith(b"}"):
        return False
    from json import loads

    try:
        return isinstance(loads(payload.decode("utf-8-sig", "replace"), strict=False), dict)
    except (ValueError, RecursionError):
        return False


def _stdin_wait() -> float:
    """Seconds to wait for the payload, inside the hook's budget.

    Asked only when the payload is not there at once, since ``chitta.toml`` costs imports.
    """
    if posix.access(client.home() + "/chitta.toml", posix.R_OK):
        client.bring_packages()
        from chitta.settings import load

        settings = load()
        wait, budget = settings.integer("CHITTA_STDIN_WAIT_MS") / 1000, settings.integer("CHITTA_HOOK_BUDGET_MS") / 1000
    else:
        wait, budget = client.number("CHITTA_STDIN_WAIT_MS", _STDIN_WAIT_MS) / 1000, _budget()
    return min(wait, _STDIN_SHARE * budget)


def _budget() -> float:
    """Seconds of the whole hook, as far as the environment tells."""
    return max(client.number("CHITTA_HOOK_BUDGET_MS", _BUDGET_MS) / 1000, _LEAST_LEFT_MS / 1000)


# Small parts


def age_s(folder: str) -> float:
    """Seconds since the hook's first line, by its ``started`` marker; 0 where the clock was set back since.

    Asked once, as early as can be: from then on a clock counts that nobody sets.
    """
    return max(time.time() - posix.stat(folder + "/started").st_mtime, 0.0)


def left_ms(passed_s: float, facts: bytes) -> int:
    """What is left of the budget after so many seconds, in milliseconds."""
    budget = _fact(facts, b"budget_ms", 0)
    return max(min(int(budget - passed_s * 1000), budget), min(_LEAST_LEFT_MS, budget))


def _fact(facts: bytes, name: bytes, default: int) -> int:
    for line in facts.split(b"\n"):
        key, _, value = line.partition(b"=")
        if key == name and value.isdigit():
            return int(value)
    return default


def percent_encoded(raw: bytes) -> bytes:
    """Bytes as one word of a head line: everything but letters, digits and ``/._-`` as ``%XX``."""
    return b"".join(
        b"%c" % byte if chr(byte).isascii() and (chr(byte).isalnum() or byte in b"/._-") else b"%%%02X" % byte
        for byte in raw
    )


def _folder() -> bytes:
    try:
        return posix.getcwdb()
    except OSError:
        return b""


def _write_private(path: str, data: bytes) -> None:
    descriptor = posix.open(path, posix.O_WRONLY | posix.O_CREAT | posix.O_EXCL | posix.O_NOFOLLOW, 0o600)
    if not client.write_all(descriptor, data):
        raise OSError(f"{path} cannot be written")
    posix.close(descriptor)
