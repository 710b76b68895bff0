"""Import: what becomes a note, what becomes a problem, and that ids hold over time."""

from __future__ import annotations

import datetime
import json
import os
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chitta.importing.imported import Imported
from chitta.importing.plain import read_path
from chitta.notes.ids import valid_id
from chitta.notes.note import Note
from chitta.notes.store import MAX_NOTE_BYTES

REALM = "project:h/o/n"


def imported(path: Path) -> list[Imported]:
    return list(read_path(path, realm=REALM))


def notes(path: Path) -> list[Note]:
    return [item.note for item in imported(path) if item.note is not None]


def problems(path: Path) -> list[str]:
    return [item.problem for item in imported(path) if item.note is None]


def jsonl(path: Path, *rows: object) -> Path:
    path.write_text("\n".join(row if isinstance(row, str) else json.dumps(row) for row in rows))
    return path


def test_a_markdown_file_keeps_what_it_says(tmp_path: Path) -> None:
    file = tmp_path / "note.md"
    file.write_text(
        "---\nid: given\ntitle: Given\nrealm: global\ncategory: tooling\ntags: [tmux]\nconfidence: high\n---\nBody.\n"
    )
    (note,) = notes(file)
    expected = Note(id="given", realm="global", title="Given", text="Body.", tags=("tooling", "tmux"), confidence=0.9)
    assert note == expected._replace(source="note.md")


