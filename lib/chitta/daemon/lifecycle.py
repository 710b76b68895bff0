"""Being the one daemon of a store: run folder, lock, socket, pid file, and how a process is cut loose.

Everything here runs before anything heavy is imported, so that a client that has just started the
daemon can connect at once. The lock decides who serves; the socket file is only an address, and is
replaced while the lock is held.
"""

from __future__ import annotations

import fcntl
import os
import resource
import socket
import stat
import struct
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NamedTuple

from chitta.folders import make_private

SOCKET_NAME = "daemon.sock"
LOCK_NAME = "daemon.lock"
PID_NAME = "daemon.pid"
#: Connections that wait to be accepted; systems cap it (128 on macOS). Twenty cold hooks make 140.
BACKLOG = 1024

#: The shortest ``sun_path`` of the systems we know (macOS) holds 104 bytes with its NUL.
_LONGEST_ADDRESS = 100
#: ``getsockopt`` level and name of a peer's credentials on macOS and the BSDs (sys/un.h).
_SOL_LOCAL, _LOCAL_PEERCRED = 0, 1
_WANTED_DESCRIPTORS = 4096


class CannotStart(Exception):
    """The daemon cannot serve this store: ``what`` went wrong, and a ``hint``."""

    def __init__(self, what: str, hint: str) -> None:
        super().__init__(what)
        self.what = what
        self.hint = hint


class AlreadyRunning(Exception):
    """Another process holds the lock of this store."""


class Listener(NamedTuple):
    """A listening socket, its path, and the identity of the file that we made there."""

    socket: socket.socket
    path: str
    identity: tuple[int, int]


def private_folder(path: str) -> str:
    """Make the run folder, or take the one that is there: ours, mode 0700. Returns ``path``."""
    try:
        make_private(path)
        found = os.stat(path)
        if found.st_uid != os.geteuid():
            raise CannotStart(f"{path} belongs to another user", "set CHITTA_RUN_DIR to a folder of your own")
        if stat.S_IMODE(found.st_mode) != 0o700:
            os.chmod(path, 0o700)
    except OSError as problem:
        raise CannotStart(
            f"the run folder {path} cannot be used: {problem.strerror}", "set CHITTA_RUN_DIR to a folder you can write"
        ) from None
    return path


def take_lock(folder: str, inherited: str | None = None) -> int:
    """Hold the store's lock for as long as this process lives; returns its descriptor.

    ``inherited`` is the number of a descriptor that whoever started us has locked already. Raises
    :class:`AlreadyRunning` when another process holds the lock.
    """
    path = os.path.join(folder, LOCK_NAME)
    given = _inherited_lock(path, inherited)
    if given is not None:
        return given
    while True:
        try:
            flags = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK
            descriptor = os.open(path, flags, 0o600)
        except OSError as problem:
            raise CannotStart(
                f"the lock {path} cannot be opened: {problem.strerror}", "remove what stands at that path"
            ) from None
        _flock(descriptor, path)
        if _is_file_at(descriptor, path):
            return descriptor
        os.close(descriptor)


def _inherited_lock(path: str, inherited: str | None) -> int | None:
    """The inherited descriptor, locked, when it is really the lock file; else None."""
    if inherited is None or not inherited.isdecimal():
        return None
    descriptor = int(inherited)
    if descriptor <= 2 or not _is_file_at(descriptor, path):
        return None
    _flock(descriptor, path)
    os.set_inheritable(descriptor, False)
    return descriptor


def _flock(descriptor: int, path: str) -> None:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(descriptor)
        raise AlreadyRunning from None
    except OSError as problem:
        os.close(descriptor)
        raise CannotStart(
            f"{path} cannot be locked: {problem.strerror}", "set CHITTA_RUN_DIR to a folder on a local disk"
        ) from None


