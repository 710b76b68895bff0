"""Rows on the wire: forgiving to read, whatever wrote them."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chitta.wire.rows import (
    MAX_ID_CHARS,
    MAX_ROWS,
    MAX_TEXT_CHARS,
    STATES,
    VERSION,
    Header,
    LaneResult,
    Row,
    encode_rows,
    parse_rows,
)

TEXT = st.text(alphabet=st.characters(exclude_categories=["Cs"]), max_size=30)
UNIT = st.integers(0, 16).map(lambda n: n / 16)
ROWS = st.builds(
    Row,
    id=TEXT.filter(str.strip),
    score=UNIT,
    kind=TEXT,
    realm=TEXT.filter(bool),
    title=TEXT,
    text=TEXT,
    created=TEXT,
    conf=st.one_of(st.just(-1.0), UNIT),
    cos=st.one_of(st.just(-1.0), UNIT),
    bm25=UNIT,
    coverage=UNIT,
    shared=st.lists(TEXT, max_size=4).map(tuple),
    superseded_by=TEXT,
    quarantine=st.booleans(),
    valid_until=TEXT,
    source=TEXT,
    confidence=UNIT,
    why=TEXT,
    only_mentioned=st.booleans(),
    tags=st.lists(TEXT, max_size=4).map(tuple),
    conflicts_with=st.lists(TEXT, max_size=4).map(tuple),
)
HEADERS = st.builds(
    Header,
    lane=st.just("keyword"),
    n=st.integers(0, 200),
    k=st.integers(0, 100),
    maxrel=st.one_of(st.none(), UNIT),
    exhausted=st.booleans(),
    warming=st.booleans(),
    ms=UNIT,
    note=TEXT,
    size=st.integers(0, 10**9),
    v=st.just(VERSION),
)
HEAD = b'{"v":1,"lane":"keyword"}\n'


@given(HEADERS, st.lists(ROWS, max_size=5))
def test_round_trip(header: Header, rows: list[Row]) -> None:
    found = parse_rows("keyword", "ok", 3.0, encode_rows(header, rows))
    assert found == LaneResult("keyword", "ok", 3.0, header, tuple(rows), 0)


@given(st.binary(max_size=300), st.sampled_from([*STATES, "nonsense"]))
def test_any_bytes_are_met(raw: bytes, state: str) -> None:
    found = parse_rows("keyword", state, 1.0, raw)
    assert found.state in STATES
    assert found.rows == () or found.state == "ok"


@pytest.mark.parametrize("state", [state for state in STATES if state != "ok"])
def test_what_a_failed_lane_wrote_does_not_count(state: str) -> None:
    raw = encode_rows(Header("keyword"), [Row("a", 1.0)])
    assert parse_rows("keyword", state, 1.0, raw) == LaneResult("keyword", state, 1.0)


@pytest.mark.parametrize(
    "raw", [b"", b"\n", b'{"id":"a","score":1}\n', b'{"v":2,"lane":"keyword"}\n', b'{"v":1}\n', b"[]\n", b'{"v":1,"la']
)
def test_no_header_is_a_crash(raw: bytes) -> None:
    assert parse_rows("keyword", "ok", 1.0, raw + b'{"id":"a","score":1}\n').state == "crash"


@pytest.mark.parametrize(
    "line",
    [
        b"not json",
        b"[]",
        b"{}",
        b'{"id":"a"}',
        b'{"score":1}',
        b'{"id":7,"score":1}',
        b'{"id":" ","score":1}',
        b'{"id":"a","score":"1"}',
        b'{"id":"a","score":true}',
        b'{"id":"a","score":1e400}',
        b'{"id":"a","score":null}',
        b'{"id":"\xff","score":1}',
        json.dumps({"id": "x" * (MAX_ID_CHARS + 1), "score": 1}).encode(),
    ],
)
def test_a_bad_line_drops_that_row_only(line: bytes) -> None:
    found = parse_rows("keyword", "ok", 1.0, HEAD + b'{"id":"a","score":2}\n' + line + b'\n\n{"id":"b","score":1}')
    assert [row.id for row in found.rows] == ["a", "b"]
    assert found.bad_rows == 1


@pytest.mark.parametrize(
    ("key", "value", "read"),
    [
        ("conf", 7, 1.0),
        ("conf", "high", -1.0),
        ("cos", None, -1.0),
        ("kind", 3, ""),
        ("realm", "", "global"),
        ("quarantine", 1, False),
        ("shared", "abc", ()),
        ("shared", ["a", 1], ("a",)),
        ("tags", "abc", ()),
        ("tags", ["a"] * 20, ("a",) * 16),
        ("text", "x" * 10_000, "x" * MAX_TEXT_CHARS),
    ],
)
def test_odd_fields_take_bounds_and_defaults(key: str, value: Any, read: Any) -> None:
    line = json.dumps({"id": "a", "score": 1, key: value, "unknown": {}}).encode()
    (row,) = parse_rows("keyword", "ok", 1.0, HEAD + line).rows
    assert row._asdict()[key] == read


def test_too_many_rows_are_counted_as_bad() -> None:
    raw = encode_rows(Header("keyword"), [Row(f"n{n}", 1.0) for n in range(MAX_ROWS + 7)])
    found = parse_rows("keyword", "ok", 1.0, raw)
    assert (len(found.rows), found.bad_rows) == (MAX_ROWS, 7)


@pytest.mark.parametrize("maxrel", [-0.1, 1.1, "0.5", None])
def test_an_impossible_maxrel_is_not_measured(maxrel: Any) -> None:
    head = json.dumps({"v": 1, "lane": "hybrid", "maxrel": maxrel}).encode()
    found = parse_rows("hybrid", "ok", 1.0, head)
    assert found.header is not None and found.header.maxrel is None
