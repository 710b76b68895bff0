"""claude-mem's database, made with the tables and columns of its documentation."""

from __future__ import annotations

import json
import sqlite3
from itertools import islice
from pathlib import Path

import pytest

from chitta.importing import superlocalmemory
from chitta.importing.claude_mem import detect, read
from chitta.importing.imported import Imported
from chitta.notes.note import Note

REALM = "project:github.com/acme/shop"
OBSERVATIONS = """CREATE TABLE observations (
  id INTEGER PRIMARY KEY AUTOINCREMENT, memory_session_id TEXT NOT NULL, project TEXT NOT NULL, text TEXT,
  type TEXT, title TEXT, subtitle TEXT, facts TEXT, narrative TEXT, concepts TEXT, files_read TEXT,
  files_modified TEXT, prompt_number INTEGER, discovery_tokens INTEGER DEFAULT 0,
  created_at TEXT NOT NULL, created_at_epoch INTEGER NOT NULL)"""
SUMMARIES = """CREATE TABLE session_summaries (
  id INTEGER PRIMARY KEY AUTOINCREMENT, memory_session_id TEXT NOT NULL, project TEXT NOT NULL, request TEXT,
  investigated TEXT, learned TEXT, completed TEXT, next_steps TEXT, notes TEXT, prompt_number INTEGER,
  created_at TEXT NOT NULL, created_at_epoch INTEGER NOT NULL)"""
EPOCH = 1_717_243_200_000  # 2024-06-01T12:00Z in milliseconds


