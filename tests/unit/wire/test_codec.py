"""JSON bytes, frames' payloads and merge parts."""

import json
import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chitta.wire import codec

TEXT = st.text(alphabet=st.characters(exclude_categories=["Cs"]))
VALUES = st.recursive(
    st.one_of(
        st.none(), st.booleans(), st.integers(-(2**53), 2**53), st.integers(-1000, 1000).map(lambda n: n / 8), TEXT
    ),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXT, inner, max_size=4),
    max_leaves=10,
)
WORD = st.text(st.characters(min_codepoint=33, max_codepoint=126), min_size=1, max_size=12)


@given(VALUES)
def test_both_encoders_give_the_same_bytes(value: Any) -> None:
    for dump, load in (codec._fast(), codec._standard()):
        assert dump(value) == codec.dumps(value)
        assert load(dump(value)) == value


@given(VALUES)
def test_round_trip(value: Any) -> None:
    raw = codec.dumps(value)
    assert codec.loads(raw) == value == json.loads(raw)
    assert b"\n" not in raw


@pytest.mark.parametrize("standard", [True, False])
@pytest.mark.parametrize(
    ("value", "raw"),
    [
        ({"a": math.nan, "b": [math.inf, 1.5]}, b'{"a":null,"b":[null,1.5]}'),
        ("half \ud800 pair", '"half \ufffd pair"'.encode()),
        ({"\udfff": 1}, '{"\ufffd":1}'.encode()),
        ((1, ("é",)), '[1,["é"]]'.encode()),
        ({"b", "a"}, b'["a","b"]'),
        ("\u2028</", '"\u2028</"'.encode()),
    ],
)
def test_odd_values(value: Any, raw: bytes, standard: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    if standard:
        monkeypatch.setattr(codec, "_dump", codec._standard()[0])
    assert codec.dumps(value) == raw


@pytest.mark.parametrize("standard", [True, False])
@pytest.mark.parametrize("raw", [b"", b"{", b"\xff", b"nul", b'{"a":1} {}', b"[" * 200_000, b'"\xed\xa0\x80"'])
def test_what_is_no_json_is_a_value_error(raw: bytes, standard: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    if standard:
        monkeypatch.setattr(codec, "_load", codec._standard()[1])
    with pytest.raises(ValueError):
        codec.loads(raw)


def test_a_byte_order_mark_is_skipped() -> None:
    assert codec.loads(b"\xef\xbb\xbf[1]") == [1]


@given(WORD, st.lists(WORD), st.binary(), st.dictionaries(WORD.map(lambda w: "CHITTA_" + w.replace("=", "")), TEXT))
def test_request_payload_round_trip(verb: str, arguments: list[str], body: bytes, environ: dict[str, str]) -> None:
    payload = codec.encode_request_payload(verb, tuple(arguments), body, environ)
    head, found = codec.decode_request_payload(payload)
    assert found == body
    assert (head.verb, head.arguments) == (verb, tuple(arguments))
    assert head.environ == {name: value for name, value in environ.items() if "\n" not in value}


@pytest.mark.parametrize("payload", [b"", b"lane keyword v1\n", b"lane keyword v2\n\n", b"v1\n\n", b"\n\nbody"])
def test_what_is_no_request_is_a_value_error(payload: bytes) -> None:
    with pytest.raises(ValueError):
        codec.decode_request_payload(payload)


def test_a_strangers_variable_is_not_taken() -> None:
    head, _ = codec.decode_request_payload(b"call status v1\nPATH=/x\nCHITTA_K=1=2\n\n{}")
    assert head.environ == {"CHITTA_K": "1=2"}


@given(st.sampled_from([codec.OK, codec.MISUSE, codec.UNAVAILABLE, codec.LATE]), st.binary())
def test_reply_payload_round_trip(code: int, body: bytes) -> None:
    assert codec.decode_reply_payload(codec.encode_reply_payload(code, body)) == (code, body)


@pytest.mark.parametrize("payload", [b"", b"00\n", b"abc\n", b"0000\n"])
def test_what_is_no_reply_is_a_value_error(payload: bytes) -> None:
    with pytest.raises(ValueError):
        codec.decode_reply_payload(payload)


@given(st.lists(st.tuples(WORD, st.dictionaries(WORD.map(lambda w: w.replace("=", "_")), WORD), st.binary())))
def test_parts_round_trip(parts: list[tuple[str, dict[str, str], bytes]]) -> None:
    body = b"".join(codec.encode_part(name, data, facts) for name, facts, data in parts)
    assert codec.decode_parts(body) == parts


@pytest.mark.parametrize("body", [b"lane", b"lane 5\nabc", b"lane x\n", b"lane -1\n", b"lane\n"])
def test_a_cut_part_is_a_value_error(body: bytes) -> None:
    with pytest.raises(ValueError):
        codec.decode_parts(body)
