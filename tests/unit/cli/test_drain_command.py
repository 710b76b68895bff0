from __future__ import annotations

import json
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from chitta.drain import extraction, ledger, poison
from chitta.drain.ledger import Run
from chitta.drain.queue import Entry
from chitta.session_hooks.flush import enqueue
from chitta.session_hooks.occasion import FLUSH, STOP, Occasion

Run_ = Callable[..., Any]


@pytest.fixture
def state(own_home: Path) -> str:
    return str(own_home / ".chitta" / "state")


@pytest.fixture
def session(folder: Path) -> Path:
    """A session with one correction."""
    path = folder / "session.jsonl"
    place = {"sessionId": "s-1", "cwd": str(folder), "timestamp": "2026-11-30T10:00:00Z"}
    said = [
        {**place, "type": "user", "message": {"role": "user", "content": "install the packages of the shop"}},
        {
            **place,
            "type": "assistant",
            "message": {"role": "assistant", "content": [{"type": "text", "text": "x " * 1500}]},
        },
        {**place, "type": "user", "message": {"role": "user", "content": "no, use pnpm instead of npm"}},
    ]
    path.write_text("".join(json.dumps(one) + "\n" for one in said))
    return path


def queued(path: Path, state: str) -> None:
    assert enqueue(
        Occasion(FLUSH, "claude", "", "s-1", str(path.parent), transcript=str(path), why=STOP), state, time.time()
    )


def test_it_says_what_was_found_and_what_to_do_next(chitta: Run_, session: Path, state: str) -> None:
    queued(session, state)
    ran = chitta("drain")
    assert ran.code == 0 and "1 note (1 added)" in ran.out and "correction Use pnpm instead of npm" in ran.out
    assert "chitta review" in ran.err
    assert chitta("drain").code == 1


def test_a_dry_run_keeps_nothing_and_the_queue_waits(chitta: Run_, session: Path, state: str) -> None:
    queued(session, state)
    assert "(not kept: --dry-run)" in chitta("drain", "--dry-run").out
    assert "added" in chitta("drain").out


def test_why_something_was_passed_over_is_said(chitta: Run_, session: Path, state: str) -> None:
    queued(session, state)
    os.unlink(session)
    ran = chitta("drain")
    assert ran.code == 0 and "passed over: the file is gone" in ran.out


def test_as_json_it_is_one_document(chitta: Run_, session: Path, state: str) -> None:
    value = chitta("drain", str(session), "--json").value
    (one,) = value["outcomes"]
    assert one["outcome"] == "read" and one["kept"] == {"added": 1} and one["notes"][0]["extra"]["session"] == "s-1"
    assert "captured: claude session" in one["notes"][0]["source"]


def test_a_file_that_is_no_transcript_is_told(chitta: Run_, folder: Path, session: Path) -> None:
    other = folder / "letter.txt"
    other.write_text("Dear reader,\n" * 300)
    ran = chitta("drain", str(other))
    assert ran.code == 1 and "no transcript of an agent's session" in ran.out
    assert chitta("drain", str(other), str(session)).code == 0
    assert chitta("drain", str(folder / "away.jsonl")).code == 1


def test_after_a_drain_it_is_said_what_is_not_indexed_whole(chitta: Run_, session: Path) -> None:
    ran = chitta("drain", str(session))
    assert "1 note findable now by its words; by its meaning later" in ran.err
    assert chitta("list", "--all-realms", "--json").value[0]["state"] == "waiting"


def test_nothing_to_drain_says_how_there_is_something(chitta: Run_) -> None:
    ran = chitta("drain")
    assert ran.code == 1 and "no transcript waits" in ran.err and "hint:" in ran.err


def test_a_command_that_is_none_is_unavailable_with_a_hint(
    chitta: Run_, session: Path, state: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CHITTA_DRAIN_CMD", "no-such-agent-of-anybody -p")
    queued(session, state)
    ran = chitta("drain")
    assert ran.code == 111 and "CHITTA_DRAIN_CMD" in ran.err and "hint:" in ran.err


def test_the_status_shows_what_waits_what_was_done_and_what_it_cost(chitta: Run_, session: Path, state: str) -> None:
    queued(session, state)
    today = ledger.stamp(time.time())
    ledger.append(state, Run(today, "/t/a.jsonl", "begun", agent=True))
    ledger.append(
        state, Run(today, "/t/a.jsonl", "failed", why="the agent declined", tries=1, agent=True, seconds=7, asked=800)
    )
    poison.add(state, Entry("/t/b.jsonl"), "too often", today)
    ran = chitta("drain", "--status")
    assert ran.code == 0 and "1 of 20 transcripts, 1 agent run, 7 s, about 200 tokens" in ran.out
    assert "the agent declined" in ran.out and "--retry-poisoned" in ran.out
    value = chitta("drain", "--status", "--json").value
    assert [one["transcript"] for one in value["waiting"]] == [str(session)]
    assert value["poisoned"][0]["why"] == "too often" and value["today"]["agent_runs"] == 1


def test_what_was_set_aside_waits_again(chitta: Run_, session: Path, state: str) -> None:
    assert chitta("drain", "--retry-poisoned").code == 1
    poison.add(state, Entry(str(session), "s-1", "claude", str(session.parent)), "too often", "")
    assert "1 transcript waits again" in chitta("drain", "--retry-poisoned").out
    assert "1 added" in chitta("drain").out


def test_automatic_is_silent_and_leaves_what_went_wrong(
    chitta: Run_, session: Path, state: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    queued(session, state)
    ran = chitta("drain", "--automatic")
    assert (ran.code, ran.out, ran.err) == (0, "", "")
    monkeypatch.setenv("CHITTA_DRAIN_CMD", "no-such-agent-of-anybody -p")
    assert chitta("drain", "--automatic").code == 111
    assert json.loads(Path(state, "last-failure.json").read_text())["where"] == "drain"


def test_a_limit_and_names_do_not_go_together(chitta: Run_) -> None:
    assert chitta("drain", "--limit", "2", "x.jsonl").code == 2


def test_a_named_transcript_that_failed_is_told_where_it_stands(
    chitta: Run_, session: Path, state: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    rules = extraction.by_rules
    monkeypatch.setattr(extraction, "by_rules", lambda *given: 1 / 0)
    ran = chitta("drain", str(session))
    assert ran.code == 1 and "failed: ZeroDivisionError" in ran.out.replace("\n", " ")
    assert "is not in the queue" in ran.err and "run it again" in ran.err and "chitta drain " in ran.err
    queued(session, state)
    ran = chitta("drain", str(session))
    assert ran.code == 1 and "is still in the queue" in ran.err
    assert chitta("drain", str(session)).code == 1  # the third time it is set aside
    monkeypatch.setattr(extraction, "by_rules", rules)
    assert "added" in chitta("drain", str(session)).out
