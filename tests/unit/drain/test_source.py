"""A transcript as a file that somebody else goes on writing."""

import json
import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chitta.drain.ledger import Known
from chitta.drain.source import Transcript, size_of
from chitta.drain.task import prompt


def lines(count: int, start: int = 0) -> bytes:
    return b"".join(b'{"n": %d}\n' % at for at in range(start, start + count))


def test_what_is_new_ends_with_the_last_whole_line(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(lines(9) + b'{"half')
    with Transcript(str(path)) as found:
        section = found.section(0)
        (tmp_path / "room").mkdir()
        copy = found.copy(section, str(tmp_path / "room"))
    assert (section.start, section.end) == (0, len(lines(9)))
    assert Path(copy).read_bytes() == lines(9) and os.stat(copy).st_mode & 0o077 == 0


def test_reading_goes_on_where_it_ended_and_sees_a_bit_of_what_was(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(lines(9))
    with Transcript(str(path)) as found:
        first = found.section(0)
    path.write_bytes(lines(12))
    with Transcript(str(path)) as found:
        assert found.is_same(Known(first.end, first.mark))
        second = found.section(first.end)
        (tmp_path / "x").mkdir()
        (tmp_path / "y").mkdir()
        exact, more = found.copy(second, str(tmp_path / "x")), found.copy(second, str(tmp_path / "y"), 15)
    assert Path(exact).read_bytes() == lines(3, 9)
    assert Path(more).read_bytes() == lines(4, 8)
    assert first.digest != second.digest


def test_a_file_that_was_written_anew_is_another(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(lines(9))
    with Transcript(str(path)) as found:
        section = found.section(0)
    path.write_bytes(lines(10, 5))
    with Transcript(str(path)) as found:
        assert not found.is_same(Known(section.end, section.mark))
    path.write_bytes(lines(2))
    with Transcript(str(path)) as found:
        assert not found.is_same(Known(section.end, section.mark))


def test_a_document_of_one_piece_is_read_whole_again(tmp_path: Path) -> None:
    path = tmp_path / "session.json"
    path.write_bytes(b'{"messages": []}')
    with Transcript(str(path)) as found:
        assert found.section(5)[:2] == (0, 16)


def test_a_link_is_not_followed_and_a_pipe_not_waited_for(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_bytes(lines(2))
    (tmp_path / "link.jsonl").symlink_to(tmp_path / "a.jsonl")
    os.mkfifo(tmp_path / "pipe.jsonl")
    with pytest.raises(OSError):
        Transcript(str(tmp_path / "link.jsonl"))
    with Transcript(str(tmp_path / "pipe.jsonl")):
        pass


@pytest.mark.parametrize(
    ("said", "own"),
    [
        ({"message": {"content": prompt("material")}}, True),
        ({"payload": {"content": [{"type": "input_text", "text": prompt("material")}]}}, True),
        ({"message": {"content": f"look at this:\n{prompt('material')}"}}, False),
        ({"message": {"content": "why is there a chitta-drain-task?"}}, False),
    ],
)
def test_a_child_of_chitta_is_known_by_its_task(tmp_path: Path, said: object, own: bool) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(lines(3) + json.dumps(said).encode() + b"\n" + b"chitta-drain-task {\n")
    with Transcript(str(path)) as found:
        assert found.is_own() is own


def test_a_task_far_inside_is_somebody_elses(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(lines(60) + json.dumps({"text": prompt("x")}).encode() + b"\n")
    with Transcript(str(path)) as found:
        assert not found.is_own()


def test_the_size_of_what_is_gone_is_nothing(tmp_path: Path) -> None:
    assert size_of(str(tmp_path / "gone")) == 0


@given(st.lists(st.binary(max_size=12), max_size=12), st.integers(0, 12), st.integers(0, 40))
def test_pieces_are_whole_lines_whatever_stands_in_them(
    tmp_path_factory: pytest.TempPathFactory, parts: list[bytes], read: int, overlap: int
) -> None:
    folder = tmp_path_factory.mktemp("s")
    path = folder / "a.jsonl"
    raw = b"\n".join(parts)
    path.write_bytes(raw)
    start = len(b"".join(part + b"\n" for part in raw.split(b"\n")[:-1][:read]))
    with Transcript(str(path)) as found:
        section = found.section(start)
        (folder / "r").mkdir()
        copy = Path(found.copy(section, str(folder / "r"), overlap)).read_bytes()
    assert section.end == max(raw.rfind(b"\n") + 1, start)
    assert copy.endswith(raw[start : section.end]) and len(copy) <= section.end - start + overlap
    begin = section.end - len(copy)
    assert begin == 0 or begin == start or raw[begin - 1 : begin] == b"\n"
