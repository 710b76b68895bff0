"""Starting the daemon: who starts it, what it gets, what is cleared away on the occasion."""

from __future__ import annotations

import json
import os
import posix
import signal
import stat
import subprocess
import sys
import time
from pathlib import Path

import pytest

from chitta import client, starter

CHECKOUT = Path(__file__).resolve().parents[2]


@pytest.fixture
def variables(monkeypatch: pytest.MonkeyPatch, own_home: Path) -> pytest.MonkeyPatch:
    """The environment as the client reads it, without chitta's variables but the home."""
    for name in [name for name in posix.environ if name.startswith(b"CHITTA_")]:
        monkeypatch.delitem(posix.environ, name)
    monkeypatch.setitem(posix.environ, b"HOME", os.fsencode(own_home))
    monkeypatch.setitem(posix.environ, b"CHITTA_HOME", os.fsencode(own_home / ".chitta"))
    return monkeypatch


@pytest.fixture
def run_dir(variables: pytest.MonkeyPatch, own_home: Path) -> Path:
    return own_home / ".chitta" / "run"


@pytest.fixture
def checkout(tmp_path: Path, run_dir: Path, variables: pytest.MonkeyPatch) -> Path:
    """A checkout whose bin/chittad writes down how it was started, and stays for CHITTA_STAY seconds."""
    copy = tmp_path / "a checkout"
    (copy / "bin").mkdir(parents=True)
    (copy / "lib").symlink_to(CHECKOUT / "lib")
    variables.setitem(posix.environ, b"CHITTA_PYTHON", os.fsencode(sys.executable))
    variables.setattr(client, "__file__", str(copy / "lib" / "chitta" / "client.py"))
    (copy / "bin" / "chittad").write_text(
        "import json, os, sys, time\n"
        "facts = {'argv': sys.argv[1:], 'environ': dict(os.environ), 'session': os.getsid(0) == os.getpid(),\n"
        "  'cwd': os.getcwd(), 'isolated': sys.flags.isolated, 'descriptors': sorted(os.listdir('/dev/fd')),\n"
        "  'files': [os.readlink(f'/dev/fd/{n}') if os.path.islink(f'/dev/fd/{n}') else '' for n in range(4)]}\n"
        "path = os.environ['CHITTA_HOME'] + f'/started-{os.getpid()}'\n"
        "open(path + '.new', 'w').write(json.dumps(facts))\n"
        "os.rename(path + '.new', path)\n"
        "time.sleep(float(os.environ.get('CHITTA_STAY', '0')))\n"
    )
    return copy


def started(home: Path, count: int = 1) -> list[dict[str, object]]:
    """What the daemons that were started have written, once there are so many."""
    end = time.monotonic() + 60
    while time.monotonic() < end:
        found = [path for path in home.glob("started-*") if path.suffix != ".new"]
        if len(found) >= count:
            return [json.loads(path.read_text()) for path in found]
        time.sleep(0.02)
    raise AssertionError("no daemon was started")


def reap() -> None:
    """Wait for every child that this process has."""
    try:
        while True:
            os.wait()
    except ChildProcessError:
        pass


def test_the_daemon_gets_the_lock_a_session_and_nothing_else(
    checkout: Path, run_dir: Path, variables: pytest.MonkeyPatch
) -> None:
    for name, value in {b"CHITTA_DEADLINE_MS": b"5", b"A_TOKEN": b"secret", b"CHITTA_EMBED_MODEL": b"some"}.items():
        variables.setitem(posix.environ, name, value)
    kept_open = os.open("/dev/null", os.O_RDONLY)
    os.set_inheritable(kept_open, True)
    try:
        assert starter.start_daemon()
    finally:
        os.close(kept_open)
    (facts,) = started(run_dir.parent)
    environ = facts["environ"]
    assert isinstance(environ, dict)
    assert facts["argv"] == ["--detached"]
    assert facts["session"] and facts["isolated"] and facts["cwd"] == "/"
    assert environ["CHITTA_LOCK_FD"] == "3" and environ["CHITTA_EMBED_MODEL"] == "some"
    assert environ["CHITTA_RUN_DIR"] == str(run_dir)
    assert not {"CHITTA_DEADLINE_MS", "A_TOKEN"} & set(environ)
    assert str(kept_open) not in facts["descriptors"] or kept_open <= 4  # type: ignore[operator]
    if sys.platform == "linux":
        null, log, lock = "/dev/null", str(run_dir.parent / "state" / "chittad.log"), str(run_dir / "daemon.lock")
        assert facts["files"] == [null, null, log, lock]
    assert stat.S_IMODE(run_dir.stat().st_mode) == 0o700
    assert stat.S_IMODE((run_dir / "daemon.lock").stat().st_mode) == 0o600


