"""A transcript as a file: what it is, what is new in it, and a private copy of that to read at leisure.

Another program goes on writing it, so it is opened once and read to the last whole line that stood there then.
"""

from __future__ import annotations

import hashlib
import json
import os
from typing import NamedTuple

from chitta.drain.ledger import Known
from chitta.drain.task import MARKER

#: Bytes before the place that was read to, by whose digest a file is known again.
_MARK_BYTES = 4_096
#: Bytes of what was read already that deterministic reading sees again: a command that failed may pass only now. Notes
#: do not double by it, since they are named after what they say.
OVERLAP_BYTES = 262_144
#: Records at the beginning that are looked at for chitta's own task, and bytes that they may take (reflect: 60).
_OWN_RECORDS, _OWN_BYTES = 60, 262_144
_PIECE = 1 << 20
_LINES = (".jsonl", ".ndjson")


class Section(NamedTuple):
    """What is new: bytes ``start`` to ``end``; ``mark`` and ``digest`` as in the ledger."""

    start: int
    end: int
    mark: str
    digest: str


class Transcript:
    """An open transcript; close it. ``status`` is of the file as it was opened."""

    def __init__(self, path: str) -> None:
        """Raises ``OSError``; a link, and what is no file, is not waited for."""
        self._path = path
        self._file = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOFOLLOW)
        self.status = os.fstat(self._file)

    def __enter__(self) -> Transcript:
        return self

    def __exit__(self, *problem: object) -> None:
        os.close(self._file)

    def is_same(self, known: Known) -> bool:
        """Whether what was read of it still stands before the place where reading ended. Raises ``OSError``."""
        return known.end <= self.status.st_size and self._mark(known.end) == known.mark

    def is_own(self) -> bool:
        """Whether its first records have chitta's own task as a message. Raises ``OSError``."""
        records = os.pread(self._file, _OWN_BYTES, 0).split(b"\n")[:_OWN_RECORDS]
        return any(MARKER.encode() in record and _has_task(record) for record in records)

    def section(self, start: int) -> Section:
        """What is new from ``start`` on: whole lines, or all of a file that does not consist of lines."""
        size = self.status.st_size
        end = self._last_line(start, size) if self._path.lower().endswith(_LINES) else size
        if end == size and start and not self._path.lower().endswith(_LINES):
            start = 0
        digest = hashlib.sha256()
        at = start
        while at < end and (part := os.pread(self._file, min(_PIECE, end - at), at)):
            digest.update(part)
            at += len(part)
        return Section(start, end, self._mark(end), digest.hexdigest()[:32])

    def copy(self, section: Section, folder: str, overlap: int = 0) -> str:
        """The section as a file of its own in ``folder``, with so many bytes before it. Raises ``OSError``."""
        start = self._line_before(section.start, overlap)
        target = os.path.join(folder, os.path.basename(self._path)[-100:])
        file = os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
        with os.fdopen(file, "wb") as stream:
            while start < section.end and (part := os.pread(self._file, min(_PIECE, section.end - start), start)):
                stream.write(part)
                start += len(part)
        return target

    def _mark(self, end: int) -> str:
        start = max(end - _MARK_BYTES, 0)
        return hashlib.sha256(os.pread(self._file, end - start, start)).hexdigest()[:16] if end else ""

    def _last_line(self, start: int, size: int) -> int:
        """Where the last whole line ends; ``start`` where none does."""
        at = size
        while at > start:
            begin = max(at - _PIECE, start)
            found = os.pread(self._file, at - begin, begin).rfind(b"\n")
            if found >= 0:
                return begin + found + 1
            at = begin
        return start

    def _line_before(self, start: int, overlap: int) -> int:
        """The beginning of a line at most ``overlap`` bytes before ``start``."""
        begin = max(start - overlap, 0)
        if begin in (0, start):
            return begin
        found = os.pread(self._file, start - begin, begin).find(b"\n")
        return begin + found + 1 if found >= 0 else start


def size_of(path: str) -> int:
    """Bytes of a file now; 0 for what is none."""
    try:
        return os.lstat(path).st_size
    except OSError:
        return 0


def _has_task(record: bytes) -> bool:
    """Whether some text of a record begins with the task: one that only quotes it does not."""
    try:
        pending: list[object] = [json.loads(record)]
    except (ValueError, RecursionError):
        return False
    while pending:
        value = pending.pop()
        if isinstance(value, str) and value.lstrip().startswith(MARKER):
            return True
        if isinstance(value, dict):
            pending += value.values()
        elif isinstance(value, list):
            pending += value
    return False
