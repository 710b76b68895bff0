"""Rows of a SQLite file that another program owns, read without trusting it and without writing to it.

The file is opened read-only and read as one snapshot, so a program that goes on writing is not in the
way. Only tables are read, by plain column: a view, a virtual table or a generated column could run a
function that the file names, and an authorizer refuses all but reading.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple
from urllib.parse import quote

from chitta.notes.note import without_surrogates

#: Bytes of one value that are read; the rest of a longer one is left. The longest note has as many.
MAX_VALUE_BYTES = 4 * 1024 * 1024
#: Bytes of one value that SQLite may take into memory at all (Python 3.11 and later can set it).
MAX_LOADED_BYTES = 64 * 1024 * 1024
MAX_TABLES = 500
MAX_COLUMNS = 200
MAX_ROWS = 1_000_000
#: Seconds to wait for a program that holds the file.
WAIT = 2.0

_LIMIT_LENGTH = 0  # SQLITE_LIMIT_LENGTH, which Python names from 3.11 on
_LOGGED = 19  # the byte of a file that is 2 where it has a write-ahead log
_CHANGED = "was changed while it was read: import it again"
_MAGIC = b"SQLite format 3\x00"
_ALLOWED = frozenset({sqlite3.SQLITE_SELECT, sqlite3.SQLITE_READ, sqlite3.SQLITE_TRANSACTION})
_FUNCTIONS = frozenset({"substr", "typeof"})
_PRAGMAS = frozenset({"table_xinfo", "encoding", "trusted_schema", "cell_size_check", "query_only"})
_NORMAL_COLUMN = 0  # `hidden` of table_xinfo; the others are generated, or belong to virtual tables
_ENCODINGS = {"UTF-8": "utf-8", "UTF-16le": "utf-16-le", "UTF-16be": "utf-16-be"}


class Unreadable(Exception):
    """Why a file, or the rest of it, cannot be read; the text is a sentence's end for people."""


class Table(NamedTuple):
    """A table: its columns, and those of its primary key, in their order."""

    name: str
    columns: tuple[str, ...]
    key: tuple[str, ...] = ()
    without_rowid: bool = False


