"""What a command prints: data on standard output, everything else on standard error.

On a terminal there are colours and tables; in a pipe the same words come as plain aligned text.
``NO_COLOR`` and ``TERM=dumb`` turn colours off. Text that comes from notes is made harmless
first: a stored escape sequence must not reach a terminal.
"""

from __future__ import annotations

import json
import os
import shutil
import sys
import textwrap
import unicodedata
from collections.abc import Sequence
from typing import Any, TextIO

from chitta.wire import codec

PLAIN_WIDTH = 80
_STYLES = {"bold": "1", "dim": "2", "red": "31", "green": "32", "yellow": "33", "cyan": "36"}
_KEPT_CONTROLS = "\n\t"
#: Direction overrides and isolates: they can make a line read as another one.
_BIDI_CONTROLS = frozenset("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")


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


def width() -> int:
    """Columns to fill: the terminal's up to 100, or 80 where there is none."""
    if not on_terminal():
        return PLAIN_WIDTH
    return max(40, min(shutil.get_terminal_size().columns, 100))


def paint(text: str, style: str) -> str:
    """``text`` in a style of ``_STYLES`` where colours are wanted, else as it is."""
    return f"\x1b[{_STYLES[style]}m{text}\x1b[0m" if style and coloured() else text


def harmless(text: str) -> str:
    """``text`` without control characters other than newline and tab, and without lone surrogates."""
    text = text.encode("utf-8", "replace").decode("utf-8").replace("\r\n", "\n")
    return "".join(
        c for c in text if c in _KEPT_CONTROLS or (unicodedata.category(c) != "Cc" and c not in _BIDI_CONTROLS)
    )


def one_line(text: str, limit: int) -> str:
    """The text on one line of at most ``limit`` characters."""
    flat = " ".join(harmless(text).split())
    return flat if len(flat) <= limit else flat[: max(limit - 1, 1)].rstrip() + "…"


def say(text: str = "", style: str = "") -> None:
    """A line of data on standard output."""
    print(paint(text, style))


def tell(text: str) -> None:
    """A line for the person on standard error."""
    print(text, file=sys.stderr)


def paragraph(text: str, indent: str = "", style: str = "") -> None:
    """Words wrapped to the width, each line indented."""
    for line in textwrap.wrap(harmless(text), width(), initial_indent=indent, subsequent_indent=indent):
        say(line, style)


def as_json(value: Any) -> None:
    """One JSON document on standard output, in UTF-8 whatever the locale."""
    text = json.dumps(codec.loads(codec.dumps(value)), indent=2, ensure_ascii=False)
    sys.stdout.flush()
    sys.stdout.buffer.write(text.encode() + b"\n")
    sys.stdout.flush()


def table(columns: Sequence[str], rows: Sequence[Sequence[object]], *, right: Sequence[str] = ()) -> None:
    """Rows under headings; ``right`` names the columns of numbers."""
    cells = [[harmless(str(cell)).replace("\n", " ") for cell in row] for row in rows]
    if on_terminal():
        _rich_table(columns, cells, right)
    else:
        _plain_table(columns, cells, right)


def columns_of(text: str) -> int:
    """Terminal columns that ``text`` takes: wide characters count twice, combining ones not at all."""
    total = 0
    for character in text:
        if unicodedata.combining(character):
            continue
        total += 2 if unicodedata.east_asian_width(character) in "WF" else 1
    return total


def _plain_table(columns: Sequence[str], rows: list[list[str]], right: Sequence[str]) -> None:
    lines = [list(columns), *rows]
    widths = [max(columns_of(line[i]) for line in lines) for i in range(len(columns))]
    for line in lines:
        parts = []
        for name, size, cell in zip(columns, widths, line, strict=True):
            gap = " " * (size - columns_of(cell))
            parts.append(gap + cell if name in right else cell + gap)
        say("  ".join(parts).rstrip())


def _rich_table(columns: Sequence[str], rows: list[list[str]], right: Sequence[str]) -> None:
    from rich import box
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    drawn = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False, header_style="bold")
    for name in columns:
        drawn.add_column(name, justify="right" if name in right else "left", overflow="fold")
    for row in rows:
        drawn.add_row(*(Text(cell) for cell in row))
    Console(file=sys.stdout, width=width(), no_color=not coloured(), highlight=False).print(drawn)


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
