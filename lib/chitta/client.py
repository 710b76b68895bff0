"""One question to the daemon, from a process that must start and end in milliseconds.

Only built-in modules and ``_socket`` are imported here, not even ``__future__``: a lane, the turn
step and merge each are an interpreter of their own, and every module that they import is paid nine
times a prompt. What is needed when the daemon is away (:func:`bring_packages`,
:mod:`chitta.starter`) imports more.

Frames are built by bytes as docs/lane-contract.md describes them; :mod:`chitta.wire.codec` is the
same format for those who have time.
"""

import _signal  # type: ignore[import-not-found]
import _socket
import posix
import sys
import time

OK = 0
MISUSE = 100
UNAVAILABLE = 111
LATE = 142
_CODES = (OK, MISUSE, UNAVAILABLE, LATE)

SOCKET_NAME = "daemon.sock"

MAX_FRAME_BYTES = 64 * 1024 * 1024
_CHUNK_BYTES = 1024 * 1024
#: The shortest socket address of the systems we know holds 104 bytes with its NUL (macOS).
_LONGEST_ADDRESS = 100
#: Seconds between two looks for a daemon that is starting.
LOOK_EVERY_S = 0.015
_PINNED = "chitta"

_SHARED_WRITE = 0o022
_FILE_NAMES = sys.getfilesystemencoding()


class Away(Exception):
    """Nobody listens: no socket, or one that was left behind."""


class Broken(Exception):
    """Somebody listens but gave no usable answer in time."""


def environ(name: str) -> str:
    """A variable of the environment, or ``""``."""
    return to_text(posix.environ.get(name.encode(), b""))


def to_text(raw: bytes) -> str:
    """A path or a variable as text, the way that the interpreter's own file calls turn it back."""
    return raw.decode(_FILE_NAMES, "surrogateescape")


def to_bytes(text: str) -> bytes:
    """The bytes of a path or a variable."""
    return text.encode(_FILE_NAMES, "surrogateescape")


def number(name: str, default: float) -> float:
    """A variable as a finite number above or at zero, or the default."""
    try:
        text = environ(name)
        value = float(text) if text.isascii() else default
    except ValueError:
        return default
    return value if 0.0 <= value < 1e9 else default


def flag(name: str) -> bool:
    """Whether a variable says yes, in the words that :mod:`chitta.settings` knows."""
    return environ(name).strip().lower() in ("1", "true", "yes", "on")


def root() -> str:
    """The checkout: the folder that holds ``lib/chitta/client.py``."""
    return __file__.rsplit("/", 3)[0]


def interpreter() -> str:
    """The interpreter that was made for this checkout, or the one that runs now where there is none."""
    path = environ("CHITTA_PYTHON") or root() + "/.venv/bin/python"
    return path if posix.access(path, posix.X_OK) else sys.executable


def home() -> str:
    """Absolute path of the store, as :attr:`chitta.settings.Settings.home` finds it."""
    path = environ("CHITTA_HOME") or "~/.chitta"
    if path == "~" or path.startswith("~/"):
        path = _person_folder() + path[1:]
    return path if path.startswith("/") else _person_folder() + "/" + path


def _person_folder() -> str:
    folder = environ("HOME")
    if not folder:
        import pwd

        try:
            folder = pwd.getpwuid(posix.getuid()).pw_dir
        except KeyError:
            return "~"
    return folder.rstrip("/")


def run_dir() -> str:
    """Folder of the daemon's socket and lock."""
    path = environ("CHITTA_RUN_DIR") or home() + "/run"
    return path if path.startswith("/") else posix.getcwd() + "/" + path


def alarm(seconds: float) -> None:
    """End this process by SIGALRM's default action after ``seconds``: the shell sees 142.

    A handler would wait for C code to return; the default action does not. Zero would disarm.
    """
    _signal.signal(_signal.SIGALRM, _signal.SIG_DFL)
    _signal.pthread_sigmask(_signal.SIG_UNBLOCK, (_signal.SIGALRM,))
    _signal.setitimer(_signal.ITIMER_REAL, max(seconds, 0.001))


# Asking


def ask(verb: bytes, body: bytes, seconds: float, override: tuple[tuple[bytes, bytes], ...] = ()) -> tuple[int, bytes]:
    """Send one request, such as ``lane keyword``; return the reply's code and body.

    Every ``CHITTA_*`` variable goes with it, ``override`` winning. Raises :class:`Away` when
    nobody listens, :class:`Broken` when there is no whole reply after ``seconds``.
    """
    end = time.monotonic() + seconds
    payload = b"%s v1\n%s\n%s" % (verb, _variables(override), body)
    connection = _connect(seconds)
    try:
        connection.settimeout(max(end - time.monotonic(), 0.001))
        connection.sendall(len(payload).to_bytes(4, "big") + payload)
        return _reply(connection, end)
    except (ConnectionResetError, BrokenPipeError):
        raise Away("the daemon was leaving") from None
    except OSError as problem:
        raise Broken(_words(problem)) from None
    finally:
        connection.close()


