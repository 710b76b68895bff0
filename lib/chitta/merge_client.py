"""The last step of a prompt: wait for the lanes, end the late ones, have the answers merged, print.

``chitta-merge DIR HOOK_PID`` starts with the first step, so that it is there when the lanes are: which they are it
reads in ``DIR/launched``, one line ``BUDGET_MS NAME=PGID:LIMIT_MS … NAME=ablated …``. It owns the wait. It publishes
each answer (``NAME.part`` becomes ``NAME.jsonl`` on exit 0, then ``NAME.exit`` becomes ``NAME.rc``), so no process is
started for a rename. It prints the bytes for the harness and exits 0, or prints nothing and exits 1.
"""

import posix
import sys
import time

from chitta import client
from chitta.client import LATE, MISUSE, OK, UNAVAILABLE

MAX_ANSWER_BYTES = 4 * 1024 * 1024
#: Kept of the budget for merging, as long as that is no more than a quarter of it.
_RESERVE_MS = 250.0
_RESERVE_SHARE = 0.25
_LEAST_LEFT_MS = 100.0
#: Seconds between two looks at the folder: short while lanes usually answer, longer later.
_LOOK_EARLY_S, _LOOK_LATE_S, _EARLY_S = 0.001, 0.003, 0.3
#: Seconds after which a merge without the daemon is made ready: a daemon that is starting, and lanes that answer at
#: once, need the processor before.
_IMPORT_AFTER_S = 0.4
#: What the daemon's merge may take before this process does it: a share of what is left, and no longer than that.
_DAEMON_SHARE, _DAEMON_S = 0.5, 1.0
_STATES = {OK: "ok", MISUSE: "misuse", UNAVAILABLE: "unavailable", LATE: "late"}
_SIGKILL = 9
_BUDGET_MS = 6000


class Lane:
    """One lane of this run: its process group (0 when it was not started), its limit, its fate."""

    __slots__ = ("name", "group", "limit_ms", "state", "ended_at", "ms", "rows")

    def __init__(self, name: str, group: int, limit_ms: float, state: str = "") -> None:
        self.name = name
        self.group = group
        self.limit_ms = limit_ms
        self.state = state
        self.ended_at = 0.0
        self.ms = 0.0
        self.rows = b""


def main() -> None:
    """Run as this process; does not return."""
    folder = ""
    code = 0
    output = b""
    lanes: list[Lane] = []
    try:
        folder = sys.argv[1]
        began = time.monotonic() - age_ms(folder) / 1000
        client.alarm(client.number("CHITTA_HOOK_BUDGET_MS", _BUDGET_MS) / 1000)  # until there is something to wait for
        words = launched(folder, int(sys.argv[2]))
        lanes = [parse_lane(word) for word in words[1:]]
        output = run(folder, float(words[0]), lanes, began) if words else b""
    except Exception as problem:
        client.complain(f"merge: {type(problem).__name__}: {problem}")
        client.leave_breadcrumb("merge", problem)
        code = 1
    for lane in lanes:
        kill(lane.group)
    if folder:
        client.remove_folder(folder)
    if code == 0 and output and not client.write_all(1, output):
        code = 1
    posix._exit(code)


def launched(folder: str, hook: int) -> list[str]:
    """What the hook (its process id) has started, once it says so; nothing where it has ended without doing so."""
    while True:
        try:
            line = _contents(f"{folder}/launched")
            if line.endswith(b"\n"):
                return line.decode().split()
        except OSError:
            pass  # it is not there yet
        if posix.getppid() != hook or not posix.access(folder, posix.F_OK):
            return []
        time.sleep(_LOOK_EARLY_S)


def parse_lane(argument: str) -> Lane:
    """``NAME=PGID:LIMIT_MS`` or ``NAME=ablated``. Raises ``ValueError``."""
    name, _, rest = argument.partition("=")
    if rest == "ablated":
        return Lane(name, 0, 0.0, "ablated")
    group, _, limit = rest.partition(":")
    return Lane(name, int(group), float(limit))


