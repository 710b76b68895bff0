"""A phrase of time in a prompt, as a window of days.

English is read in full; other languages in the simple forms of :mod:`chitta.recall.time_words`.
The passes and their confidences are those of reflect (temporal extraction); where an annotated
set of time expressions says otherwise, that is followed: "N weeks, months or years ago" is one
day, months go by the calendar, and a window may lie ahead ("tomorrow", "in 3 days"). Not
followed where it would take a word for a date: a month after no preposition ("may I see", "march
the troops"), "now" and times of a day, which prompts to an agent are full of.

Windows are whole days in the reference's own clock, weeks start on Monday.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import date, datetime, time, timedelta
from typing import NamedTuple

from chitta.recall.time_words import (
    CHINESE,
    DAY,
    MONTH_NAMES,
    MONTHS,
    NEAR_DAYS,
    NUMBERS,
    PHRASES,
    ROLLING_DAYS,
    UNITS,
    WEEKDAYS,
    past_year,
    shifted,
    stretch,
    whole_month,
)

#: Characters of a text that are read.
READ_CHARS = 8_000
#: Characters before a phrase that are read for "since the" and its like.
_LEAD_CHARS = 40
_EPOCH = date(1970, 1, 1)
#: Days of a sprint (reflect).
_SPRINT_DAYS = 14
#: "A couple" and "a few" units back: from the far end to the near one (reflect).
_VAGUE = {"couple": (3, 1), "few": (5, 2)}


class Window(NamedTuple):
    """``start`` to ``end``, both inside: the first and the last microsecond of whole days.

    They have the reference's time zone, or none if it has none. ``confidence``: 0 to 1, how
    surely these days are meant. ``phrase`` is the text's own words, those of relation included
    ("since last week"), and ``span`` their offsets: ``text[span[0]:span[1]] == phrase``.
    """

    start: datetime
    end: datetime
    confidence: float
    phrase: str
    span: tuple[int, int]


#: First day, last day, confidence.
_Days = tuple[date, date, float]
_Rule = tuple[re.Pattern[str], Callable[[re.Match[str], date], _Days]]


def window_of(text: str, reference: datetime) -> Window | None:
    """The first phrase of time in ``text``, or None. Never raises; linear in the text.

    The earliest pass that finds a phrase wins, in it the leftmost phrase. A date that does not
    exist is no phrase. "Before" reaches back to 1970, "since" and "after" up to the reference's
    day; where that turns the window around, the plain phrase counts.
    """
    read = text[:READ_CHARS]
    today = reference.date()
    for rules in _PASSES:
        found = [hit for rule in rules if (hit := _first(rule, read, today)) is not None]
        if found:
            match, days = min(found, key=lambda hit: (hit[0].start("anchor"), -hit[0].end()))
            return _window(read, match, days, reference)
    return None


def _first(rule: _Rule, text: str, today: date) -> tuple[re.Match[str], _Days] | None:
    pattern, resolve = rule
    for match in pattern.finditer(text):
        try:
            return match, resolve(match, today)
        except (KeyError, ValueError, OverflowError):
            continue
    return None


def _window(text: str, match: re.Match[str], days: _Days, reference: datetime) -> Window:
    anchor = match.start("anchor")
    lead = _LEAD.search(text, max(0, anchor - _LEAD_CHARS), anchor)
    word = (lead["word"] or "").casefold() if lead else ""
    start, end, confidence = days
    first, last = _related(word, start, end, reference.date())
    span = (lead.start() if lead else anchor, match.end())
    zone = reference.tzinfo
    return Window(
        datetime.combine(first, time.min, zone),
        datetime.combine(last, time.max, zone),
        confidence,
        text[span[0] : span[1]],
        span,
    )


def _related(word: str, start: date, end: date, today: date) -> tuple[date, date]:
    """The days that "before", "until", "since" or "after" makes of an anchor."""
    try:
        first, last = {
            "before": lambda: (_EPOCH, start - DAY),
            "until": lambda: (_EPOCH, end),
            "till": lambda: (_EPOCH, end),
            "since": lambda: (start, today),
            "after": lambda: (end + DAY, today),
        }.get(word, lambda: (start, end))()
    except OverflowError:
        return start, end
    return (first, last) if first <= last else (start, end)


# "Two days before X" and "the week after X" are near X, not all that lies on one side of it.
_LEAD = re.compile(
    r"(?:(?<!day )(?<!days )(?<!week )(?<!weeks )\b"
    r"(?P<word>before|until|till|since|after|between|on|in|from|during|around|by|of)\s+)?"
    r"(?:\bthe\s+)?(?:\b(?:last|past|previous|prior)\s+)?\Z",
    re.IGNORECASE,
)


def _number(word: str) -> int:
    word = re.sub(r"[\s-]+", "-", word.casefold())
    return int(word) if word.isdecimal() else NUMBERS[word]


def _unit(word: str) -> str:
    return UNITS[word.casefold()]


# Resolvers: a match and the reference's day to the days meant. KeyError, ValueError and
# OverflowError say that there is no such day.


def _iso(match: re.Match[str], part: str = "") -> date:
    return date(*(int(match[f"{name}{part}"]) for name in ("year", "month", "day")))


def _iso_range(match: re.Match[str], today: date) -> _Days:
    first, last = sorted((_iso(match), _iso(match, "2")))
    return first, last, 1.0


def _iso_day(match: re.Match[str], today: date) -> _Days:
    return _iso(match), _iso(match), 1.0


def _iso_month(match: re.Match[str], today: date) -> _Days:
    return *whole_month(int(match["year"]), int(match["month"])), 0.9


def _meaning(meaning: str, today: date) -> _Days:
    """The days of a fixed phrase, by its name in :mod:`chitta.recall.time_words`."""
    if meaning in NEAR_DAYS:
        day = today + NEAR_DAYS[meaning] * DAY
        return day, day, 0.9
    which, unit = meaning.split()
    if unit == "half":
        first, last = stretch(today.replace(month=1 if which == "first" else 12, day=1), "half", 0)
    elif unit == "weekend" and which == "last" and today.weekday() == 6:
        first, last = stretch(today, unit, 0)  # on a Sunday the one that ends today
    else:
        first, last = stretch(today, unit, {"last": -1, "next": 1}.get(which, 0))
    to_date = which == "this" and unit != "weekend"
    return first, (today if to_date else last), 0.9


def _fixed(match: re.Match[str], today: date) -> _Days:
    first, *others = match["anchor"].casefold().split()
    return _meaning(" ".join([{"previous": "last", "current": "this"}.get(first, first), *others]), today)


def _yesterday(match: re.Match[str], today: date) -> _Days:
    return _meaning("yesterday", today)


def _ago(match: re.Match[str], today: date) -> _Days:
    unit = _unit(match["unit"])
    day = shifted(today, -_number(match["count"]), unit)
    return day, day, {"week": 0.7, "month": 0.6, "year": 0.7}.get(unit, 0.8)


def _ahead(match: re.Match[str], today: date) -> _Days:
    day = shifted(today, _number(match["count"]), _unit(match["unit"]))
    return day, day, 0.6


def _vague_ago(match: re.Match[str], today: date) -> _Days:
    far, near = _VAGUE["couple" if match["vague"].casefold() in ("couple", "пару", "пары") else "few"]
    size = ROLLING_DAYS[_unit(match["unit"])]
    return today - timedelta(days=far * size), today - timedelta(days=near * size), 0.6


def _rolling(match: re.Match[str], today: date) -> _Days:
    number = _VAGUE[match["vague"].casefold()][0] if match["vague"] else _number(match["count"])
    return *_up_to(today, number, match["unit"]), 0.8


def _past(match: re.Match[str], today: date) -> _Days:
    return *_up_to(today, 1, match["unit"]), 0.9


def _up_to(today: date, count: int, unit: str) -> tuple[date, date]:
    days = count * ROLLING_DAYS[unit.casefold().removesuffix("s")]
    return today - timedelta(days=max(1, round(days))), today


def _rolling_chinese(match: re.Match[str], today: date) -> _Days:
    return shifted(today, -_number(match["count"]), _unit(match["unit"])), today, 0.8


def _before_last(match: re.Match[str], today: date) -> _Days:
    return *stretch(today, match["unit"].casefold(), -2), 0.9


def _weekday(match: re.Match[str], today: date) -> _Days:
    wanted = WEEKDAYS[match["weekday"].casefold()]
    day = today - ((today.weekday() - wanted - 1) % 7 + 1) * DAY  # strictly earlier
    return day, day, 0.9


def _month_year(match: re.Match[str], today: date) -> _Days:
    return *whole_month(int(match["year"]), MONTHS[match["month"].casefold()]), 0.9


def _month_day(match: re.Match[str], today: date) -> _Days:
    name, number = match["month"].casefold(), int(match["day"])
    if not match["year"] and name in _OTHER_WORDS and not (match["lead"] or match["ordinal"]):
        raise ValueError("a verb and a number")
    month = int(name) if name.isdecimal() else MONTHS[name]
    day = date(int(match["year"]) if match["year"] else past_year(today, month, number), month, number)
    return day, day, 0.9


def _bare_month(match: re.Match[str], today: date) -> _Days:
    month = MONTHS[match["month"].casefold()]
    year = past_year(today, month)
    if match["lead"].casefold() == "last" and month == today.month:  # that one is not over
        year -= 1
    return *whole_month(year, month), 0.6


def _month_chinese(match: re.Match[str], today: date) -> _Days:
    word = match["month"]
    month = int(word) if word.isdecimal() else NUMBERS.get(word) or 10 + NUMBERS[word[1:]]
    return *whole_month(int(match["year"]) if match["year"] else past_year(today, month), month), 0.9


def _year(match: re.Match[str], today: date) -> _Days:
    year = int(match["year"])
    return date(year, 1, 1), date(year, 12, 31), 0.7


def _quarter_chinese(match: re.Match[str], today: date) -> _Days:
    return *stretch(date(today.year, 3 * NUMBERS[match["quarter"]], 1), "quarter", 0), 0.9


def _sprint(match: re.Match[str], today: date) -> _Days:
    near = _SPRINT_DAYS if match["which"].casefold() in ("last", "previous") else 0
    return today - timedelta(days=near + _SPRINT_DAYS), today - timedelta(days=near), 0.5


def _recently(match: re.Match[str], today: date) -> _Days:
    return today - timedelta(days=_SPRINT_DAYS), today, 0.4


# Patterns. Each names its phrase ``anchor``; repeats are of one class, so that none looks back far.


def _any(words: Iterable[str]) -> str:
    return "|".join(sorted(map(re.escape, words), key=lambda word: (-len(word), word)))


def _rule(pattern: str, resolve: Callable[[re.Match[str], date], _Days], edge: str = r"\b") -> _Rule:
    """A pattern between word edges; one of Chinese, whose words have none, says ``edge=""``."""
    named = pattern if "(?P<anchor>" in pattern else f"(?P<anchor>{pattern})"
    return re.compile(f"{edge}(?:{named}){edge}", re.IGNORECASE), resolve


def _meant(phrases: Mapping[str, str], near: bool, edge: str = r"\b") -> Iterator[_Rule]:
    """The fixed phrases that name a day (``near``), or those that name a longer time."""
    for meaning, pattern in phrases.items():
        if (meaning in NEAR_DAYS) is near:
            yield _rule(pattern, lambda _, today, meaning=meaning: _meaning(meaning, today), edge)  # type: ignore[misc]


#: Months that are words of their own, and so no date beside a bare number ("march 5 steps", "dec 10 to hex").
_OTHER_WORDS = ("may", "march", "mar", "mars", "oct", "dec")
_DATE = r"(?P<year{0}>\d{{4}})[-/](?P<month{0}>\d{{1,2}})[-/](?P<day{0}>\d{{1,2}})(?!\d|[-/]\d)"
_ISO = r"(?<![\w./-])" + _DATE.format("")
_ONES = "one two three four five six seven eight nine"
_COUNT = rf"(?P<count>\d{{1,4}}|(?:twenty|thirty|forty|fifty|sixty)[ -](?:{_any(_ONES.split())})|{_any(NUMBERS)})"
_UNIT = rf"(?P<unit>{_any(UNITS)})"
_WEEKDAY = _any(word for word in WEEKDAYS if word.isascii())
_MONTH = rf"(?P<month>{_any(MONTHS)})"
_DAY_OF = r"(?P<day>\d{1,2})(?P<ordinal>st|nd|rd|th)?"
_OPTIONAL_LEAD = r"(?P<lead>(?:on|since|before|after|until|till|from|by|around)\s+(?:the\s+)?)?"
_LAST = r"(?:last|past|previous|prior)"
# A year ends its clause or goes on with a word of grammar; in "after 2000 requests" it counts something.
_CLAUSE_END = (
    r"(?=\s*(?:\Z|[^\w\s./-]|[./-](?![\d\w])|"
    r"(?:and|or|but|we|i|you|did|do|was|were|is|about|for|on|the|what|how|why|who|with|by|to)\b))"
)
_ZH_COUNT = r"(?P<count>\d{1,3}|[一二两三四五六七八九十])"
_ZH_UNIT = r"(?P<unit>天|周|个?星期|个月|年)"

_PASSES: tuple[tuple[_Rule, ...], ...] = (
    (_rule(_ISO + r"\s*(?:to|and|until|till|through|\.\.|–|—)\s*" + _DATE.format("2"), _iso_range, ""),),
    (
        _rule(r"day\s+before\s+yesterday|day\s+after\s+tomorrow|yesterday|last\s+night|today|tomorrow", _fixed),
        *_meant(PHRASES, near=True),
        *_meant(CHINESE, near=True, edge=""),
        # German has the same word for "here".
        _rule(r"(?:\A\s*|\b(?:fait|dit|vu|passé|décidé|de)\s+|\bd['’])(?P<anchor>hier)\b(?!\s+\w+t\b)", _yesterday, ""),
        _rule(rf"(?:a\s+)?(?P<vague>couple|few)\s+(?:of\s+)?{_UNIT}\s+ago", _vague_ago),
        _rule(rf"(?P<vague>пару|пары|несколько)\s+{_UNIT}\s+назад", _vague_ago),
        _rule(r"(?P<vague>几)(?P<unit>天|周|个星期|个月)前", _vague_ago, ""),
        _rule(rf"{_COUNT}\s*{_UNIT}\s+(?:ago|fa|назад)", _ago),
        _rule(rf"(?:vor|hace|il\s+y\s+a|há)\s+{_COUNT}\s+{_UNIT}", _ago),
        _rule(_ZH_COUNT + _ZH_UNIT + "前", _ago, ""),
        _rule(rf"{_COUNT}\s+{_UNIT}\s+later", _ahead),
        _rule(rf"in\s+{_COUNT}\s+(?P<unit>days?|weeks?|months?)", _ahead),
    ),
    (
        _rule(
            rf"{_LAST}\s+(?:(?:{_COUNT}|(?P<vague>few|couple)(?:\s+of)?)\s+)"
            r"(?P<unit>(?:hour|day|week|month|quarter|year)s?)",
            _rolling,
        ),
        _rule(r"past\s+(?P<unit>hour|day|week|month|quarter|year)", _past),
        _rule(r"(?P<unit>week|weekend|month|year)\s+before\s+last", _before_last),
        _rule(r"(?:last|previous|this|current)\s+(?:week|weekend|month|quarter|year)", _fixed),
        _rule(
            rf"(?:(?:on|{_LAST}|since|before|until|till|after|from|by)\s+)(?P<anchor>(?P<weekday>{_WEEKDAY}))",
            _weekday,
        ),
        _rule(rf"(?P<weekday>{_WEEKDAY})(?=['’]s\b)", _weekday),
        *_meant(PHRASES, near=False),
        *_meant(CHINESE, near=False, edge=""),
        _rule(r"(?:周|星期|礼拜)(?P<weekday>[一二三四五六日天])", _weekday, ""),
        _rule(rf"(?:最近|过去){_ZH_COUNT}{_ZH_UNIT}", _rolling_chinese, ""),
        _rule(r"第(?P<quarter>[一二三四])季度", _quarter_chinese, ""),
    ),
    (
        _rule(_ISO, _iso_day, ""),
        _rule(r"(?<![\d./-])(?P<month>\d{1,2})/(?P<day>\d{1,2})/(?P<year>\d{4})(?![/\d])", _iso_day),
        _rule(r"(?:(?P<year>\d{4})年)?(?P<month>\d{1,2})月(?P<day>\d{1,2})[日号]", _month_day, ""),
    ),
    (
        _rule(
            rf"{_OPTIONAL_LEAD}(?P<anchor>{_DAY_OF}\s+(?:of\s+|de\s+)?{_MONTH}(?:,?\s+(?:de\s+)?(?P<year>\d{{4}}))?)",
            _month_day,
        ),
        _rule(rf"{_OPTIONAL_LEAD}(?P<anchor>{_MONTH}\s+{_DAY_OF}(?!\d)(?:(?:,|,?\s+)(?P<year>\d{{4}}))?)", _month_day),
        _rule(rf"{_MONTH},?\s+(?:of\s+|de\s+)?(?P<year>\d{{4}})", _month_year),
        _rule(r"(?<![./-])(?P<year>(?:19|20)\d\d)-(?P<month>0[1-9]|1[0-2])(?![-/]|\.\d)", _iso_month),
        _rule(
            r"(?:(?P<year>\d{4})年)?(?<![\d个])(?P<month>\d{1,2}|十[一二]?|[一二三四五六七八九])月(?!\d)",
            _month_chinese,
            "",
        ),
        _rule(
            rf"(?P<lead>in|during|around|last|since|before|after|until|till|from|by)\s+(?P<anchor>(?P<month>{_any(MONTH_NAMES)}))",
            _bare_month,
        ),
        _rule(
            r"(?:in|during|since|before|after|until|till)\s+(?P<anchor>(?P<year>(?:19|20)\d\d))" + _CLAUSE_END,
            _year,
            "",
        ),
    ),
    (
        _rule(r"(?P<which>last|previous|this|current)\s+sprint", _sprint),
        _rule(r"recently|lately", _recently),
    ),
)
