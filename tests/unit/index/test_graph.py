"""What notes share and state, written with them and read back; and windows of time."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from chitta.index import IndexDamaged, catalog, generation, ledger
from chitta.index.catalog import Catalog
from chitta.index.graph import Dated, Graph, utc_stamp
from chitta.index.indexer import sync
from chitta.index.ledger import Ledger
from chitta.index.snapshot import Snapshot
from chitta.notes.note import Note
from chitta.notes.store import NoteStore
from chitta.notes.triplet import Edge
from chitta.settings import Settings

NOTES = (
    Note("a", title="Cache", tags=("redis",), text="`get_user`", created="2024-05-01T00:30:00+02:00"),
    Note("b", title="Queue", tags=("redis",), realm="project:h/o/n",
         created="2024-05-01", updated="2024-06-01T10:00:00Z"),
    Note("c", title="Plain", text="- depends_on [[Cache]]", supersedes=("a",), created="some day"),
)  # fmt: skip


@pytest.fixture
def path(tmp_path: Path) -> str:
    return str(tmp_path / "catalog.sqlite")


@pytest.fixture
def read(path: str, request: pytest.FixtureRequest) -> Callable[..., Graph]:
    """Writes notes as the next commit, drops others, and reads what is there then."""

    def after(*notes: Note, drop: tuple[str, ...] = ()) -> Graph:
        writer = Ledger(path, create=not Path(path).exists())
        for note in notes:
            writer.put_note(note, note.id.partition("~")[0], f"{note.id}.md", "sha", None)
        for name in drop:
            writer.drop_note(name)
        writer.commit()
        writer.close()
        reader = Catalog(path)
        request.addfinalizer(reader.close)
        return reader.graph

    return after


def test_entities_by_note_and_notes_by_entity(read: Callable[..., Graph]) -> None:
    graph = read(*NOTES)
    assert graph.entities_of(["b", "absent", "a"]) == {
        "b": ("note:b", "note:queue", "tag:redis"),
        "a": ("id:get_user", "note:a", "note:cache", "tag:redis"),
    }
    assert graph.sharing(["tag:redis", "note:cache", "tag:none"]) == {"tag:redis": ["a", "b"], "note:cache": ["a", "c"]}
    assert graph.sharing(["tag:redis"], "project:h/o/n") == {"tag:redis": ["b"]}
    assert graph.sharing(["tag:redis"], limit=1) == {"tag:redis": ["a"]}
    assert graph.entity_counts(["tag:redis", "tag:none"]) == {"tag:redis": 2}
    assert graph.entity_counts(["tag:redis"], "global") == {"tag:redis": 1}
    assert graph.degree(["a", "absent"]) == {"a": 4, "absent": 0}


def test_more_names_than_one_statement_takes(read: Callable[..., Graph]) -> None:
    graph = read(*NOTES)
    many = [f"x{number}" for number in range(2_000)]
    assert list(graph.entities_of([*many, "a"])) == ["a"]
    assert list(graph.entity_counts([*many, "tag:redis"])) == ["tag:redis"]
    assert graph.successors([*many, "a"]) == {"a": ("c",)}


def test_rows_go_and_change_with_their_note(read: Callable[..., Graph]) -> None:
    read(*NOTES)
    graph = read(NOTES[0]._replace(tags=("valkey",), realm="other"), drop=("c",))
    assert graph.sharing(["tag:redis", "tag:valkey", "note:cache"]) == {
        "tag:redis": ["b"], "tag:valkey": ["a"], "note:cache": ["a"],
    }  # fmt: skip
    assert graph.entity_counts(["tag:valkey"], "global") == {}
    assert graph.edges("cache") == []


def test_nothing_is_seen_before_the_commit(read: Callable[..., Graph], path: str) -> None:
    read(*NOTES)
    writer = Ledger(path)
    writer.put_note(NOTES[0]._replace(tags=("valkey",)), "a", "a.md", "sha", None)
    writer.close()
    reader = Catalog(path)
    assert reader.graph.sharing(["tag:redis", "tag:valkey"]) == {"tag:redis": ["a", "b"]}
    reader.close()


def test_edges_from_either_end_whatever_case_and_space(read: Callable[..., Graph]) -> None:
    graph = read(*NOTES)
    edge = Edge("Plain", "depends_on", "Cache", "c")
    assert graph.edges(" CA che") == [edge]
    assert graph.edges("plain") == [edge]
    assert graph.edges("cache", "project:h/o/n") == []
    assert graph.edges("queue") == []


def test_successors_from_either_side(read: Callable[..., Graph]) -> None:
    graph = read(*NOTES, Note("d", superseded_by="b"), Note("e", supersedes=("a",)))
    assert graph.successors(["a", "b", "d"]) == {"a": ("c", "e"), "d": ("b",)}


def test_a_successor_is_first_sought_in_its_own_realm(read: Callable[..., Graph]) -> None:
    """Two realms use one id; the second note has another one here."""
    notes = (Note("a", realm="x"), Note("a~y", realm="y"), Note("new", realm="y", supersedes=("a",)))
    graph = read(*notes)
    assert graph.successors(["a", "a~y"]) == {"a~y": ("new",)}
    assert read(drop=("a~y",)).successors(["a"]) == {"a": ("new",)}


def test_a_note_that_is_not_there_succeeds_nothing(read: Callable[..., Graph]) -> None:
    assert read(Note("a", superseded_by="absent"), Note("b", supersedes=("b",))).successors(["a", "b"]) == {}


def test_windows_are_half_open_and_in_utc(read: Callable[..., Graph]) -> None:
    graph = read(*NOTES)
    assert graph.between(None, "2024-04-30", "2024-05-01") == [Dated("a", "2024-04-30T22:30:00")]
    assert graph.between(None, "2024-05-01", "2024-07-01") == [Dated("b", "2024-06-01T10:00:00")]
    assert [each.id for each in graph.between(None, "2024-01-01", "2025-01-01")] == ["b", "a"]
    assert [each.id for each in graph.between("global", "2024-01-01", "2025-01-01")] == ["a"]
    assert [each.id for each in graph.between(None, "2024-01-01", "2025-01-01", limit=1)] == ["b"]
    assert graph.between(None, "2024-06-01T12:00:00+02:00", "2024-06-01T12:00:01+02:00") == [
        Dated("b", "2024-06-01T10:00:00")
    ]
    assert graph.between(None, "soon", "2025-01-01") == []


def test_stamps_sort_as_the_moments_do() -> None:
    assert utc_stamp("2024-05-01") == utc_stamp("2024-05-01T02:00:00+02:00") == "2024-05-01T00:00:00"
    assert utc_stamp("2024-05-01T10:00:00.500Z") == "2024-05-01T10:00:00"
    assert [utc_stamp(text) for text in ("", "2024-02-30", "0001-01-01T00:00:00+10:00")] == ["", "", ""]


def test_lost_tables_are_damage(read: Callable[..., Graph], path: str) -> None:
    graph = read(*NOTES)
    connection = sqlite3.connect(path)
    connection.execute("DROP TABLE entities")
    connection.close()
    with pytest.raises(IndexDamaged):
        graph.entities_of(["a"])


def put_all(settings: Settings, store: NoteStore, embedder: Any) -> None:
    for note in NOTES:
        store.write(note)
    sync(settings, embedder)


def test_a_snapshot_answers_and_reports(
    settings: Settings, store: NoteStore, embedder: Any, opened: Callable[[], Snapshot]
) -> None:
    put_all(settings, store, embedder)
    notes = opened().catalog
    assert notes.sharing(["tag:redis"]) == {"tag:redis": ["a", "b"]}
    assert notes.successors(["a"]) == {"a": ("c",)}
    assert notes.edges("cache") == [Edge("Plain", "depends_on", "Cache", "c")]
    assert [each.id for each in notes.between(None, "2024-01-01", "2030-01-01")] == ["b", "a"]
    found = generation.current(settings.index_dir)
    assert found is not None
    Path(found.catalog).write_bytes(b"no database")
    broken = opened()
    assert not broken.catalog.entities_of(["a"])
    assert not broken.catalog.sharing(["tag:redis"])
    assert not broken.catalog.entity_counts(["tag:redis"])
    assert not broken.catalog.successors(["a"])
    assert not broken.catalog.between(None, "2020-01-01", "2030-01-01")
    assert not broken.catalog.edges("cache")
    assert broken.catalog.degree(["a"]) == {"a": 0}
    assert "catalog" in broken.damaged


def test_an_index_of_another_version_is_rebuilt_and_keeps_its_vectors(
    settings: Settings, store: NoteStore, embedder: Any, monkeypatch: pytest.MonkeyPatch, opened: Callable[[], Snapshot]
) -> None:
    with monkeypatch.context() as older:
        for module in (catalog, ledger):
            older.setattr(module, "SCHEMA_VERSION", "2")
        put_all(settings, store, embedder)
    found = generation.current(settings.index_dir)
    assert found is not None
    connection = sqlite3.connect(found.catalog)
    for table in ("entities", "triplets"):  # as it was before there was a graph
        connection.execute(f"DROP TABLE {table}")
    for column in ("created", "updated"):
        connection.execute(f"DROP INDEX notes_{column}")
        connection.execute(f"ALTER TABLE notes DROP COLUMN {column}_utc")
    connection.commit()
    connection.close()
    embedder.asked.clear()
    report = sync(settings, embedder)
    assert (report.unchanged, report.pending, embedder.asked) == (len(NOTES), 0, [])
    assert opened().catalog.sharing(["tag:redis"]) == {"tag:redis": ["a", "b"]}
