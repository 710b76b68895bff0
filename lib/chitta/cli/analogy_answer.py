"""`chitta recall --analogy a:b::c:?`: answered from what notes state of each other, or not at all."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from chitta.cli import asking, output
from chitta.cli.failure import Nothing
from chitta.settings import Settings

_HINT = "only relations that notes state count, such as those under `relations` in their front matter"
#: Characters of one stated relation that are shown.
_STATED_CHARS = 200


def answer(
    settings: Settings, analogy: str, place: str | None, *, named: bool, max_tokens: int | None, as_json: bool
) -> None:
    """Print the answers with the edges that support them. Raises :class:`Nothing` with the reason for none.

    Where this folder's realm, which nobody named, has no answer, all realms are asked.
    """
    from chitta.cli import recall_budget

    found = asking.transfer(settings, analogy, place)
    looked = place
    if not found["solutions"] and place is not None and not named:
        found, looked = asking.transfer(settings, analogy, None), None
    solutions = found["solutions"]
    if as_json:
        facts = {"analogy": analogy, "realm": looked, "reason": found["reason"], "rows": solutions}
        facts = recall_budget.trim_json(facts, max_tokens)
        facts["solutions"] = facts.pop("rows")
        output.as_json(facts)
        trimmed = facts.get("trimmed", [])
    else:
        trimmed = recall_budget.print_items(_items(solutions), "", max_tokens)
    if trimmed:
        output.tell(f"chitta: to stay within {output.plural(max_tokens or 0, 'token')}: {', '.join(trimmed)}")
    if not solutions:
        where = f" in {looked}" if looked is not None else ""
        raise Nothing(f"no answer{where}: {found['reason']}", _HINT)


def looks_like_one(text: str) -> bool:
    """Whether a question is written as an analogy."""
    from chitta.recall.analogy import parse

    if "::" not in text:
        return False
    try:
        parse(text)
    except ValueError:
        return False
    return True


def _items(solutions: Sequence[Mapping[str, Any]]) -> list[Any]:
    from chitta.cli import recall_rows
    from chitta.recall.budget import Item

    items = []
    for number, one in enumerate(solutions, start=1):
        lead = "\n" if number > 1 else ""
        head = f"{lead}\n{output.paint(output.one_line(one['answer'], output.width()), 'bold')}"
        edges = [f"because {_edge(edge)}" for edge in one["because"]] + [f"and {_edge(edge)}" for edge in one["and"]]
        context = ["".join(f"\n{line}" for line in recall_rows.lines_of(edge, "   ")) for edge in edges]
        items.append(Item(head, context=tuple(context)))
    return items


def _edge(edge: Mapping[str, str]) -> str:
    stated = f"{edge['source']} {edge['relation'].replace('_', ' ')} {edge['target']}"
    return f"{output.one_line(stated, _STATED_CHARS)} ({output.harmless(edge['note'])})"
