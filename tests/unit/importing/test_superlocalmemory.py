"""SuperLocalMemory's database, by whatever its columns are called."""

from __future__ import annotations

import sqlite3
from itertools import islice
from pathlib import Path

import pytest

from chitta.importing.imported import Imported
from chitta.importing.superlocalmemory import detect, read
from chitta.notes.note import Note

REALM = "project:github.com/acme/shop"
VERSION_2 = (
    "CREATE TABLE memories (id INTEGER PRIMARY KEY, content TEXT, summary TEXT, project_path TEXT, project_name TEXT,"
    " tags TEXT, category TEXT, memory_type TEXT, importance INTEGER, created_at TIMESTAMP, updated_at TIMESTAMP,"
    " profile TEXT)"
)
FACTS = (
    "CREATE TABLE atomic_facts (key TEXT PRIMARY KEY, memory_id TEXT, content TEXT, confidence REAL, observed_at TEXT,"
    " entities TEXT, superseded_by TEXT, lifecycle TEXT, expires_at TEXT, session_id TEXT, embedding BLOB)"
)
UUID = "0b7f2a52-6f0e-4b8e-9c39-0c3b1f0f7a1{}"


def made(path: Path, *statements: str) -> Path:
    connection = sqlite3.connect(path)
    for statement in statements:
        connection.execute(statement)
    connection.commit()
    connection.close()
    return path


def imported(path: Path, realm: str = REALM) -> list[Imported]:
    return list(read(path, realm=realm))


def notes(path: Path, realm: str = REALM) -> list[Note]:
    return [item.note for item in imported(path, realm) if item.note is not None]


def problems(path: Path, realm: str = REALM) -> list[str]:
    return [item.problem for item in imported(path, realm) if item.note is None]


def test_a_memory_of_version_2(tmp_path: Path) -> None:
    path = made(
        tmp_path / "memory.db",
        VERSION_2,
        "INSERT INTO memories VALUES (7, 'We pin node.', NULL, '/w/shop', 'shop', '[\"node\"]', 'decision',"
        " 'long-term', 8, '2026-02-05 10:11:12', '2026-02-06', 'work')",
    )
    (note,) = notes(path)
    assert (note.kind, note.title, note.text) == ("decision", "We pin node.", "We pin node.")
    assert (note.created, note.updated, note.confidence) == ("2026-02-05", "2026-02-06", 0.8)
    assert note.tags == ("node", "decision", "shop", "work")
    assert note.source == "SuperLocalMemory memories 7"
    assert detect(path)


def facts(path: Path, *values: str) -> Path:
    return made(path, FACTS, *(f"INSERT INTO atomic_facts VALUES ({value})" for value in values))


def test_a_fact_keeps_its_trust_entities_and_days(tmp_path: Path) -> None:
    path = facts(
        tmp_path / "m.db",
        f"'{UUID.format(1)}', NULL, 'Redis is the broker.', 0.75, '2026-01-01', '[\"Redis\"]', NULL, 'active',"
        " '2027-01-01', 's-9', x'00ff'",
    )
    (note,) = notes(path)
    assert (note.confidence, note.created, note.valid_until, note.tags) == (
        0.75,
        "2026-01-01",
        "2027-01-01",
        ("Redis",),
    )
    assert dict(note.extra) == {"session": "s-9"}


def test_what_was_superseded_archived_or_deleted_keeps_that(tmp_path: Path) -> None:
    path = facts(
        tmp_path / "m.db",
        f"'{UUID.format(1)}', NULL, 'Old.', 0.5, NULL, NULL, '{UUID.format(2)}', 'active', NULL, NULL, NULL",
        f"'{UUID.format(2)}', NULL, 'New.', 0.5, NULL, NULL, NULL, 'warm', NULL, NULL, NULL",
        f"'{UUID.format(3)}', NULL, 'Put away.', 0.5, NULL, NULL, NULL, 'archived', NULL, NULL, NULL",
        f"'{UUID.format(4)}', NULL, 'Gone.', 0.5, NULL, NULL, NULL, 'forgotten', NULL, NULL, NULL",
    )
    old, new, away = notes(path)
    assert old.superseded_by == new.id
    assert [dict(note.extra).get("status") for note in (old, new, away)] == ["superseded", None, "archived"]
    assert problems(path) == ["was deleted there"]


