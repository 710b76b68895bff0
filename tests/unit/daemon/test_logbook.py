"""The daemon's log: bounded, private, silent where it cannot be."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from chitta.daemon.logbook import Logbook


def test_lines_say_event_and_facts(tmp_path: Path) -> None:
    log = Logbook(str(tmp_path / "state" / "d.log"))
    log.note("sync", added=3, why="two words\nand a line")
    line = (tmp_path / "state" / "d.log").read_text()
    assert line.count("\n") == 1
    assert line.split(" ", 2)[2].strip() == 'sync added=3 why="two words and a line"'
    assert stat.S_IMODE((tmp_path / "state" / "d.log").stat().st_mode) == 0o600


def test_fault_has_type_and_place_but_no_message(tmp_path: Path) -> None:
    log = Logbook(str(tmp_path / "d.log"))
    try:
        raise ValueError("the person's secret prompt")
    except ValueError as problem:
        log.fault("request", problem, verb="lane")
    line = (tmp_path / "d.log").read_text()
    assert "problem=ValueError" in line
    assert "at=test_logbook.py:" in line
    assert "secret" not in line


def test_log_never_grows_beyond_two_files_of_the_limit(tmp_path: Path) -> None:
    log = Logbook(str(tmp_path / "d.log"), max_bytes=2_000)
    for number in range(500):
        log.note("event", number=number)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["d.log", "d.log.1"]
    assert all(path.stat().st_size <= 2_000 for path in tmp_path.iterdir())
    assert "number=499" in (tmp_path / "d.log").read_text()


def test_unwritable_place_is_no_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    Logbook(str(tmp_path / "file" / "d.log")).note("event")


def test_without_a_path_it_writes_to_standard_error(capfd: pytest.CaptureFixture[str]) -> None:
    Logbook(None).note("start", version="1")
    assert "start version=1" in capfd.readouterr().err


@pytest.mark.parametrize("what", ["pipe", "read pipe", "folder", "link"])
def test_fault_58_what_is_no_plain_file_is_no_log_and_holds_nobody(tmp_path: Path, what: str) -> None:
    path, reader = tmp_path / "d.log", -1
    if what == "folder":
        path.mkdir()
    elif what == "link":
        path.symlink_to("/dev/zero")
    else:
        os.mkfifo(path)
        reader = os.open(path, os.O_RDONLY | os.O_NONBLOCK) if what == "read pipe" else -1
    log = Logbook(str(path))
    log.note("event")
    log.fault("request", ValueError())
    if reader >= 0:
        assert os.read(reader, 100) == b""
        os.close(reader)
