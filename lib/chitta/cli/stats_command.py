"""`chitta stats`: what the memory did, from the recall log."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Sequence
from datetime import date, datetime, timedelta, timezone
from typing import Annotated, Any

import typer

from chitta import feedback, searches
from chitta import settings as table
from chitta.admission import policy
from chitta.cli import output, recall_history, recall_ids, waiting
from chitta.cli.failure import Misuse
from chitta.cli.realm_options import AsJson, chosen_realm
from chitta.settings import Settings
from chitta.statistics_of_log import Span, Statistics, summarise

#: Weeks without an option, and days up to which each has a bar of its own.
WEEKS, MOST_DAY_BARS = 8, 31
#: Lines of the log that are read at most; it holds some two thousand before it is put aside, once.
_MOST_LINES = 100_000
_WEEK = 7
_TOP = 8
_REALMS = 8
#: Columns of a bar.
_BAR = 28
#: Columns before a fact: the indentation, its name, and two spaces.
_LABEL = 16
_WHOLE = 1_000
_EIGHTHS = " ▏▎▍▌▋▊▉"


def stats(
    days: Annotated[int | None, typer.Option("--days", metavar="N", min=1, max=3_650, help="The last N days.")] = None,
    weeks: Annotated[
        int | None, typer.Option("--weeks", metavar="N", min=1, max=520, help=f"The last N weeks; else {WEEKS}.")
    ] = None,
    realm: Annotated[str, typer.Option("--realm", metavar="REALM", help="Only prompts of this realm.")] = "",
    as_json: AsJson = False,
) -> None:
    """Show what the memory did: prompts seen, answered and silent, notes shown by realm, lane and week, what was said
    of them, the hook's times, and an estimate of the tokens that it put into the context.

    Example: chitta stats --days 14
    """
    if days and weeks:
        raise Misuse("--days and --weeks exclude each other", "give one of them")
    settings = table.load()
    chosen = chosen_realm(realm, False)
    last = datetime.fromtimestamp(time.time(), timezone.utc).date()
    span = days or _WEEK * (weeks or WEEKS)
    first = last - timedelta(days=span - 1)
    step = 1 if days and days <= MOST_DAY_BARS else _WEEK
    found = summarise(
        recall_history.read_last(settings, _MOST_LINES),
        _judgements(settings),
        first=first,
        last=last,
        step=step,
        realm=chosen,
        tags={lane.lane: lane.tag for lane in policy.LANES},
    )
    asked = _asked(settings, first, chosen)
    if as_json:
        output.as_json({**_facts(found, asked, first, last), **_memory(settings)})
        return
    if not found.prompts:
        where = f" in {chosen}" if chosen else ""
        when = f" since {first}" if chosen or days or weeks else " yet"
        output.say(f"No prompt has been through the hook{where}{when}; `chitta doctor` says whether it is wired.")
        output.pairs(_learned(settings), "  ")
        return
    _print(settings, found, asked, first, step)


def _memory(settings: Settings) -> dict[str, Any]:
    return {"waiting": waiting.counts(settings), "learned": waiting.learned(settings)}


def _judgements(settings: Settings) -> list[feedback.Judgement]:
    try:
        return feedback.read(settings.state_dir)
    except OSError:
        return []


def _asked(settings: Settings, first: date, realm: str) -> dict[str, int]:
    """Questions to `chitta recall` by what they were to the one before."""
    lines = searches.read(settings.state_dir)
    kinds = Counter(str(one["kind"]) for one in lines if str(one["ts"]) >= first.isoformat())
    if realm:
        recent = (one for one in lines if str(one["ts"]) >= first.isoformat() and one.get("realm") == realm)
        kinds = Counter(str(one["kind"]) for one in recent)
    return {kind: kinds[kind] for kind in searches.KINDS}


def _facts(found: Statistics, asked: dict[str, int], first: date, last: date) -> dict[str, Any]:
    facts: dict[str, Any] = {"from": first.isoformat(), "to": last.isoformat(), **found._asdict()}
    facts["silent"] = found.silent
    for name in ("spans", "realms", "lanes", "shown"):
        facts[name] = [one._asdict() for one in getattr(found, name)]
    return facts | {"searches": asked}


def _print(settings: Settings, found: Statistics, asked: dict[str, int], first: date, step: int) -> None:
    output.say(f"{output.plural(found.prompts, 'prompt')} since {first}", "bold")
    share = _share_of(found.prompts)
    judged = (
        f"{found.up:,} helped, {found.down:,} did not" if found.up or found.down else "none yet (`chitta feedback`)"
    )
    facts: list[tuple[str, object]] = [
        ("answered", f"{found.answered:,} ({share(found.answered)}), with {output.plural(found.notes, 'note')}"),
        ("silent", f"{found.silent:,} ({share(found.silent)})"),
        ("degraded", f"{found.degraded:,} ({share(found.degraded)})"),
        ("time", f"half within {found.p50_ms or 0:.0f} ms, 95% within {found.p95_ms or 0:.0f} ms"),
        ("feedback", judged),
    ]
    if found.measured:
        facts.append(("injected", f"about {found.tokens:,} tokens ({found.tokens // found.measured:,} a block)"))
    if found.starts:
        given = output.plural(found.start_notes, "note")
        started = f"{output.plural(found.starts, 'session or subagent start')}"
        facts.append(("started", f"{started}, with {given}, about {found.start_tokens:,} tokens"))
    if total := sum(asked.values()):
        again = ", ".join(f"{count} {_ASKED[kind]}" for kind, count in asked.items() if count and kind in _ASKED)
        facts.append(("recall asked", output.plural(total, "question") + (f": {again}" if again else "")))
    facts += _learned(settings)
    room = output.width() - _LABEL if output.on_terminal() else _WHOLE
    output.pairs([(name, output.one_line(str(words), room)) for name, words in facts], "  ")
    _table(
        "Day" if step == 1 else "Week of",
        [(one.begins, one.prompts, one.answered, one.notes) for one in _since_first_use(found)],
    )
    realms = found.realms[:_REALMS]
    _table("Realm", [(one.realm, one.prompts, one.answered, one.notes) for one in realms], len(found.realms) - _REALMS)
    _print_lanes(found)
    _print_shown(settings, found)


_ASKED = {
    searches.RETRY: "asked again at once",
    searches.FOLLOW_UP: "went on from an answer",
    searches.REFINED: "put in other words",
}


def _since_first_use(found: Statistics) -> Sequence[Span]:
    """The days or weeks from the first that had a prompt."""
    first = next((at for at, one in enumerate(found.spans) if one.prompts), 0)
    return found.spans[first:]


def _learned(settings: Settings) -> list[tuple[str, object]]:
    """What came in from sessions and what became of it; nothing where nothing did."""
    counts = waiting.learned(settings)
    told = [f"{counts[name]:,} {name}" for name in ("captured", "reviewed") if counts[name]]
    told += [output.plural(counts["drained"], "transcript") + " drained"] if counts["drained"] else []
    facts: list[tuple[str, object]] = [("learned", ", ".join(told))] if told else []
    if waits := waiting.words_of(waiting.counts(settings)):
        facts.append(("waiting", f"{waits} (`chitta review`)"))
    return facts


def _share_of(total: int) -> Any:
    return lambda count: f"{count / total:.0%}" if total else "0%"


def _table(name: str, rows: Sequence[tuple[str, int, int, int]], more: int = 0) -> None:
    output.say()
    _draw([name, "prompts", "answered", "notes"], rows, [row[3] for row in rows])
    if more > 0:
        output.say(f"and {more:,} more", "dim")


def _print_lanes(found: Statistics) -> None:
    output.say()
    names = {lane.tag: lane.lane for lane in policy.LANES}
    rows = [(_lane_name(one.tag, names), one.asked, one.late, one.failed, one.notes) for one in found.lanes]
    _draw(["Lane", "asked", "late", "failed", "notes"], rows, [one.notes for one in found.lanes])


def _lane_name(tag: str, names: dict[str, str]) -> str:
    name = names.get(tag, tag)
    return tag if name == tag else f"{tag} ({name})"


def _print_shown(settings: Settings, found: Statistics) -> None:
    if not found.shown:
        return
    output.say()
    shown = found.shown[:_TOP]
    names = [one.id for one in shown]
    if output.on_terminal():  # no shorter than what still names the note alone
        least = recall_ids.least(settings)(names)
        names = [_cut(name, max(least.get(name, len(name)) + 1, _NAME)) for name in names]
    rows = [(name, one.times, one.up, one.down) for name, one in zip(names, shown, strict=True)]
    _draw(["Most shown", "times", "helped", "did not"], rows, [one.times for one in shown])


#: Columns of a name: an id or a realm is shortened to no less.
_NAME = 36


def _draw(columns: Sequence[str], rows: Sequence[Sequence[Any]], values: Sequence[int]) -> None:
    """A table; on a terminal each row ends with a bar of its value, and names give way so that it all fits."""
    names = [str(row[0]) for row in rows]
    if not output.on_terminal():
        output.table(columns, rows, right=columns[1:])
        return
    numbers = [[f"{cell:,}" for cell in row[1:]] for row in rows]
    sizes = [max(len(head), *(len(row[at]) for row in numbers)) for at, head in enumerate(columns[1:])]
    room = max(map(output.columns_of, (*names, columns[0])))
    spare = output.width() - sum(size + 2 for size in sizes) - 2
    room = min(room, max(spare - 8, 12))
    bar = max(min(spare - room, _BAR), 0)
    most = max([*values, 1])
    head = [columns[0].ljust(room), *(name.rjust(size) for name, size in zip(columns[1:], sizes, strict=True))]
    output.say("  ".join(head), "bold")
    for name, cells, value in zip(names, numbers, values, strict=True):
        short = _cut(name, room)
        line = [short + " " * (room - output.columns_of(short))]
        line += [cell.rjust(size) for cell, size in zip(cells, sizes, strict=True)]
        drawn = bar_of(value / most, bar)
        output.say("  ".join([*line, *([output.paint(drawn, "cyan")] if drawn else [])]))


def bar_of(share: float, columns: int) -> str:
    """A bar of a share (0 to 1) of so many columns, in eighths of one; what is more than nothing can be seen."""
    eighths = round(max(0.0, min(share, 1.0)) * columns * 8)
    if share > 0 and columns:
        eighths = max(eighths, 1)
    whole, part = divmod(eighths, 8)
    return "█" * whole + (_EIGHTHS[part] if part else "")


def _cut(name: str, room: int) -> str:
    """The name within so many columns; of one with slashes (a realm) the end says most."""
    name = output.harmless(name).replace("\n", " ")
    if output.columns_of(name) <= room:
        return name
    if "/" in name:
        return "…" + name[len(name) - room + 1 :]
    while output.columns_of(name) > room - 1:
        name = name[:-1]
    return name + "…"
