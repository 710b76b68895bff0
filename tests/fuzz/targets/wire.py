"""The wire: heads, replies, parts, requests and rows, by both JSON libraries."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

from tests.fuzz.kind import Target, choice, must

from chitta.wire import codec, rows
from chitta.wire.request import MAX_PROMPT_CHARS, Request, encode_request, parse_request

_STATES = (*rows.STATES, "odd")


@contextlib.contextmanager
def _library(standard: bool) -> Iterator[None]:
    """The standard library's JSON, as a lane has it without site-packages, or orjson."""
    before = codec._dump, codec._load
    codec._dump, codec._load = codec._standard() if standard else codec._fast()
    try:
        yield
    finally:
        codec._dump, codec._load = before


def heads(data: bytes) -> None:
    try:
        head, body = codec.decode_request_payload(data)
    except ValueError:
        return
    again = codec.encode_request_payload(head.verb, head.arguments, body, head.environ)
    must(codec.decode_request_payload(again) == (head, body), "a head read again is another", head)


def replies(data: bytes) -> None:
    try:
        code, body = codec.decode_reply_payload(data)
    except ValueError:
        return
    must(codec.encode_reply_payload(code, body) == data, "a reply written again is another", data)


def parts(data: bytes) -> None:
    try:
        found = codec.decode_parts(data)
    except ValueError:
        return
    again = b"".join(codec.encode_part(name, held, facts) for name, facts, held in found)
    must(codec.decode_parts(again) == found, "parts read again are others", found)


def requests(data: bytes) -> None:
    which, data = choice(data, 2)
    with _library(bool(which)):
        try:
            request = parse_request(data)
        except ValueError:
            return
        texts = (request.prompt, request.query, request.context_query, *request.context_turns, request.anchor)
        must(max(map(len, texts)) <= MAX_PROMPT_CHARS and 1 <= request.k <= 100, "a request out of bounds", request)
        sent = encode_request(request)
        again = parse_request(sent)
        must(encode_request(again) == sent, "a request sent again is another", request)
        if not _has_surrogates(request):
            must(again == request, "a request read again is another", request)
    with _library(not which):
        must(parse_request(sent) == again, "the two libraries read a request differently", sent)


def _has_surrogates(request: Request) -> bool:
    try:
        repr(request)
        "\0".join(text for field in request for text in (field if isinstance(field, tuple) else (str(field),))).encode()
    except UnicodeEncodeError:
        return True
    return False


def answers(data: bytes) -> None:
    which, data = choice(data, 2 * len(_STATES))
    state = _STATES[which // 2]
    with _library(bool(which % 2)):
        result = rows.parse_rows("keyword", state, 1.5, data)
        must(result.state in rows.STATES, "an unknown state", result.state)
        must(len(result.rows) <= rows.MAX_ROWS, "too many rows", len(result.rows))
        must(state == "ok" or not result.rows, "rows of a lane that failed", state)
        for row in result.rows:
            must(row.id and len(row.id) <= rows.MAX_ID_CHARS, "an id out of bounds", row.id)
            must(len(row.text) <= rows.MAX_TEXT_CHARS and len(row.tags) <= rows.MAX_TAGS, "a row too long", row.id)
            numbers = (row.score, row.conf, row.cos, row.bm25, row.coverage, row.confidence)
            must(all(number - number == 0 for number in numbers), "a number that is none", numbers)
        if result.header is None:
            return
        sent = rows.encode_rows(result.header, result.rows)
        again = rows.parse_rows("keyword", "ok", 1.5, sent)
        must(again.bad_rows == 0 and len(again.rows) == len(result.rows), "rows sent again are fewer", sent)
        must(rows.encode_rows(again.header or result.header, again.rows) == sent, "rows sent again are others", sent)


_ROW = b'{"id":"a-1","score":2.5,"kind":"wisdom","title":"T","text":"use tabs","conf":0.8,"shared":["tabs"],"tags":["x"]}\n'
_REQUEST = b'{"v":1,"prompt":"deploy to staging","query":"q","tokens":["deploy"],"k":10,"deadline_ms":2000,"turn":3}'

TARGETS = (
    Target(
        "heads",
        heads,
        lambda: [b"lane keyword v1\nCHITTA_HOME=/x\n\n{}", b"turn claude %2Ftmp v1\n\nbody", b"call ping v1\n\n"],
        (b" v1\n", b"\n\n", b"CHITTA_A=b\n", b"lane ", b"v1"),
    ),
    Target("replies", replies, lambda: [b"000\n{}", b"111\nno daemon", b"075\n"], (b"000\n", b"\n")),
    Target(
        "parts",
        parts,
        lambda: [b"request 3 total_ms=5\nabclane 2 name=keyword state=ok ms=1\n{}", b"out 0\nerr 1\nx"],
        (b"lane ", b" 0\n", b"=", b" 1 a=b\nx", "٣".encode()),
    ),
    Target(
        "requests",
        requests,
        lambda: [which + data for which in (b"\0", b"\1") for data in (_REQUEST, b'{"prompt":"x"}', b'{"query":"y"}')],
        (b'"k":', b'"turn":1e400', b'"v":1', b'"tokens":[', b'"deadline_ms":', b'"\\ud800"', b"1" + b"0" * 400),
    ),
    Target(
        "answers",
        answers,
        lambda: [bytes([which]) + b'{"v":1,"lane":"keyword","n":1,"maxrel":0.5}\n' + _ROW for which in (0, 1, 4)],
        (b'"score":', b'"id":"b"', b'"conf":', b"1e400", b'"maxrel":', b'"shared":["a","b"]', b"\n", _ROW),
    ),
)
