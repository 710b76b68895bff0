"""A SQLite file of someone else's: read as it stands, never run, and one sentence for what cannot be read."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable
from itertools import islice
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from chitta.importing import sqlite_rows
from chitta.importing.sqlite_rows import Table, Unreadable, has_table, is_sqlite, opened


def made(path: Path, *statements: str) -> Path:
    connection = sqlite3.connect(path)
    for statement in statements:
        connection.execute(statement)
    connection.commit()
    connection.close()
    return path


def rows(path: Path, table: str, *columns: str) -> list[dict[str, object]]:
    with opened(path) as database:
        found = database.table(table)
        assert found is not None
        return list(database.rows(found, columns or found.columns))


def why(path: Path) -> str:
    with pytest.raises(Unreadable) as caught, opened(path) as database:
        for table in database.tables:
            list(database.rows(table, table.columns))
    return str(caught.value)


def test_tables_columns_and_rows_come_in_a_fixed_order(tmp_path: Path) -> None:
    path = made(
        tmp_path / "a #?%.db",
        "CREATE TABLE b (z TEXT, a INTEGER PRIMARY KEY)",
        "CREATE TABLE a (x)",
        "INSERT INTO b VALUES ('two', 2), ('one', 1)",
    )
    with opened(path) as database:
        assert database.tables == (Table("a", ("x",)), Table("b", ("z", "a"), ("a",)))
    assert rows(path, "b") == [{"z": "one", "a": 1}, {"z": "two", "a": 2}]
    assert rows(path, "b", "z", "absent") == [{"z": "one"}, {"z": "two"}]


def test_a_table_without_row_numbers_is_ordered_by_its_key(tmp_path: Path) -> None:
    path = made(
        tmp_path / "a.db",
        "CREATE TABLE t (rowid TEXT, b TEXT, a TEXT, PRIMARY KEY (a, b)) WITHOUT ROWID",
        "INSERT INTO t VALUES ('z', '2', '1'), ('y', '1', '1'), ('x', '0', '2')",
    )
    assert [row["rowid"] for row in rows(path, "t")] == ["y", "z", "x"]


def test_reading_leaves_the_file_and_its_folder_as_they_were(tmp_path: Path) -> None:
    path = made(tmp_path / "a.db", "PRAGMA journal_mode=WAL", "CREATE TABLE t (x)", "INSERT INTO t VALUES (1)")
    before = path.read_bytes()
    rows(path, "t")
    assert path.read_bytes() == before
    assert os.listdir(tmp_path) == ["a.db"]
    with opened(path) as database, pytest.raises(Unreadable):
        database._ask("DELETE FROM t")
    assert rows(path, "t") == [{"x": 1}]


def test_a_database_that_is_being_written_is_read_as_one_snapshot(tmp_path: Path) -> None:
    path = made(tmp_path / "a.db", "PRAGMA journal_mode=WAL", "CREATE TABLE t (x)")
    writer = sqlite3.connect(path, isolation_level=None)
    writer.execute("INSERT INTO t VALUES (1)")
    with opened(path) as database:
        table = database.table("t")
        assert table is not None
        writer.execute("INSERT INTO t VALUES (2)")
        assert list(database.rows(table, ["x"])) == [{"x": 1}]
    writer.execute("BEGIN IMMEDIATE")
    writer.execute("INSERT INTO t VALUES (3)")
    assert rows(path, "t") == [{"x": 1}, {"x": 2}]
    writer.close()


def test_a_file_at_rest_that_changes_while_it_is_read_is_said(tmp_path: Path) -> None:
    path = made(tmp_path / "a.db", "PRAGMA journal_mode=WAL", "CREATE TABLE t (x)", "INSERT INTO t VALUES (1)")
    with opened(path) as database:
        table = database.table("t")
        assert table is not None
        found = database.rows(table, ["x"])
        next(found)
        made(path, "INSERT INTO t VALUES (2)")
        with pytest.raises(Unreadable, match="was changed while it was read"):
            list(found)


def test_a_locked_database_is_one_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sqlite_rows, "WAIT", 0.05)
    path = made(tmp_path / "a.db", "CREATE TABLE t (x)")
    holder = sqlite3.connect(path, isolation_level=None)
    holder.execute("BEGIN EXCLUSIVE")
    assert why(path) == "is locked by another program: close it, or import a copy"
    holder.close()


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_folder_that_cannot_be_written_to_is_read(tmp_path: Path) -> None:
    folder = tmp_path / "sealed"
    folder.mkdir()
    path = made(folder / "a.db", "PRAGMA journal_mode=WAL", "CREATE TABLE t (x)", "INSERT INTO t VALUES (1)")
    folder.chmod(0o555)
    try:
        assert rows(path, "t") == [{"x": 1}]
    finally:
        folder.chmod(0o755)


@pytest.mark.parametrize(
    "make, sentence",
    [
        (lambda path: None, "is not there"),
        (lambda path: path.mkdir(), "is not a file"),
        (lambda path: path.write_bytes(b""), "is empty"),
        (lambda path: path.write_bytes(os.urandom(4096)), "is not a SQLite database, or is encrypted"),
        (lambda path: path.write_bytes(b"SQLite format 3\0" + b"\xff" * 4000), "is not a SQLite database"),
        (os.mkfifo, "is not a file"),
    ],
)
def test_what_is_no_database_is_one_sentence(tmp_path: Path, make: Callable[[Path], object], sentence: str) -> None:
    make(tmp_path / "a.db")
    assert why(tmp_path / "a.db").startswith(sentence)
    assert not has_table(tmp_path / "a.db", {"t": set()})


def test_a_damaged_page_ends_the_reading_with_a_sentence(tmp_path: Path) -> None:
    path = made(tmp_path / "a.db", "CREATE TABLE t (x)")
    connection = sqlite3.connect(path)
    connection.executemany("INSERT INTO t VALUES (?)", [("word " * 200,) for _ in range(100)])
    connection.commit()
    connection.close()
    data = bytearray(path.read_bytes())
    data[4096 * 5 : 4096 * 20] = b"\xa5" * (4096 * 15)
    path.write_bytes(data)
    assert "damaged" in why(path)


def test_nothing_that_the_file_brings_is_run(tmp_path: Path) -> None:
    path = made(
        tmp_path / "a.db",
        "CREATE TABLE t (x, y AS (upper(x)))",
        "INSERT INTO t (x) VALUES ('a')",
        "CREATE VIEW v AS SELECT load_extension('/tmp/evil.so') AS x",
        "CREATE TABLE log (x)",
        "CREATE TRIGGER g AFTER INSERT ON t BEGIN INSERT INTO log VALUES (1); END",
        "CREATE VIRTUAL TABLE f USING fts5(x)",
    )
    with opened(path) as database:
        names = [table.name for table in database.tables]
        assert "v" not in names and "f" not in names
        assert database.table("t") == Table("t", ("x",))
        for sql in (
            "SELECT x FROM v",
            "SELECT upper(x) FROM t",
            "PRAGMA journal_mode=DELETE",
            "ATTACH ':memory:' AS m",
        ):
            with pytest.raises(Unreadable):
                database._ask(sql).fetchall()


def test_values_of_odd_types_are_plain_ones(tmp_path: Path) -> None:
    path = made(tmp_path / "a.db", "CREATE TABLE t (x TEXT, n INTEGER)")
    connection = sqlite3.connect(path)
    connection.execute("INSERT INTO t VALUES (?, ?)", ("a\0b", "word"))
    connection.execute("INSERT INTO t VALUES (CAST(x'ff61' AS TEXT), 1.5)")
    connection.execute("INSERT INTO t VALUES (x'eda080', NULL)")
    connection.commit()
    connection.close()
    found = rows(path, "t")
    assert found[:2] == [{"x": "a\0b", "n": "word"}, {"x": "\ufffda", "n": 1.5}]
    str(found[2]["x"]).encode()


@pytest.mark.parametrize("encoding", ["UTF-8", "UTF-16le", "UTF-16be"])
def test_text_is_read_in_the_encoding_of_the_file(tmp_path: Path, encoding: str) -> None:
    path = made(
        tmp_path / "a.db", f"PRAGMA encoding = '{encoding}'", "CREATE TABLE t (ü)", "INSERT INTO t VALUES ('naïve 💥')"
    )
    assert rows(path, "t") == [{"ü": "naïve 💥"}]


def test_a_long_value_is_cut(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sqlite_rows, "MAX_VALUE_BYTES", 10)
    path = made(tmp_path / "a.db", "CREATE TABLE t (x)", "INSERT INTO t VALUES (printf('%.100c', 'a'))")
    assert rows(path, "t") == [{"x": "a" * 10}]


def test_names_that_need_quoting_are_names(tmp_path: Path) -> None:
    path = made(
        tmp_path / "a.db",
        'CREATE TABLE "t""; DROP" ("select" TEXT, "a""b" TEXT)',
        'INSERT INTO "t""; DROP" VALUES (1, 2)',
    )
    assert rows(path, 't"; drop') == [{"select": "1", 'a"b': "2"}]


def test_rows_are_read_as_they_are_asked_for(tmp_path: Path) -> None:
    path = made(tmp_path / "a.db", "CREATE TABLE t (x)")
    connection = sqlite3.connect(path)
    connection.executemany("INSERT INTO t VALUES (?)", ((number,) for number in range(100_000)))
    connection.commit()
    connection.close()
    with opened(path) as database:
        table = database.table("t")
        assert table is not None
        first = list(islice(database.rows(table, ["x"]), 3))
        assert first == [{"x": 0}, {"x": 1}, {"x": 2}]
        assert sum(1 for _ in database.rows(table, ["x"])) == 100_000


def test_rows_beyond_the_bound_are_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sqlite_rows, "MAX_ROWS", 2)
    path = made(tmp_path / "a.db", "CREATE TABLE t (x)", "INSERT INTO t VALUES (1), (2), (3)")
    assert why(path) == "has more than 2 rows in t; the rest was not read"


def test_a_table_is_known_by_name_and_columns(tmp_path: Path) -> None:
    path = made(tmp_path / "a.db", "CREATE TABLE T (X, y)")
    assert is_sqlite(path)
    assert has_table(path, {"t": {"x", "y"}})
    assert not has_table(path, {"t": {"x", "z"}, "u": set()})
    assert not has_table(tmp_path / "gone.db", {"t": set()})


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.tuples(st.integers(0, 8191), st.integers(0, 255)), max_size=40))
def test_a_damaged_file_never_raises_anything_else(tmp_path: Path, damage: list[tuple[int, int]]) -> None:
    path = tmp_path / "a.db"
    path.unlink(missing_ok=True)
    made(path, "CREATE TABLE t (x TEXT, n)", "INSERT INTO t VALUES ('words', 1), ('more', 2)")
    data = bytearray(path.read_bytes())
    for place, value in damage:
        if place < len(data):
            data[place] = value
    path.write_bytes(data)
    try:
        with opened(path) as database:
            for table in database.tables:
                list(database.rows(table, table.columns))
    except Unreadable as problem:
        assert str(problem)
