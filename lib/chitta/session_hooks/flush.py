"""A session is put away: before a compaction, after a turn or a subagent, at its end. Nothing is printed, and no
daemon is needed.

Its transcript is queued in ``$CHITTA_HOME/state/queue.jsonl`` for whoever reads transcripts later: one line
``{ts, session_id, transcript_path, trigger, cwd, harness}`` a call, added by one write.
"""

from __future__ import annotations

import os
import time

from chitta import file_lock, sessions
from chitta.folders import make_private
from chitta.session_hooks.occasion import COMPACT, Occasion
from chitta.sessions import Held
from chitta.settings import Settings
from chitta.wire import codec

QUEUE = "queue.jsonl"
QUEUE_LOCK = "queue.lock"
#: Seconds to wait for it: a line without it is better than no line.
_LOCK_S = 0.3
#: Bytes of the queue; when it is full its older half goes.
MAX_QUEUE_BYTES = 1_000_000
#: Seconds in which a transcript that still waits is not queued again: what it gains by then is read with it.
AGAIN_S = 60.0
MAX_PATH_CHARS = 4_096
_TAIL_BYTES = 64 * 1024
#: Harnesses whose session starts again after a compaction, which is the proof that there was one.
STARTS_AGAIN = frozenset({"claude", "codex"})
#: Bytes of a transcript from which a compaction that nobody asked for is believed: some 100,000 tokens. Gemini CLI
#: announces one before a first prompt of one line.
LARGE_TRANSCRIPT_BYTES = 400_000
MANUAL = "manual"


def flush(occasion: Occasion, settings: Settings, now: float | None = None) -> None:
    """Put the session away; what fails is left out. ``now`` is seconds since the epoch."""
    for step in (_compacted, _pruned):
        try:
            step(occasion, settings)
        except OSError:
            pass
    try:
        enqueue(occasion, settings.state_dir, time.time() if now is None else now)
    except OSError:
        pass


def proves_compaction(occasion: Occasion) -> bool:
    """Whether the session's context is about to lose what it was shown, and no later event will say so."""
    if occasion.why != COMPACT or occasion.harness in STARTS_AGAIN:
        return False
    return occasion.trigger == MANUAL or _size(occasion.transcript) >= LARGE_TRANSCRIPT_BYTES


def enqueue(occasion: Occasion, state_dir: str, now: float) -> bool:
    """Add the transcript to the queue; whether it was added. Raises ``OSError``."""
    path = occasion.transcript
    if not path or len(path) > MAX_PATH_CHARS:
        return False
    make_private(state_dir)
    lock = _locked(state_dir)
    try:
        return _added(occasion, path, state_dir, now)
    finally:
        os.close(lock)


def _added(occasion: Occasion, path: str, state_dir: str, now: float) -> bool:
    queue = os.path.join(state_dir, QUEUE)
    flags = os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW
    file = os.open(queue, flags, 0o600)
    try:
        size = os.fstat(file).st_size
        if _waits(os.pread(file, _TAIL_BYTES, max(0, size - _TAIL_BYTES)), path, now):
            return False
        line = codec.dumps(
            {
                "ts": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(now)),
                "session_id": occasion.session,
                "transcript_path": path,
                "trigger": occasion.why,
                "cwd": occasion.cwd[:MAX_PATH_CHARS],
                "harness": occasion.harness,
            }
        )
        last = os.pread(file, 1, size - 1) if size else b"\n"
        # A writer that was killed may have left half a line.
        os.write(file, (b"" if last == b"\n" else b"\n") + line + b"\n")
        full = size + len(line) >= MAX_QUEUE_BYTES
    finally:
        os.close(file)
    if full:
        _halve(queue)
    return True


def _locked(state_dir: str) -> int:
    """A descriptor with the queue's lock, or without it where somebody holds it for longer than a write takes."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK
    lock = os.open(os.path.join(state_dir, QUEUE_LOCK), flags, 0o600)
    file_lock.is_had(lock, _LOCK_S)
    return lock


def _waits(tail: bytes, path: str, now: float) -> bool:
    """Whether a line of the last minute names this transcript."""
    for line in reversed(tail.split(b"\n")):
        try:
            entry = codec.loads(line) if line.strip() else None
        except ValueError:
            continue
        if isinstance(entry, dict) and entry.get("transcript_path") == path:
            return 0.0 <= now - _seconds(entry.get("ts")) < AGAIN_S
    return False


def _seconds(stamp: object) -> float:
    from calendar import timegm

    try:
        return float(timegm(time.strptime(str(stamp), "%Y-%m-%dT%H:%M:%SZ")))
    except (ValueError, OverflowError):
        return 0.0


def _halve(queue: str) -> None:
    """Keep the newer half."""
    new = f"{queue}.{os.getpid()}"
    with open(queue, "rb") as file:
        lines = file.read()
    if len(lines) < MAX_QUEUE_BYTES:
        return
    kept = lines[-MAX_QUEUE_BYTES // 2 :].partition(b"\n")[2]
    file_new = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    try:
        os.write(file_new, kept)
    finally:
        os.close(file_new)
    os.replace(new, queue)


def _compacted(occasion: Occasion, settings: Settings) -> None:
    """Let what was shown come again, where only this event tells that it went."""
    if proves_compaction(occasion):
        with Held(settings.state_dir, occasion.session) as held:
            held.forget_shown()


def _pruned(occasion: Occasion, settings: Settings) -> None:
    sessions.prune(settings.state_dir)


def _size(path: str) -> int:
    try:
        return os.stat(path).st_size if path else 0
    except (OSError, ValueError):
        return 0
