"""How found notes look: a line each, the beginning of each, or whole with what is around it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from chitta.cli import output, recall_reasons, recall_state, recall_text
from chitta.cli.asking import Answer
from chitta.cli.output import Least
from chitta.cli.recall_options import FULL
from chitta.cli.recall_tier import RELATED, SUPPORTED, arms, tier
from chitta.recall.budget import Item

if TYPE_CHECKING:
    from chitta.wire.rows import Row

_STYLES = {SUPPORTED: "green", RELATED: "yellow"}
INDENT = "   "
_TITLE_CHARS = 100
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
    answer: Answer,
    shown: Sequence[Row],
    beyond: Sequence[Row],
    strategy: str,
    depth: int,
    *,
    explain: bool,
    least: Least | None = None,
) -> list[Item]:
    """The notes as they are printed; every part begins with its line break."""
    rows = [*shown, *beyond]
    glances = _glances(answer, rows, least=least) if depth < FULL else []
    found = []
    for number, row in enumerate(rows, start=1):
        first_beyond = number == len(shown) + 1
        lead = [""] if number > 1 and (depth >= FULL or first_beyond) else []
        lead += [output.paint(ELSEWHERE, "bold")] if first_beyond else []
        why = answer.reasons.get(row.id, {})
        told = recall_reasons.lines(row, why, INDENT) if explain else []
        if depth < FULL:
            glance = _joined([*lead, glances[number - 1]])
            found.append(Item(glance, context=(_joined(told),) if told else ()))
        else:
            found.append(_item(answer, number, row, strategy, depth, lead=lead, told=told))
    return found


def _item(
    answer: Answer, number: int, row: Row, strategy: str, depth: int, *, lead: list[str], told: list[str]
) -> Item:
    title = output.one_line(row.title or row.id, output.width() - 4)
    chance = f"conf {row.conf:.2f}" if row.conf >= 0 else "conf not measured"
    if answer.newest:
        evidence = output.paint(row.why or "one of the newest", "green") + (
            f" · {row.created[:_DATE_CHARS]}" if row.created else ""
        )
    else:
        found = " and ".join(arms(row, strategy)) or "its place"
        found += f" · {output.one_line(row.why, _TITLE_CHARS)}" if row.why else ""
        evidence = f"{output.paint(f'{tier(row)}, {chance}', _STYLES.get(tier(row), 'dim'))} · found by {found}"
    score = "" if answer.newest else f" · score {row.score:.3f}"
    facts = f"{output.harmless(row.id)} · {output.harmless(row.kind)} · {output.harmless(row.realm)}{score}"
    head = [*lead, output.paint(f"{number}. {title}", "bold"), f"{INDENT}{evidence}"]
    head += lines_of(facts, INDENT, "dim")
    if word := recall_state.beside(answer, row):
        head.append(output.paint(f"{INDENT}{word.strip(' []')}", "yellow"))
    head += [output.paint(f"{INDENT}{line}", "yellow") for line in _standing(row, answer.reasons.get(row.id, {}))]
    if depth == FULL:
        lines = recall_text.excerpt(row.text, title, output.width() - 4)
        text = [f"{INDENT}{line}" for line in lines]
    else:
        text = ["", *recall_text.flowing(recall_text.whole_text(row.text, row.title), INDENT)]
    around = around_lines(answer.around.get(row.id, {}), row.source, INDENT) if depth > FULL else []
    apart = [""] if depth > FULL else []
    context = [_joined([*apart, *part]) for part in (around, told) if part]
    return Item(_joined(head), _joined(text), tuple(context))


def _glances(answer: Answer, rows: Sequence[Row], *, least: Least | None) -> list[str]:
    """A line each, under one another: id, tier, conf, date, title; the newest notes have no evidence to show."""
    newest = answer.newest
    columns = ["id", "date", "title"] if newest else ["id", "tier", "conf", "date", "title"]
    cells = []
    for row in rows:
        told = [] if newest else [tier(row), f"{row.conf:.2f}" if row.conf >= 0 else "-"]
        cells.append([row.id, *told, row.created[:_DATE_CHARS] or "-", recall_state.beside(answer, row) + heading(row)])
    names, cells = output.fitted(columns, cells, "title", spare=("conf", "date"), least=least, headed=False)
    styles = [_STYLES.get(tier(row), "dim") for row in rows]
    return [
        "  ".join(
            output.paint(cell, style if name in ("tier", "conf") else "")
            for name, cell in zip(names, line, strict=True)
        )
        for style, line in zip(styles, output.padded(cells), strict=True)
    ]


def heading(row: Row) -> str:
    """The title; the beginning of the text where there is none."""
    return row.title or output.one_line(row.text, _TITLE_CHARS)


def draw_table(
    answer: Answer, shown: Sequence[Row], beyond: Sequence[Row], count: int, *, least: Least | None = None
) -> None:
    """The first ``count`` rows as a table of dates and titles; their realms, where there are several."""
    rows = [*shown, *beyond][:count]
    several = len({row.realm for row in (*shown, *beyond)}) > 1
    columns = ["id", "date", "conf", "title"] + (["realm"] if several else [])
    cells = []
    for row in rows:
        chance = f"{row.conf:.2f}" if row.conf >= 0 and not answer.newest else "-"
        date = row.created[:_DATE_CHARS] or "-"
        cells.append(
            [row.id, date, chance, recall_state.beside(answer, row) + heading(row)] + ([row.realm] if several else [])
        )
    spare = ("realm", "conf") if several else ("conf",)
    output.table(columns, cells, right=("conf",), cut="title", spare=spare, least=least)


def around_lines(around: Mapping[str, Any], source: str, indent: str) -> list[str]:
    """Source, what replaced the note and what it replaced, its session, and related notes, in this one order.

    A line for each; on a terminal two, where one is too narrow.
    """
    lines = [*_neighbour("source:", source, "", indent)] if source else []
    for name, words in _AROUND:
        value = around.get(name) or []
        for note in [value] if isinstance(value, Mapping) else value:
            facts = [output.harmless(note["id"]), output.harmless(str(note.get("created") or "")[:_DATE_CHARS])]
            because = ", ".join(map(_subject, note.get("because") or ()))
            facts.append(f"both: {output.one_line(because, _TITLE_CHARS)}" if because else "")
            lines += _neighbour(f"{words}:", note.get("title", ""), " · ".join(filter(None, facts)), indent)
    return lines


def _neighbour(label: str, title: str, facts: str, indent: str) -> list[str]:
    """Its title, then its id, its date and why it is here."""
    lead = f"{indent}{output.paint(label, 'dim')} "
    if not output.on_terminal():
        return [lead + " · ".join(filter(None, (output.one_line(title, _TITLE_CHARS), facts)))]
    room = output.width() - len(indent) - len(label) - 1
    title = output.one_line(title, room)
    if not title or not facts or output.columns_of(title) + len(facts) + 3 <= room:
        first = " · ".join(filter(None, (title, output.paint(facts, "dim") if facts else "")))
        return [lead + first]
    return [lead + title, *lines_of(facts, indent + INDENT, "dim")]


def _subject(entity: str) -> str:
    """``tag:stripe`` and ``file:a.py`` as a person calls them."""
    return output.harmless(entity.partition(":")[2] or entity)


def lines_of(text: str, indent: str = "", style: str = "") -> list[str]:
    """Lines, on a terminal wrapped at its width under their own indentation, in a pipe as they are."""
    pieces = output.pieces_of(indent + text, output.width()) if output.on_terminal() else [indent + text]
    return [output.paint(piece.rstrip(), style) for piece in pieces]


def _standing(row: Row, why: Mapping[str, Any]) -> list[str]:
    """That another note has this one's place, and that others say the same."""
    replaced = (why.get("replaced") or {}).get("why") or (
        f"replaced by {row.superseded_by}" if row.superseded_by else ""
    )
    lines = [output.one_line(replaced, output.width() - len(INDENT))] if replaced else []
    doubles = len(why.get("doubles") or ())
    if doubles:
        lines.append(f"{doubles} more {'says' if doubles == 1 else 'say'} the same")
    return lines


def _joined(lines: Sequence[str]) -> str:
    return "".join(f"\n{line}" for line in lines)
