"""Small logs of lines that never grow without end."""

import json
import os
import stat
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from chitta import bounded_log as log

NAME = "some.jsonl"


def test_lines_are_appended_in_order_and_for_the_owner_alone(tmp_path: Path) -> None:
    state = tmp_path / "home" / "state"
    for number in range(3):
        log.append(str(state), NAME, {"n": number})
    assert [line["n"] for line in log.read(str(state), NAME)] == [0, 1, 2]
    assert stat.S_IMODE((state / NAME).stat().st_mode) == 0o600
    assert stat.S_IMODE(state.stat().st_mode) == 0o700


def test_a_full_log_is_put_aside_once_and_still_read(tmp_path: Path) -> None:
    for number in range(60):
        log.append(str(tmp_path), NAME, {"n": number, "text": "x" * 80}, most_bytes=1_000)
    sizes = [path.stat().st_size for path in tmp_path.glob("some*.jsonl")]
    assert len(sizes) == 2 and max(sizes) < 1_200
    numbers = [line["n"] for line in log.read(str(tmp_path), NAME)]
    assert numbers == list(range(numbers[0], 60))


def test_lines_of_parallel_writers_stay_whole(tmp_path: Path) -> None:
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda n: log.append(str(tmp_path), NAME, {"n": n, "text": "é" * 500}), range(100)))
    assert sorted(line["n"] for line in log.read(str(tmp_path), NAME)) == list(range(100))


def test_what_is_no_object_is_passed_over(tmp_path: Path) -> None:
    (tmp_path / NAME).write_bytes(b'{"n": 1}\n[2]\n{"n": \n\xff\xfe\n{"n": 3}')
    assert [line["n"] for line in log.read(str(tmp_path), NAME)] == [1, 3]
    assert log.read(str(tmp_path / "nowhere"), NAME) == []


def test_the_last_lines_without_one_that_is_cut(tmp_path: Path) -> None:
    for number in range(50):
        log.append(str(tmp_path), NAME, {"n": number})
    found = [line["n"] for line in log.last(str(tmp_path), NAME, 100)]
    assert found and found == list(range(50 - len(found), 50))
    assert log.last(str(tmp_path), "none.jsonl") == []


def test_replacing_leaves_these_lines_alone(tmp_path: Path) -> None:
    log.append(str(tmp_path), NAME, {"n": 1})
    (tmp_path / "some.1.jsonl").write_text('{"n": 0}\n')
    log.replace(str(tmp_path), NAME, [{"n": 7}])
    assert [json.loads(line) for line in (tmp_path / NAME).read_text().splitlines()] == [{"n": 7}]
    log.replace(str(tmp_path), NAME, [])
    assert not list(tmp_path.glob("some*.jsonl"))


def test_a_link_is_not_followed(tmp_path: Path) -> None:
    target = tmp_path / "target"
    target.write_text("")
    (tmp_path / NAME).symlink_to(target)
    with pytest.raises(OSError):
        log.append(str(tmp_path), NAME, {"n": 1})
    assert target.read_text() == ""


def test_fault_58_a_pipe_in_the_place_of_a_log_or_its_lock_holds_nobody(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / NAME)
    assert log.read(str(tmp_path), NAME) == [] and log.last(str(tmp_path), NAME) == []
    with pytest.raises(OSError, match="no plain file"):
        log.append(str(tmp_path), NAME, {"n": 1})
    (tmp_path / "other.jsonl").write_bytes(b"x" * 2_000)
    os.mkfifo(tmp_path / "other.jsonl.lock")
    log.append(str(tmp_path), "other.jsonl", {"n": 1}, most_bytes=1_000)
    assert log.last(str(tmp_path), "other.jsonl") == [{"n": 1}]
