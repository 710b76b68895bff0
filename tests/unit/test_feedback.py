"""What people said of shown notes: what a line holds, how it is written, and what is believed of a file."""

import json
import multiprocessing
import os
import stat
from pathlib import Path
from typing import Any

import pytest

from chitta import feedback
from chitta.feedback import Judgement, Shown

SHOWN = Shown("2026-01-02T03:04:05Z", "00000000000a", "s", "a-note", 0.75, 0.5, "sem")


def given(verdict: str = "up", **more: Any) -> Judgement:
    return feedback.judge(SHOWN._replace(**more), verdict, 0.0)


def lines(state: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (state / feedback.NAME).read_text().splitlines()]


def test_a_judgement_carries_the_evidence_and_its_own_time(tmp_path: Path) -> None:
    feedback.record(str(tmp_path), [given("down")])
    assert lines(tmp_path) == [
        {
            "time": "1970-01-01T00:00:00Z",
            "block": "00000000000a",
            "session": "s",
            "id": "a-note",
            "verdict": "down",
            "conf": 0.75,
            "maxrel": 0.5,
            "tag": "sem",
        }
    ]
    assert feedback.read(str(tmp_path)) == [given("down")]


def test_file_and_folder_are_for_their_owner_alone(tmp_path: Path) -> None:
    state = tmp_path / "new" / "state"
    feedback.record(str(state), [given()])
    assert stat.S_IMODE((state / feedback.NAME).stat().st_mode) == 0o600
    assert {stat.S_IMODE(folder.stat().st_mode) for folder in (state, state.parent)} == {0o700}


def test_a_judgement_is_taken_back_and_given_anew(tmp_path: Path) -> None:
    feedback.record(str(tmp_path), [given("down"), given("up", id="other"), given(feedback.WITHDRAWN)])
    assert feedback.read(str(tmp_path)) == [given("up", id="other")]
    feedback.record(str(tmp_path), [given("up")])
    assert feedback.read(str(tmp_path)) == [given("up", id="other"), given("up")]


def test_of_two_judgements_of_a_note_in_a_block_the_later_one_holds(tmp_path: Path) -> None:
    feedback.record(str(tmp_path), [given("up"), given("up", id="other"), given("up", block="b")])
    feedback.record(str(tmp_path), [given("down")])
    assert feedback.read(str(tmp_path)) == [given("up", id="other"), given("up", block="b"), given("down")]
    assert len(lines(tmp_path)) == 4


def test_no_file_is_no_judgements_and_one_that_cannot_be_read_is_an_error(tmp_path: Path) -> None:
    assert feedback.read(str(tmp_path)) == feedback.read(str(tmp_path / "none")) == []
    (tmp_path / feedback.NAME).mkdir()
    with pytest.raises(OSError):
        feedback.read(str(tmp_path))


WRONG: tuple[dict[str, Any], ...] = (
    {"verdict": "sideways"},
    {"verdict": ["up"]},
    {"verdict": None},
    {"id": ""},
    {"id": " "},
    {"id": 7},
    {"id": "x" * 201},
    {"block": ""},
    {"block": {}},
    {"session": None},
    {"tag": 1},
    {"time": 12},
    {"conf": 1.5},
    {"conf": -0.1},
    {"conf": True},
    {"conf": "0.5"},
    {"maxrel": []},
)


@pytest.mark.parametrize("wrong", WRONG, ids=str)
def test_a_line_with_a_field_that_cannot_be_believed_is_passed_over(tmp_path: Path, wrong: dict[str, Any]) -> None:
    line = {**given()._asdict(), **wrong}
    (tmp_path / feedback.NAME).write_text(json.dumps(line) + "\n")
    assert feedback.read(str(tmp_path)) == []


def test_malformed_lines_are_passed_over_and_the_others_stand(tmp_path: Path) -> None:
    good = json.dumps(given(conf=None, maxrel=1, session="")._asdict()).encode()
    junk = [b"", b"not json", b"\xff\xfe", b"[]", b"null", b"{}", b'{"verdict": "up"}', b"[" * 5_000, good[:-20]]
    junk.append(json.dumps({**given(id="nan")._asdict(), "conf": float("nan")}).encode())
    (tmp_path / feedback.NAME).write_bytes(b"\n".join([*junk, good, *junk]))
    assert feedback.read(str(tmp_path)) == [given(conf=None, maxrel=1, session="")]


def test_a_line_that_was_cut_short_does_not_swallow_the_next_one(tmp_path: Path) -> None:
    (tmp_path / feedback.NAME).write_bytes(b'{"time": "2026-01-')
    feedback.record(str(tmp_path), [given()])
    assert feedback.read(str(tmp_path)) == [given()]


def test_ids_with_newlines_and_escape_codes_stay_one_line_and_come_back_as_they_were(tmp_path: Path) -> None:
    names = ["a\nb", 'x"}\n{"verdict": "up"', "\x1b[2Jred\x07", "a\u2028b", "é\u202eabc", "\0"]
    feedback.record(str(tmp_path), [given(id=name) for name in names])
    assert len((tmp_path / feedback.NAME).read_bytes().strip().split(b"\n")) == len(names)
    assert [one.id for one in feedback.read(str(tmp_path))] == names


def test_a_write_that_the_disk_cuts_short_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write = os.write
    monkeypatch.setattr(os, "write", lambda file, data: write(file, data[:10]))
    with pytest.raises(OSError, match=feedback.NAME):
        feedback.record(str(tmp_path), [given()])
    monkeypatch.undo()
    feedback.record(str(tmp_path), [given("down")])
    assert feedback.read(str(tmp_path)) == [given("down")]


def _writer(state: str, number: int) -> None:
    for step in range(20):
        feedback.record(state, [given(id=f"{number}-{step}-{part}", session="x" * 3_000) for part in range(3)])


def test_lines_of_sixteen_writers_never_mix(tmp_path: Path) -> None:
    context = multiprocessing.get_context("fork")
    workers = [context.Process(target=_writer, args=(str(tmp_path), number)) for number in range(16)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    found = [one.id for one in feedback.read(str(tmp_path))]
    assert sorted(found) == sorted(f"{w}-{s}-{p}" for w in range(16) for s in range(20) for p in range(3))
    starts = [place for place, name in enumerate(found) if name.endswith("-0")]
    assert all(found[place + 1] == found[place][:-1] + "1" for place in starts), "what is given together stays so"


# The recall log's lines

LINE = {
    "time": SHOWN.time,
    "block": SHOWN.block,
    "session": "s",
    "maxrel": 0.5,
    "admitted": [{"id": "a-note", "tag": "sem", "conf": 0.75}, {"id": "b-note", "tag": "corrk", "conf": None}],
}


def test_a_log_line_says_what_was_shown() -> None:
    assert feedback.shown_in(LINE) == [SHOWN, SHOWN._replace(id="b-note", tag="corrk", conf=None)]


@pytest.mark.parametrize(
    "wrong",
    [
        {"block": None},
        {"block": ""},
        {"session": 3},
        {"maxrel": "much"},
        {"admitted": None},
        {"admitted": "a-note"},
        {"admitted": []},
        {"admitted": ["a-note", None, {}, {"id": ["a"]}, {"id": "a-note"}]},
    ],
    ids=str,
)
def test_a_log_line_that_is_none_or_names_no_block_shows_nothing(wrong: dict[str, Any]) -> None:
    assert feedback.shown_in({**LINE, **wrong}) == []


def test_the_hooks_own_line_shows_nothing() -> None:
    assert feedback.shown_in({"degraded": ["no interpreter: run install.sh"]}) == []
