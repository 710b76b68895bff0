"""JSON as text that keeps its bytes: where the members of an object or list stand, and inserting and removing them.

Strict JSON alone: a file with comments, trailing commas, NaN or a key twice is refused with :class:`Broken`, since it
could not be changed without a guess. All positions are character offsets.
"""

from __future__ import annotations

import json
import re
from typing import Any, NamedTuple

_SPACE = re.compile(r"[ \t\r\n]*")


class Broken(ValueError):
    """The text is not JSON as every reader takes it; the message says where and why, without the file's name."""


class Member(NamedTuple):
    """One member: ``start`` of its key (of its value in a list), ``value_start``, ``end``, and the parsed value."""

    key: str
    start: int
    value_start: int
    end: int
    value: Any


class Container(NamedTuple):
    """An object or list: its first character, the position after its last, and its members in order."""

    start: int
    end: int
    members: tuple[Member, ...]

    def get(self, key: str) -> Member | None:
        return next((member for member in self.members if member.key == key), None)


class Style(NamedTuple):
    """How a text is written: ``newline``, one level's ``indent`` (None: all on one line), and the two separators."""

    newline: str
    indent: str | None
    comma: str
    colon: str


def _no_constant(word: str) -> Any:
    raise Broken(f"{word} is not JSON")


def _no_doubles(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        keys = [key for key, _ in pairs]
        double = next(key for key in keys if keys.count(key) > 1)
        raise Broken(f"the key {json.dumps(double)} is there twice in one object")
    return found


_DECODER = json.JSONDecoder(object_pairs_hook=_no_doubles, parse_constant=_no_constant)


def parse(text: str) -> Any:
    """The document's value. Raises :class:`Broken`."""
    try:
        return _DECODER.decode(text)
    except json.JSONDecodeError as problem:
        raise Broken(f"line {problem.lineno}, column {problem.colno}: {problem.msg}") from None
    except (RecursionError, ValueError) as problem:
        raise problem if isinstance(problem, Broken) else Broken("nested too deeply, or a number too long") from None


def root(text: str) -> Container:
    """The outermost object or list of a text that :func:`parse` takes."""
    return container(text, _skip(text, 0))


def container(text: str, start: int) -> Container:
    """The object or list that begins at ``start`` of a text that :func:`parse` takes."""
    if text[start] not in "{[":
        raise Broken("a list or an object was expected")
    named = text[start] == "{"
    at = _skip(text, start + 1)
    members: list[Member] = []
    while text[at] not in "}]":
        first, key = at, ""
        if named:
            key, at = _DECODER.raw_decode(text, at)
            at = _skip(text, _skip(text, at) + 1)
        value, end = _DECODER.raw_decode(text, at)
        members.append(Member(key, first, at, end, value))
        at = _skip(text, end)
        if text[at] == ",":
            at = _skip(text, at + 1)
    return Container(start, at + 1, tuple(members))


def _skip(text: str, at: int) -> int:
    found = _SPACE.match(text, at)
    return found.end() if found else at


def style_of(text: str) -> Style:
    """The style of a document, as its outermost members are written; two spaces where there are none."""
    newline = "\r\n" if "\r\n" in text else "\n"
    top = root(text)
    if not top.members:
        return Style(newline, "  ", ", ", ": ")
    first = top.members[0]
    before = text[top.start + 1 : first.start]
    colon = ": " if text[first.value_start - 1] in " \t" else ":"
    if "\n" not in before:
        after = text[first.end : top.members[1].start] if len(top.members) > 1 else ", "
        return Style(newline, None, ", " if after.endswith(" ") else ",", colon)
    return Style(newline, before.rpartition("\n")[2], ", ", colon)


def written(value: Any, style: Style, margin: str) -> str:
    """The value as text in this style, every line but the first behind ``margin``."""
    if style.indent is None:
        return json.dumps(value, ensure_ascii=False, separators=(style.comma, style.colon))
    text = json.dumps(value, ensure_ascii=False, indent=style.indent, separators=(",", style.colon))
    return text.replace("\n", style.newline + margin)


def appended(text: str, place: Container, key: str, value: Any, style: Style) -> str:
    """The text with one more member at the end of ``place``; ``key`` is empty for a list.

    Where there are members, what stands in front of the last is repeated, so that :func:`removed` undoes it.
    """
    name = json.dumps(key, ensure_ascii=False) + style.colon if key else ""
    if place.members:
        last = place.members[-1]
        lead = text[_before(text, place, len(place.members) - 1) : last.start]
        margin = lead.rpartition("\n")[2] if "\n" in lead else _margin(text, last.start)
        inline = style if "\n" in lead else style._replace(indent=None)
        gap = lead if "\n" in lead or len(place.members) > 1 else style.comma[1:]
        return text[: last.end] + "," + gap + name + written(value, inline, margin) + text[last.end :]
    if style.indent is None:
        return text[: place.start + 1] + name + written(value, style, "") + text[place.end - 1 :]
    outer = _margin(text, place.start)
    margin = outer + style.indent
    inner = style.newline + margin + name + written(value, style, margin) + style.newline + outer
    return text[: place.start + 1] + inner + text[place.end - 1 :]


def removed(text: str, place: Container, index: int) -> str:
    """The text without one member of ``place``; with its only one gone, the container is empty."""
    members = place.members
    if index > 0:
        return text[: members[index - 1].end] + text[members[index].end :]
    if len(members) > 1:
        return text[: members[0].start] + text[members[1].start :]
    return text[: place.start + 1] + text[place.end - 1 :]


def replaced(text: str, member: Member, value: Any, style: Style) -> str:
    """The text with another value for one member."""
    inline = style if "\n" in text[member.value_start : member.end] else style._replace(indent=None)
    new = written(value, inline, _margin(text, member.start))
    return text[: member.value_start] + new + text[member.end :]


def _before(text: str, place: Container, index: int) -> int:
    """Where the space in front of a member begins: after the bracket or the comma."""
    if index == 0:
        return place.start + 1
    return text.index(",", place.members[index - 1].end) + 1


def _margin(text: str, at: int) -> str:
    """The indentation of the line that holds a position."""
    line = text[text.rfind("\n", 0, at) + 1 : at]
    return line[: len(line) - len(line.lstrip(" \t"))]
