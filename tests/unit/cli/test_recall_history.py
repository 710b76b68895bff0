from __future__ import annotations

import json
from pathlib import Path

import pytest

from chitta import recall_log
from chitta import settings as table
from chitta.cli import recall_history


@pytest.fixture
def log() -> Path:
    path = Path(recall_history.path_of(table.load()))
    path.parent.mkdir(parents=True)
    return path


def numbers(count: int) -> list[int]:
    return [line["n"] for line in recall_history.read_last(table.load(), count)]


def test_no_log_is_no_lines() -> None:
    assert recall_history.read_last(table.load(), 10) == [] and recall_history.size(table.load()) == -1


def test_the_last_lines_come_oldest_first(log: Path) -> None:
    for number in range(5):
        recall_log.append(str(log.parent), {"n": number})
    assert numbers(3) == [2, 3, 4] and numbers(50) == [0, 1, 2, 3, 4]
    assert recall_history.size(table.load()) == log.stat().st_size


def test_only_the_end_of_a_long_log_is_read_and_all_of_its_lines_are_whole(
    log: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(recall_history, "_BLOCK_BYTES", 64)
    log.write_text("".join(json.dumps({"n": number, "words": "x" * (number % 90)}) + "\n" for number in range(300)))
    assert numbers(20) == list(range(280, 300))


def test_the_log_that_was_put_aside_gives_what_is_missing(log: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lines = [{"n": number} for number in range(6)]
    monkeypatch.setattr(recall_log, "MOST_BYTES", 4 * len('{"n":0}\n'))
    for line in lines:
        recall_log.append(str(log.parent), line)
    assert log.read_text().splitlines() == ['{"n":4}', '{"n":5}']
    assert numbers(1) == [5] and numbers(2) == [4, 5] and numbers(4) == [2, 3, 4, 5] and numbers(50) == list(range(6))
    log.unlink()
    assert numbers(2) == [2, 3]


def test_a_log_that_is_put_aside_meanwhile_is_not_read_twice(log: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    recall_log.append(str(log.parent), {"n": 1})
    read = recall_history._tail

    def reading(descriptor: int, lines: int) -> bytes:
        raw = read(descriptor, lines)
        if log.exists():
            log.rename(log.parent / recall_log.PREVIOUS)
        return raw

    monkeypatch.setattr(recall_history, "_tail", reading)
    assert numbers(10) == [1]


def test_damaged_lines_are_passed_over(log: Path) -> None:
    log.write_bytes(b'{"n": 1}\nnot json\n\xff\xfe\n[]\n\n{"n": 2}\n{"n": 3')
    assert numbers(10) == [1, 2]
