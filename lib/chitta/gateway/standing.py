"""Notes as their files stand now, where the index was made of other files.

The index is brought level before a prompt or, of a large store and without a daemon, after it. Until then a
note that was removed, taken into quarantine, made private or moved must not be shown as it was: what a lane found
is compared with its file by time and size, and read again where those differ.

To read a note anew means to look through it for secrets and orders, whose patterns take a process of its own half
a second to make. Such a process, a lane without a daemon, only sees whether the file still says what the index has.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from threading import Lock
from typing import TYPE_CHECKING, NamedTuple

from chitta.gateway.reading import ROW_TEXT_CHARS

if TYPE_CHECKING:
    from chitta.index.stored import Filed
    from chitta.notes.note import Note

#: Bytes of a file that is read to see whether it still says what a note says.
_MOST_BYTES = 200_000
#: What a person adds to take a note out of answers, in the front matter or around its words.
_TAKEN_OUT = re.compile(r"^(?:quarantined?|superseded_by|status|valid_until|realm)\s*:\s*(.*)$", re.MULTILINE)
#: Files read again that are remembered: of a store whose every file was touched each prompt meets some tens.
KEPT = 500


class _File(NamedTuple):
    path: str
    mtime_ns: int
    size: int


class Standing:
    """What the files of one snapshot's notes say now. Safe to share between threads; dropped with its snapshot.

    With ``reads`` False a note whose file was changed is shown only where that still holds all of it.
    """

    def __init__(self, reads: bool = True) -> None:
        self._reads = reads
        self._lock = Lock()
        self._read: dict[_File, Note | None] = {}

    def of(self, notes: Mapping[str, Note], filed: Mapping[str, Filed], folder: str) -> dict[str, Note]:
        """Those of ``notes`` that may be shown, as their files below ``folder`` say, in the order given.

        ``filed`` are the files that the index was made of, by the notes' ids; a note that has none there is kept.
        """
        standing = {name: self._of(note, filed.get(name), folder) for name, note in notes.items()}
        return {name: note for name, note in standing.items() if note is not None}

    def _of(self, note: Note, filed: Filed | None, folder: str) -> Note | None:
        if filed is None or "\\" in filed.path:  # which may stand for a byte that no text can hold
            return note
        try:
            status = os.stat(f"{folder}/{filed.path}")
        except (FileNotFoundError, NotADirectoryError):
            return None
        except OSError:  # what cannot be looked at is not known to be gone
            return note
        same = (status.st_mtime_ns, status.st_size) == (filed.mtime_ns, filed.size)
        if same and (not filed.fresh or _digest(f"{folder}/{filed.path}") == filed.sha256):
            return note
        if not self._reads:
            return note if status.st_size <= _MOST_BYTES and _still_says(note, f"{folder}/{filed.path}") else None
        now = self._read_anew(_File(filed.path, status.st_mtime_ns, status.st_size), folder)
        if now is None or (now.id, now.realm) != (filed.own_id, note.realm):
            return None
        return now._replace(id=note.id, superseded_by=now.superseded_by or note.superseded_by)

    def _read_anew(self, file: _File, folder: str) -> Note | None:
        with self._lock:
            if file in self._read:
                return self._read[file]
        note = _cleaned(folder, file.path)
        with self._lock:
            if len(self._read) >= KEPT:
                self._read.clear()
            self._read[file] = note
        return note


def _still_says(note: Note, path: str) -> bool:
    """Whether the file holds the note's words, and nothing that the index does not know and takes it out of answers."""
    from chitta.safety.private import without_private

    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            said = file.read()
    except OSError:
        return False
    known = {note.realm, note.superseded_by, note.valid_until, str(dict(note.extra).get("status") or ""), "false", ""}
    told = {value.strip().strip("'\"") for value in _TAKEN_OUT.findall(said)}
    return note.title in said and note.text.strip() in said and told <= known and without_private(said) == said


def _digest(path: str) -> str:
    from chitta.index.watch import digest_of

    try:
        return digest_of(path)
    except FileNotFoundError:
        return ""


def _cleaned(folder: str, path: str) -> Note | None:
    """The note of a file, without secrets and private spans; None where it cannot be read or looked through."""
    from chitta.notes.store import NoteStore

    try:
        from chitta.safety.cleaning import clean

        note = clean(NoteStore(folder).read(os.path.join(folder, path))).note
    except (ImportError, OSError, ValueError):
        return None
    return note._replace(text=note.text[:ROW_TEXT_CHARS])
