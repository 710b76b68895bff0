from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from chitta import feedback, recall_log
from chitta import settings as table
from chitta.feedback import Judgement

Run = Callable[..., Any]


def show(number: int, *ids: str, session: str = "s", **more: Any) -> None:
    """A line of the recall log, as a prompt leaves it."""
    line = {
        "time": f"2026-01-02T03:04:{number:02}Z",
        "block": f"{number:012x}",
        "session": session,
        "maxrel": 0.5,
        "admitted": [{"id": name, "tag": "sem", "conf": 0.25} for name in ids],
        **more,
    }
    recall_log.append(table.load().state_dir, line)


def judgements() -> list[Judgement]:
    return feedback.read(table.load().state_dir)


def verdicts() -> list[tuple[int, str, str]]:
    return [(int(one.block, 16), one.id, one.verdict) for one in judgements()]


def test_a_note_is_judged_in_the_latest_block_that_showed_it(chitta: Run) -> None:
    show(1, "one", "two")
    show(2, "one")
    show(3, "three")
    ran = chitta("feedback", "one", "up")
    assert (ran.code, ran.err) == (0, "")
    assert ran.out == "noted: one helped (shown 2026-01-02T03:04:02Z, lane sem)\n"
    assert chitta("feedback", "two", "down").out == "noted: two did not help (shown 2026-01-02T03:04:01Z, lane sem)\n"
    assert verdicts() == [(2, "one", "up"), (1, "two", "down")]
    (first, _) = judgements()
    assert (first.session, first.conf, first.maxrel, first.tag) == ("s", 0.25, 0.5, "sem")


@pytest.mark.parametrize("words", [["last", "up"], ["up"]])
def test_the_last_block_that_showed_something_is_judged_whole(chitta: Run, words: list[str]) -> None:
    show(1, "old")
    show(2, "one", "two")
    show(3)
    recall_log.append(table.load().state_dir, {"degraded": ["no interpreter: run install.sh"]})
    ran = chitta("feedback", *words)
    assert ran.code == 0 and len(ran.out.splitlines()) == 2
    assert verdicts() == [(2, "one", "up"), (2, "two", "up")]


def test_several_notes_are_judged_together_or_not_at_all(chitta: Run) -> None:
    show(1, "one", "two")
    assert chitta("feedback", "one", "none", "up").code == 1 and judgements() == []
    assert chitta("feedback", "one", "two", "one", "up").code == 0
    assert verdicts() == [(1, "one", "up"), (1, "two", "up")]


def test_judging_again_replaces_the_earlier_verdict(chitta: Run) -> None:
    show(1, "one", "two")
    chitta("feedback", "up")
    chitta("feedback", "one", "down")
    assert verdicts() == [(1, "two", "up"), (1, "one", "down")]
    show(2, "one")
    chitta("feedback", "one", "up")
    assert verdicts() == [(1, "two", "up"), (1, "one", "down"), (2, "one", "up")]


def test_the_beginning_of_an_id_is_enough_where_it_is_the_only_one(chitta: Run) -> None:
    show(1, "deploy", "deploy-by-make", "stripe-key")
    assert chitta("feedback", "str", "up").code == 0
    assert chitta("feedback", "deploy", "up").code == 0, "a whole id is no beginning"
    assert verdicts() == [(1, "stripe-key", "up"), (1, "deploy", "up")]
    ran = chitta("feedback", "dep", "up")
    assert (ran.code, ran.out) == (2, "") and "2 shown notes begin with 'dep'" in ran.err
    assert "hint: give more of the one you mean: deploy, deploy-by-make" in ran.err and len(judgements()) == 2


def test_many_that_begin_alike_are_not_all_listed(chitta: Run) -> None:
    show(1, *(f"note-{number:02}" for number in range(14)))
    ran = chitta("feedback", "note", "up")
    assert ran.code == 2 and "note-09 and 4 more" in ran.err and "note-10" not in ran.err


def test_a_note_that_was_never_shown_is_nothing_and_what_was_shown_is_named(chitta: Run) -> None:
    chitta("remember", "some words", "--id", "kept")
    show(1, "one")
    for name in ("kept", ""):
        ran = chitta("feedback", name, "up")
        assert (ran.code, ran.out) == (1, "") and f"no note {name!r} was shown" in ran.err
        assert "the last block showed one" in ran.err and "chitta try" in ran.err
    assert judgements() == []


def test_only_the_last_prompts_count(chitta: Run) -> None:
    show(1, "old")
    for _ in range(500):
        show(2)
    assert chitta("feedback", "old", "up").code == 1
    ran = chitta("feedback", "up")
    assert ran.code == 1 and "no notes were shown yet" in ran.err and "hint: `chitta try PROMPT`" in ran.err


def test_without_a_log_nothing_was_shown_and_nothing_is_made(chitta: Run, own_home: Path) -> None:
    ran = chitta("feedback", "last", "down")
    assert (ran.code, ran.out) == (1, "") and "chitta status" in ran.err
    assert not (own_home / ".chitta").exists()