def run(folder: str, budget_ms: float, lanes: list[Lane], began: float) -> bytes:
    """Wait, merge; the bytes to print. ``began`` is the monotonic time of the hook's first line."""
    started_at = posix.stat(f"{folder}/started").st_mtime
    left = remaining_ms(budget_ms, (time.monotonic() - began) * 1000) / 1000
    end = time.monotonic() + left
    client.alarm(left)
    if client.flag("CHITTA_NO_DAEMON"):
        _import_merge()  # while the lanes work
    wait(folder, lanes, end - min(_RESERVE_MS / 1000, left * _RESERVE_SHARE))
    for lane in lanes:
        collect(folder, lane, started_at)
    request = _contents(f"{folder}/request.json")
    waited_ms = (time.time() - started_at) * 1000
    output = _merge(request, lanes, waited_ms, end)
    if client.flag("CHITTA_RECALL_PROFILE"):
        request_at = posix.stat(f"{folder}/request.json").st_mtime
        turn_ms = (request_at - started_at) * 1000
        client.write_all(2, profile(lanes, turn_ms, waited_ms, (time.time() - started_at) * 1000))
    return output


def age_ms(folder: str) -> float:
    """Milliseconds since the hook's first line, by its ``started`` marker; 0 where the clock was set back since.

    Asked once, as early as can be: from then on a clock counts that nobody sets. Without a marker the run is over.
    """
    try:
        return max(time.time() - posix.stat(f"{folder}/started").st_mtime, 0.0) * 1000
    except OSError:
        return 0.0


def remaining_ms(budget_ms: float, passed_ms: float) -> float:
    """What is left of the budget after so much time; never less than 100 ms of it."""
    return min(max(budget_ms - passed_ms, _LEAST_LEFT_MS), budget_ms)


# The wait


def wait(folder: str, lanes: list[Lane], end: float) -> None:
    """Until every lane has ended, its own limit is over, or ``end`` has come; late groups are killed."""
    began = time.monotonic()
    pending = [lane for lane in lanes if not lane.state]
    ready = False
    while pending:
        now = time.monotonic()
        if not ready and now - began >= _IMPORT_AFTER_S:
            ready = True
            if merges_here():
                _import_merge()
        names = set(posix.listdir(folder))
        for lane in tuple(pending):
            if f"{lane.name}.exit" in names and publish(folder, lane):
                pending.remove(lane)
            elif now >= end or (now - began) * 1000 >= lane.limit_ms:
                kill(lane.group)
                lane.state, lane.ended_at = "late", time.time()
                pending.remove(lane)
            elif now - began >= _EARLY_S and not is_there(lane.group):
                if not publish(folder, lane) or lane.state:  # its exit code could not be written down
                    lane.state, lane.ended_at = "crash", time.time()
                pending.remove(lane)
        if pending:
            time.sleep(_LOOK_EARLY_S if now - began < _EARLY_S else _LOOK_LATE_S)


def publish(folder: str, lane: Lane) -> bool:
    """Give an ended lane's files their final names; False while its exit code is not wholly written."""
    exit_file = f"{folder}/{lane.name}.exit"
    try:
        code = _contents(exit_file)
        if not code.endswith(b"\n"):
            return False
        if code == b"0\n":
            posix.rename(f"{folder}/{lane.name}.part", f"{folder}/{lane.name}.jsonl")
        posix.rename(exit_file, f"{folder}/{lane.name}.rc")
    except OSError:
        lane.state = "crash"
    return True


def kill(group: int) -> None:
    """End a process group; 0 and 1 name no group of ours."""
    if group > 1:
        try:
            posix.kill(-group, _SIGKILL)
        except OSError:
            pass


def is_there(group: int) -> bool:
    """Whether any process of the group is left; of 0 and 1, which name no group of ours, that is not said."""
    if group <= 1:
        return True
    try:
        posix.kill(-group, 0)
    except ProcessLookupError:
        return False
    except OSError:
        pass
    return True


def collect(folder: str, lane: Lane, started_at: float) -> None:
    """Read what an ended lane left, and when it ended, counted from the hook's first line.

    A file that cannot be read is a crash.
    """
    try:
        if not lane.state:
            _read_answer(folder, lane)
    except OSError:
        lane.state, lane.rows = "crash", b""
    if lane.ended_at:
        lane.ms = max((lane.ended_at - started_at) * 1000, 0.0)


def _read_answer(folder: str, lane: Lane) -> None:
    path = f"{folder}/{lane.name}.rc"
    lane.ended_at = posix.stat(path).st_mtime
    code = _contents(path).strip()
    lane.state = _STATES.get(int(code), "crash") if code.isdigit() else "crash"
    if lane.state == "ok":
        lane.rows = _contents(f"{folder}/{lane.name}.jsonl", MAX_ANSWER_BYTES + 1)
    if len(lane.rows) > MAX_ANSWER_BYTES:
        lane.state, lane.rows = "crash", b""


