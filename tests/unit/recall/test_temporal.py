"""The arm of time: readable dates, windows, and the order of events."""

from datetime import datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chitta.notes.note import Note
from chitta.recall.temporal import event_order, in_utc, in_window, moment_of, note_times, ordered_by_time, spoken
from chitta.recall.time_phrases import Window, window_of

JUNE = Window(datetime(2026, 6, 1), datetime(2026, 6, 30, 23, 59, 59, 999999), 0.9, "in june", (0, 7))
WIDTH = JUNE.end - JUNE.start
MIDDLE = JUNE.start + WIDTH / 2


def words(note: Note) -> list[str]:
    return note.text.split()


@pytest.mark.parametrize(
    ("text", "moment"),
    [
        ("2026-06-10", datetime(2026, 6, 10)),
        (" 2026/6/1 ", datetime(2026, 6, 1)),
        ("2026-06-10 14:30", datetime(2026, 6, 10, 14, 30)),
        ("2026-06-10T14:30:05", datetime(2026, 6, 10, 14, 30, 5)),
        ("2026-06-10T14:30:05.25Z", datetime(2026, 6, 10, 14, 30, 5, 250_000)),
        ("2026-06-10T01:30:00+02:00", datetime(2026, 6, 9, 23, 30)),
        ("2026-06-10 22:30 -0330", datetime(2026, 6, 11, 2, 0)),
        ("2026-06-10T14:30:05.123456789+00", datetime(2026, 6, 10, 14, 30, 5, 123_456)),
    ],
)
def test_moments_are_in_utc(text: str, moment: datetime) -> None:
    found = moment_of(text)
    assert found is not None and found.start == moment


@pytest.mark.parametrize("text", ["", "soon", "2026", "2026-13-01", "2026-06-10T25:00", "0001-01-01T00:00+02:00", "\0"])
def test_what_is_no_moment(text: str) -> None:
    assert moment_of(text) is None


def test_a_date_lasts_a_day_and_an_instant_no_longer_than_it_must() -> None:
    day, instant, last = moment_of("2026-06-10"), moment_of("2026-06-10T08:00"), moment_of("9999-12-31")
    assert day is not None and day.is_date and day.end - day.start == timedelta(days=1)
    assert instant is not None and not instant.is_date and instant.end - instant.start == datetime.resolution
    assert last is not None and last.end == datetime.max


@given(st.text(max_size=40) | st.from_regex(r"\d{4}-\d\d-\d\dT\d\d:\d\d(Z|[+-]\d\d:\d\d)", fullmatch=True))
def test_any_text_is_a_moment_or_none(text: str) -> None:
    found = moment_of(text)
    assert found is None or found.start < found.end


@given(st.datetimes(timezones=st.timezones() | st.none()))
def test_in_utc_never_raises(moment: datetime) -> None:
    assert in_utc(moment).tzinfo is None


def test_the_times_of_a_note() -> None:
    note = Note("n", created="2026-06-01", updated="not a date", valid_from="2026-06-02T00:00:00+01:00")
    assert note_times(note) == (datetime(2026, 6, 1), datetime(2026, 6, 1, 23))
    assert note_times(Note("n")) == ()


def test_notes_of_the_window_by_coverage_then_nearness() -> None:
    notes = [
        Note("edge", text="auth token", created="2026-06-01"),
        Note("middle", text="auth", created="2026-06-16"),
        Note("near", text="auth", created="2026-06-10", updated="2026-06-14"),
        Note("outside", text="auth token", created="2026-05-31", updated="2026-07-01", valid_from="2026-06-16"),
        Note("undated", text="auth token"),
    ]
    found = dict(in_window(notes, JUNE, ["auth", "token"], words))
    assert list(found) == ["edge", "middle", "near"]
    for name, covered, day in (("edge", 2, 1), ("middle", 1, 16), ("near", 1, 14)):
        near = 1 - abs(datetime(2026, 6, day) - MIDDLE) / WIDTH
        assert found[name] == pytest.approx((covered + near) / 3)


