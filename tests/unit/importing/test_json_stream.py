"""Items of a JSON document: the same as a whole reading gives, in whatever pieces it comes."""

from __future__ import annotations

import io
import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chitta.importing import json_stream
from chitta.importing.json_stream import BrokenJson, Item, items

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=8,
)


def found(document: str | bytes, *names: str) -> list[tuple[str, object]]:
    data = document.encode() if isinstance(document, str) else document
    return [
        (item.name, json.loads(item.data) if item.data is not None else None) for item in items(io.BytesIO(data), names)
    ]


@settings(max_examples=150, deadline=None)
@given(st.lists(VALUES, max_size=5), st.integers(1, 40), st.sampled_from([None, 1]), st.booleans())
def test_a_list_gives_its_items(values: list[object], chunk: int, indent: int | None, plain: bool) -> None:
    before, json_stream._CHUNK = json_stream._CHUNK, chunk
    try:
        document = json.dumps(values, indent=indent, ensure_ascii=plain)
        assert found(document) == [("", value) for value in values]
    finally:
        json_stream._CHUNK = before


@settings(max_examples=150, deadline=None)
@given(st.dictionaries(st.sampled_from(["a", "b", "other"]), st.lists(VALUES, max_size=3) | VALUES), st.integers(1, 40))
def test_an_object_gives_the_items_of_its_named_lists(fields: dict[str, object], chunk: int) -> None:
    before, json_stream._CHUNK = json_stream._CHUNK, chunk
    try:
        wanted = [(name, each) for name in fields if name != "other" and isinstance(fields[name], list)
                  for each in fields[name]]  # type: ignore[attr-defined]  # fmt: skip
        assert found(json.dumps(fields), "a", "b") == wanted
    finally:
        json_stream._CHUNK = before


@given(st.binary(max_size=200) | st.text(alphabet='[]{}",:\\a1 ').map(str.encode))
def test_what_is_no_json_ends_in_a_sentence_or_in_items(data: bytes) -> None:
    try:
        assert all(isinstance(item, Item) for item in items(io.BytesIO(data), ("a",)))
    except BrokenJson as problem:
        assert str(problem)


def test_an_item_that_is_too_long_is_passed_over(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(json_stream, "MAX_ITEM_BYTES", 100)
    monkeypatch.setattr(json_stream, "_CHUNK", 16)
    document = json.dumps(["a", "b" * 1000, {"c": ["d" * 500]}, "e"])
    assert found(document) == [("", "a"), ("", None), ("", None), ("", "e")]


def test_a_long_item_is_not_kept_in_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(json_stream, "MAX_ITEM_BYTES", 1000)
    monkeypatch.setattr(json_stream, "_CHUNK", 100)
    scanner = json_stream._Scanner(io.BytesIO(b'["' + b"x" * 1_000_000 + b'"]'), ())
    longest = 0
    more = scanner._more

    def watched() -> bool:
        nonlocal longest
        answer = more()
        longest = max(longest, len(scanner._buffer))
        return answer

    scanner._more = watched  # type: ignore[method-assign]
    assert list(scanner.items()) == [Item("", None)]
    assert longest < 2000


def test_items_come_before_the_rest_is_read() -> None:
    class Endless(io.RawIOBase):
        def read(self, size: int = -1) -> bytes:
            return b"[" + b'{"a": 1},' * 100 if size else b""

    assert next(items(Endless(), ())) == Item("", b'{"a": 1}')


@pytest.mark.parametrize(
    "document, word",
    [("", "empty"), (" \n", "empty"), ("12", "not JSON"), ('["a"', "ends in the middle"), ('["a', "ends in the middle"),
     ('["\\', "ends in the middle"), ('["a"]\n["b"]', "more after its end")],
)  # fmt: skip
def test_what_is_wrong_is_said(document: str, word: str) -> None:
    with pytest.raises(BrokenJson, match=word):
        found(document)
