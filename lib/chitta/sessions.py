"""What chitta remembers of a running session: its last turns and the notes it was shown.

One small JSON file a session, ``$CHITTA_HOME/state/sessions/<24 hex of sha256>.json``, replaced
as a whole. One lock for the folder makes read, decide and write one step, so that two hooks of
one session cannot show the same note. A session without an identifier has no file and no memory.
"""

from __future__ import annotations

import os
import time
from collections.abc import Collection
from typing import Any, NamedTuple

from chitta import file_lock
from chitta.folders import make_private
from chitta.wire import codec

VERSION = 1
MAX_TURNS = 3
MAX_TURN_CHARS = 2_000
MAX_INJECTED = 500
#: Session files kept; beyond this the oldest go.
MAX_FILES = 1_000
#: Longest wait for the folder's lock. Without it the work goes on: a lost update only means a repeat.
LOCK_WAIT_S = 0.2
_LOCK_STEP_S = 0.005
_MAX_BYTES = 1_000_000
_LOCK_NAME = "lock"
#: What the session of a `chitta try` begins with: nobody typed that prompt to an agent.
TRIAL = "try-"


class Session(NamedTuple):
    """The last turns that had a topic, oldest first; the number of turns; ids already shown, and at the last turn;
    the realm that turn was typed in, and the run of the hook that kept it."""

    turns: tuple[str, ...] = ()
    turn: int = 0
    injected: tuple[str, ...] = ()
    recent: tuple[str, ...] = ()
    realm: str = ""
    run: str = ""


def read(state_dir: str, session: str) -> Session:
    """What is known of a session; an empty one when there is no file or it cannot be read."""
    if not session:
        return Session()
    try:
        # Not waiting: a FIFO in the file's place would hold the prompt.
        with open(os.open(_path(state_dir, session), os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK), "rb") as file:
            value = codec.loads(file.read(_MAX_BYTES))
    except (OSError, ValueError):
        return Session()
    if not isinstance(value, dict) or value.get("v") != VERSION:
        return Session()
    turn = value.get("turn")
    return Session(
        turns=_texts(value.get("turns"))[-MAX_TURNS:],
        turn=turn if isinstance(turn, int) and 0 <= turn < 1_000_000 else 0,
        injected=_texts(value.get("injected"))[-MAX_INJECTED:],
        recent=_texts(value.get("recent"))[-MAX_INJECTED:],
        realm=_text(value, "realm"),
        run=_text(value, "run"),
    )


class Held:
    """A session while its folder is locked: ``with Held(state_dir, session) as held``.

    Entering never fails: without a writable folder or the lock in time, ``session`` is what can
    be read.
    """

    def __init__(self, state_dir: str, session: str) -> None:
        self._state_dir = state_dir
        self._name = session
        self._lock = -1
        self.session = Session()

    def __enter__(self) -> Held:
        if self._name:
            self._lock = _locked(_folder(self._state_dir))
            self.session = read(self._state_dir, self._name)
        return self

    def __exit__(self, *problem: object) -> None:
        if self._lock >= 0:
            os.close(self._lock)
            self._lock = -1

    def record(self, *, turn: int, topic: str, injected: Collection[str], realm: str = "", run: str = "") -> None:
        """Keep this turn: its number, its words when they name a topic (else ""), the ids whose text was shown.

        Raises ``OSError`` when the file cannot be written.
        """
        if not self._name:
            return
        turns, had = self.session.turns, self.session.injected
        if realm != self.session.realm:
            turns = ()
        words = topic[:MAX_TURN_CHARS]
        if words and turns[-1:] != (words,):
            turns = (*turns, words)[-MAX_TURNS:]
        again = set(injected)
        shown = (*(name for name in had if name not in again), *dict.fromkeys(injected))
        number = self.session.turn if run and run == self.session.run else max(self.session.turn + 1, turn)
        self._replace(Session(turns, number, shown[-MAX_INJECTED:], tuple(injected), realm, run))

    def show(self, injected: Collection[str], realm: str) -> None:
        """Keep ids that were shown outside of a turn, as a session starts. Raises ``OSError``."""
        if not self._name or not injected:
            return
        again = set(injected)
        # The last in the list is the latest; of one block that is its best note.
        shown = (*(name for name in self.session.injected if name not in again), *reversed(tuple(injected)))
        self._replace(self.session._replace(injected=shown[-MAX_INJECTED:], realm=self.session.realm or realm))

    def forget_shown(self) -> None:
        """The session's context was emptied: what it was shown is no more in it. Raises ``OSError``."""
        if self._name and (self.session.injected or self.session.recent):
            self._replace(self.session._replace(injected=(), recent=()))

    def _replace(self, value: Session) -> None:
        self.session = value
        _write(self._state_dir, self._name, value)


def prune(state_dir: str) -> None:
    """Remove the oldest files when there are too many. Raises ``OSError`` where there is no folder."""
    _prune(_folder(state_dir))


def _folder(state_dir: str) -> str:
    return os.path.join(state_dir, "sessions")


def _path(state_dir: str, session: str) -> str:
    from hashlib import sha256

    name = sha256(session.encode("utf-8", "surrogatepass")).hexdigest()[:24]
    return os.path.join(_folder(state_dir), f"{name}.json")


def _text(value: dict[str, Any], key: str) -> str:
    found = value.get(key)
    return found if isinstance(found, str) else ""


def _texts(value: Any) -> tuple[str, ...]:
    return tuple(item for item in value if isinstance(item, str)) if isinstance(value, list) else ()


def _locked(folder: str) -> int:
    """A descriptor that holds the folder's lock, or -1."""
    try:
        make_private(folder)
        lock = os.open(os.path.join(folder, _LOCK_NAME), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NONBLOCK, 0o600)
    except OSError:
        return -1
    if file_lock.is_had(lock, LOCK_WAIT_S, _LOCK_STEP_S):
        return lock
    os.close(lock)
    return -1


def _write(state_dir: str, session: str, value: Session) -> None:
    """Replace the session's file as a whole; a new file first makes room for itself."""
    path = _path(state_dir, session)
    if not os.path.exists(path):
        _prune(_folder(state_dir))
    new = f"{path}.{os.getpid()}-{time.monotonic_ns()}"
    file = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    try:
        try:
            os.write(file, codec.dumps({"v": VERSION, **value._asdict()}))
        finally:
            os.close(file)
        os.replace(new, path)
    except OSError:
        os.unlink(new)
        raise


def _prune(folder: str) -> None:
    """Remove the oldest files (those of killed writers too) when there are too many."""
    with os.scandir(folder) as entries:
        names = [entry.path for entry in entries if entry.name != _LOCK_NAME]
    if len(names) < MAX_FILES:
        return
    names.sort(key=_age)
    for path in names[: len(names) - MAX_FILES + MAX_FILES // 10]:
        try:
            os.unlink(path)
        except OSError:
            continue


def _age(path: str) -> float:
    try:
        return os.stat(path).st_mtime
    except OSError:
        return 0.0
