"""Notes that cannot be read are named, each with what to do."""

from __future__ import annotations

import errno
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chitta import settings as table
from chitta.cli import doctor_notes
from chitta.cli.finding import FAIL, WARN
from chitta.index.indexer import sync
from chitta.notes.frontmatter import parts_of
from chitta.notes.store import MAX_NOTE_BYTES


@pytest.fixture
def folder(own_home: Path) -> Path:
    place = own_home / ".chitta" / "notes" / "global"
    place.mkdir(parents=True)
    (place / "good.md").write_text("Die Tür ist offen.")
    (place / "marked.md").write_bytes("Die Tür".encode("utf-16"))
    return place


def test_notes_that_can_be_read_are_no_finding(folder: Path) -> None:
    assert list(doctor_notes.notes(table.load())) == []


def test_a_note_that_is_too_large_is_named(folder: Path) -> None:
    (folder / "big.md").write_bytes(b"x" * (MAX_NOTE_BYTES + 1))
    (found,) = doctor_notes.notes(table.load())
    assert found.state == FAIL and str(folder / "big.md") in found.detail and "4 MiB" in found.detail
    assert "split" in found.todo


def test_a_note_that_is_no_utf_8_is_named_with_its_line(folder: Path) -> None:
    (folder / "old.md").write_bytes("one\ntwo T\u00fcr".encode("latin-1"))
    (found,) = doctor_notes.notes(table.load())
    assert found.state == WARN and f"{folder / 'old.md'} is no UTF-8 (line 2)" in found.detail
    assert "iconv" in found.todo


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("---\ntitle: [broken\nquarantine: true\n---\ntext", "so it is in quarantine"),
        ("---\ntitle: never closed\n\ntext", "no closing ---"),
    ],
)
def test_a_note_whose_front_matter_cannot_be_read_is_named(folder: Path, text: str, said: str) -> None:
    (folder / "bad.md").write_text(text)
    (folder / "ruler.md").write_text("---\n\nWords between rulers.\n\n---\n\nMore.")
    (folder / "fine.md").write_text("---\ntitle: x\n---\n\ntext")
    (found,) = doctor_notes.notes(table.load())
    assert found.state == WARN and f"{folder / 'bad.md'} has front matter" in found.detail and said in found.detail
    assert "---" in found.todo


PIECES = [*"a0:'\",-.~&*!%@`=<>#/?[]();\n ", "id", "12", "2026-13-45", "0x1", "yes", "ab\u00e9", "0123456789abcdef"]


@given(st.lists(st.tuples(st.sampled_from(PIECES), st.sampled_from(["", " "])), max_size=12))
def test_front_matter_that_is_passed_over_can_be_read(pieces: list[tuple[str, str]]) -> None:
    text = f"---\nkey: {''.join(piece + space for piece, space in pieces)}\n---\n"
    assert not (doctor_notes._SURELY_READ.match(text) and parts_of(text).problem)


@pytest.mark.parametrize(("number", "todo"), [(errno.EACCES, "chmod 600"), (errno.EIO, "from a copy")])
def test_a_note_that_the_system_refuses_is_named(
    folder: Path, monkeypatch: pytest.MonkeyPatch, number: int, todo: str
) -> None:
    def refuse(path: Any, mode: str) -> Any:
        raise OSError(number, "no", path)

    monkeypatch.setattr(doctor_notes, "open", refuse, raising=False)
    found = list(doctor_notes.notes(table.load()))
    assert [one.state for one in found] == [FAIL, FAIL] and todo in found[0].todo


def test_many_are_counted(folder: Path) -> None:
    for number in range(12):
        (folder / f"n{number:02}.md").write_bytes(b"\xff\x00")
    found = list(doctor_notes.notes(table.load()))
    assert len(found) == 11 and "2 more paths" in found[-1].detail


def test_fault_56_a_note_that_the_index_passed_over_is_named(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def stumbles(title: str, text: str) -> Any:
        raise RuntimeError

    monkeypatch.setattr("chitta.index.changes.take_apart", stumbles)
    (folder / "marked.md").unlink()
    sync(table.load(), None)
    (found,) = doctor_notes.notes(table.load())
    assert found.state == FAIL and str(folder / "good.md") in found.detail and "passed over" in found.detail
