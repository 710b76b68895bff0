"""The last failure: one small file, ``$CHITTA_HOME/state/last-failure.json``, that `chitta doctor` shows.

A hook never says anything of its own trouble, so it leaves this. Of an exception there is its type and its place,
never its message, which may quote a prompt; other words are short, and scrubbed of what looks like a secret.
"""

from __future__ import annotations

import os
import re
import time
from typing import Any, NamedTuple

from chitta.folders import make_private
from chitta.wire import codec

NAME = "last-failure.json"
MOST_BYTES = 2_000
_MOST_WORDS = 300
#: What stands after a word such as token or password, and what is long and mixed as only a key is.
_NAMED_SECRET = re.compile(
    r"(?i)\b([\w-]*(?:token|secret|passw(?:or)?d|api[_-]?key|authorization|bearer)[\w-]*)([\"']?\s*[:=]\s*|\s+)(?:bearer\s+)?\S+"
)
_LONG_SECRET = re.compile(r"(?=[\w+/=-]*\d)(?=[\w+/=-]*[A-Za-z])(?<![\w./-])[\w+=-]{20,}(?![\w./-])")
_URL_LOGIN = re.compile(r"(?<=://)[^\s/@]+@")


class Crumb(NamedTuple):
    """What failed: ``where`` (turn, merge, lanes, daemon), in words, ``at`` (file:line) and ``ts`` (ISO, UTC)."""

    ts: str
    where: str
    what: str
    at: str = ""


def leave(state_dir: str, where: str, what: str, at: str = "", *, now: float | None = None) -> None:
    """Replace the file as a whole. Never raises: whoever leaves this has trouble enough."""
    moment = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(time.time() if now is None else now))
    line = {"ts": moment, "where": _short(where, 20), "what": _short(what, _MOST_WORDS), "at": _short(at, 60)}
    new = os.path.join(state_dir, f"{NAME}.{os.getpid()}-{time.monotonic_ns()}")
    try:
        make_private(state_dir)
        file = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
        try:
            os.write(file, codec.dumps(line) + b"\n")
        finally:
            os.close(file)
        os.replace(new, os.path.join(state_dir, NAME))
    except OSError:
        try:
            os.unlink(new)
        except OSError:
            pass


def fault(state_dir: str, where: str, problem: BaseException, *, now: float | None = None) -> None:
    """Leave an exception: its type and where it was raised."""
    leave(state_dir, where, type(problem).__name__, place_of(problem), now=now)


def read(state_dir: str) -> Crumb | None:
    """The last failure, or None: none, or a file that says nothing."""
    try:
        with open(os.path.join(state_dir, NAME), "rb") as file:
            value: Any = codec.loads(file.read(MOST_BYTES))
    except (OSError, ValueError):
        return None
    if not isinstance(value, dict):
        return None
    texts = {key: value.get(key, "") for key in Crumb._fields}
    if not all(isinstance(text, str) for text in texts.values()) or not texts["ts"]:
        return None
    return Crumb(**texts)


def scrubbed(text: str) -> str:
    """The text without logins in addresses, without what follows a word such as token, and without long keys."""
    text = _URL_LOGIN.sub("…@", text)
    text = _NAMED_SECRET.sub(r"\1\2…", text)
    return _LONG_SECRET.sub("…", text)


def place_of(problem: BaseException) -> str:
    """``file.py:line`` of the innermost frame of an exception."""
    trace = problem.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    if trace is None:
        return "?"
    return f"{os.path.basename(trace.tb_frame.f_code.co_filename)}:{trace.tb_lineno}"


def _short(text: str, limit: int) -> str:
    plain = "".join(letter if letter.isprintable() else " " for letter in text[: 4 * limit])
    flat = " ".join(scrubbed(plain).split())
    return flat if len(flat) <= limit else flat[: limit - 1] + "…"
