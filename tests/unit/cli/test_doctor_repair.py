"""`chitta doctor --repair`: what it does, what it leaves, and that it deletes no note."""

from __future__ import annotations

import json
import os
import socket
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from chitta import leftovers
from chitta import settings as table
from chitta.cli import doctor_repair
from chitta.daemon import lifecycle

Run = Callable[..., Any]


@pytest.fixture
def home(chitta: Run, own_home: Path) -> Path:
    chitta("remember", "The cache is flushed at four", "--as-is")
    chitta("remember", "Deploys need a green build", "--as-is")
    (own_home / ".chitta" / "state").mkdir(mode=0o700, exist_ok=True)
    return own_home / ".chitta"


def words_of(ran: Any) -> str:
    return " ".join(ran.out.split())


def test_a_store_in_order_has_nothing_to_repair(chitta: Run, home: Path) -> None:
    ran = chitta("doctor", "--repair")
    assert ran.code == 0 and ran.out == "nothing to repair\n"


def test_no_store_is_not_made(chitta: Run, own_home: Path) -> None:
    assert chitta("doctor", "--repair").code == 0
    assert not (own_home / ".chitta").exists()


def test_fault_27_a_damaged_index_is_built_anew(chitta: Run, home: Path) -> None:
    for path in (home / "index").glob("gen-*/catalog.sqlite"):
        path.write_bytes(b"garbage" * 100)
    ran = chitta("doctor", "--repair")
    assert ran.code == 0 and "built the index anew" in words_of(ran) and "2 notes" in words_of(ran)
    assert "flushed" in chitta("recall", "cache flushed", "--strategy", "keyword").out
    assert chitta("doctor", "--repair").out == "nothing to repair\n"


