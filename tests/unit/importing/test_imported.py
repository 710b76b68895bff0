"""What all readers share: days, aliases, bounded reading and walking."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chitta.importing.imported import Imported, checked, read_file, walk, whole_day, with_aliases
from chitta.notes.note import Note


@pytest.mark.parametrize(
    ("written", "day"),
    [
        ("2025-06-05", "2025-06-05"),
        ("2025-06-05T10:00:00Z", "2025-06-05T10:00:00Z"),
        ("2025-06-05 10:00 CEST", "2025-06-05"),
        ("2025-06", "2025-06"),
        ("2025/06/05", "2025-06-05"),
        ("5 June 2025", "2025-06-05"),
        ("June 5, 2025", "2025-06-05"),
        ("05.06.2025", "2025-06-05"),
        ("2025-13-40", ""),
        ("soon", ""),
        ("", ""),
    ],
)
def test_days_in_the_usual_ways_of_writing(written: str, day: str) -> None:
    assert whole_day(written) == day


@given(st.text(max_size=40) | st.from_regex(r"\d{4}-\d\d(-\d\d)?.{0,5}"))
def test_any_text_is_a_day_or_none(text: str) -> None:
    assert whole_day(whole_day(text)) == whole_day(text)


def test_aliases_give_way_to_what_a_note_says_itself() -> None:
    assert with_aliases({"name": "N", "date": "2025-01-01"}) == {"title": "N", "created": "2025-01-01"}
    assert with_aliases({"title": "T", "name": "N"}) == {"title": "T", "name": "N"}
    assert with_aliases({"title": "", "updated_at": ["x"]}) == {"title": "", "updated_at": ["x"]}


def test_unknown_kinds_and_dates_are_remarks_and_the_note_is_taken() -> None:
    note = Note("n", kind="musing", created="soon", updated="5 June 2025")
    item = checked(note, "a.md", "d", remarks=["first"])
    assert item.note == note._replace(created="", updated="2025-06-05")
    assert item.remark == (
        "first; 'musing' is no kind that chitta knows; kept as it is written; "
        "created: 'soon' is no date that can be read; left out"
    )


def test_front_matter_that_no_file_can_hold_is_a_problem() -> None:
    item = checked(Note("n", extra=(("x", "y" * 70_000),)), "a.md", "d", remarks=[])
    assert item.note is None and "front matter" in item.problem


def test_only_regular_files_inside_the_root_are_read(tmp_path: Path) -> None:
    root = tmp_path / "root"
    root.mkdir()
    (root / "a.md").write_text("a")
    (tmp_path / "out.md").write_text("o")
    (root / "in.md").symlink_to("a.md")
    (root / "out.md").symlink_to("../out.md")
    os.mkfifo(root / "pipe.md")
    assert read_file(root / "a.md", root).data == read_file(root / "in.md", root).data == b"a"
    assert "leads out of the folder" in read_file(root / "out.md", root).problem
    assert read_file(root / "pipe.md", root).problem == "is not a regular file"
    assert read_file(root / "gone.md", root).problem == "cannot be read: No such file or directory"


def test_walking_passes_over_what_is_hidden_unless_it_is_named(tmp_path: Path) -> None:
    for name in (".git/a", ".cursor/b", "node_modules/c", "sub/d", "e"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("x")
    problems: list[Imported] = []
    hidden, without = frozenset({".cursor"}), frozenset({"node_modules"})
    found = walk(tmp_path, problems, keep=lambda name: True, hidden=hidden, without=without)
    assert [path.relative_to(tmp_path).as_posix() for path in found] == ["e", ".cursor/b", "sub/d"]
    assert problems == []
