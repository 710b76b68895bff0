"""What one run of the hook finds: a checkout, a store, an environment, and ways to spoil each."""

from __future__ import annotations

import os
import random
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PYTHON = ROOT / ".venv" / "bin" / "python"

#: The variable by which the processes of a run are known in the process table.
MARK = "FAULT_BATTERY_RUN"
#: What a fault leaves in the log, as a writer that was killed would.
A_LINE, HALF_A_LINE = b'{"x": 1}', b'{"x":'
#: Milliseconds of a run's budget, where a fault does not set another.
BUDGET_MS = 1500

#: Makes a store of the samples that ship, indexed for words. Run by the checkout's interpreter.
_MAKE_STORE = """
import shutil, sys
from pathlib import Path
import chitta
from chitta import settings
from chitta.index.indexer import sync
from chitta.notes.correction import make_correction
from chitta.notes.store import NoteStore

chosen = settings.load({"CHITTA_HOME": sys.argv[1]})
shutil.copytree(Path(chitta.__file__).parent / "samples" / "notes", chosen.notes_dir)
NoteStore(chosen.notes_dir).write(make_correction("npm install", "pnpm install", "the lock file is pnpm's", "global"))
sync(chosen, None)
"""


class NotHere(Exception):
    """This fault cannot be provoked on this machine; the words say why."""


class Checkout:
    """A copy of the product that a worker may change; ``lanes`` are put in anew for every run."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir(parents=True)
        for name in ("bin", "hooks", "lib", "lanes"):
            shutil.copytree(ROOT / name, folder / name, symlinks=True)
        (folder / ".venv").symlink_to(ROOT / ".venv")
        shutil.move(folder / "lanes", folder / "shipped")

    @property
    def hook(self) -> Path:
        return self.folder / "hooks" / "prompt-core.sh"

    def put_lanes(self, names: tuple[str, ...]) -> None:
        lanes = self.folder / "lanes"
        if lanes.is_dir():
            shutil.rmtree(lanes)
        lanes.mkdir()
        for name in names:
            shutil.copy2(self.folder / "shipped" / name, lanes / name)


class Run:
    """One call of the hook, before it is made: faults change the fields, and :mod:`checks` reads the expectations."""

    def __init__(self, checkout: Checkout, folder: Path, store: Path, mark: str, dice: random.Random) -> None:
        self.checkout = checkout
        self.folder = folder
        self.dice = dice
        self.mark = mark
        self.home = folder / "home"
        self.store = self.home / ".chitta"
        self.temporary = folder / "tmp"
        self.home.mkdir(parents=True)
        self.temporary.mkdir()
        shutil.copytree(store, self.store, symlinks=True)
        self.command: list[str] = [str(checkout.hook)]
        self.harness = ""
        self.payload = b""
        self.asks: bool | None = True
        self.cwd = folder
        self.budget_ms = BUDGET_MS
        self.together = 1
        self.env: dict[bytes, bytes] = {
            name.encode(): os.fsencode(str(value))
            for name, value in {
                "PATH": "/usr/local/bin:/usr/bin:/bin",
                "HOME": self.home,
                "TMPDIR": self.temporary,
                "CHITTA_HOME": self.store,
                "CHITTA_NO_DAEMON": "1",
                "CHITTA_HOOK_BUDGET_MS": BUDGET_MS,
                MARK: mark,
            }.items()
        }
        #: How standard input comes: closed (nothing is connected), open (never ends), late, pieces, plain.
        self.stdin = "plain"
        #: What becomes of standard output: read, left (the reader goes away at once), full (a full device).
        self.stdout = "read"
        #: A signal, to the hook alone or its group, after so many seconds.
        self.signal: tuple[int, bool, float] | None = None
        #: Whether the log has to name what was degraded; None where it depends on chance.
        self.degrades: bool | None = False
        #: Whether a line in the log is possible and due.
        self.logs = True
        #: Whether the log may say it twice: a daemon and who waited for it in vain may both have merged, and the
        #: hook adds a line where what merge printed and logged could not be passed on.
        self.twice = False
        #: A run that is killed outright may leave its folder to the sweep.
        self.may_leave_folder = False
        self.before: Callable[[], None] | None = None
        #: Folders where nothing called chitta.* may be left.
        self.swept = [self.temporary, self.store / "state"]
        self.undo: list[Callable[[], None]] = []
        checkout.put_lanes(dice.choice((("keyword",), ("correction-key",), ("keyword", "correction-key"))))

    def set(self, name: str, value: object) -> None:
        self.env[name.encode()] = value if isinstance(value, bytes) else os.fsencode(str(value))

    def budget(self, milliseconds: int) -> None:
        self.budget_ms = max(self.budget_ms, milliseconds)
        self.set("CHITTA_HOOK_BUDGET_MS", self.budget_ms)

    def lane(self, name: str, script: str) -> None:
        """Put a bash script in a lane's place."""
        path = self.checkout.folder / "lanes" / name
        path.unlink(missing_ok=True)
        path.write_text("#!/usr/bin/env bash\n" + script)
        path.chmod(0o755)

    def interpreter(self, script: str) -> None:
        """Put a shell script in the interpreter's place; ``$REAL`` is the real one."""
        path = self.folder / "interpreter"
        path.write_text(f"#!/bin/sh\nREAL='{PYTHON}'\n{script}\n")
        path.chmod(0o755)
        self.set("CHITTA_PYTHON", path)

    def state(self) -> Path:
        folder = self.store / "state"
        folder.mkdir(exist_ok=True)
        return folder

    def close(self) -> None:
        for step in reversed(self.undo):
            step()


def make_store(folder: Path) -> None:
    subprocess.run([str(PYTHON), "-I", "-c", _MAKE_STORE, str(folder)], check=True)


def mount(run: Run, folder: Path, *options: str) -> None:
    """Mount a small file system for this run; the worker's own mount namespace keeps it from everybody else."""
    if not may_mount():
        raise NotHere("no mount namespace may be made here")
    subprocess.run(["mount", *options, str(folder)], check=True, capture_output=True)
    run.undo.append(lambda: unmount(folder))


def unmount(folder: Path) -> None:
    subprocess.run(["umount", "-l", str(folder)], check=True, capture_output=True)


def may_mount() -> bool:
    return os.environ.get("FAULT_BATTERY_MOUNTS") == "1"


def namespace() -> list[str]:
    """The command that gives a worker a mount namespace of its own; empty where there can be none."""
    if not sys.platform.startswith("linux") or shutil.which("unshare") is None or shutil.which("mount") is None:
        return []
    for options in (["-m"], ["-r", "-m"]):
        words = ["unshare", *options, "--propagation", "private"]
        test = [*words, "sh", "-c", "mount -t tmpfs -o size=64k tmpfs /mnt"]
        if subprocess.run(test, capture_output=True).returncode == 0:
            return words
    return []
