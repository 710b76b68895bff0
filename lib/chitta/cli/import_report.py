"""What `chitta import` says: a line a note or a count a file, what was skipped and why, and the list of sources."""

from __future__ import annotations

import os
from collections import Counter
from pathlib import Path
from typing import Any

from chitta.cli import output, upkeep, writing
from chitta.cli.import_taking import DATED, GONE, OUTCOMES, REPLACED, RETIRED, SKIPPED, Line
from chitta.importing import sources
from chitta.importing.sources import Source

#: Problem lines, and remarks, shown of one file without ``--verbose``.
PROBLEM_LINES = 5
#: Endings of files that were passed over that are named.
KINDS_SHOWN = 6
#: Usual places of a source that are named.
PLACES_SHOWN = 3
#: Notes shown of a folder without ``--verbose``, one a line.
LINES_SHOWN = 20
_STYLES = {writing.UNCHANGED: "dim", SKIPPED: "yellow", writing.KEPT: "yellow", GONE: "yellow", RETIRED: "yellow"}


def print_line(line: Line, *, verbose: bool = False) -> None:
    """One note, or one thing that became none. Whose date is its file's is said in sum, unless ``verbose``."""
    words = f"{_named(line.where)}: {line.why}" if line.why else f"{line.where}  {line.id}"
    remark = line.remark if verbose else _without_day(line.remark)
    words += f"  ({remark})" if remark else ""
    output.say(f"{output.paint(f'{line.outcome:<9}', _STYLES.get(line.outcome, 'green'))}  {_flat(words)}")


def print_summary(path: Path, lines: list[Line]) -> None:
    """A file of many notes: how many came in, and the first of its problems and remarks."""
    output.say(f"{_flat(_named(str(path)))}: {_counted(Counter(line.outcome for line in lines))}")
    for told in (
        [(line, line.why) for line in lines if line.why],
        [(line, _without_day(line.remark)) for line in lines if _without_day(line.remark)],
    ):
        for line, words in told[:PROBLEM_LINES]:
            where = "" if line.where == str(path) else f"{line.where.removeprefix(str(path.parent)).lstrip('/')}: "
            output.say(f"  {_flat(where + words)}")
        if len(told) > PROBLEM_LINES:
            output.say(f"  and {_more(len(told) - PROBLEM_LINES)}")


def say_more(count: int) -> None:
    """Notes that were not named."""
    output.say(f"and {_more(count)}")


def _more(count: int) -> str:
    return f"{count:,} more; --verbose shows all"


def say_empty(path: Path, source: Source) -> None:
    """A path in which a source found nothing at all."""
    what = "no Markdown files in this folder" if source.name == "markdown" else f"nothing of {source.title}"
    output.say(f"{_flat(str(path))}: {what}")


def say_passed_over(kinds: Counter[str]) -> None:
    """The other files of a folder, by what their names end in."""
    count = kinds.total()
    if not count:
        return
    shown = sorted(kinds.items(), key=lambda item: (-item[1], item[0]))[:KINDS_SHOWN]
    named = ", ".join(f"{kind or 'without an ending'} {number:,}" for kind, number in shown)
    more = count - sum(number for _, number in shown)
    named += f", others {more:,}" if more else ""
    words = f"{output.plural(count, 'other file')} {'was' if count == 1 else 'were'} passed over: {named}"
    output.say(_flat(words), "dim")


def say_dated(lines: list[Line]) -> None:
    """How many notes have the date of their file."""
    count = sum(DATED in line.remark.split("; ") for line in lines)
    if count:
        output.say(f"{output.plural(count, 'note')} dated by {'its file' if count == 1 else 'their files'}.")


def say_outside(count: int, realm: str) -> None:
    """The last line: notes from elsewhere are in this folder's realm, which may not be what was meant."""
    if count:
        came = "came from outside this repository and went into its realm"
        output.say(f"{output.plural(count, 'note')} {came}, {realm}; --global puts them everywhere.")


def finish(
    lines: list[Line],
    counts: Counter[str],
    levelled: upkeep.Levelled | None,
    seconds: float,
    *,
    dry_run: bool,
    as_json: bool,
) -> None:
    """The sum of it all, or the whole report as JSON."""
    if as_json:
        value: dict[str, Any] = {outcome: counts[outcome] for outcome in OUTCOMES}
        value |= {"dry_run": dry_run, "seconds": round(seconds, 3), "notes": [line._asdict() for line in lines]}
        output.as_json({**value, "index": levelled._asdict() if levelled is not None else None})
        return
    realms = Counter(
        line.realm for line in lines if line.realm and line.outcome not in (SKIPPED, GONE, REPLACED, RETIRED)
    )
    output.say()
    output.say(
        f"{_counted(counts)} in {seconds:.1f} s" + (" (dry run: nothing was written)" if dry_run else ""), "bold"
    )
    if realms:
        named = ", ".join(f"{name} ({count:,})" for name, count in sorted(realms.items()))
        output.say(f"{'realm' if len(realms) == 1 else 'realms'}: {named}")
    if levelled is not None:
        output.say(levelled.findable[:1].upper() + levelled.findable[1:].replace("its", "their") + ".")
        for problem in levelled.problems:
            output.tell(f"chitta: {problem}")


def list_sources(*, as_json: bool) -> None:
    """Every source: its name, what it reads, and which of its usual places exist. Nothing is read."""
    listed = [sources.source(name) for name in sources.NAMES]
    found = {each.name: [str(path) for path in each.default_paths() if path.exists()] for each in listed}
    if as_json:
        output.as_json([{"name": each.name, "reads": each.reads, "found": found[each.name]} for each in listed])
        return
    for each in listed:
        output.say(f"{output.paint(f'{each.name:<18}', 'cyan')}{each.title}")
        output.wrapped(each.reads, " " * 18)
        if found[each.name]:
            shown = found[each.name][:PLACES_SHOWN]
            more = len(found[each.name]) - len(shown)
            words = ", ".join(shown) + (f" and {more:,} more" if more > 0 else "")
            output.wrapped(f"found: {output.harmless(words)}", " " * 18)
    output.say()
    output.say("`chitta import PATH` finds out by itself what a path holds (git_history has to be named);")
    output.say("`chitta import --from NAME` reads what was found of that source. --dry-run writes nothing.")


def _named(where: str) -> str:
    """A path as it was given; the folder's own name where that is but dots."""
    return os.path.basename(os.path.abspath(where)) or where if where.strip("./") == "" else where


def _flat(words: str) -> str:
    """On one line and without control characters, whatever a file is called; nothing of it is cut."""
    return output.harmless(words.replace("\n", " ").replace("\t", " "))


def _without_day(remark: str) -> str:
    return "; ".join(part for part in remark.split("; ") if part != DATED)


def _counted(counts: Counter[str]) -> str:
    return ", ".join(f"{counts[outcome]:,} {outcome}" for outcome in OUTCOMES if counts[outcome]) or "no notes"
