"""Phrases of time: whatever is said, a window that begins before it ends, or none."""

from __future__ import annotations

from datetime import datetime, timezone

from tests.fuzz.kind import Target, choice, must, text_of

from chitta.recall.temporal import event_order
from chitta.recall.time_phrases import window_of

_MOMENTS = tuple(
    datetime(*day, tzinfo=zone)
    for day in ((2026, 11, 30), (2024, 2, 29), (1, 1, 1), (9999, 12, 31), (1970, 1, 1))
    for zone in (None, timezone.utc)
)


def phrases(data: bytes) -> None:
    which, data = choice(data, len(_MOMENTS))
    text = text_of(data)
    window = window_of(text, _MOMENTS[which])
    if window is not None:
        must(window.start <= window.end, "a window turned around", window)
        start, end = window.span
        must(0 <= start < end <= len(text), "a phrase outside of the text", window)
        must(0 < window.confidence <= 1, "a confidence out of bounds", window)
        must(window_of(text, _MOMENTS[which]) == window, "two windows of one text", window)
    must(event_order(text) in (None, "oldest", "newest"), "an order that is none", text)


_PHRASES = (
    b"yesterday",
    b"last week",
    b"3 days ago",
    b"two months ago",
    b"since 2026-02-30",
    b"before march 5th 2024",
    b"in 9999",
    b"from 2026-01-01 to 2026-02-01",
    b"last friday",
    b"the quarter before last",
    b"9999 years ago",
    b"in 9999 weeks",
    b"until december",
    b"past 300 years",
    b"Q3 2025",
    b"this sprint",
    b"summer 2023",
    "三天前".encode(),
    "上个月".encode(),
    "最近两周".encode(),
    "去年".encode(),
    "2026年3月".encode(),
    b"the day before yesterday",
    b"early 2020s",
    b"after 2000",
)

TARGETS = (
    Target(
        "time-phrases",
        phrases,
        lambda: [bytes([n % 10]) + b"what did we decide " + phrase + b"?" for n, phrase in enumerate(_PHRASES)],
        (
            *_PHRASES,
            b"before ",
            b"after ",
            b"since ",
            b"until ",
            b" ago",
            b"twenty-one ",
            b"9999",
            b"0",
            b"-",
            b" first ",
            b" last ",
        ),
        4_000,
    ),
)
