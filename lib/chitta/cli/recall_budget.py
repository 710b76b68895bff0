"""Keeping what `chitta recall` prints within a number of tokens: text, tables and JSON."""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Sequence
from contextlib import redirect_stdout
from typing import Any

from chitta.cli import output
from chitta.recall.budget import SHORTEST_TEXT, Item, estimate, fit, shorten

_COLOUR = re.compile(r"\x1b\[[0-9;]*m")


def memories(count: int) -> str:
    """``1 memory``, ``2 memories``."""
    return "1 memory" if count == 1 else f"{count:,} memories"


def print_items(items: Sequence[Item], foot: str, max_tokens: int | None) -> list[str]:
    """Print memories, each part of which begins with its line break, and the foot; what was trimmed, in words.

    The foot is the first to go. The first line break is left out, and print's own at the end counts for it.
    """
    bare = [Item(_bare(item.head), item.text, tuple(map(_bare, item.context))) for item in items]
    fitted = fit(bare, max_tokens or 0)
    parts = [
        part
        for item, left in zip(items, fitted.items, strict=False)
        for part in (item.head, left.text, *(item.context if left.context else ()))
    ]
    trimmed = list(fitted.trimmed)
    if foot:
        if max_tokens is None or (not trimmed and estimate(_bare("".join([*parts, foot]))) <= max_tokens):
            parts.append(foot)
        else:
            trimmed.insert(0, "what the arms said left out")
    if parts:
        output.say("".join(parts).removeprefix("\n"))
    return trimmed


def print_drawn(draw: Callable[[int], None], count: int, max_tokens: int | None) -> list[str]:
    """Let ``draw`` print the first of ``count`` rows, as many as fit; what was trimmed, in words.

    They are measured as in a pipe: rules, colours and padding of a terminal are no words.
    """
    if max_tokens is None:
        draw(count)
        return []
    low, high = 0, count
    while low < high:
        middle = (low + high + 1) // 2
        if estimate(_drawn(draw, middle)) <= max_tokens:
            low = middle
        else:
            high = middle - 1
    if low:
        draw(low)
    return [f"{memories(count - low)} left out"] if low < count else []


def _drawn(draw: Callable[[int], None], count: int) -> str:
    memo = io.StringIO()
    with redirect_stdout(memo):
        draw(count)
    return memo.getvalue()


def _bare(text: str) -> str:
    """Without colours."""
    return _COLOUR.sub("", text)


def trim_json(facts: dict[str, Any], max_tokens: int | None) -> dict[str, Any]:
    """The facts with their ``rows`` as far as all of it, as :func:`output.as_json` writes it, fits.

    What is around the last rows goes first, then the text of the last one is shortened, then rows
    go; ``reasons`` go with their rows. ``trimmed`` says so. Without rows it may be too long still.
    """
    if max_tokens is None:
        return facts
    rows: list[dict[str, Any]] = facts["rows"]

    def made(whole: int, kept: int, text_tokens: int | None = None) -> dict[str, Any]:
        """With ``kept`` rows, ``whole`` of them with what is around them; the last one's text so long."""
        left = [row if at < whole else _without_around(row) for at, row in enumerate(rows[:kept])]
        trimmed = []
        without = sum(1 for row in rows[whole:] if row.get("around"))
        if without:
            trimmed.append(f"context of {memories(without)} left out")
        if text_tokens is not None and left:
            left[-1] = {**left[-1], "text": shorten(left[-1]["text"], text_tokens)}
            trimmed.append("text of the last memory shortened")
        if kept < len(rows):
            trimmed.append(f"{memories(len(rows) - kept)} left out")
        value = {**facts, "rows": left, "trimmed": trimmed}
        if "reasons" in facts:
            names = {row.get("id") for row in left}
            value["reasons"] = {name: why for name, why in facts["reasons"].items() if name in names}
        return value

    def fits(value: dict[str, Any]) -> bool:
        return estimate(_as_printed(value)) <= max_tokens

    count = len(rows)
    if fits(made(count, count)):
        return made(count, count)
    whole = _most(count, lambda number: fits(made(number, count)))
    if fits(made(whole, count)):
        return made(whole, count)
    kept = _most(count, lambda number: fits(made(0, number)))
    if kept < count and "text" in rows[kept]:
        most = estimate(rows[kept]["text"])
        tokens = _most(most, lambda number: fits(made(0, kept + 1, number)))
        if tokens >= (SHORTEST_TEXT if kept else 1):
            return made(0, kept + 1, tokens)
    return made(0, kept)


def _without_around(row: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in row.items() if name != "around"}


def _most(count: int, holds: Callable[[int], bool]) -> int:
    """The largest number up to ``count`` for which it holds, if it holds for all smaller ones; else 0."""
    low, high = 0, count
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if holds(middle) else (low, middle - 1)
    return low


def _as_printed(value: Any) -> str:
    return output.json_text(value) + "\n"