def is_locked(path: str) -> bool:
    """Whether another process holds the lock at ``path`` right now."""
    try:
        descriptor = os.open(path, os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError:
        return False
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except OSError:
        return True
    finally:
        os.close(descriptor)
    return False


def _is_file_at(descriptor: int, path: str) -> bool:
    try:
        return os.path.samestat(os.fstat(descriptor), os.stat(path, follow_symlinks=False))
    except OSError:
        return False


def listen(folder: str) -> Listener:
    """Listen on the store's socket; the caller holds the lock.

    The socket is made under another name and renamed over the old one, so that there is no moment
    in which a client finds a socket that nobody listens on.
    """
    path, fresh = os.path.join(folder, SOCKET_NAME), os.path.join(folder, SOCKET_NAME + ".new")
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        _unlink(fresh)
        with address(fresh) as name:
            listener.bind(name)
        os.chmod(fresh, 0o600)
        listener.listen(BACKLOG)
        made = os.stat(fresh, follow_symlinks=False)
        os.rename(fresh, path)
    except OSError as problem:
        listener.close()
        raise CannotStart(f"the socket {path} cannot be made: {problem.strerror}", f"look into {folder}") from None
    listener.setblocking(False)
    return Listener(listener, path, (made.st_dev, made.st_ino))


@contextmanager
def address(path: str) -> Iterator[str]:
    """An address for ``path``: where the whole path is too long for one, its name, from inside its folder."""
    if len(os.fsencode(path)) <= _LONGEST_ADDRESS:
        yield path
        return
    here = os.open(".", os.O_RDONLY)
    try:
        os.chdir(os.path.dirname(path))
        yield os.path.basename(path)
    finally:
        os.fchdir(here)
        os.close(here)


def is_ours(listener: Listener) -> bool:
    """Whether the file at the socket's path is still the one that we made."""
    try:
        found = os.stat(listener.path, follow_symlinks=False)
    except OSError:
        return False
    return (found.st_dev, found.st_ino) == listener.identity


def write_pid(folder: str) -> str:
    """Write the pid file; returns its path. Its absence hurts nobody, so failing is not an error."""
    path = os.path.join(folder, PID_NAME)
    try:
        _unlink(path)
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        try:
            os.write(descriptor, b"%d\n" % os.getpid())
        finally:
            os.close(descriptor)
    except OSError:
        pass
    return path


def read_pid(folder: str) -> int | None:
    """The process id in the pid file, or None."""
    try:
        file = os.open(os.path.join(folder, PID_NAME), os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
        try:
            return int(os.read(file, 20))
        finally:
            os.close(file)
    except (OSError, ValueError):
        return None


def clear(listener: Listener) -> None:
    """Remove the socket and the pid file, where they are still ours."""
    if is_ours(listener):
        _unlink(listener.path)
    folder = os.path.dirname(listener.path)
    if read_pid(folder) == os.getpid():
        _unlink(os.path.join(folder, PID_NAME))


def _unlink(path: str) -> None:
    try:
        os.unlink(path)
    except FileNotFoundError:
        pass


def peer_is_us(connection: socket.socket) -> bool:
    """Whether the process at the other end runs as our user.

    Where the system cannot tell, the run folder's mode is what keeps others out.
    """
    try:
        if hasattr(socket, "SO_PEERCRED"):
            raw = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, struct.calcsize("3i"))
            return bool(struct.unpack("3i", raw)[1] == os.geteuid())
        if sys.platform == "darwin" or "bsd" in sys.platform:
            # struct xucred: version, uid, group count, 16 groups.
            raw = connection.getsockopt(_SOL_LOCAL, _LOCAL_PEERCRED, 76)
            return bool(struct.unpack_from("II", raw)[1] == os.geteuid())
    except (OSError, struct.error):
        return False
    return True


def cut_loose() -> None:
    """Go on in a child of our own session, without the starter's streams; the process that was started leaves with 0.

    Call it while there is one thread and the socket listens already: then the starter's return
    means that clients can connect, and that nothing of its own is held open.
    """
    null = os.open(os.devnull, os.O_RDWR | os.O_CLOEXEC)
    for standard in (0, 1, 2):
        # A starter that gave us a file for our complaints wants to read them.
        if standard < 2 or not stat.S_ISREG(os.fstat(standard).st_mode):
            os.dup2(null, standard)
    os.close(null)
    if os.fork():
        os._exit(0)
    os.setsid()


def fill_standard() -> None:
    """See that descriptors 0 to 2 are open, so that nothing of ours gets such a number."""
    while (descriptor := os.open(os.devnull, os.O_RDWR | os.O_CLOEXEC)) <= 2:
        os.set_inheritable(descriptor, True)
    os.close(descriptor)


def close_inherited(keep: set[int]) -> None:
    """Close every descriptor above the standard three that we did not open ourselves."""
    for descriptor in _open_descriptors():
        if descriptor > 2 and descriptor not in keep:
            try:
                os.close(descriptor)
            except OSError:
                pass


def _open_descriptors() -> list[int]:
    for folder in ("/proc/self/fd", "/dev/fd"):
        try:
            return [int(name) for name in os.listdir(folder) if name.isdecimal()]
        except OSError:
            continue
    return list(range(min(resource.getrlimit(resource.RLIMIT_NOFILE)[0], 65_536)))


def raise_descriptor_limit() -> None:
    """Allow more open files than the 256 of a macOS session; keep what we have where that is refused."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = _WANTED_DESCRIPTORS if hard == resource.RLIM_INFINITY else min(_WANTED_DESCRIPTORS, hard)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        try:
            resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
        except (OSError, ValueError):
            pass
