"""What people said of the notes they were shown: JSON lines in ``$CHITTA_HOME/state/feedback.jsonl``.

A judgement is of one note in one block, because a note that helped with one prompt may be noise
under another. It carries the evidence that let the note in, so that it is still of use when the
recall log is gone. Of two judgements of the same note in the same block the later one holds.
"""

from __future__ import annotations

import errno
import os
import time
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from chitta.folders import make_private
from chitta.wire import codec
from chitta.wire.rows import MAX_ID_CHARS

NAME = "feedback.jsonl"
UP, DOWN = "up", "down"
VERDICTS = (UP, DOWN)
#: Takes the verdict on a note in a block back.
WITHDRAWN = "withdrawn"


class Shown(NamedTuple):
    """A note in a block, as the recall log has it: when, by which lane's word, and on what evidence.

    ``conf`` and ``maxrel`` are None where they were not measured.
    """

    time: str
    block: str
    session: str
    id: str
    conf: float | None
    maxrel: float | None
    tag: str


class Judgement(NamedTuple):
    """A person's word on a shown note. ``time`` is when it was given, not when the note was shown."""

    time: str
    block: str
    session: str
    id: str
    verdict: str
    conf: float | None
    maxrel: float | None
    tag: str


def shown_in(line: Mapping[str, Any]) -> list[Shown]:
    """The notes that a line of the recall log says were shown; none for a line that names no block."""
    items = line.get("admitted")
    if not isinstance(items, list):
        return []
    found = (_shown({**line, **item}) for item in items if isinstance(item, dict))
    return [one for one in found if one is not None]


def judge(shown: Shown, verdict: str, now: float) -> Judgement:
    """The judgement of a shown note, given ``now`` (seconds since the epoch)."""
    given = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(now))
    return Judgement(verdict=verdict, **{**shown._asdict(), "time": given})


def record(state_dir: str, judgements: Iterable[Judgement]) -> None:
    """Add the judgements by one write: all of them or none, and never mixed with others'. Raises ``OSError``."""
    lines = b"".join(codec.dumps(one._asdict()) + b"\n" for one in judgements)
    make_private(state_dir)
    path = os.path.join(state_dir, NAME)
    file = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC | os.O_NONBLOCK, 0o600)
    try:
        size = os.fstat(file).st_size
        if size and os.pread(file, 1, size - 1) != b"\n":
            lines = b"\n" + lines  # a line that a full disk cut short must not swallow the next one
        if os.write(file, lines) != len(lines):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), path)
    finally:
        os.close(file)


def read(state_dir: str) -> list[Judgement]:
    """The judgements that hold, in the order in which they were given. Malformed lines are passed over.

    No file is no judgements; one that cannot be read raises ``OSError``.
    """
    try:
        with open(os.path.join(state_dir, NAME), "rb") as file:
            raw = file.read()
    except FileNotFoundError:
        return []
    return standing(one for one in map(_judgement, raw.split(b"\n")) if one is not None)


def standing(judgements: Iterable[Judgement]) -> list[Judgement]:
    """Of several judgements of the same note in the same block only the last. One that takes back is of the last that
    is not taken back yet, and the one before holds again.
    """
    said: dict[tuple[str, str], list[tuple[int, Judgement]]] = {}
    for place, one in enumerate(judgements):
        held = said.setdefault((one.block, one.id), [])
        if held and (one.verdict in (WITHDRAWN, held[-1][1].verdict)):
            held.pop()  # the same word again says no more
        if one.verdict != WITHDRAWN:
            held.append((place, one))
    return [one for _, one in sorted((held[-1] for held in said.values() if held), key=lambda last: last[0])]


def _judgement(line: bytes) -> Judgement | None:
    try:
        value = codec.loads(line)
    except ValueError:
        return None
    shown = _shown(value) if isinstance(value, dict) and value.get("verdict") in (*VERDICTS, WITHDRAWN) else None
    return None if shown is None else Judgement(verdict=value["verdict"], **shown._asdict())


def _shown(value: Mapping[str, Any]) -> Shown | None:
    """The fields that both kinds of lines share; None where one of them cannot be believed."""
    texts: dict[str, Any] = {key: value.get(key) for key in ("time", "block", "session", "id", "tag")}
    numbers: dict[str, Any] = {key: value.get(key) for key in ("conf", "maxrel")}
    if not all(isinstance(text, str) for text in texts.values()):
        return None
    if not all(number is None or _is_share(number) for number in numbers.values()):
        return None
    shown = Shown(**{**texts, **numbers})
    return shown if shown.block and shown.id.strip() and len(shown.id) <= MAX_ID_CHARS else None


def _is_share(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and 0 <= value <= 1
