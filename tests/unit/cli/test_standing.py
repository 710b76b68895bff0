"""What feedback does to a note's confidence and authority."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from chitta import feedback, recall_log
from chitta import settings as table

Run = Callable[..., Any]


@pytest.fixture
def path(chitta: Run) -> Path:
    facts = chitta("remember", "The gasket is blue.", "--id", "gasket", "--json").value
    for number in (1, 2, 3):
        line = {"time": f"2026-01-02T03:04:{number:02}Z", "block": f"{number:012x}", "session": f"s{number}"}
        shown = {"maxrel": 0.5, "admitted": [{"id": "gasket", "tag": "sem", "conf": 0.25}]}
        recall_log.append(table.load().state_dir, {**line, **shown})
    return Path(facts["path"])


def say(chitta: Run, session: int, *words: str) -> Any:
    return chitta("feedback", "gasket", *words, "--session", f"s{session}")


def test_down_from_two_sessions_doubts_the_note_and_undoing_one_takes_it_back(chitta: Run, path: Path) -> None:
    before = path.read_text()
    ran = say(chitta, 1, "down")
    assert ran.err == "" and path.read_text() == before
    ran = say(chitta, 2, "down")
    assert "confidence 0.60 → 0.30, advisory → doubted" in ran.err and "`chitta review gasket`" in ran.err
    assert [note["state"] for note in chitta("review", "--json").value] == ["doubted"]
    ran = say(chitta, 2, "--undo")
    assert ran.code == 0 and "is not judged any more" in ran.out and "0.30 → 0.60, doubted → advisory" in ran.err
    assert path.read_text() == before and chitta("review", "--json").value == []
    assert [one.session for one in feedback.read(table.load().state_dir)] == ["s1"]


def test_up_brings_it_back_and_a_look_at_it_starts_anew(chitta: Run, path: Path) -> None:
    for session in (1, 2):
        say(chitta, session, "down")
    assert "0.30 → 0.70, doubted → advisory" in say(chitta, 3, "up").err
    assert "0.70 → 0.15" not in say(chitta, 3, "down").err
    assert chitta("show", "gasket", "--json").value["authority"] == "doubted"
    assert chitta("review", "--keep", "gasket").code == 0
    note = chitta("show", "gasket", "--json").value
    assert (note["authority"], note["confidence"]) == ("advisory", 0.6) and "feedback" not in note["extra"]


def test_a_doubted_note_ranks_below_its_equal_twin(chitta: Run, path: Path) -> None:
    chitta("remember", "The gasket is blue!", "--id", "zgasket")
    asked = ("recall", "gasket blue", "--strategy", "keyword", "--json")
    first = [row["id"] for row in chitta(*asked).value["rows"]]
    for session in (1, 2):
        say(chitta, session, "down")
    after = [row["id"] for row in chitta(*asked).value["rows"]]
    assert after[0] == "zgasket" and (first[0] == "gasket" or len(first) == 1)


def test_a_forgotten_note_has_no_standing(chitta: Run, path: Path) -> None:
    say(chitta, 1, "down")
    chitta("forget", "gasket", "--yes")
    assert "was shown" in say(chitta, 2, "down").err and not path.exists()  # its id has left the logs too


def test_undo_without_a_name_is_of_the_last_block_and_a_verdict_is_needed_otherwise(chitta: Run, path: Path) -> None:
    say(chitta, 3, "down")
    assert chitta("feedback", "--undo").code == 0 and feedback.read(table.load().state_dir) == []
    assert chitta("feedback").code == 2


def test_undoing_again_and_again_goes_back_word_by_word(chitta: Run, path: Path) -> None:
    for session, word in ((1, "down"), (2, "down"), (2, "up"), (3, "down")):
        say(chitta, session, word)

    def held() -> list[tuple[str, str]]:
        return [(one.session, one.verdict) for one in feedback.read(table.load().state_dir)]

    assert held() == [("s1", "down"), ("s2", "up"), ("s3", "down")]
    left = [
        [("s1", "down"), ("s2", "up")],
        [("s1", "down"), ("s2", "down")],
        [("s1", "down")],
        [],
    ]
    for after in left:
        assert chitta("feedback", "gasket", "--undo").code == 0 and held() == after
    ran = chitta("feedback", "gasket", "--undo")
    assert ran.code == 1 and "nothing to undo" in ran.err
    note = chitta("show", "gasket", "--json").value
    assert note["confidence"] == 0.6 and note["authority"] == "advisory"
