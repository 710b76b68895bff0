"""The request on the wire."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chitta.wire.request import MAX_PROMPT_CHARS, VERSION, Request, encode_request, parse_request

TEXT = st.text(alphabet=st.characters(exclude_categories=["Cs"]))


@given(
    st.builds(
        Request,
        prompt=TEXT,
        query=TEXT,
        context_query=TEXT,
        context_turns=st.lists(TEXT, max_size=3).map(tuple),
        tokens=st.lists(TEXT).map(tuple),
        anchor=TEXT,
        session=TEXT,
        turn=st.integers(1, 1000),
        cwd=TEXT,
        realm=TEXT.filter(bool),
        k=st.integers(1, 100),
        deadline_ms=st.integers(1, 600_000),
        harness=TEXT,
        event=TEXT,
        run=st.text("0123456789abcdef", max_size=64),
        v=st.just(VERSION),
    )
)
def test_round_trip(request_: Request) -> None:
    raw = encode_request(request_)
    assert raw.count(b"\n") == 1 and raw.endswith(b"\n")
    assert parse_request(raw) == request_


def test_by_hand_a_prompt_or_a_query_is_enough() -> None:
    assert parse_request(b'{"prompt": "why"}') == Request(prompt="why", query="why")
    assert parse_request(b'{"query": "why", "unknown": [1]}') == Request(prompt="why", query="why")


@pytest.mark.parametrize(
    "raw",
    [
        b"",
        b"words",
        b"[]",
        b"null",
        b"{}",
        b'{"prompt": 3}',
        b'{"prompt": null, "query": []}',
        b'{"v": 2, "prompt": "a"}',
    ],
)
def test_misuse_is_a_value_error_with_a_sentence(raw: bytes) -> None:
    with pytest.raises(ValueError, match=r"\w+ \w+"):
        parse_request(raw)


@pytest.mark.parametrize(
    ("key", "value", "read"),
    [
        ("k", 0, 1),
        ("k", 1_000, 100),
        ("k", 2.9, 2),
        ("k", True, 10),
        ("k", "7", 10),
        ("deadline_ms", -5, 1),
        ("deadline_ms", 1e300, 600_000),
        ("turn", None, 1),
        ("tokens", "abc", ()),
        ("tokens", ["a", 1, None, "b"], ("a", "b")),
        ("realm", "", "global"),
        ("session", {"a": 1}, ""),
        ("anchor", None, ""),
        ("anchor", ["last"], ""),
        ("anchor", "x" * (MAX_PROMPT_CHARS + 1), "x" * MAX_PROMPT_CHARS),
    ],
)
def test_odd_values_take_bounds_and_defaults(key: str, value: Any, read: Any) -> None:
    assert parse_request(json.dumps({"prompt": "a", key: value}).encode())._asdict()[key] == read


def test_a_huge_prompt_is_capped() -> None:
    assert len(parse_request(json.dumps({"prompt": "x" * 300_000}).encode()).prompt) == MAX_PROMPT_CHARS


def test_a_number_larger_than_any_float_is_the_most() -> None:
    from chitta.wire import codec

    dump, load = codec._standard()  # a lane without site-packages reads whole numbers of any length
    before = codec._load
    codec._load = load
    try:
        request = parse_request(b'{"prompt":"x","k":1' + b"0" * 400 + b"}")
    finally:
        codec._load = before
    assert request.k == 100