def test_a_memory_whose_facts_are_there_is_not_imported_twice(tmp_path: Path) -> None:
    path = facts(tmp_path / "m.db", "'f1', 'm1', 'A fact.', 1, NULL, NULL, NULL, NULL, NULL, NULL, NULL")
    made(
        path,
        "CREATE TABLE memories (id TEXT PRIMARY KEY, content TEXT)",
        "INSERT INTO memories VALUES ('m1', 'A fact, at length.'), ('m2', 'Another memory.')",
    )
    assert [note.text for note in notes(path)] == ["A fact.", "Another memory."]
    assert problems(path) == ["holds 1 texts whose facts were taken instead"]


def test_importing_again_gives_the_same_also_when_a_text_was_edited(tmp_path: Path) -> None:
    path = made(tmp_path / "m.db", VERSION_2, "INSERT INTO memories (id, content) VALUES (1, 'a'), (2, 'b')")
    before = imported(path)
    assert imported(path) == before
    made(path, "UPDATE memories SET content = 'c' WHERE id = 1")
    after = imported(path)
    assert [item.note.id for item in after if item.note] == [item.note.id for item in before if item.note]
    assert [item.digest == earlier.digest for item, earlier in zip(after, before, strict=True)] == [False, True]


def test_memories_of_other_projects_are_passed_over(tmp_path: Path) -> None:
    path = made(
        tmp_path / "m.db",
        VERSION_2,
        "INSERT INTO memories (content, project_name) VALUES ('a', 'Shop'), ('b', 'blog'), ('c', NULL)",
    )
    assert [note.text for note in notes(path)] == ["a", "c"]
    assert "holds 1 of other projects, passed over: blog (1)" in problems(path)[0]
    assert [note.text for note in notes(path, "global")] == ["a", "b", "c"]


def test_one_table_of_another_name_is_taken(tmp_path: Path) -> None:
    path = made(tmp_path / "m.db", "CREATE TABLE learned (uid TEXT PRIMARY KEY, Fact TEXT)",
                "CREATE TABLE learned_fts_content (id INTEGER, content TEXT)",
                "INSERT INTO learned VALUES ('u', 'Words.')")  # fmt: skip
    assert [note.text for note in notes(path)] == ["Words."]


@pytest.mark.parametrize(
    "tables, why",
    [(("CREATE TABLE a (content)", "CREATE TABLE b (text)"), "several tables may hold memories; its tables are a, b"),
     (("CREATE TABLE a (x)",), "no table holds memories; its tables are a"), ((), "its tables are none")],
)  # fmt: skip
def test_where_no_table_can_be_told_the_tables_are_listed(tmp_path: Path, tables: tuple[str, ...], why: str) -> None:
    path = made(tmp_path / "m.db", "PRAGMA user_version = 1", *tables)
    (problem,) = problems(path)
    assert problem.endswith(why)
    assert not detect(path)


def test_odd_values_do_no_harm(tmp_path: Path) -> None:
    path = made(
        tmp_path / "m.db",
        VERSION_2,
        "INSERT INTO memories VALUES (1, x'ff00fe', 5, NULL, x'00', '[[[[', 3.5, x'', 'very', 'yesterday', -1, NULL)",
        "INSERT INTO memories VALUES (2, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 1e400, 1e300, NULL, NULL)",
        "INSERT INTO memories (content, tags) VALUES ('words', '" + "[" * 50_000 + "')",
    )
    assert [item.problem for item in imported(path, "global")] == ["", "has no text", ""]


def test_many_rows_are_read_as_they_are_asked_for(tmp_path: Path) -> None:
    path = made(tmp_path / "m.db", VERSION_2)
    connection = sqlite3.connect(path)
    connection.executemany("INSERT INTO memories (content) VALUES (?)", ((f"m{number}",) for number in range(100_000)))
    connection.commit()
    assert [item.note.text for item in islice(read(path, realm=REALM), 2) if item.note] == ["m0", "m1"]


def test_what_is_no_database_is_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "m.db").write_bytes(b"\0" * 100)
    assert problems(tmp_path / "m.db") == ["is not a SQLite database, or is encrypted"]
    assert problems(tmp_path / "gone.db") == ["is not there"]
