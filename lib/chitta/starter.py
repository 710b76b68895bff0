"""Starting the daemon, from a client that found nobody.

The process that gets the lock forks a child that becomes the daemon; the others only wait for the
socket. The child also removes what killed hooks have left, since nobody waits for it.
"""

import posix
import time

from chitta import client

LOCK_NAME = "daemon.lock"
LOG_NAME = "chittad.log"
PID_NAME = "daemon.pid"
_SIGTERM = 15
# What a file is, of its mode, and that it is a plain one.
_KIND, _PLAIN_FILE = 0o170000, 0o100000

#: A daemon that died this soon after its start is not started again at once.
_START_AGAIN_S = 1.0
#: A run folder this old was left by a hook that was killed.
_ABANDONED_S = 3600.0
_RUN_PREFIX = "chitta."
#: The descriptor by which the daemon inherits the lock.
_LOCK_FD = 3
#: Variables of one prompt, which must not become the daemon's own.
_OF_ONE_CALL = (b"CHITTA_DEADLINE_MS", b"CHITTA_REALM", b"CHITTA_ABLATE_LANES", b"CHITTA_NO_DAEMON")
_SECRET_WORDS = (b"KEY", b"TOKEN", b"SECRET", b"PASSWORD")


def start_daemon() -> bool:
    """Start the daemon unless one is starting or running; whether it is worth looking for its socket.

    The lock on ``daemon.lock`` belongs to the open file, which the daemon inherits and holds for
    life; so of many lanes that find nobody, one starts it.
    """
    folder, python = client.run_dir(), client.interpreter()
    try:
        _make_private(folder)
        lock, fresh = _open_lock(f"{folder}/{LOCK_NAME}")
    except OSError:
        return False
    try:
        if not _locked(lock):
            return True
        if not fresh and 0.0 <= time.time() - posix.fstat(lock).st_mtime < _START_AGAIN_S:
            return False
        posix.utime(lock)
        if posix.fork() == 0:
            _become_daemon(lock, python)
    except OSError:
        return False
    finally:
        posix.close(lock)
    return True


def replace_daemon(seconds: float) -> None:
    """Have the daemon leave and start one of this code, as far as it leaves in time; the next prompt starts it else."""
    end = time.monotonic() + seconds
    try:
        code, _ = client.ask(b"call stop", b"{}", seconds)
    except client.Away:
        code = client.OK
    except client.Broken:
        return  # it is busy, and somebody's prompt may be what it is busy with
    if code != client.OK:  # it speaks another version of the wire: every one knows the signal
        _end_by_signal()
    while time.monotonic() < end:
        if not _is_held():
            start_daemon()
            return
        time.sleep(client.LOOK_EVERY_S)


def _is_held() -> bool:
    try:
        flags = posix.O_RDWR | posix.O_CLOEXEC | posix.O_NOFOLLOW | posix.O_NONBLOCK
        lock = posix.open(f"{client.run_dir()}/{LOCK_NAME}", flags)
    except OSError:
        return False
    try:
        return not _locked(lock)
    finally:
        posix.close(lock)


def _end_by_signal() -> None:
    """SIGTERM to the process of the pid file, which the holder of the lock has written."""
    if not _is_held():
        return
    try:
        file = posix.open(f"{client.run_dir()}/{PID_NAME}", posix.O_RDONLY | posix.O_CLOEXEC | posix.O_NONBLOCK)
        try:
            pid = int(posix.read(file, 20))
        finally:
            posix.close(file)
        if pid > 1:
            posix.kill(pid, _SIGTERM)
    except (OSError, ValueError):
        pass


def _make_private(folder: str) -> None:
    """Make the folder and what it stands in, mode 0700 where it is new."""
    made = ""
    for part in folder.split("/"):
        made += part + "/"
        try:
            posix.mkdir(made, 0o700)
        except FileExistsError:
            pass
        except OSError:
            # A folder above that is not ours to write in; the last one tells.
            if made.rstrip("/") == folder.rstrip("/"):
                raise


