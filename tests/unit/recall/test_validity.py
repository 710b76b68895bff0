"""Filters of time: what is kept, and why the rest is dropped."""

from datetime import datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chitta.notes.note import Note
from chitta.recall.validity import Edge, keep, parse_moment, parse_span, successors_of

NOW = datetime(2026, 6, 17, 15, 0)
NOON = datetime(2026, 6, 10, 12, 0)
TICK = datetime.resolution


@pytest.mark.parametrize(
    ("text", "edge", "moment"),
    [
        ("2026-06-10", "since", datetime(2026, 6, 10)),
        ("2026-06-10", "until", datetime(2026, 6, 11)),
        ("2026-06-10", "at", datetime(2026, 6, 11) - TICK),
        ("2026-06-10T12:00:00+02:00", "since", datetime(2026, 6, 10, 10)),
        ("2026-06-10T12:00:00+02:00", "until", datetime(2026, 6, 10, 10)),
        ("2026-06-10T12:00Z", "at", NOON),
        (" last week ", "since", datetime(2026, 6, 8)),
        ("last week", "until", datetime(2026, 6, 15)),
        ("yesterday", "at", datetime(2026, 6, 17) - TICK),
        ("9999-12-31", "until", datetime.max),
    ],
)
def test_moments(text: str, edge: Edge, moment: datetime) -> None:
    assert parse_moment(text, NOW, edge) == moment


def test_a_phrase_counts_by_the_clock_of_now() -> None:
    now = datetime(2026, 6, 17, 1, 0, tzinfo=timezone(timedelta(hours=2)))  # still the 16th in UTC
    assert parse_moment("today", now) == datetime(2026, 6, 16, 22)


@pytest.mark.parametrize("text", ["", "now", "soon", "2026-13-01", "2026-06-10T25:00", "fix it yesterday", "7d", "\0"])
def test_what_is_no_moment_is_an_error_for_a_person(text: str) -> None:
    with pytest.raises(ValueError, match=r"is no time\. Write a date"):
        parse_moment(text, NOW)