def test_titles_come_from_front_matter_then_heading_then_file_name(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("---\ntitle: Front\n---\n# Heading\n")
    (tmp_path / "b.markdown").write_text("# Heading\n")
    (tmp_path / "c stem.MD").write_text("Words.")
    assert [note.title for note in notes(tmp_path)] == ["Front", "Heading", "c stem"]


def test_a_folder_is_read_to_its_depth_without_what_is_hidden(tmp_path: Path) -> None:
    for name in ("a.md", "sub/b.md", "sub/deep/c.md", ".hidden.md", ".git/d.md", "e.txt", "f.jsonl"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("words")
    (tmp_path / "loop").symlink_to(tmp_path)
    assert [note.source for note in notes(tmp_path)] == ["a.md", "sub/b.md", "sub/deep/c.md"]
    assert problems(tmp_path) == []


def test_a_markdown_note_keeps_its_id_when_it_is_edited_or_the_root_moves(tmp_path: Path) -> None:
    (tmp_path / "root" / "sub").mkdir(parents=True)
    file = tmp_path / "root" / "sub" / "Pin node.md"
    file.write_text("# One\n")
    (before,) = notes(tmp_path / "root")
    file.write_text("# Two\n")
    (after,) = notes((tmp_path / "root").rename(tmp_path / "moved"))
    assert before.id == after.id
    assert before.id.startswith("pin-node-")


def test_files_of_one_name_in_two_folders_are_two_notes(tmp_path: Path) -> None:
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "README.md").write_text("words")
    assert len({note.id for note in notes(tmp_path)}) == 2


def test_jsonl_rows_with_the_known_names(tmp_path: Path) -> None:
    row = {
        "id": "jb__ack",
        "title": "ack --bar",
        "category": "ack",
        "text": "# ack --bar\r\n\r\nWords.\n",
        "repo": "jb/til",
        "path": "ack/ack-bar.md",
        "licence": "MIT",
        "created": "2017-03-21T19:43:39-05:00",
        "kind": "reference",
        "tags": ["cli"],
        "bytes": 201,
    }
    (note,) = notes(jsonl(tmp_path / "notes.jsonl", row))
    assert note == Note(
        id="jb__ack",
        kind="reference",
        realm=REALM,
        title="ack --bar",
        text="# ack --bar\n\nWords.",
        created="2017-03-21T19:43:39-05:00",
        tags=("ack", "cli"),
        source="jb/til ack/ack-bar.md (MIT)",
        extra=(("bytes", 201),),
    )


def test_a_jsonl_note_without_id_is_named_after_its_text(tmp_path: Path) -> None:
    rows = [{"text": "Use pnpm.\nNot npm."}, {"text": "Use pnpm.\nNot yarn."}]
    first, second = notes(jsonl(tmp_path / "a.jsonl", *rows))
    assert first.title == "Use pnpm."
    assert first.id.startswith("use-pnpm-")
    assert first.id != second.id
    assert notes(jsonl(tmp_path / "b.jsonl", *reversed(rows)))[1].id == first.id
    (elsewhere,) = (item.note for item in read_path(jsonl(tmp_path / "c.jsonl", rows[0]), realm="global"))
    assert elsewhere is not None and elsewhere.id != first.id


def test_an_empty_title_gives_way_to_the_heading(tmp_path: Path) -> None:
    (note,) = notes(jsonl(tmp_path / "a.jsonl", {"title": "", "text": "Intro.\n\n# Real title\n"}))
    assert note.title == "Real title"


def test_a_bad_line_is_a_sentence_and_the_rest_goes_on(tmp_path: Path) -> None:
    file = jsonl(
        tmp_path / "n.jsonl",
        "\ufeff" + json.dumps({"text": "first"}),
        "{broken",
        "",
        "[1]",
        {"title": "no text"},
        {"text": "  "},
        {"text": "x", "id": "a\nb"},
        "[" * 100_000,
        {"text": "lone \ud800 surrogate", "id": 7},
        {"text": "last", "id": "last", "extra_large": "y" * 70_000},
        {"text": "again", "id": 7},
    )
    found = imported(file)
    assert [item.note.text for item in found if item.note] == ["first", "lone \ufffd surrogate"]
    assert [item.source.rpartition(":")[2] for item in found if not item.note] == [
        "2",
        "4",
        "5",
        "6",
        "7",
        "8",
        "10",
        "11",
    ]
    assert all(item.problem for item in found if not item.note)
    assert f"same id as {file}:9" in found[-1].problem


def test_a_huge_line_is_a_problem(tmp_path: Path) -> None:
    file = jsonl(tmp_path / "n.jsonl", {"text": "x" * MAX_NOTE_BYTES}, {"text": "small"})
    assert problems(file) == ["is larger than 4 MiB"]
    assert len(notes(file)) == 1


@pytest.mark.parametrize(("name", "problem"), [("gone.md", "is not there"), ("x.pdf", "neither")])
def test_paths_that_hold_no_notes(tmp_path: Path, name: str, problem: str) -> None:
    (tmp_path / "x.pdf").write_bytes(b"%PDF")
    (item,) = imported(tmp_path / name)
    assert item.note is None
    assert problem in item.problem


def test_what_may_not_be_read_is_a_problem(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("x")
    (tmp_path / "b.md").write_text("x")
    (tmp_path / "a.md").chmod(0)
    if os.access(tmp_path / "a.md", os.R_OK):
        pytest.skip("this user may read everything")
    assert problems(tmp_path) == ["cannot be read: Permission denied"]
    assert len(notes(tmp_path)) == 1


def test_other_encodings_and_broken_front_matter_come_in(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_bytes("# Café\n".encode("cp1252"))
    (tmp_path / "b.md").write_text("---\ntitle: [broken\n---\n# Real title\n")
    assert [note.title for note in notes(tmp_path)] == ["Café", "Real title"]


@settings(deadline=None)
@given(st.lists(st.binary(max_size=40), max_size=4).map(b"\n".join))
def test_any_bytes_give_notes_or_sentences(tmp_path_factory: pytest.TempPathFactory, data: bytes) -> None:
    folder = tmp_path_factory.mktemp("any")
    for name in ("n.jsonl", "n.md"):
        (folder / name).write_bytes(data)
        for item in imported(folder / name):
            assert (item.note is None) == bool(item.problem)
            assert item.note is None or valid_id(item.note.id)


def test_front_matter_that_cannot_be_read_is_a_remark(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("---\ntitle: fine\nbad: [x\n---\nBody.\n")
    (tmp_path / "b.md").write_text("---\ntitle: never closed\n")
    (tmp_path / "c.md").write_text("---\n\nA rule, then words.\n")
    remarks = [item.remark for item in imported(tmp_path)]
    assert remarks[0].startswith("front matter could not be read; taken as text: line 4: ")
    assert remarks[1:] == ["front matter could not be read; taken as text: it has no closing --- within 64 kB", ""]


def test_the_usual_other_names_of_keys_are_mapped(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text(
        "---\nname: N\ndate: 2025-01-02\nupdated_at: 2025-02-03\ndescription: In short.\nkind: musing\n---\nBody.\n"
    )
    (item,) = imported(tmp_path)
    assert item.note is not None and item.note.text == "In short.\n\nBody."
    assert (item.note.title, item.note.created, item.note.updated) == ("N", "2025-01-02", "2025-02-03")
    assert item.remark == "'musing' is no kind that chitta knows; kept as it is written"


def test_a_file_s_day_is_told_for_notes_that_name_none(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("Body.\n")
    os.utime(tmp_path / "a.md", (1_600_000_000, 1_600_000_000))
    (item,) = imported(tmp_path)
    assert (
        item.file_day == datetime.date.fromtimestamp(1_600_000_000).isoformat()
        and item.note is not None
        and item.note.created == ""
    )
