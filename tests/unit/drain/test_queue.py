"""The queue's end: one entry per transcript, damaged lines counted, and no line lost that came meanwhile."""

import json
import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chitta.drain import queue
from chitta.drain.queue import Entry, parse, read, remove
from chitta.session_hooks.flush import QUEUE, enqueue
from chitta.session_hooks.occasion import FLUSH, STOP, Occasion


def line(path: str, ts: str = "2027-01-15T08:00:00Z", **more: Any) -> bytes:
    return json.dumps({"ts": ts, "transcript_path": path, "session_id": "s", **more}).encode() + b"\n"


def occasion(path: str) -> Occasion:
    return Occasion(FLUSH, "claude", "", "s", "/w", transcript=path, why=STOP)


def test_what_a_hook_queued_is_an_entry(tmp_path: Path) -> None:
    enqueue(occasion("/t/a.jsonl"), str(tmp_path), 1_800_000_000.0)
    assert read(str(tmp_path)).entries == (Entry("/t/a.jsonl", "s", "claude", "/w", "Stop", "2027-01-15T08:00:00Z"),)


def test_a_transcript_is_one_entry_by_its_newest_line_and_the_longest_waiting_is_first() -> None:
    found = parse(line("/a", trigger="Stop") + line("/b") + line("/a", "2027-01-15T09:00:00Z", trigger="SessionEnd"))
    assert [(one.transcript, one.trigger, one.ts[11:13]) for one in found.entries] == [
        ("/a", "SessionEnd", "09"),
        ("/b", "", "08"),
    ]
    assert [len(lines) for lines in found.lines.values()] == [2, 1]


@pytest.mark.parametrize(
    "bad",
    [b"half {", b"[]", b'{"transcript_path": 3}', b'{"transcript_path": ""}', b'{"transcript_path": "a\\u0000b"}', b""],
)
def test_a_damaged_line_is_counted_and_spoils_no_other(bad: bytes) -> None:
    found = parse(line("/a") + bad + b"\n" + line("/b"))
    assert [one.transcript for one in found.entries] == ["/a", "/b"] and found.damaged == (bad,)


def test_a_line_that_is_still_written_is_left_alone() -> None:
    found = parse(line("/a") + line("/b")[:-1])
    assert [one.transcript for one in found.entries] == ["/a"] and not found.damaged


def test_no_queue_is_empty(tmp_path: Path) -> None:
    assert read(str(tmp_path)) == queue.Waiting()
    assert remove(str(tmp_path), [b"x"])


def test_lines_go_and_what_came_meanwhile_stays(tmp_path: Path) -> None:
    state = str(tmp_path)
    (tmp_path / QUEUE).write_bytes(line("/a") + line("/b"))
    seen = read(state)
    with open(tmp_path / QUEUE, "ab") as file:
        file.write(line("/a", "2027-01-15T09:00:00Z"))
    assert remove(state, seen.lines["/a"])
    assert [(one.transcript, one.ts[11:13]) for one in read(state).entries] == [("/b", "08"), ("/a", "09")]


def test_a_hook_without_the_lock_that_has_the_old_file_open_loses_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / QUEUE).write_bytes(line("/a"))
    late = os.open(tmp_path / QUEUE, os.O_WRONLY | os.O_APPEND)
    replace = os.replace

    def with_a_late_line(old: str, new: str) -> None:
        os.write(late, line("/late"))
        replace(old, new)

    monkeypatch.setattr(os, "replace", with_a_late_line)
    assert remove(str(tmp_path), [line("/a")[:-1]])
    os.close(late)
    assert [one.transcript for one in read(str(tmp_path)).entries] == ["/late"]


def test_a_transcript_that_has_grown_keeps_its_line(tmp_path: Path) -> None:
    (tmp_path / QUEUE).write_bytes(line("/a"))
    assert not remove(str(tmp_path), [line("/a")[:-1]], lambda: True)
    assert read(str(tmp_path)).entries


def test_without_the_lock_nothing_is_removed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import fcntl

    from chitta.session_hooks.flush import QUEUE_LOCK

    monkeypatch.setattr(queue, "LOCK_S", 0.05)
    (tmp_path / QUEUE).write_bytes(line("/a"))
    with open(tmp_path / QUEUE_LOCK, "wb") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        assert not remove(str(tmp_path), [line("/a")[:-1]])
    assert read(str(tmp_path)).entries


def test_a_link_in_its_place_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "other").write_bytes(line("/a"))
    (tmp_path / QUEUE).symlink_to(tmp_path / "other")
    assert not read(str(tmp_path)).entries


@given(st.binary(max_size=400))
def test_any_bytes_are_a_queue(raw: bytes) -> None:
    found = parse(raw)
    assert len(found.damaged) + sum(map(len, found.lines.values())) == raw.count(b"\n")
