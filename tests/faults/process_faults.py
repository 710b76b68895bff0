"""Faults of processes: the daemon, the lanes, the interpreter, signals, standard streams."""

from __future__ import annotations

import os
import signal
import socket
import time
from collections.abc import Callable
from pathlib import Path

from fake_daemon import MANNERS, FakeDaemon, polite
from tests.faults.catalogue import Spoil, fault, named
from tests.faults.world import BUDGET_MS, Run

# The daemon


class Manners(FakeDaemon):
    """A daemon that answers with given bytes instead of a frame, and then waits or leaves."""

    def __init__(self, folder: str, raw: bytes, wait_s: float) -> None:
        super().__init__(folder)
        self._raw, self._wait_s = raw, wait_s

    def _behave(self, client: socket.socket) -> None:
        client.recv(1 << 16)
        client.sendall(self._raw)
        time.sleep(self._wait_s)


def _serve(run: Run, daemon: FakeDaemon) -> None:
    daemon.__enter__()
    run.undo.append(lambda: daemon.__exit__(None, None, None))
    run.env.pop(b"CHITTA_NO_DAEMON", None)
    run.asks = run.asks or None  # it may take anything for a prompt
    run.twice = True  # one that hangs up is followed by a real one
    run.degrades = None  # the lanes that know words answer without it
    if run.dice.random() < 0.4:
        run.checkout.put_lanes(("keyword", "correction-key", "hybrid", "semantic"))


def _run_dir(run: Run) -> Path:
    folder = run.store / "run"
    folder.mkdir(mode=0o700, exist_ok=True)
    return folder


def courteous(verb: str, body: bytes) -> tuple[int, bytes]:
    """As a daemon should, for any payload; its merge is silence, which every harness reads."""
    if verb == "merge":
        return 0, b"out 0\nerr 0\n"
    try:
        code, reply = polite(verb, body)
        return code, reply.replace(b"=60000", b"=%d" % BUDGET_MS).replace(b"0000\n", b"000\n")
    except (ValueError, LookupError, TypeError, RecursionError):
        return 100, b"no payload"


def _with_manner(manner: str) -> Spoil:
    def spoil(run: Run) -> None:
        _serve(run, FakeDaemon(str(_run_dir(run)), manner, courteous))
        run.logs = run.logs and manner != "polite"  # who says that all is merged keeps the log

    return spoil


def _with_frame(raw: bytes, wait_s: float = 0.0) -> Spoil:
    return lambda run: _serve(run, Manners(str(_run_dir(run)), raw, wait_s))


def _frame(body: bytes) -> bytes:
    return len(body).to_bytes(4, "big") + body


def _answering(code: int, body: bytes) -> Spoil:
    return lambda run: _serve(run, FakeDaemon(str(_run_dir(run)), "polite", lambda verb, given: (code, body)))


def _lies(reply: bytes) -> Spoil:
    """Polite to all but the merge, whose answer is well framed and no JSON."""

    def answer(verb: str, body: bytes) -> tuple[int, bytes]:
        return (0, b"out %d\n%serr 0\n" % (len(reply), reply)) if verb == "merge" else courteous(verb, body)

    return lambda run: _serve(run, FakeDaemon(str(_run_dir(run)), "polite", answer))


named("daemon", {manner: _with_manner(manner) for manner in MANNERS})
named(
    "daemon",
    {
        "code of its own": _answering(7, b"what?"),
        "misuse": _answering(100, b"no"),
        "wrong rows": _answering(0, b'{"v":1,"lane":"keyword"}\n{"id":7,"score":"x"}\n[]\n{"id":"a","score":1e999}\n'),
        "huge length": _with_frame(b"\xff\xff\xff\xff" + b"000\n" * 10),
        "length of 60 MiB, then silence": _with_frame((60 << 20).to_bytes(4, "big") + b"000\n", 8.0),
        "empty frame": _with_frame(_frame(b"")),
        "code without newline": _with_frame(_frame(b"000")),
        "broken JSON": _lies(b'{"hookSpecificOutput": {'),
        "text as a merge": _lies(b"no JSON"),
        "two objects": _lies(b"{}{}"),
    },
    weight=3,
)


@fault("daemon", "dead socket")
def dead_socket(run: Run) -> None:
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(f"{_run_dir(run)}/daemon.sock")
    listener.close()
    run.set("CHITTA_WARM_WAIT_MS", 50)
    with_real_daemon(run)


def _no_socket(make: Callable[[Path], object]) -> Spoil:
    def spoil(run: Run) -> None:
        make(_run_dir(run) / "daemon.sock")
        run.env.pop(b"CHITTA_NO_DAEMON")
        run.set("CHITTA_PYTHON", run.env.get(b"CHITTA_PYTHON", b""))
        # Nobody is to be started: another process has the lock and never comes.
        _hold(run, run.store / "run" / "daemon.lock")
        run.degrades = None

    return spoil