def test_a_prompt_of_nothing_but_its_phrase_ranks_by_nearness_and_ties_by_id() -> None:
    notes = [Note("b", created="2026-06-16"), Note("a", created="2026-06-16"), Note("c", created="2026-06-15")]
    assert [name for name, _ in in_window(notes, JUNE, [], words)] == ["a", "b", "c"]


def test_a_window_of_another_time_zone_is_compared_in_utc() -> None:
    east = timezone(timedelta(hours=2))
    window = window_of("today", datetime(2026, 6, 17, 9, 0, tzinfo=east))
    assert window is not None
    notes = [Note("in", created="2026-06-16T22:30:00Z"), Note("out", created="2026-06-17T22:30:00Z")]
    assert [name for name, _ in in_window(notes, window, [], words)] == ["in"]


@given(st.lists(st.tuples(st.dates(), st.text("abc ", max_size=6)), max_size=8), st.frozensets(st.sampled_from("abc")))
def test_scores_are_bounded_and_more_coverage_is_never_behind(rows, wanted) -> None:  # type: ignore[no-untyped-def]
    always = Window(datetime.min, datetime.max, 1.0, "", (0, 0))
    notes = {f"n{i}": Note(f"n{i}", text=text, created=day.isoformat()) for i, (day, text) in enumerate(rows)}
    ranking = in_window(notes.values(), always, wanted, words)
    covered = [len(wanted & set(words(notes[name]))) for name, _ in ranking]
    assert len(ranking) == len(notes)
    assert covered == sorted(covered, reverse=True)
    assert all(0 <= score <= 1 for _, score in ranking)


def test_the_order_of_events() -> None:
    notes = [
        Note("first", created="2026-01-01", updated="2026-05-01"),
        Note("same-b", created="2026-02-01T00:00:00Z"),
        Note("same-a", created="2026-02-01"),
        Note("undated"),
        Note("third", created="2026-03-01"),
    ]
    assert ordered_by_time(notes, "oldest") == [
        ("first", 3 / 3),
        ("same-a", 2 / 3),
        ("same-b", 2 / 3),
        ("third", 1 / 3),
    ]
    assert [name for name, _ in ordered_by_time(notes, "newest")] == ["first", "third", "same-a", "same-b"]
    assert ordered_by_time([Note("undated")], "newest") == []


@pytest.mark.parametrize(
    ("text", "order"),
    [
        ("when did we first deploy to fly?", "oldest"),
        ("the first time the cache broke", "oldest"),
        ("which of the two came first", "oldest"),
        ("what was the earliest decision on auth", "oldest"),
        ("what did we originally choose", "oldest"),
        ("the most recent decision about queues", "newest"),
        ("what is our latest choice of linter", "newest"),
        ("when did it last fail", "newest"),
        ("the last time the build broke", "newest"),
        ("is the newest note before the first time it failed", "newest"),
        ("use the latest version of node", None),
        ("pull the latest stable release", None),
        ("move the latest commit to a branch", None),
        ("upgrade to latest", None),
        ("first run the tests", None),
        ("what did we do last week", None),
        ("the last line of the file", None),
        ("how was last week", None),
        ("", None),
    ],
)
def test_questions_about_the_order_of_events(text: str, order: str | None) -> None:
    assert event_order(text) == order


def test_dates_in_code_and_quotes_name_no_time() -> None:
    text = "why is `2024-03-01` or '2024-03-02' in \"2024-03-03\" off, since yesterday?"
    bare = spoken(text)
    assert len(bare) == len(text) and "2024" not in bare
    window = window_of(bare, datetime(2026, 6, 2))
    assert window is not None and window.phrase == "since yesterday" == text[window.span[0] : window.span[1]]
    assert spoken("don't run what we didn't say last week") == "don't run what we didn't say last week"
    assert spoken("```\n2024-03-01\nnever closed").strip() == ""
