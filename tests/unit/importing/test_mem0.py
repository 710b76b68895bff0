"""Exports of mem0 and OpenMemory, whole and broken, and archives that would be too much."""

from __future__ import annotations

import gzip
import json
import zipfile
from itertools import islice
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from chitta.importing import mem0
from chitta.importing.imported import Imported
from chitta.importing.mem0 import detect, read
from chitta.notes.note import Note

REALM = "project:github.com/acme/shop"
MEMORY = {
    "id": "892db2ae-06d9-49e5-8b3e-585ef9b85b8e",
    "memory": "Prefers async communication.",
    "user_id": "arjun",
    "hash": "a1",
    "metadata": {"type": "preference", "ticket": 12},
    "categories": ["work_style"],
    "created_at": "2024-07-20T01:30:36.275141-07:00",
    "updated_at": "2024-07-21T01:30:36Z",
}


def imported(path: Path) -> list[Imported]:
    return list(read(path, realm=REALM))


def notes(path: Path) -> list[Note]:
    return [item.note for item in imported(path) if item.note is not None]


def problems(path: Path) -> list[str]:
    return [item.problem for item in imported(path) if item.note is None]


def written(path: Path, value: object) -> Path:
    path.write_text(json.dumps(value))
    return path


@pytest.mark.parametrize(
    "shape",
    [
        lambda memories: memories,
        lambda memories: {"count": 1, "results": memories},
        lambda memories: {"memories": memories},
    ],
)
def test_every_shape_gives_the_same_note(tmp_path: Path, shape: object) -> None:
    assert callable(shape)
    path = written(tmp_path / "export.json", shape([MEMORY]))
    (note,) = notes(path)
    assert (note.kind, note.text, note.title) == ("preference", MEMORY["memory"], MEMORY["memory"])
    assert (note.created, note.updated) == ("2024-07-20", "2024-07-21")
    assert note.tags == ("work_style", "preference")
    assert dict(note.extra) == {"user_id": "arjun", "metadata": {"ticket": "12"}}
    assert note.source == f"mem0 {MEMORY['id']}" and note.realm == REALM
    assert detect(path)


def test_lines_and_gzip_give_the_same_notes(tmp_path: Path) -> None:
    lines = "".join(f"{json.dumps({**MEMORY, 'id': str(number)})}\n" for number in range(3))
    (tmp_path / "a.jsonl").write_text("\ufeff" + lines)
    (tmp_path / "a.jsonl.gz").write_bytes(gzip.compress(lines.encode()))
    assert notes(tmp_path / "a.jsonl") == notes(tmp_path / "a.jsonl.gz")
    assert len(notes(tmp_path / "a.jsonl")) == 3
    assert detect(tmp_path / "a.jsonl") and detect(tmp_path / "a.jsonl.gz")


def openmemory(path: Path, *, lines: bool = True) -> Path:
    rows = [
        {"id": f"m{number}", "content": f"Memory {number}.", "state": state, "metadata": {}, "created_at": "2025-06-01"}
        for number, state in enumerate(["active", "archived", "paused", "deleted"])
    ]  # fmt: skip
    document = {
        "user": {"id": "u", "email": "a@example.org"},
        "categories": [{"id": "c1", "name": "work"}],
        "memories": [{**row, "category_ids": ["c1"]} for row in rows],
        "status_history": [{"id": "h", "memory_id": "m0"}],
    }
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("memories.json", json.dumps(document, indent=2))
        if lines:
            text = "".join(json.dumps({**row, "app": "cursor", "categories": ["work"]}) + "\n" for row in rows)
            archive.writestr("memories.jsonl.gz", gzip.compress(text.encode()))
    return path


@pytest.mark.parametrize("lines", [True, False])
def test_an_archive_of_openmemory(tmp_path: Path, lines: bool) -> None:
    path = openmemory(tmp_path / "export.zip", lines=lines)
    active, archived, paused = notes(path)
    assert [note.text for note in (active, archived, paused)] == ["Memory 0.", "Memory 1.", "Memory 2."]
    assert active.tags == ("work",)
    assert dict(archived.extra)["status"] == "archived"
    assert paused.quarantine and not active.quarantine
    assert problems(path) == ["was deleted there"]
    assert dict(active.extra) == ({"app": "cursor"} if lines else {})
    assert detect(path)


def test_importing_again_gives_the_same_and_an_edit_keeps_the_id(tmp_path: Path) -> None:
    path = written(tmp_path / "a.json", [MEMORY, {"text": "No id.", "user_id": "x"}])
    before = imported(path)
    assert imported(path) == before
    written(path, [{**MEMORY, "memory": "Other words."}, {"text": "No id.", "user_id": "x"}])
    after = imported(path)
    assert [item.note.id for item in after if item.note] == [item.note.id for item in before if item.note]
    assert [one.digest == two.digest for one, two in zip(before, after, strict=True)] == [False, True]