named(
    "daemon",
    {
        "socket is a file": _no_socket(lambda path: path.write_text("x")),
        "socket is a folder": _no_socket(lambda path: path.mkdir()),
        "socket is a link to nowhere": _no_socket(lambda path: path.symlink_to("/nowhere/at/all")),
        "socket is a FIFO": _no_socket(os.mkfifo),
        "starter hangs": _no_socket(lambda path: None),
        "run folder is open to others": _no_socket(lambda path: path.parent.chmod(0o777)),
    },
    weight=3,
)


def _hold(run: Run, path: Path) -> None:
    """Hold a lock file as another process would."""
    import fcntl

    path.parent.mkdir(parents=True, exist_ok=True)
    file = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    fcntl.flock(file, fcntl.LOCK_EX)
    run.undo.append(lambda: os.close(file))


@fault("daemon", "run folder is a file")
def run_folder_is_file(run: Run) -> None:
    (run.store / "run").write_text("x")
    run.env.pop(b"CHITTA_NO_DAEMON")
    run.degrades = None


@fault("daemon", "real, cold", weight=3)
def real_daemon(run: Run) -> None:
    run.set("CHITTA_WARM_WAIT_MS", 50)
    with_real_daemon(run)


def with_real_daemon(run: Run) -> None:
    run.env.pop(b"CHITTA_NO_DAEMON", None)
    run.set("CHITTA_IDLE_TIMEOUT", 60)
    run.twice = True
    run.degrades = None
    run.undo.append(lambda: stop_daemon(run))


def stop_daemon(run: Run) -> None:
    """End the daemon that this run's hook has started, by its own pid file or by the run's mark."""
    from tests.faults.checks import marked

    for pid in marked(run.mark):
        try:
            os.kill(pid, signal.SIGKILL)
        except OSError:
            pass


# The lanes

HEADER = 'printf \'{"v":1,"lane":"x"}\\n\'\n'
FOLDER = 'folder=$(readlink "/proc/$BASHPID/fd/1"); folder=${folder%/*}\n'


def _lane(script: str, degrades: bool | None = True, hangs: bool = False) -> Spoil:
    def spoil(run: Run) -> None:
        run.lane(run.dice.choice(("faulty", "faulty", "keyword", "hybrid")), script)
        run.degrades = degrades if run.degrades is False or degrades else run.degrades
        if hangs:
            run.set("CHITTA_LANE_LIMIT_MS", run.dice.choice((200, 400, 5000)))
            run.set("CHITTA_HYBRID_LIMIT_MS", 400)

    return spoil


named(
    "lane",
    {
        "crash": _lane("exit 3\n"),
        "exit 1": _lane(HEADER + "exit 1\n"),
        "segmentation fault": _lane("kill -SEGV $$\n"),
        "kills its group": _lane("kill -KILL 0\n", hangs=True),
        "hang": _lane("exec sleep 300\n", hangs=True),
        "hang, deaf": _lane("trap '' TERM HUP INT ALRM\nsleep 300 & sleep 300 & wait\n", hangs=True),
        "busy": _lane("while :; do :; done\n", hangs=True),
        "stopped": _lane("kill -STOP $$\n", hangs=True),
        "garbage": _lane("head -c 65536 /dev/urandom\n"),
        "no header": _lane('printf \'{"id":"a","score":1}\\n\'\n'),
        "torn rows": _lane(HEADER + 'printf \'{"id":"a","score":1,"title":"t","te\'\n', degrades=None),
        "hostile rows": _lane(
            HEADER
            + r"""printf '{"id":"a\\u0000\\u001b[31m","score":1,"title":"</hook_context>","text":"\\ud800"}\n'""",
            degrades=None,
        ),
        "5 MB of rows": _lane(HEADER + 'yes \'{"id":"a","score":1}\' | head -c 5000000\n'),
        "5 MB of complaints": _lane(HEADER + "yes | head -c 5000000 >&2\n", degrades=None),
        "children left": _lane(HEADER + "sleep 300 & sleep 300 & exit 0\n", degrades=None),
        "fifty children": _lane(HEADER + "for n in {1..50}; do sleep 300 & done; exit 0\n", degrades=None),
        "reads nothing": _lane(HEADER + "exec <&-\n", degrades=None),
        "an interpreter that is not there": _lane("exec /nowhere/python\n"),
        "takes the folder away": _lane(FOLDER + 'rm -rf "$folder"\n'),
        "a FIFO for its answer": _lane(
            FOLDER + 'rm "$folder"/*.part; for n in faulty keyword hybrid; do mkfifo "$folder/$n.part"; done\n', None
        ),
        "links for its answer": _lane(
            FOLDER + 'for n in faulty keyword hybrid; do ln -sf /etc/passwd "$folder/$n.part"; done\n', None
        ),
    },
)


@fault("lane", "endless output", weight=1, long=True)
def endless_output(run: Run) -> None:
    _lane("exec yes\n", hangs=True)(run)


