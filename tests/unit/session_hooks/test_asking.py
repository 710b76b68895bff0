"""Who answers as a session starts, and which rows may enter."""

import time
from collections.abc import Callable
from typing import Any

import pytest

from chitta import daemon_client
from chitta.daemon import lifecycle
from chitta.gateway.question import Question
from chitta.session_hooks.asking import LENIENCY, Asker, floor_of, relevant, supported
from chitta.wire.rows import Row

SHOP = "project:example.com/acme/shop"
QUESTION = Question("stripe webhook", realm=SHOP, limit=3)
ABOUT = "shop stripe webhook"
TIED = Row("a", 1.0, "insight", SHOP, "Stripe webhook", "x", bm25=3.0, coverage=0.5, shared=("stripe",))


def soon() -> float:
    return time.monotonic() + 10


def answer(*rows: Row) -> dict[str, Any]:
    return {"header": {"lane": "hybrid", "v": 1, "n": len(rows)}, "rows": [row._asdict() for row in rows]}


def test_words_answer_without_a_daemon(store: Callable[..., Any]) -> None:
    found = Asker(store(), soon()).ask(QUESTION)
    assert found.tag == "kw" and found.result.lane == "keyword" and found.problem == ""
    assert "raw-body" in [row.id for row in found.rows]
    assert found.result.header is not None and not found.result.header.warming


def test_the_daemon_answers_for_both_realms(store: Callable[..., Any], monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []

    def call(settings: object, op: str, body: dict[str, Any], timeout: float) -> dict[str, Any]:
        asked.append((op, body["realm"]))
        first = [Row("h1", 1.0, conf=0.2), Row("h2", 0.9, conf=0.8)]
        return answer(*(first if body["realm"] == SHOP else [Row("g", 1.0, conf=0.5)]))

    monkeypatch.setattr(daemon_client, "call", call)
    found = Asker(store(CHITTA_NO_DAEMON="0"), soon()).ask(QUESTION)
    assert asked == [("recall", SHOP), ("recall", "global")] and found.tag == "hyb"
    assert [row.id for row in found.rows] == ["g", "h1", "h2"]  # an answer's own order stays


@pytest.mark.parametrize(
    ("own", "asked"),
    [(None, ["shop stripe", "shop stripe"]), ("stripe", ["stripe", "shop stripe"]), ("", ["shop stripe"])],
)
def test_the_projects_own_realm_may_be_asked_something_else(
    store: Callable[..., Any], monkeypatch: pytest.MonkeyPatch, own: str | None, asked: list[str]
) -> None:
    said = []

    def call(settings: object, op: str, body: dict[str, Any], timeout: float) -> dict[str, Any]:
        said.append(body["query"])
        return answer(Row(body["realm"], 1.0, conf=0.5))

    monkeypatch.setattr(daemon_client, "call", call)
    found = Asker(store(CHITTA_NO_DAEMON="0"), soon()).ask(Question("shop stripe", realm=SHOP, limit=3), own)
    assert said == asked and found.tag == "hyb" and len(found.rows) == len(asked)


@pytest.mark.parametrize(
    "reply", [{}, {"header": 1, "rows": 2}, {"header": {}, "rows": [{"id": 7}, None, []]}, {"rows": "x" * 100}]
)
def test_a_reply_of_any_kind_is_taken(
    store: Callable[..., Any], monkeypatch: pytest.MonkeyPatch, reply: dict[str, Any]
) -> None:
    monkeypatch.setattr(daemon_client, "call", lambda *given, **more: reply)
    assert all(row.id for row in Asker(store(CHITTA_NO_DAEMON="0"), soon()).ask(QUESTION).rows)


@pytest.mark.parametrize("problem", [daemon_client.DaemonRefused(111, "no model"), RuntimeError("odd")])
def test_after_a_refusal_words_answer_and_it_is_not_asked_again(
    store: Callable[..., Any], monkeypatch: pytest.MonkeyPatch, problem: Exception
) -> None:
    calls = []

    def call(*given: object, **more: object) -> dict[str, Any]:
        calls.append(1)
        raise problem

    monkeypatch.setattr(daemon_client, "call", call)
    asker = Asker(store(CHITTA_NO_DAEMON="0"), soon())
    for _ in range(2):
        found = asker.ask(QUESTION)
        assert found.tag == "kw" and "raw-body" in [row.id for row in found.rows] and str(problem) in found.problem
    assert len(calls) == 1


def test_a_daemon_on_its_way_is_waited_for(store: Callable[..., Any], monkeypatch: pytest.MonkeyPatch) -> None:
    left = [2]

    def call(*given: object, **more: object) -> dict[str, Any]:
        left[0] -= 1
        if left[0] >= 0:
            raise daemon_client.DaemonAway("not yet")
        return answer(Row("h", 1.0, conf=0.5))

    monkeypatch.setattr(daemon_client, "call", call)
    monkeypatch.setattr(lifecycle, "is_locked", lambda path: True)
    assert Asker(store(CHITTA_NO_DAEMON="0"), soon()).ask(QUESTION).tag == "hyb"


def test_nobody_on_the_way_is_not_waited_for(store: Callable[..., Any], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(time, "sleep", lambda seconds: pytest.fail("waited for nobody"))
    assert Asker(store(CHITTA_NO_DAEMON="0"), soon()).ask(QUESTION).tag == "kw"


def test_a_damaged_index_is_no_failure(store: Callable[..., Any], monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*given: object) -> None:
        raise OSError("gone")

    monkeypatch.setattr("chitta.gateway.recall.recall", broken)
    found = Asker(store(), soon()).ask(QUESTION)
    assert found.rows == () and "gone" in found.problem


@pytest.mark.parametrize(
    ("row", "enters"),
    [
        (TIED, True),
        (TIED._replace(coverage=0.1), False),
        (TIED._replace(coverage=0.1, shared=("stripe", "webhook")), True),
        (TIED._replace(coverage=0.1, shared=("stripe", "webhook"), title="", text="y"), False),
        (TIED._replace(shared=()), False),
        (TIED._replace(shared=("unrelated",)), False),
        (TIED._replace(bm25=0.0), False),
        (TIED._replace(quarantine=True), False),
        (TIED._replace(superseded_by="b"), False),
        (TIED._replace(only_mentioned=True), False),
        (TIED._replace(kind="prompt"), False),
    ],
)
def test_which_rows_may_enter(row: Row, enters: bool) -> None:
    assert supported(row, ABOUT) is enters


@pytest.mark.parametrize("cos", [-1.0, 0.7])
def test_the_gate_of_a_start_asks_less_than_a_prompts(cos: float) -> None:
    sure = Row("a", 1.0, "insight", conf=floor_of(Row("", 0.0, cos=cos)), cos=cos)
    half, less = sure._replace(conf=sure.conf * LENIENCY), sure._replace(conf=sure.conf * LENIENCY * 0.9)
    assert relevant(sure) and supported(sure, ABOUT)
    assert not relevant(half) and supported(half, ABOUT) and not supported(less, ABOUT)
