"""Phrases of time against their days: own cases, an annotated set, and any text at all."""

import json
import re
from datetime import date, datetime, time, timedelta, timezone
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chitta.recall.time_phrases import READ_CHARS, window_of

EXPRESSIONS = Path(__file__).resolve().parents[4] / "shared/data/time-expressions.jsonl"
ENOUGH = 0.90
WEDNESDAY = datetime(2026, 6, 17, 15, 0)
# Words by which a text of the annotated set is not English, beside letters that English has not.
FOREIGN = re.compile(
    r"\b(?:de|del|el|la|le|lo|il|fa|vor|was ist|hoy|ayer|ieri|oggi|hier|heute|gestern|aujourd|hui|letzte\w*|l'ann?o"
    r"|abril|agosto|aout|aprile|avril|dezember|dicembre|diciembre|enero|febbraio|febrero|februar|gennaio|giugno|januar"
    r"|janvier|juillet|juin|juli|julio|juni|junio|luglio|maggio|mai|mars|marzo|mayo|novembre|noviembre|octobre|octubre"
    r"|oktober|ottobre|septembre|septiembre|settembre)\b",
    re.IGNORECASE,
)


@pytest.mark.parametrize(
    ("text", "first", "last"),
    [
        ("what broke yesterday?", "2026-06-16", "2026-06-16"),
        ("the day before yesterday", "2026-06-15", "2026-06-15"),
        ("3 days ago", "2026-06-14", "2026-06-14"),
        ("twenty days ago", "2026-05-28", "2026-05-28"),
        ("twenty-five days ago", "2026-05-23", "2026-05-23"),
        ("a year ago", "2025-06-17", "2025-06-17"),
        ("2 hours ago", "2026-06-17", "2026-06-17"),
        ("a few days ago", "2026-06-12", "2026-06-15"),
        ("the last 3 days", "2026-06-14", "2026-06-17"),
        ("last 24 hours", "2026-06-16", "2026-06-17"),
        ("past week", "2026-06-10", "2026-06-17"),
        ("last week", "2026-06-08", "2026-06-14"),
        ("the week before last", "2026-06-01", "2026-06-07"),
        ("this week", "2026-06-15", "2026-06-17"),
        ("previous month", "2026-05-01", "2026-05-31"),
        ("last quarter", "2026-01-01", "2026-03-31"),
        ("last year", "2025-01-01", "2025-12-31"),
        ("last weekend", "2026-06-13", "2026-06-14"),
        ("this weekend", "2026-06-20", "2026-06-21"),
        ("on friday", "2026-06-12", "2026-06-12"),
        ("last wednesday", "2026-06-10", "2026-06-10"),
        ("monday's deploy", "2026-06-15", "2026-06-15"),
        ("on 2026-06-10", "2026-06-10", "2026-06-10"),
        ("2026-06-10T12:00:00Z", "2026-06-10", "2026-06-10"),
        ("2026-06", "2026-06-01", "2026-06-30"),
        ("2026-06-10 until 2026-06-01", "2026-06-01", "2026-06-10"),
        ("june 5", "2026-06-05", "2026-06-05"),
        ("june 18", "2025-06-18", "2025-06-18"),
        ("the 5th of may", "2026-05-05", "2026-05-05"),
        ("Dec 1,2023", "2023-12-01", "2023-12-01"),
        ("March 2024", "2024-03-01", "2024-03-31"),
        ("in november", "2025-11-01", "2025-11-30"),
        ("in june", "2026-06-01", "2026-06-30"),
        ("last june", "2025-06-01", "2025-06-30"),
        ("what did we choose in 2024?", "2024-01-01", "2024-12-31"),
        ("last sprint", "2026-05-20", "2026-06-03"),
        ("recently", "2026-06-03", "2026-06-17"),
        ("decisions before march 2024", "1970-01-01", "2024-02-29"),
        ("until yesterday", "1970-01-01", "2026-06-16"),
        ("since last week", "2026-06-08", "2026-06-17"),
        ("since the last sprint", "2026-05-20", "2026-06-17"),
        ("after 2026-06-01", "2026-06-02", "2026-06-17"),
        ("after today", "2026-06-17", "2026-06-17"),
        ("before 0001-01-01", "0001-01-01", "0001-01-01"),
        ("two days before 2026-06-10", "2026-06-10", "2026-06-10"),
        ("letzte Woche", "2026-06-08", "2026-06-14"),
        ("il y a 5 jours", "2026-06-12", "2026-06-12"),
        ("décidé hier", "2026-06-16", "2026-06-16"),
        ("上个月", "2026-05-01", "2026-05-31"),
    ],
)
def test_phrases_and_their_days(text: str, first: str, last: str) -> None:
    window = window_of(text, WEDNESDAY)
    assert window is not None
    assert window.start == datetime.combine(date.fromisoformat(first), time.min)
    assert window.end == datetime.combine(date.fromisoformat(last), time.max)


