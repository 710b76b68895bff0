"""How found notes look: a line each, the beginning of each, or whole with what is around it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from chitta.cli import output, recall_reasons
from chitta.cli.asking import Answer
from chitta.cli.recall_options import FULL
from chitta.cli.recall_tier import RELATED, SUPPORTED, arms, tier
from chitta.recall.budget import Item

if TYPE_CHECKING:
    from chitta.wire.rows import Row

_STYLES = {SUPPORTED: "green", RELATED: "yellow"}
_INDENT = "   "
_TITLE_CHARS = 100
#: Columns that a title keeps where ids leave it little room.
_LEAST_TITLE = 12
_DATE_CHARS = len("2026-01-31")
ELSEWHERE = "From other projects:"
#: What is around a note, in the order it is shown.
_AROUND = (
    ("replaced_by", "replaced by"),
    ("replaces", "replaces"),
    ("session", "same session"),
    ("related", "related"),
)


def items(
    answer: Answer, shown: Sequence[Row], beyond: Sequence[Row], strategy: str, depth: int, *, explain: bool
) -> list[Item]:
    """The notes as they are printed; every part begins with its line break."""
    found = []
    for number, row in enumerate([*shown, *beyond], start=1):
        first_beyond = number == len(shown) + 1
        lead = [""] if number > 1 and (depth >= FULL or first_beyond) else []
        lead += [output.paint(ELSEWHERE, "bold")] if first_beyond else []
        found.append(_item(answer, number, row, strategy, depth, lead=lead, explain=explain))
    return found


def _item(answer: Answer, number: int, row: Row, strategy: str, depth: int, *, lead: list[str], explain: bool) -> Item:
    why = answer.reasons.get(row.id, {})
    told = recall_reasons.lines(row, why, _INDENT) if explain else []
    if depth < FULL:
        return Item(_joined([*lead, _glance(row, newest=answer.newest)]), context=(_joined(told),) if told else ())
    title = output.one_line(row.title or row.id, output.width() - 4)
    chance = f"conf {row.conf:.2f}" if row.conf >= 0 else "conf not measured"
    if answer.newest:
        evidence = output.paint("one of the newest", "green") + (
            f" · {row.created[:_DATE_CHARS]}" if row.created else ""
        )
    else:
        found = " and ".join(arms(row, strategy)) or "its place"
        evidence = f"{output.paint(f'{tier(row)}, {chance}', _STYLES.get(tier(row), 'dim'))} · found by {found}"
    score = "" if answer.newest else f" · score {row.score:.3f}"
    facts = f"{output.harmless(row.id)} · {row.kind} · {output.harmless(row.realm)}{score}"
    head = [*lead, output.paint(f"{number}. {title}", "bold"), f"{_INDENT}{evidence}"]
    head += lines_of(facts, _INDENT, "dim")
    head += [output.paint(f"{_INDENT}{line}", "yellow") for line in _standing(row, why)]
    if depth == FULL:
        text = [f"{_INDENT}{line}" for line in _first_lines(row.text, title)]
    else:
        text = ["", *(piece for line in whole_text(row.text, row.title) for piece in lines_of(line))]
    around = around_lines(answer.around.get(row.id, {}), row.source, _INDENT) if depth > FULL else []
    apart = [""] if depth > FULL else []  # from the text, which is not indented
    context = [_joined([*apart, *part]) for part in (around, told) if part]
    return Item(_joined(head), _joined(text), tuple(context))


def _glance(row: Row, *, newest: bool) -> str:
    """One line: id, tier, conf, title; a date instead of the evidence that the newest notes have none of."""
    chance = f"{row.conf:.2f}" if row.conf >= 0 else "-"
    told, style = f"{tier(row)}  {chance}", _STYLES.get(tier(row), "dim")
    if newest:
        told, style = row.created[:_DATE_CHARS] or "no date", "dim"
    name = output.harmless(row.id)
    room = max(output.width() - len(name) - len(told) - 4, _LEAST_TITLE) if output.on_terminal() else _TITLE_CHARS
    return f"{name}  {output.paint(told, style)}  {output.one_line(row.title or row.text, room)}"


def draw_table(shown: Sequence[Row], beyond: Sequence[Row], count: int, *, newest: bool) -> None:
    """The first ``count`` rows as a table of dates and titles; their realms, where there are several."""
    rows = [*shown, *beyond][:count]
    several = len({row.realm for row in (*shown, *beyond)}) > 1
    columns = ["id", "date", "conf", "title"] + (["realm"] if several else [])
    cells = []
    for row in rows:
        chance = f"{row.conf:.2f}" if row.conf >= 0 and not newest else "-"
        title = output.one_line(row.title or row.text, 70)
        cells.append([row.id, row.created[:_DATE_CHARS] or "-", chance, title] + ([row.realm] if several else []))
    output.table(columns, cells, right=("conf",), cut="title", spare=("realm", "conf") if several else ("conf",))


def around_lines(around: Mapping[str, Any], source: str, indent: str) -> list[str]:
    """Source, what replaced the note and what it replaced, its session, and related notes; a line for each one."""
    lines = [f"{indent}{output.paint('source:', 'dim')} {output.one_line(source, _TITLE_CHARS)}"] if source else []
    for name, words in _AROUND:
        value = around.get(name) or []
        for note in [value] if isinstance(value, Mapping) else value:
            date = f" ({note['created'][:_DATE_CHARS]})" if note.get("created") else ""
            lines += _neighbour(f"{words}:", output.harmless(note["id"]) + date, note.get("title", ""), indent)
    return lines


def _neighbour(label: str, name: str, title: str, indent: str) -> list[str]:
    """Its title and its id on one line; on a terminal on two where one is too narrow."""
    lead = f"{indent}{output.paint(label, 'dim')} "
    room = output.width() - len(indent) - len(label) - 1
    title = output.one_line(title, room if output.on_terminal() else _TITLE_CHARS)
    if not title or not output.on_terminal() or len(title) + len(name) + 2 <= room:
        return [f"{lead}{name}  {title}".rstrip()]
    return [f"{lead}{title}", f"{indent}{' ' * len(label)} {name}"]


def lines_of(text: str, indent: str = "", style: str = "") -> list[str]:
    """Lines, on a terminal wrapped at its width under their own indentation, in a pipe as they are."""
    pieces = output.pieces_of(indent + text, output.width()) if output.on_terminal() else [indent + text]
    return [output.paint(piece.rstrip(), style) for piece in pieces]


def whole_text(text: str, title: str) -> list[str]:
    """All lines of the text, without a first one that only says the title again."""
    lines = output.harmless(text).strip("\n").split("\n")
    if lines and " ".join(lines[0].lstrip("#-*> ").split()) == " ".join(title.split()):
        lines = lines[1:]
    while lines and not lines[0].strip():
        lines = lines[1:]
    return lines


def _standing(row: Row, why: Mapping[str, Any]) -> list[str]:
    """That another note has this one's place, and that others say the same."""
    replaced = (why.get("replaced") or {}).get("why") or (
        f"replaced by {row.superseded_by}" if row.superseded_by else ""
    )
    lines = [output.one_line(replaced, output.width() - len(_INDENT))] if replaced else []
    doubles = len(why.get("doubles") or ())
    if doubles:
        lines.append(f"{doubles} more {'says' if doubles == 1 else 'say'} the same")
    return lines


def _joined(lines: Sequence[str]) -> str:
    return "".join(f"\n{line}" for line in lines)


def _first_lines(text: str, title: str, count: int = 3) -> list[str]:
    """The text's first lines at the width, without what the title shows already; on a terminal, wrapped."""
    lines = [line.strip() for line in text.split("\n") if line.strip()]
    if lines:
        lines[:1] = filter(None, [_beyond_title(lines[0], title)])
    room = output.width() - 4
    if not output.on_terminal():
        return [output.one_line(line, room) for line in lines[:count]]
    pieces = [piece for line in lines[:count] for piece in output.pieces_of(output.one_line(line, len(line)), room)]
    return [*pieces[: count - 1], output.one_line(" ".join(pieces[count - 1 :]), room)] if pieces[count:] else pieces


def _beyond_title(line: str, title: str) -> str:
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
