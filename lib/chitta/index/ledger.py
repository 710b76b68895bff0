"""The write side of the catalog. One at a time, under the index's write lock.

Nothing is visible to readers before :meth:`Ledger.commit`, which the indexer calls last: after
the keyword index has committed and the vector rows are on disk.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import sqlite3
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from chitta.index import neighbours
from chitta.index.catalog import SCHEMA_VERSION, TABLES, Model, damage
from chitta.index.graph import utc_stamp
from chitta.index.stored import pack, pack_terms
from chitta.index.terms import Apart, terms_of
from chitta.index.vectors import broken_rows, rows_in, write_rows
from chitta.notes.links import entities_of, triplets_of
from chitta.notes.note import Note
from chitta.notes.triplet import name_key
from chitta.safety.version import rules_version


class FileRow(NamedTuple):
    """What is known of one note file; ``path`` is relative to the notes folder.

    ``own_id`` and ``realm`` are None when the file cannot be read. ``fresh``: it was written so
    shortly before it was read that the same time and size do not prove the same content.
    """

    path: str
    mtime_ns: int
    size: int
    sha256: str
    own_id: str | None
    realm: str | None
    fresh: bool


class Placed(NamedTuple):
    """A note that is in the index, and the state of the file that it was read from."""

    id: str
    realm: str
    path: str
    sha256: str
    text_key: str


class NewVector(NamedTuple):
    """A vector for a note, as stored: ``dim`` little-endian float16 values, of unit length."""

    id: str
    key: str
    row: bytes


def text_key(note: Note) -> str:
    """Digest of what is embedded of a note; the same key means that its vector still holds."""
    return hashlib.sha256(embedded_text(note.title, note.text).encode("utf-8", "replace")).hexdigest()[:32]


def embedded_text(title: str, text: str) -> str:
    return f"{title}\n{text}"


def _file_row(row: Sequence[Any]) -> FileRow:
    path, mtime_ns, size, sha256, own_id, realm, fresh = row
    return FileRow(path, mtime_ns, size, sha256, own_id, realm, bool(fresh))


_FILES = "SELECT path, mtime_ns, size, sha256, own_id, realm, fresh FROM files"


class Ledger:
    """Changes to one generation's catalog. Methods raise :class:`chitta.index.IndexFault` when SQLite fails."""

    def __init__(self, path: str, *, create: bool = False) -> None:
        self.path = path
        with damage(path):
            mode = "rwc" if create else "rw"
            quoted = os.path.abspath(path).replace("%", "%25").replace("?", "%3f").replace("#", "%23")
            self._connection = sqlite3.connect(
                f"file:{quoted}?mode={mode}", uri=True, isolation_level=None, timeout=30.0, check_same_thread=False
            )
            # NORMAL: after a power cut the last commits may be missing, which the next sync notices and redoes.
            self._connection.execute("PRAGMA journal_mode = WAL")
            self._connection.execute("PRAGMA synchronous = NORMAL")
            if create:
                self._connection.executescript(TABLES)
                self._put_meta("schema", SCHEMA_VERSION)
                self._put_meta("rules", rules_version())
            self._connection.execute("BEGIN IMMEDIATE")

    def commit(self) -> None:
        """Make the changes since the last commit visible."""
        with damage(self.path):
            self._connection.execute("COMMIT")
            self._connection.execute("BEGIN IMMEDIATE")

    def close(self) -> None:
        """Drop what is not committed, and fold the log into the file, so that a read-only store needs no log."""
        with contextlib.suppress(sqlite3.Error):  # closed already, or no room: the log is read where it is
            if self._connection.in_transaction:
                self._connection.execute("ROLLBACK")
            self._connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
        self._connection.close()

    # Files

    def files(self) -> dict[str, FileRow]:
        return {row[0]: _file_row(row) for row in self._rows(_FILES)}

    def put_file(self, row: FileRow) -> None:
        self._run("INSERT OR REPLACE INTO files VALUES (?, ?, ?, ?, ?, ?, ?)", row)

    def drop_file(self, path: str) -> None:
        self._run("DELETE FROM files WHERE path = ?", [path])

    def file(self, path: str) -> FileRow | None:
        rows = self._rows(f"{_FILES} WHERE path = ?", [path])
        return _file_row(rows[0]) if rows else None

    def claims(self, own_id: str) -> list[tuple[str, str, str]]:
        """Files that say they hold this note, by path: path, realm, sha256."""
        return self._rows("SELECT path, realm, sha256 FROM files WHERE own_id = ? ORDER BY path", [own_id])

    def doubles(self) -> list[tuple[str, str]]:
        """Realm and id of notes that more than one file of one realm claims to be."""
        grouped = "SELECT realm, own_id FROM files WHERE own_id IS NOT NULL GROUP BY realm, own_id"
        return self._rows(f"{grouped} HAVING count(*) > 1 ORDER BY realm, own_id")

    # Notes

    def placed(self, own_id: str) -> dict[str, Placed]:
        """The notes in the index that came from this id, by the id that they have here."""
        rows = self._rows("SELECT id, realm, path, sha256, text_key FROM notes WHERE own_id = ?", [own_id])
        return {row[0]: Placed(*row) for row in rows}

    def count(self) -> int:
        return int(self._rows("SELECT count(*) FROM notes")[0][0])

    def put_note(
        self, note: Note, own_id: str, path: str, sha256: str, before: Placed | None, apart: Apart | None = None
    ) -> None:
        """Add or replace a note; its vector goes when its text or realm is another than ``before``."""
        key = text_key(note)
        if before is not None and (before.text_key != key or before.realm != note.realm):
            self._run("DELETE FROM vectors WHERE id = ?", [note.id])
        stamp = max(note.created, note.updated)
        terms = pack_terms(terms_of(note.title, note.text, apart))
        times = (utc_stamp(note.created), utc_stamp(note.updated))
        values = (note.id, own_id, note.realm, note.kind, stamp, path, sha256, key, pack(note), terms, *times)
        self._drop_links(note.id)
        self._run("INSERT OR REPLACE INTO notes VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", values)
        self._put_links(note)

    def drop_note(self, name: str) -> None:
        self._run("DELETE FROM vectors WHERE id = ?", [name])
        self._drop_links(name)
        self._run("DELETE FROM notes WHERE id = ?", [name])

    def _put_links(self, note: Note) -> None:
        rows: list[tuple[str, ...]] = [(entity, note.realm, note.id) for entity in entities_of(note)]
        self._run_many("INSERT INTO entities VALUES (?, ?, ?)", rows)
        rows = [(*each, note.id, name_key(each.source), name_key(each.target)) for each in triplets_of(note)]
        self._run_many("INSERT INTO triplets VALUES (?, ?, ?, ?, ?, ?)", rows)

    def _drop_links(self, name: str) -> None:
        self._run("DELETE FROM entities WHERE id = ?", [name])
        self._run("DELETE FROM triplets WHERE id = ?", [name])

    # Vectors

    def model(self) -> Model:
        values = dict(self._rows("SELECT key, value FROM meta WHERE key IN ('model', 'dim')"))
        return Model(values.get("model", ""), int(values.get("dim", "0")))

    def set_model(self, model: Model) -> None:
        """Name the embedder; vectors of another one are forgotten."""
        if self.model() != model:
            self._run("DELETE FROM vectors")
            self._run("DELETE FROM matrices")
            self._put_meta("model", model.name)
            self._put_meta("dim", str(model.dim))

    def add_vectors(self, folder: str, vectors: Iterable[NewVector]) -> int:
        """Store vectors of notes that still have the text they were made from; their count."""
        dim = self.model().dim
        by_realm: dict[str, dict[str, bytes]] = {}
        for vector in vectors:
            realm = self._waiting_realm(vector)
            if realm is not None:
                by_realm.setdefault(realm, {})[vector.id] = vector.row
        for realm, rows in sorted(by_realm.items()):
            file, first = self._matrix(realm)
            write_rows(os.path.join(folder, file), dim, first, b"".join(rows.values()))
            self._run("UPDATE matrices SET rows = ? WHERE file = ?", [first + len(rows), file])
            for row, name in enumerate(rows, start=first):
                self._run("INSERT INTO vectors VALUES (?, ?, ?)", [name, file, row])
        return sum(len(rows) for rows in by_realm.values())

    def _waiting_realm(self, vector: NewVector) -> str | None:
        """The realm of the vector's note, when that note waits for exactly this vector."""
        found = self._rows(
            "SELECT realm FROM notes WHERE id = ? AND text_key = ? AND id NOT IN (SELECT id FROM vectors)",
            [vector.id, vector.key],
        )
        return found[0][0] if found else None

    def _matrix(self, realm: str) -> tuple[str, int]:
        """The realm's file and its next free row. A name is never used twice in a generation."""
        found = self._rows("SELECT file, rows FROM matrices WHERE realm = ?", [realm])
        if found:
            return found[0][0], found[0][1]
        serial = int(dict(self._rows("SELECT key, value FROM meta WHERE key = 'serial'")).get("serial", "0")) + 1
        self._put_meta("serial", str(serial))
        file = f"{hashlib.sha256(realm.encode('utf-8', 'replace')).hexdigest()[:16]}-{serial:04d}.f16"
        self._run("INSERT INTO matrices VALUES (?, ?, 0)", [file, realm])
        return file, 0

    def tidy_vectors(self, folder: str, *, thorough: bool = False) -> int:
        """Forget vectors whose file is missing or cut short, so that they are made again; how many.

        ``thorough``: also rows that are no vectors any more, for which each file is read: 0.1 s for 100,000.
        Files that no note needs any more are removed, graphs of files that are left among those that stay.
        """
        dim = self.model().dim
        lost = 0
        known = set()
        for file, rows in self._rows("SELECT file, rows FROM matrices"):
            known.add(file)
            there = rows_in(os.path.join(folder, file), dim)
            if there < rows:
                lost += self._run("DELETE FROM vectors WHERE file = ? AND row >= ?", [file, there])
                self._run("UPDATE matrices SET rows = ? WHERE file = ?", [there, file])
            if thorough:
                for row in broken_rows(os.path.join(folder, file), dim, min(rows, there)):
                    lost += self._run("DELETE FROM vectors WHERE file = ? AND row = ?", [file, row])
        for name in os.listdir(folder) if os.path.isdir(folder) else ():
            if name not in known and not neighbours.belongs(folder, name, known):
                os.unlink(os.path.join(folder, name))
        return lost

    def has_vectors(self) -> bool:
        return bool(self._rows("SELECT 1 FROM vectors LIMIT 1"))

    def waiting(self) -> list[tuple[str, str]]:
        """Id and text key of every note without a vector."""
        return self._rows("SELECT id, text_key FROM notes WHERE id NOT IN (SELECT id FROM vectors) ORDER BY id")

    # SQLite

    def _put_meta(self, key: str, value: str) -> None:
        self._run("INSERT OR REPLACE INTO meta VALUES (?, ?)", [key, value])

    def _run(self, statement: str, values: Sequence[Any] = ()) -> int:
        with damage(self.path):
            return self._connection.execute(statement, values).rowcount

    def _run_many(self, statement: str, rows: Sequence[Sequence[Any]]) -> None:
        with damage(self.path):
            self._connection.executemany(statement, rows)

    def _rows(self, statement: str, values: Sequence[Any] = ()) -> list[Any]:
        with damage(self.path):
            return self._connection.execute(statement, values).fetchall()
