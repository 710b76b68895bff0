"""Markdown cut by its headings, and a section cut by its list items. Pure; loses no line that is not blank.

Headings are ``#`` lines and lines underlined with ``===`` or ``---``. Nothing inside a fenced block is a heading
or an item, so code stays with the section that it explains.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

_FENCE = re.compile(r"[ \t]*(`{3,}|~{3,})(.*)")
_HEADING = re.compile(r" {0,3}(#{1,6})(?:[ \t]+(.*?))??(?:[ \t]+#+)?[ \t]*")
_UNDERLINE = re.compile(r" {0,3}(=+|-{2,})[ \t]*")
# Not the first line of a paragraph: a list item, a quotation, a table, indented code, a rule of hyphens.
_NOT_TITLE = re.compile(r"[ \t]*(?:[-*+>|]|\d+[.)])(?:\s|$)|[ \t]*\||(?: {4}|\t)|[ \t]*[-=*_ \t]+$")
_BULLET = re.compile(r"( {0,3})[-*+][ \t]+(?=\S)")
_ORDERED = re.compile(r" {0,3}\d{1,9}[.)][ \t]+(?=\S)")


class Section(NamedTuple):
    """The lines below one heading, up to the next. ``headings`` is the way to it from the top of the document,
    ``line`` the number of its heading (its first line where it has none), from 1.
    """

    headings: tuple[str, ...]
    text: str
    line: int
    #: Whether sections below this one follow; a heading over others may well have no text of its own.
    parent: bool = False
    #: Lines that its heading takes: none, one, or two where it is underlined.
    headed: int = 0


class Block(NamedTuple):
    """A run of a section's lines as they are: a bulleted item with all that is indented below it, or what is between
    items. ``item`` is the item's text without its bullet, "" for the rest.
    """

    raw: str
    line: int
    item: str = ""


def sections(text: str) -> list[Section]:
    """The document cut at every heading, in order; what stands before the first has no headings."""
    lines = text.split("\n")
    found: list[Section] = []
    way: list[tuple[int, str]] = []
    start, begin, headed = 0, 1, 0  # where its text begins, the line that it is named by, and lines of its heading
    for at, level, title in _headings(lines):
        found.append(Section(tuple(name for _, name in way), "\n".join(lines[start:at]), begin, headed=headed))
        way = [each for each in way if each[0] < level]
        way.append((level, title))
        headed = 1 if _HEADING.fullmatch(lines[at]) else 2
        start, begin = at + headed, at + 1
    found.append(Section(tuple(name for _, name in way), "\n".join(lines[start:]), begin, headed=headed))
    if found[0].headings == () and not found[0].text.strip():
        del found[0]
    return [
        section._replace(parent=section.headings == after.headings[: len(section.headings)] != after.headings)
        for section, after in zip(found, [*found, Section((), "", 0)][1:], strict=True)
    ]


def blocks(section: Section) -> list[Block]:
    """The section's lines cut at the bulleted items of its left edge, in order.

    Numbered lists are steps in an order and no items.
    """
    number = section.line + section.headed - 1
    found: list[Block] = []
    held: list[str] = []
    edge = -1  # how far the open item is indented; -1 where none is open
    fence = ""

    def close() -> None:
        if held:
            raw = "\n".join(held)
            found.append(Block(raw, number - len(held) + 1, _BULLET.sub("", raw, count=1) if edge >= 0 else ""))
            held.clear()

    for line in section.text.split("\n"):
        bullet = None if fence else _BULLET.match(line)
        if bullet is not None and not (edge >= 0 and len(bullet[1]) >= edge + 2):
            close()
            edge = len(bullet[1])
        elif edge >= 0 and not fence and line.strip() and not line.startswith((" ", "\t")):
            if not held[-1].strip() or _ORDERED.match(line) or _FENCE.match(line):
                close()
                edge = -1
        held.append(line)
        fence = _after(line, fence)
        number += 1
    close()
    return found


def prose(text: str) -> str:
    """The text without its fenced blocks."""
    kept, fence = [], ""
    for line in text.split("\n"):
        after = _after(line, fence)
        if not fence and not after:
            kept.append(line)
        fence = after
    return "\n".join(kept)


def _headings(lines: Sequence[str]) -> Iterator[tuple[int, int, str]]:
    """Place, level and title of each heading."""
    fence, comment, used = "", False, -1
    for at, line in enumerate(lines):
        was = fence
        fence = _after(line, fence)
        if was or fence or at <= used:
            continue
        comment = _in_comment(line, comment)
        if comment:
            continue
        marked = _HEADING.fullmatch(line)
        if marked is not None:
            yield at, len(marked[1]), (marked[2] or "").strip()
        elif at + 1 < len(lines) and _is_title(lines, at):
            used = at + 1
            yield at, 1 if "=" in lines[at + 1] else 2, line.strip()


def _is_title(lines: Sequence[str], at: int) -> bool:
    """Whether the line is a paragraph of its own that the next one underlines."""
    return bool(
        _UNDERLINE.fullmatch(lines[at + 1])
        and lines[at].strip()
        and not _NOT_TITLE.match(lines[at])
        and (at == 0 or not lines[at - 1].strip() or _HEADING.fullmatch(lines[at - 1]))
    )


def _in_comment(line: str, inside: bool) -> bool:
    opened, closed = line.rfind("<!--"), line.rfind("-->")
    return opened > closed if max(opened, closed) >= 0 else inside


def _after(line: str, fence: str) -> str:
    """The fence that is open after this line, given the one that was before; "" for none."""
    mark = _FENCE.fullmatch(line)
    if mark is None:
        return fence
    if not fence:
        return "" if mark[1][0] == "`" and "`" in mark[2] else mark[1]
    closes = mark[1][0] == fence[0] and len(mark[1]) >= len(fence) and not mark[2].strip()
    return "" if closes else fence