@pytest.mark.parametrize(
    "text",
    [
        *("", "may I see the file", "march the troops", "march 5 steps forward", "before the rewrite"),
        *("weekly report format", "9999-99-99", "2026-02-30", "31/02", "\0", "march " * 500, "yesterdays"),
        *(
            "after 2000 requests",
            "CVE-2024-0615",
            "v2024.06.15",
            "convert dec 10 to hex",
            "last minute",
            "last 5 commits",
        ),
        *("today_table", "run it now", "cron at 3pm", "was hier steht", "上海的天气", "十万年前", "next monday"),
    ],
)
def test_texts_without_a_phrase(text: str) -> None:
    assert window_of(text, WEDNESDAY) is None


@pytest.mark.parametrize(
    ("text", "phrase"),
    [
        ("what did we decide since last week about auth", "since last week"),
        ("the notes from the last 3 days, please", "from the last 3 days"),
        ("what broke on friday?", "on friday"),
        ("deploys in november", "in november"),
        ("from 2026-06-01 to 2026-06-10", "from 2026-06-01 to 2026-06-10"),
        ("last june was hot", "last june"),
        ("İİ yesterday", "yesterday"),
    ],
)
def test_the_phrase_and_its_place(text: str, phrase: str) -> None:
    window = window_of(text, WEDNESDAY)
    assert window is not None and window.phrase == phrase
    assert text[window.span[0] : window.span[1]] == phrase


def test_the_surer_pass_wins_and_in_it_the_leftmost() -> None:
    day = window_of("in march or on 2026-06-10", WEDNESDAY)
    assert day is not None and day.start == datetime(2026, 6, 10) and day.confidence == 1.0
    week = window_of("last week or last month", WEDNESDAY)
    assert week is not None and week.phrase == "last week"


def test_on_a_sunday_the_last_weekend_is_the_one_that_ends_today() -> None:
    sunday = window_of("last weekend", datetime(2026, 6, 21))
    saturday = window_of("last weekend", datetime(2026, 6, 20))
    assert sunday is not None and sunday.start == datetime(2026, 6, 20)
    assert saturday is not None and saturday.start == datetime(2026, 6, 13)


def test_a_window_keeps_the_time_zone_of_the_reference() -> None:
    zone = timezone(timedelta(hours=2))
    window = window_of("today", WEDNESDAY.replace(tzinfo=zone))
    assert window is not None and window.start == datetime(2026, 6, 17, tzinfo=zone) and window.end.tzinfo is zone


WORDS = st.sampled_from(
    "last past this on in before since the a few couple of 3 9999 0 twenty days week years ago later may march june "
    "31st 2024 2026-06-10 0001-01-01 9999-12-31 to and yesterday weekend friday 上周 3月 年前 ſeptember İ \0".split(" ")
)
REFERENCES = st.datetimes() | st.sampled_from([datetime.min, datetime.max, datetime(2024, 2, 29)])


@given(st.lists(WORDS, max_size=12).map(" ".join) | st.text(max_size=80), REFERENCES)
def test_any_text_gives_whole_days_or_nothing(text: str, reference: datetime) -> None:
    window = window_of(text, reference)
    if window is not None:
        assert window.start <= window.end
        assert (window.start.time(), window.end.time()) == (time.min, time.max)
        assert 0 < window.confidence <= 1
        assert window.phrase and text[window.span[0] : window.span[1]] == window.phrase


def test_only_the_start_of_a_long_text_is_read() -> None:
    assert window_of("x " * READ_CHARS + "yesterday", WEDNESDAY) is None


@pytest.mark.skipif(not EXPRESSIONS.exists(), reason="shared/data/time-expressions.jsonl is not on this machine")
def test_the_annotated_set() -> None:
    rows = [json.loads(line) for line in EXPRESSIONS.read_text(encoding="utf-8").splitlines()]
    english = [row for row in rows if row["query"].isascii() and not FOREIGN.search(row["query"])]
    for chosen in (english, rows):
        assert chosen
        assert sum(_right(row) for row in chosen) / len(chosen) >= ENOUGH


def _right(row: dict[str, object]) -> bool:
    window = window_of(str(row["query"]), datetime.fromisoformat(str(row["reference"])))
    return row["range"] == (None if window is None else [window.start.isoformat(), window.end.isoformat()])
