"""What one session's capture remembers between two calls of its hook: ``state/armed/<hash of session>.json``.

A failure that waits for its pass, the list of things to do, the last fix. Private, small, and forgotten after two
hours. Imported by the hook's short path, so it stays on modules that cost next to nothing.
"""

from __future__ import annotations

import os
from typing import Any

from chitta import file_lock
from chitta.folders import make_private
from chitta.safety.screen import keepable
from chitta.wire import codec

FOLDER = "armed"
VERSION = 1
#: Seconds after which a session's file says nothing any more, bytes that one may have, and files that there may be.
LASTS_S = 7_200.0
MAX_BYTES = 64 * 1024
MAX_FILES = 200
_LOCK_S = 0.2
_LOCK = "lock"

State = dict[str, Any]


def path_of(state_dir: str, session: str) -> str:
    from hashlib import sha256

    name = sha256(session.encode("utf-8", "surrogatepass")).hexdigest()[:24]
    return os.path.join(state_dir, FOLDER, f"{name}.json")


def read(state_dir: str, session: str, now: float) -> State:
    """What is remembered; {} where there is nothing, or nothing that still counts."""
    try:
        file = os.open(path_of(state_dir, session), os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK)
        try:
            value = codec.loads(os.read(file, MAX_BYTES))
        finally:
            os.close(file)
    except (OSError, ValueError):
        return {}
    if not isinstance(value, dict) or value.get("v") != VERSION:
        return {}
    made = value.get("ts")
    return value if isinstance(made, int | float) and 0 <= now - made < LASTS_S else {}


class Held:
    """A session's state while nobody else of this folder changes one. ``with Held(…) as held``: change ``held.state``;
    it is written on the way out where it has changed, and the file goes where it is empty. Raises ``OSError``."""

    def __init__(self, state_dir: str, session: str, now: float) -> None:
        self._dir, self._session, self._now = state_dir, session, now
        self._lock = -1
        self.state: State = {}
        self._before: bytes = b""

    def __enter__(self) -> Held:
        folder = os.path.join(self._dir, FOLDER)
        make_private(folder)
        flags = os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK
        self._lock = os.open(os.path.join(folder, _LOCK), flags, 0o600)
        file_lock.is_had(self._lock, _LOCK_S)
        found = read(self._dir, self._session, self._now)
        self.state = {key: value for key, value in found.items() if key not in ("v", "ts")}
        self._before = codec.dumps(self.state)
        return self

    def __exit__(self, kind: object, *problem: object) -> None:
        try:
            if kind is None and codec.dumps(self.state) != self._before:
                self._write()
        finally:
            os.close(self._lock)

    def _write(self) -> None:
        path = path_of(self._dir, self._session)
        data = codec.dumps({"v": VERSION, "ts": self._now, **_screened(self.state)})
        if not self.state or len(data) > MAX_BYTES:
            try:
                os.unlink(path)
            except FileNotFoundError:
                pass
            return
        if not os.path.exists(path):
            _prune(os.path.dirname(path), self._now)
        new = f"{path}.{os.getpid()}"
        file = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
        try:
            try:
                os.write(file, data)
            finally:
                os.close(file)
            os.replace(new, path)
        except OSError:
            os.unlink(new)
            raise


def _screened(value: Any) -> Any:
    """What a command and its output said, without what looks like a secret: none of it has been cleaned yet."""
    if isinstance(value, str):
        return keepable(value)
    if isinstance(value, list):
        return [_screened(item) for item in value]
    return {key: _screened(item) for key, item in value.items()} if isinstance(value, dict) else value


def _prune(folder: str, now: float) -> None:
    """Remove files that say nothing any more, and the oldest where there are too many."""
    with os.scandir(folder) as entries:
        ages = sorted(
            (entry.stat(follow_symlinks=False).st_mtime, entry.path) for entry in entries if entry.name != _LOCK
        )
    extra = len(ages) - MAX_FILES + 1
    for place, (age, path) in enumerate(ages):
        if place < extra or now - age > LASTS_S:
            try:
                os.unlink(path)
            except OSError:
                continue
