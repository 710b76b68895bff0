"""The catalog: which notes there are, where they came from, and which vector is whose.

One SQLite file in write-ahead mode, so that readers go on while a writer commits. This module
is the read side and the tables; :mod:`chitta.index.ledger` is the write side.

Imported on the prompt path when the daemon is away: nothing beyond the standard library.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from threading import Lock
from typing import Any, NamedTuple

from chitta.index import IndexDamaged, failure
from chitta.index.graph import GRAPH_TABLES, Graph
from chitta.index.stored import Filed, NoteTerms, unpack, unpack_terms
from chitta.index.vectors import MatrixFile, VectorRow
from chitta.notes.note import Note

FILE_NAME = "catalog.sqlite"
#: Raised when the tables, the terms or the stored form change; another version means a rebuild. What reads and cleans
#: notes has a version of its own (:mod:`chitta.safety.version`), which the table ``meta`` keeps as ``rules``.
SCHEMA_VERSION = "4"

TABLES = f"""
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
-- One row a file. own_id and realm are what the file says of its note; NULL when it cannot be read.
-- fresh: the file was written so shortly before it was read that its time alone does not tell its content.
CREATE TABLE files (
    path TEXT PRIMARY KEY, mtime_ns INTEGER NOT NULL, size INTEGER NOT NULL, sha256 TEXT NOT NULL,
    own_id TEXT, realm TEXT, fresh INTEGER NOT NULL
) WITHOUT ROWID;
CREATE INDEX files_own_id ON files (own_id);
-- One row a note that can be found. id is own_id, made unique where two realms use the same one.
-- terms: what is weighed of the note against a prompt.
CREATE TABLE notes (
    id TEXT PRIMARY KEY, own_id TEXT NOT NULL, realm TEXT NOT NULL, kind TEXT NOT NULL, stamp TEXT NOT NULL,
    path TEXT NOT NULL, sha256 TEXT NOT NULL, text_key TEXT NOT NULL, packed BLOB NOT NULL,
    terms TEXT NOT NULL, created_utc TEXT NOT NULL, updated_utc TEXT NOT NULL
);
CREATE INDEX notes_own_id ON notes (own_id);
CREATE INDEX notes_scope ON notes (realm, kind, stamp);
CREATE INDEX notes_created ON notes (created_utc);
CREATE INDEX notes_updated ON notes (updated_utc);
CREATE TABLE matrices (file TEXT PRIMARY KEY, realm TEXT NOT NULL, rows INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE vectors (id TEXT PRIMARY KEY, file TEXT NOT NULL, row INTEGER NOT NULL) WITHOUT ROWID;
{GRAPH_TABLES}"""

_CHUNK = 500  # variables of one statement


class Model(NamedTuple):
    """The embedder that made the vectors; an empty name means that none has."""

    name: str = ""
    dim: int = 0


class Catalog:
    """The read side. Safe to share between threads. Methods raise :class:`IndexDamaged`.

    ``graph`` answers what notes share, state of each other, and when they were written.
    """

    def __init__(self, path: str, *, any_version: bool = False) -> None:
        """Open ``path``, also in a folder that cannot be written. Raises :class:`IndexDamaged`.

        ``any_version``: also the tables of another version; what they do not hold is damage when it is asked for.
        """
        self.path = path
        self.graph = Graph(self._rows)
        self._lock = Lock()
        if not os.path.isfile(path):
            raise IndexDamaged(f"{path} is missing")
        with damage(path):
            self._connection, self._live = _connect(path)
        try:
            version = self._meta("schema")
            if version != SCHEMA_VERSION and not any_version:
                raise IndexDamaged(f"{path} was written by another version of chitta")
        except IndexDamaged:
            self.close()
            raise

    def close(self) -> None:
        self._connection.close()

    def version(self) -> tuple[int, ...]:
        """Changes when another process has committed. Where SQLite itself cannot tell, the file's time does."""
        number = int(self._rows("PRAGMA data_version")[0][0])
        with damage(self.path):
            status = os.stat(self.path)
        return (number, status.st_ino) if self._live else (status.st_ino, status.st_mtime_ns, status.st_size)

    def model(self) -> Model:
        dim = self._meta("dim")
        return Model(self._meta("model"), int(dim) if dim.isdigit() else 0)

    def notes(self, ids: Sequence[str]) -> dict[str, Note]:
        """The notes of these ids, in the order asked; unknown ids are left out."""
        found: dict[str, Note] = {}
        for chunk in _chunks(ids):
            for note in self._notes(f"SELECT packed FROM notes WHERE id IN ({_marks(chunk)})", chunk):
                found[note.id] = note
        return {name: found[name] for name in ids if name in found}

    def with_terms(self, ids: Sequence[str]) -> dict[str, tuple[Note, NoteTerms]]:
        """The notes of these ids and their terms, in the order asked; unknown ids are left out."""
        found: dict[str, tuple[Note, NoteTerms]] = {}
        with damage(self.path):
            for chunk in _chunks(ids):
                statement = f"SELECT packed, terms FROM notes WHERE id IN ({_marks(chunk)})"
                for packed, terms in self._rows(statement, chunk):
                    note = unpack(packed)
                    found[note.id] = (note, unpack_terms(terms))
        return {name: found[name] for name in ids if name in found}

    def count(self, realm: str | None = None, kind: str | None = None) -> int:
        """Notes in a realm, or in all; of one kind, or of any."""
        wanted = [(column, value) for column, value in (("realm", realm), ("kind", kind)) if value is not None]
        where = f"WHERE {' AND '.join(f'{column} = ?' for column, _ in wanted)}" if wanted else ""
        return int(self._rows(f"SELECT count(*) FROM notes {where}", [value for _, value in wanted])[0][0])

    def realms(self) -> dict[str, int]:
        """Count of notes by realm, by name."""
        return dict(self._rows("SELECT realm, count(*) FROM notes GROUP BY realm ORDER BY realm"))

    def corrections(self, realms: Collection[str]) -> list[Note]:
        """Every correction of these realms, by id."""
        wanted = sorted(set(realms))
        statement = f"SELECT packed FROM notes WHERE kind = 'correction' AND realm IN ({_marks(wanted)}) ORDER BY id"
        return self._notes(statement, wanted)

    def page(self, realm: str | None = None, kind: str | None = None, limit: int = 50, offset: int = 0) -> list[Note]:
        """Notes, newest first (by the later of updated and created), ties by id."""
        wanted = [(column, value) for column, value in (("realm", realm), ("kind", kind)) if value is not None]
        where = f"WHERE {' AND '.join(f'{column} = ?' for column, _ in wanted)}" if wanted else ""
        statement = f"SELECT packed FROM notes {where} ORDER BY stamp DESC, id LIMIT ? OFFSET ?"
        return self._notes(statement, [*(value for _, value in wanted), limit, offset])

    def holding(self, fragments: Collection[str]) -> list[Note]:
        """Notes whose stored form holds any of these pieces of JSON, by id: such as ``"quarantine":true``."""
        wanted = [fragment.encode() for fragment in fragments]
        where = " OR ".join("instr(packed, ?)" for _ in wanted) or "0"
        return self._notes(f"SELECT packed FROM notes WHERE {where} ORDER BY id", wanted)

    def path_of(self, name: str) -> str | None:
        """The file of a note, relative to the notes folder."""
        found = self._rows("SELECT path FROM notes WHERE id = ?", [name])
        return str(found[0][0]) if found else None

    def filed(self, ids: Sequence[str]) -> dict[str, Filed]:
        """The files of notes, by id; unknown ids are left out."""
        found: dict[str, Filed] = {}
        for chunk in _chunks(ids):
            statement = (
                "SELECT n.id, n.path, n.own_id, f.mtime_ns, f.size, f.sha256, f.fresh"
                f" FROM notes n JOIN files f ON f.path = n.path WHERE n.id IN ({_marks(chunk)})"
            )
            for name, path, own_id, mtime_ns, size, sha256, fresh in self._rows(statement, chunk):
                found[name] = Filed(path, own_id, mtime_ns, size, sha256, bool(fresh))
        return found

    def pending(self) -> int:
        """Notes without a vector."""
        return int(self._rows("SELECT (SELECT count(*) FROM notes) - (SELECT count(*) FROM vectors)")[0][0])

    def waiting(self, limit: int = -1) -> list[str]:
        """Ids of notes without a vector, newest first; at most ``limit``, or all."""
        statement = "SELECT id FROM notes WHERE id NOT IN (SELECT id FROM vectors) ORDER BY stamp DESC, id LIMIT ?"
        return [str(row[0]) for row in self._rows(statement, [limit])]

    def matrices(self) -> list[MatrixFile]:
        return [MatrixFile(*row) for row in self._rows("SELECT file, realm, rows FROM matrices ORDER BY file")]

    def vector_rows(self) -> list[VectorRow]:
        statement = "SELECT v.id, n.kind, v.file, v.row FROM vectors v JOIN notes n ON n.id = v.id"
        return list(map(VectorRow._make, self._rows(statement)))

    def vector_places(self) -> dict[str, tuple[str, int]]:
        """File and row of a vector by the digest of the text it was made from."""
        statement = "SELECT n.text_key, v.file, v.row FROM vectors v JOIN notes n ON n.id = v.id"
        return {key: (file, row) for key, file, row in self._rows(statement)}

    def digests(self) -> dict[str, str]:
        """sha256 of the file by note id."""
        return dict(self._rows("SELECT id, sha256 FROM notes"))

    def rules(self) -> str:
        """The version of the rules that the notes were read and cleaned by."""
        return self._meta("rules")

    def claims(self) -> dict[str, tuple[str, str, str]]:
        """sha256, own id and realm of every file that could be read, by its path in the notes folder."""
        rows = self._rows("SELECT path, sha256, own_id, realm FROM files WHERE own_id IS NOT NULL AND sha256 <> ''")
        return {path: (sha256, own_id, realm) for path, sha256, own_id, realm in rows}

    def passed_over(self) -> list[str]:
        """Files that hold no note which could be indexed, by their path in the notes folder, in order."""
        return [str(row[0]) for row in self._rows("SELECT path FROM files WHERE own_id IS NULL ORDER BY path")]

    def indexed(self, name: str, path: str, sha256: str) -> Note | None:
        """The note of this id, where it was read from this file with this content."""
        statement = "SELECT packed FROM notes WHERE id = ? AND path = ? AND sha256 = ?"
        return next(iter(self._notes(statement, [name, path, sha256])), None)

    def file_facts(self) -> dict[str, tuple[int, int, str, bool]]:
        """mtime_ns, size, sha256 and freshness of every indexed file, by its path in the notes folder."""
        rows = self._rows("SELECT path, mtime_ns, size, sha256, fresh FROM files")
        return {path: (mtime_ns, size, sha256, bool(fresh)) for path, mtime_ns, size, sha256, fresh in rows}

    def _meta(self, key: str) -> str:
        found = self._rows("SELECT value FROM meta WHERE key = ?", [key])
        return str(found[0][0]) if found else ""

    def _notes(self, statement: str, values: Sequence[Any]) -> list[Note]:
        with damage(self.path):
            return [unpack(packed) for (packed,) in self._rows(statement, values)]

    def _rows(self, statement: str, values: Sequence[Any] = ()) -> list[Any]:
        with damage(self.path), self._lock:
            return self._connection.execute(statement, values).fetchall()


def _connect(path: str) -> tuple[sqlite3.Connection, bool]:
    """A read-only connection, and whether it sees later commits.

    A database in write-ahead mode needs a file beside it even to be read. Where none can be made,
    a database that was closed in order is read as it is; one that was not is read from a copy in
    memory, which takes the log in as well.
    """
    quoted = os.path.abspath(path).replace("%", "%25").replace("?", "%3f").replace("#", "%23")
    connection = _open(f"file:{quoted}?mode=ro")
    try:
        connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
        return connection, True
    except sqlite3.OperationalError as problem:
        connection.close()
        if "locked" in str(problem):
            raise
    log = f"{path}-wal"
    if not os.path.exists(log) or os.stat(log).st_size == 0:
        return _open(f"file:{quoted}?immutable=1"), False
    return _copied(path), False


def _open(uri: str) -> sqlite3.Connection:
    return sqlite3.connect(uri, uri=True, isolation_level=None, timeout=5.0, check_same_thread=False)


def _copied(path: str) -> sqlite3.Connection:
    import shutil
    import tempfile

    with tempfile.TemporaryDirectory(prefix="chitta-catalog-") as folder:
        copy = os.path.join(folder, FILE_NAME)
        for suffix in ("", "-wal"):
            shutil.copyfile(path + suffix, copy + suffix)
        whole = sqlite3.connect(copy)
        memory = sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)
        whole.backup(memory)
        whole.close()
    return memory


def _marks(values: Collection[object]) -> str:
    return ",".join("?" * len(values))


def _chunks(values: Sequence[str]) -> Iterator[Sequence[str]]:
    for start in range(0, len(values), _CHUNK):
        yield values[start : start + _CHUNK]


@contextmanager
def damage(path: str) -> Iterator[None]:
    """SQLite's errors and unreadable stored notes as faults of the index."""
    try:
        yield
    except (sqlite3.Error, ValueError, OSError) as problem:
        raise failure(path, problem) from None
