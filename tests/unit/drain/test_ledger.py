"""What the ledger tells of a transcript and of a day."""

from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from chitta import bounded_log
from chitta.drain.ledger import (
    BEGUN,
    DONE,
    FAILED,
    NAME,
    POISONED,
    RELEASED,
    STARTED,
    Cost,
    Known,
    Run,
    append,
    cost_of,
    digests,
    known,
    read,
    seconds_of,
    stamp,
)

MONDAY, TUESDAY = "2027-01-18T08:00:00Z", "2027-01-19T08:00:00Z"


def test_a_line_comes_back_as_it_was_written(tmp_path: Path) -> None:
    run = Run(MONDAY, "/a", DONE, 10, 20, "m", "d", {"added": 2}, "w", 1, True, 2.5, 400, 40)
    append(str(tmp_path), run)
    assert read(str(tmp_path)) == [run]
    assert run.tokens == 110


def test_what_is_no_line_of_the_ledger_is_left_out(tmp_path: Path) -> None:
    for wrong in ({"ts": MONDAY}, {"ts": 1, "transcript": "/a", "outcome": DONE}, {"notes": [1]}):
        bounded_log.append(str(tmp_path), NAME, wrong)
    bounded_log.append(str(tmp_path), NAME, {"ts": MONDAY, "transcript": "/a", "outcome": DONE, "seconds": 3, "new": 1})
    assert read(str(tmp_path)) == [Run(MONDAY, "/a", DONE, seconds=3.0)]


def test_what_was_read_stays_known_when_a_later_run_fails() -> None:
    runs = [
        Run(MONDAY, "/a", DONE, 0, 50, "m"),
        Run(TUESDAY, "/a", FAILED, tries=1),
        Run(TUESDAY, "/b", FAILED, tries=3),
    ]
    assert known(runs, "/a") == Known(50, "m", 1, TUESDAY, FAILED)
    assert known(runs, "/c") == Known()


def test_a_run_that_was_killed_is_a_try_where_it_had_started_anything() -> None:
    begun = Run(MONDAY, "/a", BEGUN, tries=1)
    assert known([begun], "/a") == Known(tries=1, last=MONDAY, outcome=BEGUN, kills=1)
    assert known([begun, begun], "/a").kills == 2
    started = begun._replace(outcome=STARTED, tries=2)
    assert known([begun, started], "/a") == Known(tries=2, last=MONDAY, outcome=STARTED)


def test_success_and_a_release_forget_failures() -> None:
    failed = [Run(MONDAY, "/a", FAILED, tries=2), Run(MONDAY, "/a", POISONED, tries=3)]
    assert known([*failed, Run(TUESDAY, "/a", DONE, 0, 9, "m")], "/a").tries == 0
    assert known([*failed, Run(TUESDAY, "/a", RELEASED)], "/a") == Known(outcome=RELEASED)


def test_a_day_is_paid_for_what_began_in_it_finished_or_not() -> None:
    runs = [
        Run(MONDAY, "/a", BEGUN, agent=True),
        Run(MONDAY, "/a", DONE, agent=True, seconds=2.0, asked=800, answered=80),
        Run(MONDAY, "/b", BEGUN),
        Run(TUESDAY, "/c", BEGUN, agent=True),
    ]
    assert cost_of(runs, MONDAY[:10]) == Cost(2, 1, 2.0, 220)
    assert cost_of(runs, TUESDAY[:10]) == Cost(1, 1, 0.0, 0)


def test_only_what_was_read_to_its_end_is_seen() -> None:
    runs = [Run(MONDAY, "/a", DONE, digest="x"), Run(MONDAY, "/b", FAILED, digest="y"), Run(MONDAY, "/c", DONE)]
    assert digests(runs) == {"x"}


@given(st.integers(min_value=0, max_value=4_000_000_000))
def test_times_go_there_and_back(now: int) -> None:
    assert seconds_of(stamp(now)) == now


@given(st.text(max_size=30))
def test_no_time_is_long_ago(text: str) -> None:
    assert seconds_of(text) >= 0.0 or text
