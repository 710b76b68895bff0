"""What a command prints: data on standard output, everything else on standard error.

On a terminal there are colours and tables; in a pipe the same words come as plain aligned text.
``NO_COLOR`` and ``TERM=dumb`` turn colours off. Text that comes from notes is made harmless
first: a stored escape sequence must not reach a terminal. Whoever measures text does that before; whatever
:func:`say` and :func:`tell` print goes through it once more, so that nobody can forget it.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import sys
import textwrap
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import Any, Literal, TextIO

from chitta.wire import codec

PLAIN_WIDTH = 80
_GAP = "  "
#: Columns that a cell which gives way to others keeps, and a realm; and a title, before others are shortened for it.
_STUB, _REALM = 12, 20
_TITLE = 30
_STYLES = {"bold": "1", "dim": "2", "red": "31", "green": "32", "yellow": "33", "cyan": "36"}
_CONTROLS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f]")
# What paint writes, and what says that a text may need a look.
_COLOURS = re.compile(rf"(\x1b\[(?:0|{'|'.join(_STYLES.values())})m)")
#: Of what the renderer takes for unseen, what terminals show: signs above numbers, and icons of private use.
_SEEN_HERE = "\u0600-\u0605\u06dd\u070f\u0890\u0891\u08e2\ue000-\uf8ff\U000f0000-\U0010ffff"
_STEERING = re.compile("[\x7f-\x9f\u202a-\u202e\u2066-\u2069]")

#: The least number of characters, by id, at which its beginning still is the id of one note alone.
Least = Callable[[Sequence[str]], Mapping[str, int]]


def prepare_streams() -> None:
    """Let no character that a stream's encoding lacks stop a command."""
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(errors="replace")


def on_terminal(stream: TextIO | None = None) -> bool:
    """Whether a person looks at ``stream`` (standard output by default)."""
    try:
        return (stream or sys.stdout).isatty()
    except ValueError:
        return False


def coloured(stream: TextIO | None = None) -> bool:
    return on_terminal(stream) and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def width(stream: TextIO | None = None) -> int:
    """Columns to fill: the terminal's up to 100, or 80 where ``stream`` (standard output by default) is none."""
    if not on_terminal(stream):
        return PLAIN_WIDTH
    return max(40, min(shutil.get_terminal_size().columns, 100))


def paint(text: str, style: str) -> str:
    """``text`` in a style of ``_STYLES`` where colours are wanted, else as it is."""
    return f"\x1b[{_STYLES[style]}m{text}\x1b[0m" if style and coloured() else text


def harmless(text: str) -> str:
    """``text`` without control characters other than newline and tab, without what nobody sees (marks of direction, of
    no width, tags), and without lone surrogates. What joins letters and emoji stays behind one of them.
    """
    text = text.replace("\r\n", "\n")
    if text.isascii():
        return _CONTROLS.sub("", text)
    return _unseen().sub("", text.encode("utf-8", "replace").decode("utf-8"))


@lru_cache(maxsize=1)
def _unseen() -> re.Pattern[str]:
    from chitta.render.neutral import UNSEEN  # late: most of what is printed is ASCII

    joins = "\u200c\u200d"
    return re.compile(f"{_CONTROLS.pattern}|(?![{_SEEN_HERE}{joins}])[{UNSEEN}]|(?<![^\0-\x7f{UNSEEN}])[{joins}]")


def _printable(text: str) -> str:
    """``text`` made harmless, but for the colours of :func:`paint` where there are any."""
    if not coloured() or "\x1b" not in text:
        return harmless(text)
    return "".join(piece if _COLOURS.fullmatch(piece) else harmless(piece) for piece in _COLOURS.split(text))


def one_line(text: str, limit: int) -> str:
    """The text on one line of at most ``limit`` characters."""
    flat = " ".join(harmless(text).split())
    return flat if len(flat) <= limit else flat[: max(limit - 1, 1)].rstrip() + "…"


def say(text: str = "", style: str = "") -> None:
    """A line of data on standard output, harmless."""
    print(_printable(paint(text, style)))


def tell(text: str) -> None:
    """Lines for the person on standard error, harmless, on a terminal wrapped at its width."""
    screen = on_terminal(sys.stderr)
    for line in harmless(text).split("\n"):
        for piece in pieces_of(line, width(sys.stderr)) if screen else [line]:
            print(piece, file=sys.stderr)


