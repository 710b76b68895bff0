"""Starting the daemon: from a command line to a process that serves.

The order is what makes a start quick. Lock, bind and listen need next to nothing; from then on
clients can connect and wait. The rest of the room is imported while they do, then the index is
opened, and the models come last, in the background.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Mapping
from typing import TYPE_CHECKING, NoReturn

from chitta import __version__, edition, settings
from chitta.daemon import lifecycle
from chitta.daemon.lifecycle import AlreadyRunning, CannotStart, Listener
from chitta.folders import how_to_close, open_to_others

if TYPE_CHECKING:
    from chitta.daemon.warmup import Loaders

MISUSE = 100
UNAVAILABLE = 111
LOCK_VARIABLE = "CHITTA_LOCK_FD"
_SIGNALS = ("SIGTERM", "SIGINT", "SIGHUP")

USAGE = """\
Usage: chittad [--foreground | --detached] [--help] [--version]

Keeps the index and the models of one store open and answers the lanes over a private socket.
Lanes start it when they need it, and it leaves when nobody has asked for a while; there is no
need to run it by hand.

  --foreground  stay in the terminal, log to standard error (the default)
  --detached    go on in the background, log to $CHITTA_HOME/state/chittad.log;
                returns once the socket listens

It ends with 0, also when another daemon serves the store already; with 100 when it is called in a
way that means nothing; with 111 when it cannot start.
"""


def main(argv: list[str] | None = None) -> int:
    """The command ``chittad``; returns the exit code."""
    words = sys.argv[1:] if argv is None else argv
    if "--help" in words or "-h" in words:
        print(USAGE, end="")
        return 0
    if "--version" in words:
        print(f"chittad {__version__}")
        return 0
    unknown = [word for word in words if word not in ("--foreground", "--detached")]
    if unknown or len(set(words)) > 1:
        print(f"chitta: chittad does not know {' '.join(unknown or words)}", file=sys.stderr)
        print("hint: `chittad --help` shows how it is used", file=sys.stderr)
        return MISUSE
    try:
        run(dict(os.environ), os.getcwd(), detached="--detached" in words)
    except AlreadyRunning:
        print("chitta: the daemon of this store is already running", file=sys.stderr)
        return 0
    except CannotStart as problem:
        print(f"chitta: {problem.what}", file=sys.stderr)
        print(f"hint: {problem.hint}", file=sys.stderr)
        return UNAVAILABLE


def run(environ: Mapping[str, str], folder: str, *, detached: bool, loaders: Loaders | None = None) -> NoReturn:
    """Serve the store that ``environ`` names until it is time to leave; ends the process.

    ``folder`` is where relative paths begin. Raises :class:`AlreadyRunning` or :class:`CannotStart`
    while nothing is served yet.
    """
    os.umask(0o077)
    lifecycle.fill_standard()
    own = settings.load(environ)
    open_folder = open_to_others(own.home, own.notes_dir)
    if open_folder:
        raise CannotStart(open_folder, how_to_close(own.home))
    run_dir = lifecycle.private_folder(os.path.join(folder, own.run_dir))
    lock = lifecycle.take_lock(run_dir, environ.get(LOCK_VARIABLE))
    listener = lifecycle.listen(run_dir)
    lifecycle.close_inherited({lock, listener.socket.fileno()})
    if detached:
        lifecycle.cut_loose()
    lifecycle.write_pid(run_dir)
    try:
        _serve(environ, folder, listener, detached=detached, loaders=loaders)
    finally:
        lifecycle.clear(listener)
    # Threads may still be inside a model; there is nothing left that would need an orderly end.
    os._exit(0)


def _serve(
    environ: Mapping[str, str], folder: str, listener: Listener, *, detached: bool, loaders: Loaders | None
) -> None:
    edition.own()  # before the rest is imported: that may be newer already
    from chitta.daemon import memory
    from chitta.daemon.environment import Environment
    from chitta.daemon.logbook import Logbook

    memory.few_arenas()
    environment = Environment(environ, folder)
    _own_environment(environment.home, environment.run_dir)
    os.chdir("/")
    lifecycle.raise_descriptor_limit()
    own = environment.own()
    log = Logbook(os.path.join(own.state_dir, "chittad.log") if detached else None, own_stderr=detached)
    log.note("start", version=__version__)

    from chitta.daemon.server import Server
    from chitta.daemon.service import Service, assemble
    from chitta.daemon.warmup import shipped_loaders

    parts = assemble(environment, log, loaders or shipped_loaders())
    there_at_first = os.path.isdir(environment.home)
    service = Service(parts, lambda reason: server.leave(reason))
    server = Server(
        listener,
        service.answer,
        log=log,
        idle_s=lambda: environment.own().integer("CHITTA_IDLE_TIMEOUT"),
        busy=parts.writer.busy,
        home_is_there=lambda: not there_at_first or os.path.isdir(environment.home),
        at_rest=service.rest,
    )
    for name in _SIGNALS:
        signal.signal(getattr(signal, name), lambda number, frame: server.leave(f"signal {number}"))
    threading.Thread(target=service.warm_up, name="warm-up", daemon=True).start()
    reason = server.serve()
    log.note("leave", reason=reason, requests=service.requests)


def _own_environment(home: str, run_dir: str) -> None:
    """Forget what the starter's environment asked of its own processes, and never go to a network.

    onnxruntime sends and stores usage events unless it is told not to.
    """
    for name in [name for name in os.environ if name.startswith("CHITTA_")]:
        del os.environ[name]
    os.environ |= {"CHITTA_HOME": home, "CHITTA_RUN_DIR": run_dir}
    os.environ |= {"HF_HUB_OFFLINE": "1", "TRANSFORMERS_OFFLINE": "1", "ORT_DISABLE_TELEMETRY": "1"}
    os.environ["TOKENIZERS_PARALLELISM"] = "false"
