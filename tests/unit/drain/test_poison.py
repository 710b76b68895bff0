"""What was set aside."""

from pathlib import Path

from chitta import bounded_log
from chitta.drain.poison import NAME, Poisoned, add, clear, read
from chitta.drain.queue import Entry


def test_a_transcript_is_set_aside_once_and_its_last_reason_counts(tmp_path: Path) -> None:
    entry = Entry("/a", "s", "claude", "/w", "Stop", "2027-01-18T08:00:00Z")
    add(str(tmp_path), entry, "one", "2027-01-18T09:00:00Z")
    add(str(tmp_path), Entry("/b"), "two", "2027-01-18T09:00:00Z")
    add(str(tmp_path), entry, "three", "2027-01-18T10:00:00Z")
    assert read(str(tmp_path)) == [
        Poisoned(entry, "three", "2027-01-18T10:00:00Z"),
        Poisoned(Entry("/b"), "two", "2027-01-18T09:00:00Z"),
    ]


def test_what_is_no_such_line_is_left_out(tmp_path: Path) -> None:
    bounded_log.append(str(tmp_path), NAME, {"transcript": 3})
    bounded_log.append(str(tmp_path), NAME, {"why": "x"})
    assert read(str(tmp_path)) == []


def test_clearing_leaves_nothing(tmp_path: Path) -> None:
    clear(str(tmp_path))
    add(str(tmp_path), Entry("/a"), "w", "")
    clear(str(tmp_path))
    assert read(str(tmp_path)) == []