class Database:
    """An open file. :func:`opened` makes it."""

    def __init__(self, connection: sqlite3.Connection, unchanged: Callable[[], bool]) -> None:
        self._connection = connection
        self._unchanged = unchanged
        found = self._ask("PRAGMA encoding").fetchone()
        self._encoding = _ENCODINGS.get(bytes(found[0]).decode("ascii", "replace"), "utf-8")
        self.tables = tuple(self._tables())

    def table(self, name: str) -> Table | None:
        """The table of this name, whatever its case; None where there is none."""
        return next((table for table in self.tables if table.name.lower() == name), None)

    def rows(self, table: Table, columns: Sequence[str]) -> Iterator[dict[str, object]]:
        """The table's rows in the order of their row numbers, else of the key: these columns alone, those it has.

        Values are str, int, float or None; longer ones are cut to :data:`MAX_VALUE_BYTES`. Raises
        :class:`Unreadable` where the file turns out to be broken, or after :data:`MAX_ROWS`.
        """
        wanted = [name for name in columns if name in table.columns]
        if not wanted:
            return
        chosen = ", ".join(_value_of(name) for name in wanted)
        cursor = self._ask(f"SELECT {chosen} FROM {_quoted(table.name)} {_order(table)}")
        for number in range(MAX_ROWS + 1):
            try:
                row = cursor.fetchone()
            except _FAULTS as problem:
                raise Unreadable(_sentence(problem) if self._unchanged() else _CHANGED) from None
            if row is None:
                if not self._unchanged():
                    raise Unreadable(_CHANGED)
                return
            if number == MAX_ROWS:
                raise Unreadable(f"has more than {MAX_ROWS:,} rows in {table.name}; the rest was not read")
            yield {name: self._plain(value) for name, value in zip(wanted, row, strict=True)}

    def _tables(self) -> Iterator[Table]:
        listed = self._ask("SELECT name, sql FROM sqlite_master WHERE type = 'table' ORDER BY name")
        for name, sql in listed.fetchmany(MAX_TABLES):
            named, made = self._plain(name), str(self._plain(sql) or "").upper()
            if not isinstance(named, str) or named.lower().startswith("sqlite_") or "\0" in named:
                continue
            if made.startswith("CREATE VIRTUAL"):
                continue
            columns, key = self._columns(named)
            if columns:
                yield Table(named, columns, key, "WITHOUT ROWID" in made.rpartition(")")[2])

    def _columns(self, table: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
        columns: list[str] = []
        key: list[tuple[int, str]] = []
        for _, name, _, _, _, part, hidden in self._ask(f"PRAGMA table_xinfo({_quoted(table)})").fetchmany(MAX_COLUMNS):
            named = self._plain(name)
            if hidden == _NORMAL_COLUMN and isinstance(named, str) and "\0" not in named:
                columns.append(named)
                if part:
                    key.append((part, named))
        return tuple(columns), tuple(name for _, name in sorted(key))

    def _ask(self, sql: str) -> sqlite3.Cursor:
        try:
            return self._connection.execute(sql)
        except (sqlite3.Error, UnicodeError) as problem:
            raise Unreadable(_sentence(problem)) from None

    def _plain(self, value: object) -> object:
        """A value in Python's types. Text comes as bytes: names in UTF-8, values in the file's encoding."""
        if isinstance(value, _Utf8):
            return without_surrogates(bytes(value).decode("utf-8", "replace"))
        if isinstance(value, bytes):
            return without_surrogates(value.decode(self._encoding, "replace"))
        return value


#: What reading a damaged file raises; the module decodes even its own messages, whatever is in them.
_FAULTS = (sqlite3.Error, UnicodeDecodeError)


class _Utf8(bytes):
    """Text as SQLite hands it over, apart from the bytes of a blob."""


@contextmanager
def opened(path: Path) -> Iterator[Database]:
    """Open the file for reading, as one snapshot. Raises :class:`Unreadable`."""
    _look(path)
    as_it_is = _is_at_rest(path)
    before = _state(path)
    connection = _connect(path, as_it_is=as_it_is)
    try:
        yield Database(connection, lambda: not as_it_is or _state(path) == before)
    finally:
        connection.close()


def is_sqlite(path: Path) -> bool:
    """Whether the file begins as a SQLite file does; never raises."""
    try:
        if not path.is_file():  # opening a pipe would wait
            return False
        with open(path, "rb") as file:
            return file.read(len(_MAGIC)) == _MAGIC
    except (OSError, ValueError):
        return False


def has_table(path: Path, columns: dict[str, set[str]]) -> bool:
    """Whether the file is a database with one of these tables, which has these columns; never raises."""
    if not is_sqlite(path):
        return False
    try:
        with opened(path) as database:
            found = {table.name.lower(): {name.lower() for name in table.columns} for table in database.tables}
            return any(name in found and wanted <= found[name] for name, wanted in columns.items())
    except Unreadable:
        return False


def _look(path: Path) -> None:
    """Say what is wrong with the file before SQLite says it less clearly."""
    try:
        if not path.exists():
            raise Unreadable("is not there")
        if not path.is_file():
            raise Unreadable("is not a file")
        with open(path, "rb") as file:
            start = file.read(len(_MAGIC))
    except OSError as problem:
        raise Unreadable(f"cannot be read: {problem.strerror or problem}") from None
    if not start:
        raise Unreadable("is empty")
    if start != _MAGIC:
        raise Unreadable("is not a SQLite database, or is encrypted")


def _is_at_rest(path: Path) -> bool:
    """Whether the file is one with a write-ahead log, and nobody has it open.

    Read as others are, such a file would leave two more behind in its folder, and could not be read at all in a
    folder that cannot be written to. It is read as a file that stays as it is, and looked at again after that.
    """
    try:
        with open(path, "rb") as file:
            head = file.read(_LOGGED + 1)
        log = Path(f"{path}-wal")
        return head[_LOGGED:] == b"\x02" and not (log.exists() and log.stat().st_size)
    except OSError:
        return False


def _state(path: Path) -> tuple[int, int]:
    """What changes when the file does."""
    try:
        status = path.stat()
    except OSError:
        return 0, 0
    return status.st_size, status.st_mtime_ns


def _connect(path: Path, *, as_it_is: bool) -> sqlite3.Connection:
    try:
        return _begun(f"file:{quote(os.path.abspath(path))}?mode=ro{'&immutable=1' if as_it_is else ''}")
    except _FAULTS as problem:
        raise Unreadable(_sentence(problem)) from None


def _begun(address: str) -> sqlite3.Connection:
    connection = sqlite3.connect(address, uri=True, timeout=WAIT, isolation_level=None)
    try:
        connection.text_factory = _Utf8
        if hasattr(connection, "setlimit"):
            connection.setlimit(_LIMIT_LENGTH, MAX_LOADED_BYTES)
        for pragma in ("trusted_schema = OFF", "cell_size_check = ON", "query_only = ON"):
            connection.execute(f"PRAGMA {pragma}")
        connection.set_authorizer(_authorize)
        connection.execute("BEGIN")
        connection.execute("SELECT name FROM sqlite_master LIMIT 1").fetchone()  # the snapshot begins with a read
    except BaseException:
        connection.close()
        raise
    return connection


def _authorize(action: int, first: str | None, second: str | None, _database: str | None, _by: str | None) -> int:
    if action in _ALLOWED:
        return sqlite3.SQLITE_OK
    if action == sqlite3.SQLITE_FUNCTION and second in _FUNCTIONS:
        return sqlite3.SQLITE_OK
    if action == sqlite3.SQLITE_PRAGMA and first in _PRAGMAS:
        return sqlite3.SQLITE_OK
    return sqlite3.SQLITE_DENY


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _value_of(name: str) -> str:
    """A column, cut. By way of a blob, since SQLite ends text at its first NUL."""
    column = _quoted(name)
    cut = f"substr(CAST({column} AS BLOB), 1, {MAX_VALUE_BYTES})"
    return f"CASE WHEN typeof({column}) IN ('text', 'blob') THEN {cut} ELSE {column} END"


def _order(table: Table) -> str:
    taken = {name.lower() for name in table.columns}
    number = next((name for name in ("rowid", "_rowid_", "oid") if name not in taken), "")
    if number and not table.without_rowid:
        return f"ORDER BY {number}"
    return f"ORDER BY {', '.join(map(_quoted, table.key or table.columns))}"


def _sentence(problem: Exception) -> str:
    if isinstance(problem, UnicodeDecodeError):
        return "is damaged: its texts are not in its own encoding"
    words = str(problem)
    if "locked" in words or "busy" in words:
        return "is locked by another program: close it, or import a copy"
    if "readonly" in words:
        return "was left in the middle of a write: open it once with its own program, then import it again"
    if "malformed" in words or "corrupt" in words:
        return f"is damaged: {words}"
    if "not a database" in words:
        return "is not a SQLite database, or is encrypted"
    return f"cannot be read as a SQLite database: {words}"
