"""Words of time (months, weekdays, units, numbers, fixed phrases), and the calendar that they count by.

English is read in full (:mod:`chitta.recall.time_phrases`). German, French, Spanish, Italian,
Portuguese, Russian and Chinese are read in their simple forms: day names such as "yesterday",
"last week/month/year/weekend", "N units ago", and dates with a month's name.
All keys are case-folded.
"""

from __future__ import annotations

from datetime import date, timedelta

DAY = timedelta(days=1)
#: Days of a unit in a rolling stretch ("last 3 months"; reflect).
ROLLING_DAYS = {"minute": 1 / 1440, "hour": 1 / 24, "day": 1, "week": 7, "month": 30, "quarter": 90, "year": 365}

#: English names, in the order of the calendar; the only ones that a preposition alone makes a date.
MONTH_NAMES = tuple("january february march april may june july august september october november december".split())
_MONTHS_BY_LINE = """
    jan january januar janvier enero gennaio janeiro января январь
    feb february februar février fevrier febrero febbraio fevereiro февраля февраль
    mar march märz mars marzo março марта март
    apr april avril abril aprile апреля апрель
    may mai mayo maggio maio мая май
    jun june juni juin junio giugno junho июня июнь
    jul july juli juillet julio luglio julho июля июль
    aug august août aout agosto августа август
    sep sept september septembre septiembre settembre setembro сентября сентябрь
    oct october oktober octobre octubre ottobre outubro октября октябрь
    nov november novembre noviembre novembro ноября ноябрь
    dec december dezember décembre decembre diciembre dicembre dezembro декабря декабрь
"""
#: Month by name, English and others, 1 to 12.
MONTHS = {
    name: number for number, names in enumerate(_MONTHS_BY_LINE.strip().splitlines(), start=1) for name in names.split()
}

#: Weekday by name, Monday 0; in Chinese by its numeral.
WEEKDAYS = {
    name: number
    for number, names in enumerate(
        ("monday 一", "tuesday 二", "wednesday 三", "thursday 四", "friday 五", "saturday 六", "sunday 日 天")
    )
    for name in names.split()
}

_SMALL = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen "
    "sixteen seventeen eighteen nineteen"
).split()
_TENS = {name: 10 * number for number, name in enumerate("twenty thirty forty fifty sixty".split(), start=2)}
#: Number words, one to sixty-nine; "a" and "an" count one.
NUMBERS = {
    **{name: number for number, name in enumerate(_SMALL) if number},
    **_TENS,
    **{f"{ten}-{_SMALL[one]}": value + one for ten, value in _TENS.items() for one in range(1, 10)},
    "a": 1,
    "an": 1,
    **{numeral: number for number, numeral in enumerate("一二三四五六七八九十", start=1)},
    "两": 2,
}

_UNIT_WORDS = {
    "minute": "min mins minute minutes",
    "hour": "hour hours",
    "day": "day days tag tagen jour jours día días dia dias giorno giorni день дня дней 天",
    "week": "week weeks woche wochen semaine semaines semana semanas settimana settimane неделю недели недель "
    "周 星期 个星期",
    "month": "mon month months monat monaten mois mes meses mese mesi месяц месяца месяцев 个月",
    "year": "year years jahr jahren an ans année années año años anno anni ano anos год года лет 年",
}
#: Unit by word: minute, hour, day, week, month or year.
UNITS = {word: unit for unit, words in _UNIT_WORDS.items() for word in words.split()}

#: Fixed phrases that name one day, in days from today.
NEAR_DAYS = {
    "day before yesterday": -2,
    "yesterday": -1,
    "last night": -1,
    "today": 0,
    "tomorrow": 1,
    "day after tomorrow": 2,
}
#: Fixed phrases of languages with spaces, as patterns, by their English meaning.
PHRASES = {
    "day before yesterday": r"vorgestern|avant-hier|anteayer|anteontem|позавчера",
    "today": r"heute|aujourd['’]hui|hoy|oggi|hoje|сегодня",
    "yesterday": r"gestern|ayer|ieri|ontem|вчера",
    "last week": r"letzte[rn]?\s+woche|semaine\s+derni[eè]re|semana\s+(?:pasada|passada)|settimana\s+scorsa"
    r"|прошл(?:ой|ая|ую)\s+недел[еяю]",
    "last month": r"letzte[rnm]?\s+monat|mois\s+dernier|mes\s+pasado|mese\s+scorso|mês\s+passado"
    r"|прошл(?:ом|ый)\s+месяце?",
    "last year": r"letzte[sn]?\s+jahr|l['’]ann[eé]e\s+derni[eè]re|l['’]an\s+dernier|año\s+pasado|anno\s+scorso"
    r"|ano\s+passado|прошл(?:ом|ый)\s+год[уа]?",
    "last weekend": r"letzte[sn]?\s+wochenende|week-?end\s+dernier|fin\s+de\s+semana\s+(?:pasado|passado)"
    r"|scorso\s+fine\s+settimana|fine\s+settimana\s+scorso|прошл(?:ые|ых)\s+выходны[ех]",
}
#: Fixed phrases of Chinese, which puts no spaces between words; longer ones first.
CHINESE = {
    "day before yesterday": "前天",
    "yesterday": "昨天",
    "today": "今天",
    "tomorrow": "明天",
    "last weekend": "上个?周末",
    "this weekend": "[这本]个?周末",
    "last week": "上个?(?:周|星期)(?!末)",
    "whole week": "[这本]个?(?:周|星期)(?!末)",
    "next week": "下个?(?:周|星期)(?!末)",
    "last month": "上个?月",
    "whole month": "[这本]个?月",
    "next month": "下个?月",
    "last year": "去年",
    "whole year": "今年",
    "next year": "明年",
    "first half": "上半年",
    "second half": "下半年",
}


def months_on(day: date, count: int) -> date:
    """The same day ``count`` calendar months on, or the last one of a shorter month."""
    year, month = divmod(day.year * 12 + day.month - 1 + count, 12)
    return date(year, month + 1, min(day.day, last_day(year, month + 1).day))


def last_day(year: int, month: int) -> date:
    """The last day of a month."""
    if (year, month) == (date.max.year, 12):
        return date.max
    return date(year + month // 12, month % 12 + 1, 1) - DAY


def shifted(day: date, count: int, unit: str) -> date:
    """The day ``count`` units on; months and years by the calendar, hours as the nearest count of days."""
    if unit in ("month", "year"):
        return months_on(day, count * (12 if unit == "year" else 1))
    return day + timedelta(days=round(count * ROLLING_DAYS[unit]))


def stretch(today: date, unit: str, count: int) -> tuple[date, date]:
    """The whole calendar week, weekend, month, quarter or year, ``count`` from the one of ``today``."""
    if unit in ("week", "weekend"):
        monday = today + timedelta(days=7 * count - today.weekday())
        return monday + (5 * DAY if unit == "weekend" else 0 * DAY), monday + 6 * DAY
    size = {"month": 1, "quarter": 3, "half": 6, "year": 12}[unit]
    first = months_on(today.replace(day=1, month=(today.month - 1) // size * size + 1), size * count)
    end = months_on(first, size - 1)
    return first, last_day(end.year, end.month)


def whole_month(year: int, month: int) -> tuple[date, date]:
    """A month's first and last day."""
    return date(year, month, 1), last_day(year, month)


def past_year(today: date, month: int, day: int = 1) -> int:
    """The year in which that day of the year was last."""
    return today.year if (month, day) <= (today.month, today.day) else today.year - 1
