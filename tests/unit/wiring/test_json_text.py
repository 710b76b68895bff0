from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chitta.wiring import json_text
from chitta.wiring.harness import TABLE
from chitta.wiring.json_text import Broken, Style

from . import documents

TEXTS = st.sampled_from(TABLE).flatmap(documents.texts_of)


@given(TEXTS)
def test_the_spans_of_the_members_hold_their_keys_and_values(text: str) -> None:
    value = json.loads(text)
    top = json_text.root(text)
    assert [member.key for member in top.members] == list(value)
    for member in top.members:
        assert json.loads(text[member.value_start : member.end]) == value[member.key]
        assert text[member.start] == '"'
    assert (text[top.start], text[top.end - 1]) == ("{", "}")


@given(TEXTS, documents.VALUES)
def test_appending_adds_one_member_and_removing_it_gives_the_bytes_back(text: str, value: object) -> None:
    top = json_text.root(text)
    longer = json_text.appended(text, top, "brand new", value, json_text.style_of(text))
    assert json.loads(longer) == {**json.loads(text), "brand new": value}
    again = json_text.root(longer)
    if top.members:
        assert json_text.removed(longer, again, len(again.members) - 1) == text


@given(TEXTS, st.integers(0, 9))
def test_removing_takes_that_member_alone(text: str, index: int) -> None:
    top = json_text.root(text)
    if index >= len(top.members):
        return
    left = json.loads(text)
    del left[top.members[index].key]
    assert json.loads(json_text.removed(text, top, index)) == left


@pytest.mark.parametrize(
    ("text", "style"),
    [
        ('{\n    "a": 1\n}', Style("\n", "    ", ", ", ": ")),
        ('{\r\n\t"a":1\r\n}', Style("\r\n", "\t", ", ", ":")),
        ('{"a":1,"b":2}', Style("\n", None, ",", ":")),
        ('{"a": 1, "b": 2}', Style("\n", None, ", ", ": ")),
        ("{}", Style("\n", "  ", ", ", ": ")),
    ],
)
def test_the_style_is_that_of_the_first_members(text: str, style: Style) -> None:
    assert json_text.style_of(text) == style


@given(st.text(max_size=30) | TEXTS.map(lambda text: text[:-3]))
def test_any_text_parses_or_is_broken(text: str) -> None:
    try:
        json_text.parse(text)
    except Broken as problem:
        assert str(problem)
