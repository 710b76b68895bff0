from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chitta import recall_log
from chitta import settings as table
from chitta.cli import output, stats_command
from chitta.notes.note import Note
from chitta.notes.store import NoteStore

Run = Callable[..., Any]
LONG = "project:github.com/acme/a-very-long-repository-name-indeed/with/parts"


def log(*shown: str, days_ago: float = 0.5, realm: str = "global", block: str = "b", **more: Any) -> None:
    moment = time.gmtime(time.time() - days_ago * 86_400)
    line = {
        "time": time.strftime("%Y-%m-%dT%H:%M:%SZ", moment),
        "block": block,
        "session": "s",
        "realm": realm,
        "admitted": [{"id": name, "tag": "hyb", "conf": 0.9} for name in shown],
        "lanes": {"hybrid": {"state": "ok"}, "keyword": {"state": "late"}},
        "degraded": ["keyword late"],
        "total_ms": 120.0,
    }
    recall_log.append(table.load().state_dir, {**line, **more})


def test_in_a_pipe_it_is_plain_and_complete(chitta: Run) -> None:
    log("a", "b", chars=400)
    log(realm=LONG)
    ran = chitta("stats")
    assert ran.code == 0 and "2 prompts since" in ran.out
    assert "1 (50%), with 2 notes" in ran.out and "half within 120 ms" in ran.out and "about 100 tokens" in ran.out
    assert LONG in ran.out and "█" not in ran.out and "\x1b" not in ran.out


def test_on_a_terminal_every_line_fits(chitta: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(30):
        log("x" * 90, f"note-{number}", realm=LONG, days_ago=number)
    monkeypatch.setattr(output, "on_terminal", lambda stream=None: True)
    monkeypatch.setattr(output, "coloured", lambda stream=None: False)
    for columns in ("80", "48"):
        monkeypatch.setenv("COLUMNS", columns)
        out = chitta("stats").out
        assert "█" in out and [line for line in out.split("\n") if output.columns_of(line) > int(columns)] == []


def test_days_weeks_and_realm(chitta: Run) -> None:
    log("a", days_ago=0.1)
    log("b", days_ago=20)
    assert chitta("stats", "--days", "3", "--json").value["prompts"] == 1
    assert len(chitta("stats", "--days", "3", "--json").value["spans"]) == 3
    weeks = chitta("stats", "--weeks", "4", "--json").value
    assert weeks["prompts"] == 2 and len(weeks["spans"]) == 4
    assert chitta("stats", "--realm", "project:h/o/n", "--json").value["prompts"] == 0
    assert chitta("stats", "--days", "3", "--weeks", "1").code == 2


def test_the_json_says_lanes_notes_and_silence(chitta: Run) -> None:
    log("a")
    log()
    value = chitta("stats", "--json").value
    assert value["silent"] == 1 and value["shown"] == [{"id": "a", "times": 1, "up": 0, "down": 0}]
    lanes = {lane["tag"]: lane for lane in value["lanes"]}
    assert lanes["kw"] == {"tag": "kw", "asked": 2, "late": 2, "failed": 0, "notes": 0}
    assert lanes["hyb"]["notes"] == 1


def test_feedback_and_questions_are_told(chitta: Run) -> None:
    log("a", block="0123456789ab")
    assert chitta("feedback", "a", "up").code == 0
    for _ in range(2):
        chitta("recall", "where does kafka keep its offsets")
    out = chitta("stats").out
    assert "1 helped, 0 did not" in out and "2 questions: 1 asked again at once" in out


def test_no_prompts_at_all(chitta: Run) -> None:
    ran = chitta("stats")
    assert ran.code == 0 and ran.out.startswith("No prompt has been through the hook yet") and not ran.err
    assert len(ran.out.splitlines()) == 1


def test_there_are_no_rows_from_before_the_first_use_and_lanes_have_names(chitta: Run) -> None:
    log("a", days_ago=8)
    out = chitta("stats").out
    weeks = out[out.index("Week of") :].split("\n\n")[0].splitlines()[1:]
    assert weeks[0].split()[1] == "1" and len(weeks) == 2
    assert "hyb (hybrid)" in out and "kw (keyword)" in out


def test_what_came_in_from_sessions_is_told(chitta: Run) -> None:
    note = Note("fix", kind="operational", text="words", authority="captured", extra=(("captured", "fix"),))
    store = NoteStore(table.load().notes_dir)
    store.write(note)
    store.write(note._replace(id="kept", authority="advisory"))
    chitta("list")
    log("a")
    assert "2 captured, 1 reviewed" in chitta("stats").out
    assert chitta("stats", "--json").value["learned"] == {"captured": 2, "reviewed": 1, "drained": 0}


@given(st.floats(0, 1), st.integers(0, 60))
def test_a_bar_fits_and_grows(share: float, columns: int) -> None:
    bar = stats_command.bar_of(share, columns)
    assert len(bar) <= columns
    assert (bar != "") == (share > 0 and columns > 0)
    assert len(stats_command.bar_of(1.0, columns)) == columns