def _contents(path: str, limit: int = 64 * 1024 * 1024) -> bytes:
    # Not waiting: a lane may have put a FIFO there.
    descriptor = posix.open(path, posix.O_RDONLY | posix.O_NOFOLLOW | posix.O_NONBLOCK)
    try:
        parts: list[bytes] = []
        while limit > 0 and (part := posix.read(descriptor, min(limit, 1 << 20))):
            parts.append(part)
            limit -= len(part)
        return b"".join(parts)
    finally:
        posix.close(descriptor)


# Merging


def merges_here() -> bool:
    """Whether the answers are merged in this process: the daemon is away, or not to be asked."""
    if client.flag("CHITTA_NO_DAEMON"):
        return True
    return not posix.access(f"{client.run_dir()}/{client.SOCKET_NAME}", posix.F_OK)


def encode_body(request: bytes, lanes: list[Lane], total_ms: float, seconds: float) -> bytes:
    """The body of a ``merge``: the request's part, then one part a lane. ``seconds``: how long it is waited for."""
    parts = [b"request %d total_ms=%.1f within_ms=%d\n" % (len(request), total_ms, seconds * 1000), request]
    for lane in lanes:
        facts = f"lane {len(lane.rows)} name={lane.name} state={lane.state} ms={lane.ms:.1f}\n"
        parts += [facts.encode(), lane.rows]
    return b"".join(parts)


def _merge(request: bytes, lanes: list[Lane], total_ms: float, end: float) -> bytes:
    if not merges_here():
        seconds = min((end - time.monotonic()) * _DAEMON_SHARE, _DAEMON_S)
        try:
            return _merge_there(request, lanes, total_ms, seconds)
        except (client.Away, client.Broken) as problem:
            client.complain(f"merge: {problem}; merging here")
    return _merge_here(request, lanes, total_ms)


def profile(lanes: list[Lane], turn_ms: float, waited_ms: float, total_ms: float) -> bytes:
    """One line of times since the hook's first line: the turn's end, each lane's, the wait's, the merge's."""
    words = [f"turn={turn_ms:.0f}ms"]
    words += [f"{lane.name}={lane.ms:.0f}ms({lane.state})" for lane in lanes]
    words += [f"wait={waited_ms:.0f}ms", f"total={total_ms:.0f}ms"]
    return f"chitta: profile {' '.join(words)}\n".encode()


def _merge_there(request: bytes, lanes: list[Lane], total_ms: float, seconds: float) -> bytes:
    code, body = client.ask(b"merge", encode_body(request, lanes, total_ms, seconds), seconds)
    if code != OK:
        raise client.Broken(f"the daemon refused: {body[:200].decode('utf-8', 'replace').strip()}")
    output, rest = _part(b"out", body)
    if output and not _is_object(output):
        raise client.Broken("the daemon's merge is no JSON object")
    client.write_all(2, _part(b"err", rest)[0])
    return output


class _Strict:
    """What the scanner of :mod:`json` asks its decoder for, as a plain decoder has it."""

    strict = True
    object_hook = object_pairs_hook = None
    parse_float, parse_int, parse_constant = float, int, float
    memo: dict[str, str] = {}


def _is_object(output: bytes) -> bool:
    """Whether the bytes are one JSON object. The scanner alone is asked: importing ``json`` costs milliseconds."""
    from _json import make_scanner

    try:
        text = output.decode("utf-8").strip()
        value, end = make_scanner(_Strict())(text, 0)  # type: ignore[arg-type]
    except (ValueError, StopIteration, RecursionError, SystemError):  # the last where json.decoder is not imported
        return False
    return isinstance(value, dict) and end == len(text)


def _part(name: bytes, body: bytes) -> tuple[bytes, bytes]:
    """The bytes of the part that ``body`` begins with, and what follows it. Raises ``Broken``."""
    head, newline, rest = body.partition(b"\n")
    words = head.split(b" ")
    if not newline or len(words) < 2 or words[0] != name or not words[1].isdigit() or len(rest) < int(words[1]):
        raise client.Broken("the daemon sent no merge")
    return rest[: int(words[1])], rest[int(words[1]) :]


def _import_merge() -> None:
    client.bring_packages()
    import chitta.merge  # noqa: F401


def _merge_here(request: bytes, lanes: list[Lane], total_ms: float) -> bytes:
    client.bring_packages()
    from chitta.merge import finish
    from chitta.settings import load
    from chitta.wire.request import parse_request
    from chitta.wire.rows import parse_rows

    results = [parse_rows(lane.name, lane.state, lane.ms, lane.rows) for lane in lanes]
    finished = finish(parse_request(request), results, settings=load(), total_ms=total_ms)
    client.write_all(2, finished.stderr)
    return finished.stdout