class Store:
    """A database that rows are put into."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.connection = sqlite3.connect(path)
        self.connection.execute(OBSERVATIONS)
        self.connection.execute(SUMMARIES)

    def put(self, table: str = "observations", **values: object) -> None:
        row: dict[str, object] = {
            "memory_session_id": "s-1",
            "project": "shop",
            "created_at": "2024-06-01T12:00:00.000Z",
        }
        row |= {"created_at_epoch": EPOCH, **values}
        marks = ", ".join("?" * len(row))
        self.connection.execute(f"INSERT INTO {table} ({', '.join(row)}) VALUES ({marks})", list(row.values()))
        self.connection.commit()


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path / "claude-mem.db")


def imported(store: Store, realm: str = REALM) -> list[Imported]:
    return list(read(store.path, realm=realm))


def notes(store: Store, realm: str = REALM) -> list[Note]:
    return [item.note for item in imported(store, realm) if item.note is not None]


def problems(store: Store, realm: str = REALM) -> list[str]:
    return [item.problem for item in imported(store, realm) if item.note is None]


def test_an_observation_is_a_note_with_all_that_it_says(store: Store) -> None:
    store.put(
        type="bugfix", title="Webhook 400", subtitle="Raw body was parsed", narrative="The view parsed it first.",
        facts=json.dumps(["Use request.body", "Verify before parsing"]), concepts=json.dumps(["gotcha", "stripe"]),
        files_read='["app/urls.py", "app/views.py"]', files_modified='["app/views.py"]', prompt_number=3,
        discovery_tokens=900,
    )  # fmt: skip
    (note,) = notes(store)
    assert note.text == (
        "Raw body was parsed\n\nThe view parsed it first.\n\n- Use request.body\n- Verify before parsing"
    )
    assert (note.kind, note.title, note.created, note.realm) == ("bug-fix", "Webhook 400", "2024-06-01", REALM)
    assert note.tags == ("gotcha", "stripe", "bugfix", "shop")
    assert note.source == "claude-mem observations 1"
    assert dict(note.extra) == {"files": ["app/views.py", "app/urls.py"], "session": "s-1"}


@pytest.mark.parametrize(
    "kind, ours",
    [("decision", "decision"), ("discovery", "insight"), ("feature", "reference"), ("refactor", "operational"),
     ("change", "operational"), ("odd", "insight"), (None, "insight")],
)  # fmt: skip
def test_types_are_kinds(store: Store, kind: str | None, ours: str) -> None:
    store.put(type=kind, title="t", narrative="n")
    assert [note.kind for note in notes(store)] == [ours]


def test_a_summary_is_what_was_learned_and_what_was_completed(store: Store) -> None:
    store.put("session_summaries", request="Fix login", learned="Sessions end at night.", completed="Login fixed.",
              next_steps="Deploy", notes="Ask ops.")  # fmt: skip
    store.put("session_summaries", request="Look around", investigated="All of it")
    learned, completed = notes(store)
    assert (learned.kind, learned.text) == ("insight", "Sessions end at night.\n\nAsk ops.")
    assert (completed.kind, completed.title, completed.text) == ("episode", "Fix login", "Login fixed.")
    assert learned.id != completed.id
    assert problems(store) == ["learned nothing"]


def test_importing_again_gives_the_same(store: Store) -> None:
    for number in range(5):
        store.put(title=f"t{number}", narrative="same", created_at_epoch=EPOCH + number)
    first = imported(store)
    store.put(title="new", narrative="n")
    assert imported(store)[:5] == first
    assert len({note.id for note in notes(store)}) == 6


def test_rows_of_one_number_in_two_databases_have_two_ids(tmp_path: Path) -> None:
    one, two = Store(tmp_path / "1.db"), Store(tmp_path / "2.db")
    one.put(title="a", narrative="a")
    two.put(title="a", narrative="a", created_at_epoch=EPOCH + 1)
    assert notes(one)[0].id != notes(two)[0].id


def test_memories_of_other_projects_are_passed_over_and_counted(store: Store) -> None:
    for project in ("shop", "blog", "blog", "/home/me/tools/"):
        store.put(project=project, title="t", narrative="n")
    assert [note.tags for note in notes(store)] == [("shop",)]
    assert problems(store) == [
        "holds 3 of other projects, passed over: blog (2), tools (1); "
        "import in their folders, or all of them with --global"
    ]
    assert [note.tags for note in notes(store, "global")] == [("shop",), ("blog",), ("blog",), ("tools",)]
    assert problems(store, "global") == []


def test_the_only_project_is_taken_under_another_name_with_a_remark(store: Store) -> None:
    store.put(project="shop-2", title="t", narrative="n")
    (item,) = imported(store)
    assert item.note is not None and item.note.realm == REALM
    assert item.remark == f"is of the project shop-2, imported into {REALM}"


def test_memories_of_older_versions_are_read(tmp_path: Path) -> None:
    path = tmp_path / "old.db"
    connection = sqlite3.connect(path)
    connection.execute(
        "CREATE TABLE memories (id INTEGER PRIMARY KEY, session_id TEXT, text TEXT, document_id TEXT, keywords TEXT,"
        " created_at TEXT, created_at_epoch INTEGER, project TEXT, title TEXT, subtitle TEXT, facts TEXT,"
        " concepts TEXT, files_touched TEXT)"
    )
    connection.execute(
        "INSERT INTO memories VALUES (1, 's', 'Words.', 'd', 'a, b', '2024-01-02T03:04:05Z', NULL,"
        " 'shop', NULL, NULL, NULL, NULL, '[\"x.py\"]')"
    )
    connection.commit()
    (item,) = read(path, realm=REALM)
    assert item.note is not None
    assert (item.note.text, item.note.created, item.note.tags) == ("Words.", "2024-01-02", ("a", "b", "shop"))
    assert detect(path)


def test_odd_values_do_no_harm(store: Store) -> None:
    bomb = "[" * 100_000
    store.put(type=b"\xff", title=12, narrative=b"\xed\xa0\x80 a\0b", facts=bomb, concepts='{"a": {"b": 1}}',
              files_read="[1, null, [2]]", created_at_epoch="soon", created_at=1e300)  # fmt: skip
    store.put(title=None, narrative="", facts="[]")
    first, empty = imported(store)
    assert first.note is not None and "\0" not in first.note.text
    assert first.note.created == ""
    assert empty.problem == "has no text"


def test_many_rows_are_read_as_they_are_asked_for(store: Store) -> None:
    store.connection.executemany(
        "INSERT INTO observations (memory_session_id, project, title, narrative, created_at, created_at_epoch)"
        " VALUES ('s', 'shop', 't', 'n', '', ?)",
        ((number,) for number in range(100_000)),
    )
    store.connection.commit()
    assert len([item for item in islice(read(store.path, realm=REALM), 3) if item.note]) == 3


def test_another_database_is_refused_with_its_tables(tmp_path: Path) -> None:
    path = tmp_path / "x.db"
    sqlite3.connect(path).executescript("CREATE TABLE songs (x)")
    (item,) = read(path, realm=REALM)
    assert item.problem.endswith("its tables are songs")
    assert not detect(path)
    (path := tmp_path / "y.db").write_bytes(b"words")
    assert [item.problem for item in read(path, realm=REALM)] == ["is not a SQLite database, or is encrypted"]


def test_it_is_not_taken_for_another_programs_database(store: Store, tmp_path: Path) -> None:
    other = tmp_path / "memory.db"
    sqlite3.connect(other).executescript(
        "CREATE TABLE memories (id INTEGER PRIMARY KEY, content TEXT, importance INTEGER)"
    )
    assert (detect(store.path), superlocalmemory.detect(store.path)) == (True, False)
    assert (detect(other), superlocalmemory.detect(other)) == (False, True)
