from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chitta.cli.recall_budget import print_drawn, print_items, trim_json
from chitta.recall.budget import Item, estimate

TEXT = st.text(st.characters(codec="utf-8", exclude_categories=["Cc"]), max_size=200)
ROWS = st.lists(
    st.builds(lambda text, around: {"text": text, "around": around}, TEXT, st.sampled_from([{}, {"a": ["x"] * 9}]))
)


def as_printed(value: Any) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False) + "\n"


def told(facts: dict[str, Any]) -> list[dict[str, Any]]:
    """The rows without what is empty in them."""
    return [{name: part for name, part in row.items() if part} for row in facts["rows"]]


@given(ROWS, st.integers(1, 600))
def test_json_is_never_longer_while_there_are_rows(rows: list[dict[str, Any]], tokens: int) -> None:
    facts = {
        "query": "q",
        "rows": [{"id": str(at), **row} for at, row in enumerate(rows)],
        "reasons": {"0": {}, "z": {}},
    }
    value = trim_json(facts, tokens)
    assert estimate(as_printed(value)) <= tokens or value["rows"] == []
    assert [row["id"] for row in value["rows"]] == [str(at) for at in range(len(value["rows"]))]
    assert set(value["reasons"]) == ({"0"} if value["rows"] else set())
    assert bool(value["trimmed"]) is (told(value) != told(facts))


def test_json_without_a_limit_stays_as_it_is() -> None:
    facts = {"rows": [{"text": "x" * 1_000}]}
    assert trim_json(facts, None) is facts


def test_context_goes_before_text_and_text_before_rows() -> None:
    row = {"id": "a", "text": "word " * 100, "around": {"session": ["x" * 400]}}
    facts = {"rows": [row, {**row, "id": "b"}]}
    whole = estimate(as_printed({**facts, "trimmed": []}))
    assert trim_json(facts, whole)["trimmed"] == []
    one = trim_json(facts, whole - 1)
    assert "around" in one["rows"][0] and "around" not in one["rows"][1] and len(one["trimmed"]) == 1
    short = trim_json(facts, 250)
    assert short["rows"][-1]["text"].endswith("…") and "text of the last memory shortened" in short["trimmed"]


@given(st.lists(st.builds(Item, TEXT.map("\n".__add__), TEXT.map("\n".__add__)), max_size=6), st.integers(1, 200))
def test_printed_items_are_never_longer(items: list[Item], tokens: int) -> None:
    import io
    from contextlib import redirect_stdout

    with redirect_stdout(io.StringIO()) as out:
        trimmed = print_items(items, "\nfoot", tokens)
    assert estimate(out.getvalue()) <= tokens
    assert trimmed or out.getvalue().endswith("foot\n")


@pytest.mark.parametrize("tokens", [None, 1, 5, 10, 1_000])
def test_of_a_table_as_many_rows_as_fit(capsys: pytest.CaptureFixture[str], tokens: int | None) -> None:
    def draw(count: int) -> None:
        for number in range(count):
            print(f"row {number}")

    trimmed = print_drawn(draw, 9, tokens)
    out = capsys.readouterr().out
    rows = len(out.splitlines())
    assert tokens is None or estimate(out) <= tokens
    assert trimmed == ([] if rows == 9 else [f"{9 - rows} memories left out"])
    assert (rows == 9) is (tokens in (None, 1_000))