def paragraph(text: str, indent: str = "", style: str = "") -> None:
    """Words wrapped to the width, each line indented."""
    for line in textwrap.wrap(harmless(text), width(), initial_indent=indent, subsequent_indent=indent):
        say(line, style)


def wrapped(text: str, indent: str = "", style: str = "", *, narrower: int = 0) -> None:
    """Lines of data: on a terminal wrapped at its width under their own indentation, in a pipe as they are."""
    for line in text.split("\n"):
        for piece in pieces_of(indent + line, width() - narrower) if on_terminal() else [indent + line]:
            say(piece.rstrip(), style)


def pieces_of(line: str, columns: int) -> list[str]:
    """The line in pieces of at most so many characters, broken at spaces only and indented alike."""
    if len(line) <= columns:
        return [line]
    line = line.expandtabs(4)
    margin = " " * min(len(line) - len(line.lstrip()), columns // 2)
    return textwrap.wrap(
        line.lstrip(),
        columns,
        initial_indent=margin,
        subsequent_indent=margin,
        break_long_words=False,
        break_on_hyphens=False,
    ) or [""]


def json_text(value: Any) -> str:
    """The value as JSON; characters that steer a terminal or turn a line around stand as escapes."""
    text = json.dumps(codec.loads(codec.dumps(value)), indent=2, ensure_ascii=False)
    return _STEERING.sub(lambda found: f"\\u{ord(found.group()):04x}", text)


def as_json(value: Any) -> None:
    """One JSON document on standard output, in UTF-8 whatever the locale."""
    text = json_text(value)
    sys.stdout.flush()
    sys.stdout.buffer.write(text.encode() + b"\n")
    sys.stdout.flush()


def table(
    columns: Sequence[str],
    rows: Sequence[Sequence[object]],
    *,
    right: Sequence[str] = (),
    whole: Sequence[str] = (),
    cut: str = "",
    spare: Sequence[str] = (),
    least: Least | None = None,
) -> None:
    """Rows under headings; ``right`` names the columns of numbers.

    On a terminal cells are folded to fit, but never those of a column in ``whole``. With ``cut`` no
    cell is folded, and the table is made to fit by :func:`fitted`.
    """
    if not on_terminal():
        _plain_table(columns, _clean(rows), right)
        return
    if cut:
        columns, cells = fitted(columns, rows, cut, spare=spare, least=least)
        _rich_table(columns, cells, right, columns)
    else:
        _rich_table(columns, _clean(rows), right, whole)


def fitted(
    columns: Sequence[str],
    rows: Sequence[Sequence[object]],
    cut: str,
    *,
    spare: Sequence[str] = (),
    least: Least | None = None,
    headed: bool = True,
) -> tuple[list[str], list[list[str]]]:
    """The columns that fit a terminal's width, and their cells of one line each; in a pipe all of them, whole.

    Cells of the column ``cut`` take the room that is left. Where that is little, realms are shortened in
    their middle, then ids (the column "id") at their end, to no less than ``least`` gives for each, each only as
    far as needed; then columns of ``spare`` are left out, in this order. ``headed``: headings need room, too.
    """
    names, cells = list(columns), _clean(rows)
    if not on_terminal() or not cells:
        return names, cells

    def room() -> int:
        return _room(cells, names.index(cut), names if headed else [""] * len(names))

    at = names.index(cut)
    wanted = max(_STUB, min(_TITLE, max(columns_of(row[at]) for row in cells)))
    if "realm" in names and (lacking := wanted - room()) > 0:
        _shorten_realms(cells, names.index("realm"), lacking)
    if least is not None and (lacking := wanted - room()) > 0:
        _shorten_ids(cells, names.index("id"), lacking, least)
    for name in spare:
        if room() < _STUB:
            place = names.index(name)
            del names[place]
            cells = [[*row[:place], *row[place + 1 :]] for row in cells]
    left = max(room(), _STUB)
    at = names.index(cut)
    return names, [[_cut(cell, left) if i == at else cell for i, cell in enumerate(row)] for row in cells]


def padded(rows: Sequence[Sequence[str]]) -> list[list[str]]:
    """The cells, each with spaces up to the width of its column, but the last of a row as it is."""
    widths = [max(map(columns_of, column)) for column in zip(*rows, strict=True)]
    return [
        [cell + " " * (size - columns_of(cell)) for cell, size in zip(row[:-1], widths, strict=False)] + [*row[-1:]]
        for row in rows
    ]


def _clean(rows: Sequence[Sequence[object]]) -> list[list[str]]:
    return [[harmless(str(cell)).replace("\n", " ") for cell in row] for row in rows]


def _shorten_ids(cells: list[list[str]], place: int, lacking: int, least: Least) -> None:
    names = [row[place] for row in cells]
    room = max(max(map(columns_of, names)) - lacking, _STUB)
    if all(columns_of(name) <= room for name in names):
        return
    needed = least(names)
    room = max(room, *(min(len(name), needed.get(name, len(name)) + 1) for name in names))
    for row in cells:
        row[place] = _cut(row[place], room)


def _shorten_realms(cells: list[list[str]], place: int, lacking: int) -> None:
    room = max(max(columns_of(row[place]) for row in cells) - lacking, _REALM)
    for row in cells:
        name = row[place]
        if len(name) > room:  # its end says most
            row[place] = f"{name[: room // 3]}…{name[len(name) - (room - room // 3 - 1) :]}"


def columns_of(text: str) -> int:
    """Terminal columns that ``text`` takes: wide characters count twice, combining ones not at all."""
    total = 0
    for character in text:
        if unicodedata.combining(character):
            continue
        total += 2 if unicodedata.east_asian_width(character) in "WF" else 1
    return total


def _plain_table(columns: Sequence[str], rows: list[list[str]], right: Sequence[str]) -> None:
    widths = _widths(columns, rows)
    for line in (list(columns), *rows):
        parts = []
        for name, size, cell in zip(columns, widths, line, strict=True):
            gap = " " * (size - columns_of(cell))
            parts.append(gap + cell if name in right else cell + gap)
        say(_GAP.join(parts).rstrip())


def _widths(columns: Sequence[str], rows: list[list[str]]) -> list[int]:
    return [max(columns_of(line[i]) for line in (list(columns), *rows)) for i in range(len(columns))]


def _room(rows: list[list[str]], place: int, columns: Sequence[str]) -> int:
    """Columns of the terminal that the others leave to one."""
    widths = _widths(columns, rows)
    return width() - sum(widths) + widths[place] - len(_GAP) * (len(widths) - 1)


def _cut(text: str, room: int) -> str:
    if columns_of(text) <= room:
        return text
    while columns_of(text) > room - 1:
        text = text[:-1]
    return text.rstrip() + "…"


def _rich_table(columns: Sequence[str], rows: list[list[str]], right: Sequence[str], whole: Sequence[str]) -> None:
    from rich import box
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    drawn = Table(box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0), pad_edge=False, show_edge=False, header_style="bold")
    widths = _widths(columns, rows)
    for name, needed in zip(columns, widths, strict=True):
        kept = needed if name in whole else None
        justify: Literal["left", "right"] = "right" if name in right else "left"
        drawn.add_column(name, justify=justify, overflow="fold", no_wrap=name in whole, min_width=kept)
    for row in rows:
        drawn.add_row(*(Text(cell) for cell in row))
    needed = sum(size if name in whole else min(size, _STUB) for name, size in zip(columns, widths, strict=True))
    screen = max(width(), needed + len(_GAP) * (len(columns) - 1))
    Console(file=sys.stdout, width=screen, no_color=not coloured(), highlight=False).print(drawn)


def pairs(facts: Sequence[tuple[str, object]], indent: str = "") -> None:
    """``name  value`` lines with the values under each other."""
    longest = max((len(name) for name, _ in facts), default=0)
    for name, value in facts:
        say(f"{indent}{paint(name.ljust(longest), 'dim')}  {harmless(str(value))}".rstrip())


def plural(count: int, noun: str) -> str:
    """``1 note``, ``2 notes``."""
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"


def size_of(count: int) -> str:
    """Bytes in words: ``812 B``, ``3.4 MB``."""
    amount = float(count)
    for unit in ("B", "kB", "MB", "GB"):
        if amount < 1000 or unit == "GB":
            return f"{amount:.0f} {unit}" if unit == "B" or amount >= 100 else f"{amount:.1f} {unit}"
        amount /= 1000
    raise AssertionError("unreachable")
