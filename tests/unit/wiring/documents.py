"""Settings files as people and programs write them, for hypothesis."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import strategies as st

from chitta.wiring.harness import Harness

SCALARS = st.none() | st.booleans() | st.integers(-9, 10**12) | st.floats(allow_nan=False, allow_infinity=False)
TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
VALUES = st.recursive(
    SCALARS | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=6,
)
#: Handlers of others, some of which look a little like chitta's.
FOREIGN = st.sampled_from(
    [
        {"type": "command", "command": "/home/me/.claude/hooks/session-start.sh", "timeout": 5},
        {"type": "command", "command": "bash hooks/session-flush.sh", "bash": "echo hello"},
        {"type": "command", "command": "/x/hooks/session-start.sh", "args": ["other"]},
        {"type": "command", "command": 'echo "a, b" | tee {}', "bash": "a && b"},
        {"type": "mcp_tool", "server": "s", "tool": "t"},
    ]
)
SPACES = st.text(" \t\n", max_size=3)


def hooks_of(row: Harness) -> st.SearchStrategy[dict[str, Any]]:
    """A ``hooks`` object with foreign handlers, at the harness's events and at others."""
    names = st.sampled_from([*(event.name for event in row.events), "PostToolUse", "Other"])
    groups = st.builds(lambda handlers: {"matcher": "*", "hooks": handlers}, st.lists(FOREIGN, max_size=2))
    return st.dictionaries(names, st.lists(groups if row.grouped else FOREIGN, max_size=2), max_size=4)


def values_of(row: Harness) -> st.SearchStrategy[dict[str, Any]]:
    """A whole document: keys of any kind around a ``hooks`` that may be there or not."""

    def joined(before: dict[str, Any], hooks: dict[str, Any] | None, after: dict[str, Any]) -> dict[str, Any]:
        return {**before, **({} if hooks is None else {"hooks": hooks}), **after}

    keys = TEXTS.filter(lambda key: key not in ("hooks", "version"))
    some = st.dictionaries(keys, VALUES, max_size=3)
    versions: st.SearchStrategy[dict[str, Any]] = st.sampled_from([{}, {"version": 1}])
    return st.builds(joined, some, st.none() | hooks_of(row), st.builds(lambda a, b: {**a, **b}, some, versions))


@st.composite
def texts_of(draw: st.DrawFn, row: Harness) -> str:
    """A document as text: indented or not, with any line ends, or with spaces wherever JSON lets them be."""
    value = draw(values_of(row))
    indent = draw(st.sampled_from([None, 1, 2, 4, "\t", "odd", "tight"]))
    if indent == "odd":
        text = oddly(value, lambda: draw(SPACES))
    elif indent == "tight":
        text = json.dumps(value, separators=(",", ":"))
    else:
        text = json.dumps(value, indent=indent, ensure_ascii=draw(st.booleans()))
    text += draw(st.sampled_from(["", "\n", "\n\n"]))
    return text.replace("\n", "\r\n") if draw(st.booleans()) else text


def oddly(value: Any, space: Any) -> str:
    """JSON with ``space()`` at every place that may have some."""
    if isinstance(value, dict):
        inner = ",".join(f"{space()}{json.dumps(k)}{space()}:{oddly(v, space)}" for k, v in value.items())
        return f"{space()}{{{inner or space()}}}{space()}"
    if isinstance(value, list):
        return f"{space()}[{','.join(oddly(v, space) for v in value) or space()}]{space()}"
    return f"{space()}{json.dumps(value)}{space()}"