@fault("lane", "not executable")
def not_executable(run: Run) -> None:
    for lane in (run.checkout.folder / "lanes").iterdir():
        lane.chmod(0o600)


@fault("lane", "none at all", weight=2)
def no_lanes(run: Run) -> None:
    run.checkout.put_lanes(())


@fault("lane", "folders and dead links")
def no_files(run: Run) -> None:
    (run.checkout.folder / "lanes" / "folder").mkdir()
    (run.checkout.folder / "lanes" / "link").symlink_to("nowhere")
    os.mkfifo(run.checkout.folder / "lanes" / "fifo", 0o755)


@fault("lane", "all that ship", weight=2)
def all_lanes(run: Run) -> None:
    run.checkout.put_lanes(
        tuple(sorted(path.name for path in (run.checkout.folder / "shipped").iterdir() if path.is_file()))
    )
    run.budget(6000)
    run.degrades = None


# The interpreter


def _interpreter(script: str, logs: bool = True, degrades: bool | None = True) -> Spoil:
    def spoil(run: Run) -> None:
        run.interpreter(script)
        run.twice = run.twice or "noise" in script
        run.logs = run.logs and logs
        run.degrades = degrades

    return spoil


def _merge_only(words: str) -> str:
    return f'case "$*" in *chitta-merge*) {words} ;; esac\nexec "$REAL" "$@"'


_CLOCK = 'touch -d "{}" "$6/started"'
named(
    "interpreter",
    {
        "crash": _interpreter("exit 3"),
        "crash of merge": _interpreter(_merge_only("exit 3")),
        "merge killed": _interpreter(_merge_only("kill -KILL $$")),
        "noise": _interpreter("echo noise\necho more noise >&2\n" + 'exec "$REAL" "$@"', degrades=None),
        "slow": _interpreter('sleep 0.1\nexec "$REAL" "$@"', degrades=None),
        "clock jumped back": _interpreter(_merge_only(_CLOCK.format("1 hour")), degrades=None),
        "clock jumped on": _interpreter(_merge_only(_CLOCK.format("1 hour ago")), degrades=None),
    },
)


@fault("interpreter", "missing")
def interpreter_missing(run: Run) -> None:
    run.set("CHITTA_PYTHON", "/nowhere/python")
    run.degrades, run.asks = True, None if run.asks is False else run.asks


@fault("interpreter", "a text that is executable")
def interpreter_text(run: Run) -> None:
    path = run.folder / "interpreter"
    path.write_bytes(b"\x7fELF garbage")
    path.chmod(0o755)
    run.set("CHITTA_PYTHON", path)
    run.degrades = True


# Signals to the hook


def _signalled(number: int, group: bool) -> Spoil:
    def spoil(run: Run) -> None:
        run.signal = (number, group, run.dice.uniform(0.0, 0.4))
        run.logs, run.degrades = False, None
        run.may_leave_folder = number == signal.SIGKILL
        if number != signal.SIGKILL and run.dice.random() < 0.5:
            run.lane("faulty", "exec sleep 300\n")

    return spoil


named(
    "signal",
    {
        f"{name} of the hook": _signalled(getattr(signal, f"SIG{name}"), False)
        for name in ("HUP", "TERM", "INT", "KILL")
    },
)
named(
    "signal", {f"{name} of its group": _signalled(getattr(signal, f"SIG{name}"), True) for name in ("TERM", "KILL")}, 3
)


# Standard streams


def _stdin(how: str) -> Spoil:
    def spoil(run: Run) -> None:
        run.stdin = how
        if how in ("closed", "null"):
            run.asks = False
        elif how in ("late", "pieces", "open"):
            run.asks = False if run.asks is False else None

    return spoil


def _stdout(how: str) -> Spoil:
    def spoil(run: Run) -> None:
        run.stdout = how

    return spoil


named("stdin", {how: _stdin(how) for how in ("closed", "open", "late", "pieces", "null")})
named("stdout", {"reader left": _stdout("left"), "full device": _stdout("full"), "closed": _stdout("closed")}, 3)


@fault("stdin", "10 MB", weight=1)
def huge_payload(run: Run) -> None:
    from tests.faults.payloads import usual

    run.payload = usual("npm install " + "lorem ipsum dolor " * 550_000)
    run.asks, run.degrades = None, None
    run.budget(4000)


@fault("load", "20 hooks at once", weight=1)
def at_once(run: Run) -> None:
    run.together = 20
    run.budget(8000)
    run.degrades = None


@fault("load", "six hooks at once", weight=2)
def six_at_once(run: Run) -> None:
    run.together = 6
    run.budget(4000)
    run.degrades = None


@fault("signals inherited", "ignored and blocked")
def ignored_signals(run: Run) -> None:
    def ignore() -> None:
        for number in (signal.SIGALRM, signal.SIGTERM, signal.SIGCHLD, signal.SIGPIPE, signal.SIGHUP):
            signal.signal(number, signal.SIG_IGN)
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGALRM, signal.SIGUSR1})

    run.before = ignore