def test_of_many_starters_one_starts(checkout: Path, run_dir: Path, variables: pytest.MonkeyPatch) -> None:
    variables.setitem(posix.environ, b"CHITTA_STAY", b"600")  # until it is killed below
    children = []
    for _ in range(12):
        child = os.fork()
        if child == 0:
            os._exit(0 if starter.start_daemon() else 1)
        children.append(child)
    for child in children:
        os.waitpid(child, 0)
    try:
        started(run_dir.parent)
        time.sleep(0.5)  # for another one, were there one
        assert len(started(run_dir.parent)) == 1
    finally:
        for path in run_dir.parent.glob("started-*"):
            os.kill(int(path.name.removeprefix("started-").removesuffix(".new")), signal.SIGKILL)


def test_one_that_dies_at_once_is_not_started_again_at_once(
    checkout: Path, run_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(starter, "_START_AGAIN_S", 3600.0)
    assert starter.start_daemon()
    started(run_dir.parent)
    reap()
    assert starter.start_daemon() is False
    old = time.time() - 7200
    os.utime(run_dir / "daemon.lock", (old, old))
    assert starter.start_daemon()
    started(run_dir.parent, 2)
    reap()


def test_a_store_that_cannot_be_made_starts_nothing(tmp_path: Path, variables: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("")
    variables.setitem(posix.environ, b"CHITTA_HOME", os.fsencode(tmp_path / "file" / "home"))
    assert starter.start_daemon() is False


def test_only_old_run_folders_of_ours_are_swept(tmp_path: Path, variables: pytest.MonkeyPatch) -> None:
    variables.setitem(posix.environ, b"TMPDIR", os.fsencode(tmp_path))
    names = ["chitta.aaaaaa", "chitta.bbbbbb", "chitta.tests.cc", "other.aaaaaa"]
    for name in names:
        (tmp_path / name).mkdir()
        os.utime(tmp_path / name, (0, 0))
    os.utime(tmp_path / "chitta.bbbbbb")
    (tmp_path / "chitta.linked").symlink_to(tmp_path / "other.aaaaaa")
    starter.sweep()
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted([*names[1:], "chitta.linked"])


def test_run_folders_in_memory_are_swept_wherever_temporary_files_are_now(
    tmp_path: Path, variables: pytest.MonkeyPatch
) -> None:
    looked: list[str] = []

    def listed(path: str) -> list[str]:
        looked.append(path)
        return []

    variables.setattr(posix, "listdir", listed)
    variables.setitem(posix.environ, b"TMPDIR", os.fsencode(tmp_path))
    starter.sweep()
    assert {str(tmp_path), "/dev/shm", "/tmp"} <= set(looked)


def test_a_lanes_limit_on_files_is_not_the_daemons() -> None:
    words = (
        "import resource, sys\nfrom chitta import starter\n"
        "_, hard = resource.getrlimit(resource.RLIMIT_FSIZE)\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 26, hard))\n"
        "starter._lift_file_limit()\n"
        "sys.exit(resource.getrlimit(resource.RLIMIT_FSIZE) != (hard, hard))\n"
    )
    assert subprocess.run([sys.executable, "-c", words], check=False).returncode == 0


@pytest.mark.parametrize("what", ["pipe", "folder", "link"])
def test_fault_58_a_log_that_is_no_plain_file_keeps_no_daemon_from_starting(
    checkout: Path, run_dir: Path, variables: pytest.MonkeyPatch, what: str
) -> None:
    state = run_dir.parent / "state"
    state.mkdir(parents=True)
    log = state / "chittad.log"
    if what == "pipe":
        os.mkfifo(log)
    elif what == "folder":
        log.mkdir()
    else:
        log.symlink_to("/dev/zero")
    assert starter.start_daemon()
    (facts,) = started(run_dir.parent)
    if sys.platform == "linux":
        assert facts["files"] == ["/dev/null", "/dev/null", "/dev/null", str(run_dir / "daemon.lock")]
    reap()