@pytest.mark.parametrize(
    ("text", "since", "until"),
    [
        ("24h", NOW - timedelta(hours=24), NOW + TICK),
        ("7d", NOW - timedelta(days=7), NOW + TICK),
        ("2W", NOW - timedelta(days=14), NOW + TICK),
        ("1m", NOW - timedelta(days=30), NOW + TICK),
        ("1y", NOW - timedelta(days=365), NOW + TICK),
        ("99999y", datetime.min, NOW + TICK),
        ("2026-06-01..2026-06-10", datetime(2026, 6, 1), datetime(2026, 6, 11)),
        ("2026-06-10..2026-06-10", datetime(2026, 6, 10), datetime(2026, 6, 11)),
        ("last week .. yesterday", datetime(2026, 6, 8), datetime(2026, 6, 17)),
        ("2026-06-01..", datetime(2026, 6, 1), None),
        ("..2026-06-10", None, datetime(2026, 6, 11)),
    ],
)
def test_spans(text: str, since: datetime | None, until: datetime | None) -> None:
    assert parse_span(text, NOW) == (since, until)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("", "is no span of time"),
        ("..", "is no span of time"),
        ("7 days", "is no span of time"),
        ("-7d", "is no span of time"),
        ("0d", "is an empty span"),
        ("2026-06-10..soon", "is no time"),
        ("2026-06-10..2026-06-01", "ends before it begins"),
        ("2026-06-10T12:00..2026-06-10T12:00", "ends before it begins"),
    ],
)
def test_what_is_no_span_is_an_error_for_a_person(text: str, sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        parse_span(text, NOW)


@given(st.text(max_size=30))
def test_any_text_is_read_or_refused(text: str) -> None:
    for read in (parse_moment, parse_span):
        try:
            read(text, NOW)
        except ValueError as refusal:
            assert str(refusal).endswith(".")


@pytest.mark.parametrize(
    ("created", "updated", "cause"),
    [
        ("2026-06-10T12:00Z", "", None),
        ("2026-06-10T11:59:59.999999Z", "", "before"),
        ("2026-06-11T12:00Z", "", "after"),
        ("2026-06-11T11:59:59.999999Z", "", None),
        ("2026-06-10", "", None),  # a day that reaches into the window
        ("2026-06-09", "", "before"),
        ("2026-06-01", "2026-06-11", None),
        ("2026-06-01", "2026-07-01", "after"),
        ("", "2026-06-11", None),
        ("", "", "undated"),
        ("soon", "", "undated"),
    ],
)
def test_since_and_until_are_half_open(created: str, updated: str, cause: str | None) -> None:
    note = Note("n", created=created, updated=updated)
    assert keep(note, since=NOON, until=NOON + timedelta(days=1)) == cause


def test_one_side_may_be_open() -> None:
    note = Note("n", created="2026-06-10T12:00Z")
    assert keep(note, since=NOON) is None and keep(note, since=NOON + TICK) == "before"
    assert keep(note, until=NOON) == "after" and keep(note, until=NOON + TICK) is None


def test_aware_moments_are_compared_in_utc() -> None:
    east = timezone(timedelta(hours=2))
    assert keep(Note("n", created="2026-06-10T12:00Z"), since=datetime(2026, 6, 10, 14, tzinfo=east)) is None


def test_as_of_counts_only_successors_of_that_time() -> None:
    old = Note("old", superseded_by="new")
    for created, cause in (
        ("2026-06-10T12:00Z", "superseded"),
        ("2026-06-10T12:00:00.000001Z", None),
        ("", "superseded"),
    ):
        new = Note("new", created=created)
        assert keep(old, as_of=NOON, successors=successors_of([old, new])) == cause
    assert keep(old, as_of=NOON) == "superseded"  # by a note that nobody can look up
    assert keep(Note("free"), as_of=NOON) is None
    assert keep(old) is None


def test_successors_are_found_from_either_side_and_the_first_counts() -> None:
    old = Note("old", superseded_by="later")
    first = Note("first", created="2026-01-01", supersedes=("old", "gone"))
    later = Note("later", created="2026-02-01", supersedes=("later",), superseded_by="later")
    assert successors_of([old, later, first]) == {"old": first, "gone": first}


def test_what_was_not_written_yet_was_unknown_then() -> None:
    assert keep(Note("n", created="2026-06-10T12:00Z"), known_as_of=NOON) is None
    assert keep(Note("n", created="2026-06-10T12:00:00.000001Z"), known_as_of=NOON) == "unknown then"
    assert keep(Note("n", created="2026-06-01", updated="2026-07-01"), known_as_of=NOON) is None
    assert keep(Note("n"), known_as_of=NOON) == "undated"


@pytest.mark.parametrize(
    ("valid_from", "valid_until", "kept"),
    [
        ("", "", True),
        ("2026-06-10", "", True),
        ("2026-06-10T12:00Z", "2026-06-10T12:01Z", True),
        ("2026-06-10T12:01Z", "", False),
        ("2026-06-11", "", False),
        ("", "2026-06-10", True),
        ("", "2026-06-09", False),
        ("", "2026-06-10T12:00Z", False),
        ("always", "never", True),
    ],
)
def test_validity_is_half_open_and_a_day_is_whole(valid_from: str, valid_until: str, kept: bool) -> None:
    note = Note("n", valid_from=valid_from, valid_until=valid_until)
    assert keep(note, valid_at=NOON) == (None if kept else "not valid then")


def test_filters_that_leave_nothing_leave_nothing() -> None:
    notes = [Note("a", created="2026-06-10"), Note("b")]
    assert [note for note in notes if keep(note, since=datetime(2027, 1, 1)) is None] == []
    assert all(keep(note) is None for note in notes)


def test_a_year_alone_is_the_whole_of_it() -> None:
    now = datetime(2026, 11, 30)
    assert parse_moment("2016", now) == datetime(2016, 1, 1)
    assert parse_moment("2016", now, "until") == datetime(2017, 1, 1)
    assert parse_span("2015..2016", now) == (datetime(2015, 1, 1), datetime(2017, 1, 1))


LATE = "2023-07-13T22:49:08-07:00"  # the 14th in Greenwich
NEXT = "2023-07-20T11:55:52-07:00"


@pytest.mark.parametrize("by", ["as_of", "known_as_of"])
@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("2023-07-12", set()),
        ("2023-07-13", {"first"}),
        ("2023-07-19", {"first"}),
        ("2023-07-20", {"last"}),
        ("2023-07-13T22:49:09-07:00", {"first"}),
        ("2023-07-13T22:49:09Z", set()),
    ],
)
def test_a_whole_day_is_the_day_that_the_note_says(by: str, text: str, kept: set[str]) -> None:
    notes = [Note("first", created=LATE, superseded_by="last"), Note("last", created=NEXT, supersedes=("first",))]
    moments = {by: parse_moment(text, NOW, "at")}
    assert {n.id for n in notes if keep(n, successors=successors_of(notes), **moments) is None} == kept


def test_at_a_day_by_a_phrase_is_that_day_on_the_person_s_clock() -> None:
    now = datetime(2026, 6, 17, 1, 0, tzinfo=timezone(timedelta(hours=2)))
    assert parse_moment("yesterday", now, "at") == parse_moment("2026-06-16", now, "at")
