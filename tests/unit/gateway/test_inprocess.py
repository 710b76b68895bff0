"""A lane answered without a daemon."""

import pytest

from chitta.gateway.inprocess import answer
from chitta.settings import Settings
from chitta.wire.request import Request, encode_request
from chitta.wire.rows import parse_rows

from .conftest import SHOP


def environ(settings: Settings, **more: str) -> dict[str, str]:
    return {"CHITTA_HOME": settings.home, **more}


REQUEST = encode_request(Request("webhook signature", "webhook signature", tokens=("webhook", "signature"), realm=SHOP))


@pytest.mark.parametrize("lane", ["keyword", "hybrid", "cross-realm", "correction"])
def test_words_answer_and_say_that_the_models_are_away(lane: str, settings: Settings) -> None:
    code, raw = answer(lane, REQUEST, environ(settings))
    assert code == 0
    result = parse_rows(lane, "ok", 1.0, raw)
    assert result.header is not None
    assert result.header.warming
    assert result.bad_rows == 0


@pytest.mark.parametrize("lane", ["semantic", "context"])
def test_lanes_of_meaning_are_unavailable(lane: str, settings: Settings) -> None:
    later = encode_request(Request("webhook", "webhook", context_query="webhook webhook", realm=SHOP))
    code, why = answer(lane, later, environ(settings))
    assert code == 111
    assert why


def test_correction_key_needs_nothing(settings: Settings) -> None:
    request = encode_request(Request("npm install left-pad", "npm install left-pad", realm=SHOP))
    code, raw = answer("correction-key", request, environ(settings))
    assert code == 0
    assert [row.why for row in parse_rows("correction-key", "ok", 1.0, raw).rows] == ["npm install"]


def test_garbage_and_strangers_are_misuse(settings: Settings) -> None:
    assert answer("keyword", b"\xff not json", environ(settings))[0] == 100
    assert answer("../keyword", REQUEST, environ(settings))[0] == 100


def test_no_store_is_no_rows(tmp_path) -> None:  # type: ignore[no-untyped-def]
    code, raw = answer("keyword", REQUEST, {"CHITTA_HOME": str(tmp_path / "nowhere")})
    assert code == 0
    assert parse_rows("keyword", "ok", 1.0, raw).rows == ()