def test_permissions_are_closed_and_links_are_not_followed(chitta: Run, home: Path, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.touch(0o644)
    outside.chmod(0o644)
    (home / "notes" / "link").symlink_to(outside)
    note = next(home.glob("notes/global/*.md"))
    note.chmod(0o644)
    (home / "notes").chmod(0o755)
    ran = chitta("doctor", "--repair", "--json")
    assert ran.code == 0
    assert set(ran.value["repairs"][0]["paths"]) == {str(note), str(home / "notes")}
    assert (note.stat().st_mode & 0o777, (home / "notes").stat().st_mode & 0o777) == (0o600, 0o700)
    assert outside.stat().st_mode & 0o777 == 0o644


def test_fault_29_a_dead_socket_goes_and_one_that_is_held_stays(chitta: Run, home: Path) -> None:
    run = lifecycle.private_folder(str(home / "run"))
    with socket.socket(socket.AF_UNIX) as dead, lifecycle.address(os.path.join(run, "daemon.sock")) as name:
        dead.bind(name)
    lock = lifecycle.take_lock(run)
    assert chitta("doctor", "--repair").code == 0 and (home / "run" / "daemon.sock").exists()
    os.close(lock)
    ran = chitta("doctor", "--repair")
    assert "a daemon left" in words_of(ran) and not (home / "run" / "daemon.sock").exists()


def test_torn_lines_are_taken_out_and_kept(chitta: Run, home: Path) -> None:
    log = home / "state" / "gaps.jsonl"
    log.write_bytes(b'{"a":1}\n{"torn\n{"b":2}\n{"half":')
    log.chmod(0o600)
    os.utime(log, (1, 1))
    ran = chitta("doctor", "--repair")
    assert "2 lines that cannot be read" in words_of(ran)
    assert log.read_bytes() == b'{"a":1}\n{"b":2}\n'
    kept = [json.loads(line)["line"] for line in (home / "state" / doctor_repair.TORN).read_text().splitlines()]
    assert kept == ['{"torn', '{"half":']
    assert chitta("doctor", "--repair").out == "nothing to repair\n"


def test_a_line_that_is_still_being_written_stays(home: Path) -> None:
    log = home / "state" / "gaps.jsonl"
    log.write_bytes(b'{"a":1}\n{"half":')
    log.chmod(0o600)
    assert list(doctor_repair.repair(table.load())) == []
    assert log.read_bytes() == b'{"a":1}\n{"half":'


def test_what_killed_processes_left_goes(home: Path) -> None:
    left = home / "notes" / "global" / ".abcdefgh.tmp"
    left.touch(0o600)
    later = left.stat().st_mtime + 2 * leftovers.ABANDONED_S
    done = list(doctor_repair.repair(table.load(), later))
    assert [one.paths for one in done if "killed" in one.what] == [(str(left),)]
    assert not left.exists()


def test_notes_that_cannot_be_read_are_named_and_left(chitta: Run, home: Path) -> None:
    large, empty = home / "notes" / "global" / "large.md", home / "notes" / "global" / "empty.md"
    large.touch(0o600)
    os.truncate(large, 5 << 20)
    empty.touch(0o600)
    ran = chitta("doctor", "--repair")
    assert ran.code == 1 and "larger than 4 MiB" in words_of(ran) and str(empty) in ran.out.replace("\n", "")
    assert "no note was deleted" in words_of(ran)
    assert large.stat().st_size == 5 << 20 and empty.exists()


def test_a_step_that_fails_keeps_no_other_from_being_done(
    chitta: Run, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*given: Any) -> Any:
        raise OSError("of all things")
        yield

    monkeypatch.setattr(doctor_repair, "_permissions", broken)
    (home / "state" / "gaps.jsonl").write_bytes(b"{torn\n")
    ran = chitta("doctor", "--repair")
    assert ran.code == 1 and "of all things" in words_of(ran) and "kept in" in words_of(ran)


def test_it_goes_alone(chitta: Run) -> None:
    assert chitta("doctor", "--repair", "--secrets").code == 2


@pytest.mark.parametrize("name", ["state", "run"])
@pytest.mark.parametrize("kind", ["file", "pipe", "link"])
def test_what_stands_in_the_place_of_a_folder_makes_way(chitta: Run, home: Path, name: str, kind: str) -> None:
    place = home / name
    if place.exists():
        place.rename(home / f"{name}-before")
    if kind == "file":
        place.write_text("kept")
    elif kind == "pipe":
        os.mkfifo(place)
    else:
        place.symlink_to(home / "nowhere")
    ran = chitta("doctor", "--repair")
    said = {"file": f"{name}.aside-1", "pipe": "which was a pipe", "link": "which was a link to nowhere"}[kind]
    assert ran.code == 0 and said in words_of(ran) and "made anew" in words_of(ran)
    assert place.is_dir() and not place.is_symlink() and place.stat().st_mode & 0o777 == 0o700
    assert kind != "file" or (home / f"{name}.aside-1").read_text() == "kept"
    assert chitta("doctor", "--repair").out == "nothing to repair\n"


@pytest.mark.parametrize("kind", ["file", "link"])
def test_an_index_that_is_no_folder_is_moved_aside_and_built(chitta: Run, home: Path, kind: str) -> None:
    (home / "index").rename(home / "index-before")
    (home / "index.aside-1").write_text("from an earlier time")
    if kind == "file":
        (home / "index").write_text("kept")
    else:
        (home / "index").symlink_to(home / "nowhere")
    ran = chitta("doctor", "--repair")
    assert ran.code == 0 and "brought the index level: 2 notes" in words_of(ran)
    assert kind != "file" or (home / "index.aside-2").read_text() == "kept"
    assert "flushed" in chitta("recall", "cache flushed", "--strategy", "keyword").out


def test_notes_that_are_no_folder_are_left_to_a_person(chitta: Run, home: Path) -> None:
    (home / "notes").rename(home / "notes-before")
    (home / "notes").write_text("one file")
    ran = chitta("doctor", "--repair")
    assert ran.code == 1 and "folder of notes" in words_of(ran) and (home / "notes").read_text() == "one file"
