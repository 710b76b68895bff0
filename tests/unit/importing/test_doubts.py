"""What is no text, and what means nothing as it is written."""

from __future__ import annotations

import datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chitta.importing import markdown
from chitta.importing.doubts import as_text, remarks_on
from chitta.importing.imported import Imported
from chitta.notes.frontmatter import note_from_fields


def imported(tmp_path: Path, data: bytes) -> Imported:
    file = tmp_path / "note.md"
    file.write_bytes(data)
    (item,) = markdown.read(file, realm="project:x.org/c")
    return item


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (b"", "is empty"),
        (b" \n\n", "is empty"),
        (b"---\ntitle: T\n---\n\n", "has front matter and no text"),
        (b"words\0words", "is binary: it holds NUL bytes"),
        (b"\x7fELF\x02\x01\x01\0\0\0\0\0", "is binary: it holds NUL bytes"),
        (b"ab\x01\x02\x03cd", "is binary: 43% of it are control characters"),
    ],
)
def test_what_holds_no_text_is_skipped_with_the_reason(tmp_path: Path, data: bytes, why: str) -> None:
    item = imported(tmp_path, data)
    assert item.note is None and item.problem == why


@pytest.mark.parametrize("name", ["utf-16-le", "utf-16-be", "utf-16", "utf-8", "utf-8-sig"])
def test_utf_16_is_read_with_a_mark_and_without(tmp_path: Path, name: str) -> None:
    item = imported(tmp_path, "# Pool\n\nThe pool holds ten, naïve as that is.\n".encode(name))
    assert item.note is not None
    assert (item.note.title, item.note.text[-34:]) == ("Pool", "pool holds ten, naïve as that is.".rjust(34))


def test_a_few_control_characters_are_text(tmp_path: Path) -> None:
    assert imported(tmp_path, b"The bell \x07 rings, and \x1b[1mbold\x1b[0m is bold in a terminal.\n").note is not None


@given(st.binary(max_size=200))
def test_any_bytes_give_text_or_a_reason(data: bytes) -> None:
    text, why = as_text(data)
    assert bool(why) <= (text == b"") and (data == b"" or bool(text) != bool(why))


@pytest.mark.parametrize(
    ("key", "value", "said"),
    [
        ("confidence", "7", "confidence: '7' is not between 0 and 1"),
        ("confidence", "sure", "confidence: 'sure' is not between 0 and 1"),
        ("confidence", "80%", ""),
        ("confidence", "high", ""),
        ("proof_count", "-3", "proof_count: '-3' is no count; taken as 0"),
        ("proof_count", "2", ""),
        ("realm", "../../../etc", "realm: '../../../etc' is no realm; taken into project:x.org/c"),
        ("realm", ".git", "realm: '.git' is neither global nor a project's; kept as it is written"),
        ("realm", "global", ""),
        ("realm", "project:github.com/Acme/app", ""),
    ],
)
def test_values_that_mean_nothing_are_remarked(tmp_path: Path, key: str, value: str, said: str) -> None:
    item = imported(tmp_path, f"---\n{key}: {value}\n---\n\nText.\n".encode())
    assert item.note is not None and item.remark == said


@given(st.dictionaries(st.sampled_from(["confidence", "proof_count", "realm"]), st.text(max_size=20)))
def test_remarks_never_fail(fields: dict[str, str]) -> None:
    note = note_from_fields(fields, "text", fallback_id="x", fallback_realm="global")
    assert len(remarks_on(fields, note)) <= 3


def test_a_day_in_the_future_gives_way_to_the_file_s(tmp_path: Path) -> None:
    item = imported(tmp_path, b"---\ncreated: 2999-01-01\n---\n\nText.\n")
    assert item.note is not None and item.note.created == ""
    assert item.remark == "created: '2999-01-01' is in the future; its file's day is taken"
    assert item.file_day == datetime.date.today().isoformat()
