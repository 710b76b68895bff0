"""The text of a note for reading: paragraphs flow together, code stays as it is, the title is not said twice."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from chitta.cli import output

_FENCE = re.compile(r"\s{0,3}(```|~~~)")
#: A line that does not go on with the one before it: a heading, an item of a list, a quotation, a row of a table.
_APART = re.compile(r"\s*(?:#{1,6}\s|[-*+]\s|\d{1,3}[.)]\s|>|\|)|\s*[-*_=]{3,}\s*\Z")
_HEADING = re.compile(r"\s*#{1,6}\s")
#: Two spaces or a backslash at the end of a line are a break that its writer wants.
_BREAKS = ("  ", "\\")


class Block(NamedTuple):
    """A paragraph, heading, item or quotation on one line; or a line of code, with its indentation."""

    text: str
    code: bool = False


def blocks(text: str) -> Iterator[Block]:
    """The parts of a text in order, without blank lines and bare fences. Never raises."""
    part: list[str] = []
    fence = ""
    for line in output.harmless(text).split("\n"):
        mark = _FENCE.match(line)
        if mark and (not fence or mark[1] == fence) or not line.strip():
            if part:
                yield Block(_joined(part))
            part, fence = [], ("" if fence else mark[1]) if mark else fence
        elif fence:
            yield Block(line.expandtabs(4).rstrip(), code=True)
        else:
            if part and (_APART.match(line) or _HEADING.match(part[0]) or part[-1].endswith(_BREAKS)):
                yield Block(_joined(part))
                part = []
            part.append(line)
    if part:
        yield Block(_joined(part))


def excerpt(text: str, title: str, room: int, count: int = 3) -> list[str]:
    """The first lines of a text, each of at most ``room`` characters, without what the title shows already.

    What is cut ends with ``…``; a line of code is cut rather than wrapped.
    """
    lines: list[str] = []
    for at, block in enumerate(blocks(text)):
        if len(lines) >= count:
            break
        if block.code:
            lines.append(block.text if len(block.text) <= room else block.text[: room - 1].rstrip() + "…")
            continue
        words = block.text if at else beyond_title(block.text, title)
        pieces = output.pieces_of(words, room) if words else []
        left = count - len(lines)
        lines += pieces if len(pieces) <= left else [*pieces[: left - 1], " ".join(pieces[left - 1 :])]
    return [line if len(line) <= room else output.one_line(line, room) for line in lines]


def whole_text(text: str, title: str) -> list[str]:
    """All lines of the text, without a first one that only says the title again."""
    lines = output.harmless(text).strip("\n").split("\n")
    if lines and " ".join(lines[0].lstrip("#-*> ").split()) == " ".join(title.split()):
        lines = lines[1:]
    while lines and not lines[0].strip():
        lines = lines[1:]
    return lines


def flowing(lines: list[str], indent: str = "") -> list[str]:
    """Lines as a terminal shows them: those of a paragraph joined and wrapped at its width; in a pipe as they are."""
    if not output.on_terminal():
        return [f"{indent}{line}".rstrip() for line in lines]
    shown: list[str] = []
    part: list[str] = []
    fence = ""

    def end() -> None:
        if part:
            margin = indent + part[0][: len(part[0]) - len(part[0].lstrip())]
            shown.extend(piece.rstrip() for piece in output.pieces_of(margin + _joined(part), output.width()))
            part.clear()

    for line in lines:
        mark = _FENCE.match(line)
        if mark or fence or not line.strip() or line.startswith(("    ", "\t")) and not part:
            end()
            shown += [piece.rstrip() for piece in output.pieces_of(indent + line, output.width())]
            if mark and (not fence or mark[1] == fence):
                fence = "" if fence else mark[1]
            continue
        if part and (_APART.match(line) or _HEADING.match(part[0]) or part[-1].endswith(_BREAKS)):
            end()
        part.append(line)
    end()
    return shown


def beyond_title(line: str, title: str) -> str:
    """What a line says after the words that the title shows; the whole line where it begins otherwise."""
    words = output.one_line(line.lstrip("#-*> "), len(line))
    head = title.removesuffix("…").rstrip()
    if not head or not words.startswith(head):
        return line
    rest = words[len(head) :]
    if rest[:1].isalnum() and head[-1:].isalnum():  # the title was cut inside a word
        rest = words[words.rfind(" ", 0, len(head)) + 1 :]
    rest = rest.lstrip(" ,;:.!?")
    return f"…{rest}" if rest else ""


def _joined(lines: list[str]) -> str:
    return " ".join(" ".join(lines).split())