def test_a_session_limits_what_is_judged(chitta: Run) -> None:
    show(1, "one", "two", session="mine")
    show(2, "one", session="other")
    assert chitta("feedback", "one", "up", "--session", "mine").code == 0
    assert chitta("feedback", "last", "down", "--session", "mine").code == 0
    assert verdicts() == [(1, "one", "down"), (1, "two", "down")]
    assert chitta("feedback", "two", "up", "--session", "other").code == 1
    ran = chitta("feedback", "up", "--session", "third")
    assert ran.code == 1 and "session 'third' was shown no notes" in ran.err


@pytest.mark.parametrize("words", [["one"], ["up", "one"], ["one", "UP"], ["last"], ["last", "one", "up"], []])
def test_a_call_that_says_neither_up_nor_down_is_misuse(chitta: Run, words: list[str]) -> None:
    show(1, "one")
    ran = chitta("feedback", *words)
    assert (ran.code, ran.out) == (2, "") and "\nhint: " in ran.err and judgements() == []


def test_a_note_is_named_by_its_title_where_the_store_holds_it(chitta: Run) -> None:
    chitta("remember", "some words", "--id", "one", "--title", "Deploy with \x1b[2Jmake")
    show(1, "one")
    assert chitta("feedback", "one", "up").out.startswith("noted: Deploy with [2Jmake helped (shown ")


def test_json_says_what_was_noted(chitta: Run) -> None:
    chitta("remember", "some words", "--id", "one", "--title", "A title")
    show(1, "one", "gone", maxrel=None)
    first, second = chitta("feedback", "down", "--json").value
    assert first == {**judgements()[0]._asdict(), "shown": "2026-01-02T03:04:01Z", "title": "A title"}
    assert first["verdict"] == "down" and first["maxrel"] is None and first["time"] != first["shown"]
    assert (second["id"], second["title"]) == ("gone", "")


HOSTILE = "a\nnoted: all \x1b]0;owned\x07helped\u202e"


def test_ids_with_newlines_and_escape_codes_reach_no_terminal(chitta: Run) -> None:
    show(1, HOSTILE, HOSTILE + "2", tag="x", time="\x1b[31mnow\n")
    shown = [
        chitta("feedback", "up"),
        chitta("feedback", "a", "up"),
        chitta("feedback", "\x1b[2J\nnone", "up"),
        chitta("feedback", "last", "\x1b[2J"),
        chitta("feedback", "up", "--session", "\x1b[2J"),
    ]
    assert [ran.code for ran in shown] == [0, 2, 1, 2, 1]
    for ran in shown:
        assert not set(ran.out + ran.err) & set("\x1b\x07\u202e")
        assert all(
            line.startswith(("noted: a noted: ", "chitta: ", "hint: ")) for line in (ran.out + ran.err).split("\n")[:-1]
        )
    assert [one.id for one in judgements()] == [HOSTILE, HOSTILE + "2"]


def test_an_id_is_taken_as_the_block_spells_it(chitta: Run) -> None:
    show(1, "odd\u200b <b>\x1b[1mid")
    assert chitta("feedback", "odd &lt;b>id", "up").code == 0
    assert [one.id for one in judgements()] == ["odd\u200b <b>\x1b[1mid"]


def test_malformed_lines_of_the_log_are_passed_over(chitta: Run) -> None:
    show(1, "one")
    path = Path(table.load().state_dir, recall_log.NAME)
    with path.open("ab") as file:
        file.write(
            b'\xff\nnot json\n[]\n{"block": 1, "admitted": [{"id": "x"}]}\n{"block": "b", "admitted": {"id": 1}}\n'
        )
        file.write(json.dumps({"block": "b", "admitted": [7, {"id": "x" * 300}]}).encode() + b"\n{")
    assert chitta("feedback", "up").code == 0
    assert verdicts() == [(1, "one", "up")]


def test_a_file_that_cannot_be_written_is_a_clear_error(chitta: Run) -> None:
    show(1, "one")
    path = Path(table.load().state_dir, feedback.NAME)
    path.mkdir()
    ran = chitta("feedback", "up")
    assert (ran.code, ran.out) == (1, "") and ran.err == f"chitta: {path}: Is a directory\n"


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_state_folder_that_is_read_only_is_a_clear_error(chitta: Run) -> None:
    show(1, "one")
    state = Path(table.load().state_dir)
    state.chmod(0o500)
    try:
        ran = chitta("feedback", "up")
    finally:
        state.chmod(0o700)
    assert (ran.code, ran.out) == (1, "") and "Permission denied" in ran.err and "CHITTA_HOME" in ran.err


def test_sixteen_at_once_are_all_noted(chitta: Run) -> None:
    names = [f"note-{number:02}" for number in range(16)]
    show(1, *names)

    def run(name: str) -> int:
        command = [sys.executable, "-m", "chitta.cli", "feedback", name, "up"]
        return subprocess.run(command, capture_output=True, check=False).returncode

    with ThreadPoolExecutor(16) as pool:
        assert set(pool.map(run, names)) == {0}
    assert sorted(one.id for one in judgements()) == names