def test_what_is_no_memory_is_said(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    deep = "[" * 100_000 + "]" * 100_000
    path.write_text(f'[1, "a", {{}}, {{"memory": 5}}, {{"memory": " "}}, {{bad}}, {deep}, {json.dumps(MEMORY)}]')
    assert len(notes(path)) == 1
    assert len(problems(path)) == 7


@pytest.mark.parametrize("value", [{}, {"categories": []}, {"results": {"memory": "x"}}, []])
def test_a_document_without_memories_is_one_sentence(tmp_path: Path, value: object) -> None:
    assert problems(written(tmp_path / "a.json", value)) == [
        "holds no memories: neither a list nor one under results or memories"
    ]


def test_odd_values_do_no_harm(tmp_path: Path) -> None:
    odd = {"memory": "a\0b \ud800", "id": ["x"], "metadata": [[]], "categories": {"a": None},
           "created_at": {"$date": 1}, "updated_at": 10**400, "state": 7, "tags": [[["t"]]],
           "user_id": "u" * 10_000}  # fmt: skip
    (note,) = notes(written(tmp_path / "a.json", [odd]))
    assert note.text == "ab \ufffd"


def zipped(path: Path, **members: bytes) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in members.items():
            archive.writestr(name.replace("_", "."), data)
    return path


def test_a_zip_that_unpacks_to_far_more_than_it_is_is_refused(tmp_path: Path) -> None:
    path = zipped(tmp_path / "a.zip", memories_json=b"[" + b" " * 20_000_000 + b"]")
    assert problems(path) == ["is a zip that unpacks to more than 200 times its size; refused"]


def test_a_zip_of_many_members_is_refused(tmp_path: Path) -> None:
    path = zipped(tmp_path / "a.zip", memories_json=b"[]", **{f"m{number}": b"" for number in range(200)})
    assert problems(path) == ["is a zip of 201 members, more than 100; refused"]
    assert not detect(path)


def test_a_zip_that_says_less_than_it_holds_is_stopped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mem0, "MAX_FILE_BYTES", 50_000)
    lines = (json.dumps(MEMORY) + "\n").encode() * 1000
    path = zipped(tmp_path / "a.zip", **{"memories_jsonl_gz": gzip.compress(lines, mtime=0)})
    found = imported(path)
    assert 0 < sum(item.note is not None for item in found) < 1000
    assert "unpacks to more than" in found[-1].problem
    path = zipped(tmp_path / "b.zip", memories_jsonl=lines)
    monkeypatch.setattr(mem0, "MAX_FILE_BYTES", path.stat().st_size)
    assert "is a zip that unpacks to more than" in problems(path)[0]


def test_a_zip_whose_list_of_members_is_huge_is_refused_before_it_is_read(tmp_path: Path) -> None:
    path = zipped(tmp_path / "a.zip", **{f"{number:0250}": b"" for number in range(1000)})
    assert problems(path) == ["is a zip of far more than 100 members; refused"]
    assert not detect(path)


def test_a_file_that_is_too_large_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    with open(path, "wb") as file:
        file.truncate(mem0.MAX_FILE_BYTES + 1)
    assert problems(path) == ["is larger than 512 MiB (512 MiB); split it first"]


def test_a_memory_that_is_too_large_is_passed_over(tmp_path: Path) -> None:
    memories = [{"memory": "x" * 5_000_000, "id": "a"}, MEMORY]
    lines = tmp_path / "a.jsonl"
    lines.write_text("".join(json.dumps(memory) + "\n" for memory in memories))
    for path in (written(tmp_path / "a.json", memories), lines):
        assert problems(path) == ["is larger than 4 MiB"]
        assert len(notes(path)) == 1


def test_many_memories_are_read_as_they_are_asked_for(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    with open(path, "w") as file:
        file.write("[" + ",".join(json.dumps({**MEMORY, "id": str(number)}) for number in range(100_000)))
    assert [item.source for item in islice(read(path, realm=REALM), 2)] == [f"{path}:1", f"{path}:2"]


@pytest.mark.parametrize(
    "name, data",
    [("a.zip", b"PK\x03\x04junk"), ("a.zip", b""), ("a.jsonl.gz", b"\x1f\x8bjunk"), ("a.jsonl.gz", b"words"),
     ("a.jsonl.gz", gzip.compress(b"x" * 1000, mtime=0)[:20]), ("a.json", b"\xff\xfe"), ("a.json", b""),
     ("a.jsonl", b"")],
)  # fmt: skip
def test_what_is_broken_is_one_sentence(tmp_path: Path, name: str, data: bytes) -> None:
    path = tmp_path / name
    path.write_bytes(data)
    assert len(imported(path)) == 1 and problems(path)[0]
    assert not detect(path)


def test_what_is_no_export_is_not_detected(tmp_path: Path) -> None:
    assert not detect(written(tmp_path / "package.json", {"name": "x", "version": "1"}))
    (tmp_path / "notes.jsonl").write_text('{"text": "a note of chitta"}\n')
    assert not detect(tmp_path / "notes.jsonl")
    assert not detect(tmp_path) and not detect(tmp_path / "gone.json")
    assert problems(tmp_path / "gone.json") == ["is not there"]


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.tuples(st.integers(0, 600), st.integers(0, 255)), min_size=1, max_size=10))
def test_a_damaged_archive_never_raises(tmp_path: Path, damage: list[tuple[int, int]]) -> None:
    path = openmemory(tmp_path / "a.zip")
    data = bytearray(path.read_bytes())
    for place, value in damage:
        data[place % len(data)] = value
    path.write_bytes(data)
    for item in read(path, realm=REALM):
        assert item.note is not None or item.problem
    detect(path)