def _variables(override: tuple[tuple[bytes, bytes], ...]) -> bytes:
    found = {name: value for name, value in posix.environ.items() if name.startswith(b"CHITTA_")}
    found.update(override)
    return b"".join(b"%s=%s\n" % (name, value) for name, value in found.items() if b"\n" not in value)


def _connect(seconds: float) -> _socket.socket:
    folder = run_dir()
    try:
        facts = posix.stat(folder)
    except OSError:
        raise Away("there is no daemon") from None
    if facts.st_uid != posix.geteuid() or facts.st_mode & _SHARED_WRITE:
        raise Broken(f"the run folder {folder} is open to others")
    connection = _socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM)
    connection.settimeout(max(seconds, 0.001))
    try:
        _connect_to(connection, folder)
    except (FileNotFoundError, ConnectionRefusedError, NotADirectoryError):
        connection.close()
        raise Away("there is no daemon") from None
    except OSError as problem:
        connection.close()
        raise Broken(_words(problem)) from None
    return connection


def _connect_to(connection: _socket.socket, folder: str) -> None:
    path = f"{folder}/{SOCKET_NAME}"
    if len(to_bytes(path)) <= _LONGEST_ADDRESS:
        connection.connect(path)
        return
    here = posix.open(".", posix.O_RDONLY)
    try:
        posix.chdir(folder)
        connection.connect(SOCKET_NAME)
    finally:
        posix.fchdir(here)
        posix.close(here)


def _reply(connection: _socket.socket, end: float) -> tuple[int, bytes]:
    """Read one reply frame. A connection closed before its first byte is a daemon that was leaving."""
    header = _read(connection, 4, end)
    if not header:
        raise Away("the daemon was leaving")
    size = int.from_bytes(header, "big")
    if len(header) < 4 or not 4 <= size <= MAX_FRAME_BYTES:
        raise Broken("the daemon sent something else than a reply")
    payload = _read(connection, size, end)
    if len(payload) < size or payload[3:4] != b"\n" or not payload[:3].isdigit():
        raise Broken("the daemon sent half a reply")
    code = int(payload[:3])
    if code not in _CODES:
        raise Broken(f"the daemon sent code {code}")
    return code, payload[4:]


def _read(connection: _socket.socket, size: int, end: float) -> bytes:
    """``size`` bytes, or fewer when the other side closes. Raises ``OSError`` when the time is up."""
    parts: list[bytes] = []
    while size > 0:
        left = end - time.monotonic()
        if left <= 0:
            raise TimeoutError("timed out")
        connection.settimeout(left)
        part = connection.recv(min(size, _CHUNK_BYTES))
        if not part:
            break
        parts.append(part)
        size -= len(part)
    return b"".join(parts)


def _words(problem: OSError) -> str:
    return f"the daemon gave no answer: {problem.strerror or problem}"


# Writing


def write_all(descriptor: int, data: bytes) -> bool:
    """Write everything, however short the writes; False when the reader has left or the disk is full."""
    view = memoryview(data)
    while view:
        try:
            view = view[posix.write(descriptor, view) :]
        except BlockingIOError:
            time.sleep(0.001)
        except OSError:
            return False
    return True


def complain(problem: str, hint: str = "") -> None:
    """``chitta: what went wrong`` on standard error, and the hint where there is one."""
    lines = f"chitta: {problem}\n" + (f"hint: {hint}\n" if hint else "")
    write_all(2, lines.encode("utf-8", "replace"))


def leave_breadcrumb(where: str, problem: BaseException) -> None:
    """Keep what went wrong for `chitta doctor`, where that can be had; never a failure of its own."""
    try:
        bring_packages()
        from chitta import breadcrumb

        breadcrumb.fault(home() + "/state", where, problem)
    except Exception:
        pass  # the prompt goes on, and standard error has it


def remove_folder(path: str) -> None:
    """Remove a run folder and its files; what cannot be removed stays."""
    try:
        for name in posix.listdir(path):
            try:
                posix.unlink(f"{path}/{name}")
            except OSError:
                pass
        posix.rmdir(path)
    except OSError:
        pass


# When the daemon is away


def pin_interpreter(*flags: str) -> None:
    """Go on under this checkout's own interpreter; return at once when it is the one that runs.

    A file that is run by hand starts with whatever ``python3`` the PATH has. The ``-X`` option marks
    the second start, since a wrapper's path and the interpreter's own may differ for good.
    """
    wanted = interpreter()
    if sys.executable != wanted and _PINNED not in sys._xoptions:
        posix.execv(wanted, [wanted, "-X", _PINNED, *flags, *sys.argv])


def bring_packages() -> None:
    """Put the interpreter's site-packages on the path, as a start without ``-S`` does."""
    if sys.flags.no_site and "site" not in sys.modules:
        import site

        site.main()