def _open_lock(path: str) -> tuple[int, bool]:
    flags = posix.O_RDWR | posix.O_CREAT | posix.O_CLOEXEC | posix.O_NOFOLLOW | posix.O_NONBLOCK
    try:
        return posix.open(path, flags | posix.O_EXCL, 0o600), True
    except FileExistsError:
        return posix.open(path, flags, 0o600), False


def _locked(descriptor: int) -> bool:
    import fcntl

    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _become_daemon(lock: int, python: str) -> None:
    """In the child: a session of its own, no descriptor of ours but the lock, then the daemon."""
    try:
        posix.setsid()
        posix.umask(0o077)
        _lift_file_limit()
        if lock != _LOCK_FD:
            posix.dup2(lock, _LOCK_FD)
        posix.set_inheritable(_LOCK_FD, True)
        _attach_streams()
        close_above(_LOCK_FD)
        sweep()
        variables = _variables()
        posix.chdir("/")
        posix.execve(python, [python, "-I", client.root() + "/bin/chittad", "--detached"], variables)
    except OSError as problem:
        client.complain(f"the daemon could not be started: {problem}")
    finally:
        posix._exit(client.UNAVAILABLE)


def _lift_file_limit() -> None:
    """Undo lib/launch.sh's limit on what a lane writes: the daemon that a lane starts writes an index."""
    import resource

    _, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    try:
        resource.setrlimit(resource.RLIMIT_FSIZE, (hard, hard))
    except (OSError, ValueError):
        pass


def _variables() -> dict[bytes, bytes]:
    """The environment of a process that outlives this prompt, with no secret that it has no use for."""
    kept = {
        name: value
        for name, value in posix.environ.items()
        if name not in _OF_ONE_CALL and not any(word in name.upper() for word in _SECRET_WORDS)
    }
    kept[b"CHITTA_LOCK_FD"] = b"%d" % _LOCK_FD
    kept[b"CHITTA_HOME"] = client.to_bytes(client.home())
    kept[b"CHITTA_RUN_DIR"] = client.to_bytes(client.run_dir())
    return kept


def _attach_streams() -> None:
    """Standard input and output to nowhere, standard error to the daemon's log where there can be one."""
    null = posix.open("/dev/null", posix.O_RDWR)
    log = null
    try:
        _make_private(client.home() + "/state")
        log = _open_log(f"{client.home()}/state/{LOG_NAME}")
    except OSError:
        pass
    posix.dup2(null, 0)
    posix.dup2(null, 1)
    posix.dup2(log, 2)


def _open_log(path: str) -> int:
    """The log, to be appended to. Raises ``OSError`` for anything but a plain file: a FIFO would be waited for."""
    flags = posix.O_WRONLY | posix.O_APPEND | posix.O_CREAT | posix.O_NOFOLLOW | posix.O_NONBLOCK
    log = posix.open(path, flags, 0o600)
    if posix.fstat(log).st_mode & _KIND != _PLAIN_FILE:
        posix.close(log)
        raise OSError("the log is no plain file")
    return log


def close_above(last: int) -> None:
    """Close every descriptor above ``last``."""
    try:
        numbers = [int(name) for name in posix.listdir("/dev/fd")]
    except (OSError, ValueError):
        numbers = list(range(256))
    for each in numbers:
        if each > last:
            try:
                posix.close(each)
            except OSError:
                pass


def sweep() -> None:
    """Remove the run folders that killed hooks have left: they hold prompts."""
    before = time.time() - _ABANDONED_S
    for base in {client.environ("TMPDIR") or "/tmp", "/dev/shm", "/tmp", client.home() + "/state"}:
        try:
            names = posix.listdir(base)
        except OSError:
            continue
        for name in names:
            if name.startswith(_RUN_PREFIX) and len(name) == len(_RUN_PREFIX) + 6:
                _remove_if_abandoned(f"{base}/{name}", before)


def _remove_if_abandoned(path: str, before: float) -> None:
    try:
        facts = posix.lstat(path)
    except OSError:
        return
    is_folder = facts.st_mode & 0o170000 == 0o040000
    if is_folder and facts.st_uid == posix.geteuid() and facts.st_mtime < before:
        client.remove_folder(path)
