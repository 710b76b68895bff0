from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import Any

import pytest

from chitta import daemon_client
from chitta import settings as table
from chitta.cli import asking
from chitta.cli.failure import Misuse, Unavailable
from chitta.gateway.question import Question, from_fields
from chitta.wire.codec import UNAVAILABLE

Run = Callable[..., Any]
ROW = {"id": "old", "score": 0.5, "shared": ["a", "b"], "text": "the begin", "superseded_by": "new"}


@pytest.fixture
def store(chitta: Run) -> Run:
    chitta("remember", "The beginning and the end.", "--id", "old")
    chitta("remember", "Another.", "--id", "new", "--title", "Newer")
    return chitta


@pytest.fixture
def asked(store: Run, monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, Any]]:
    """What a running daemon is asked from here on; it answers with one row."""
    calls: list[tuple[str, Any]] = []

    def call(settings: Any, operation: str, body: Any = None, timeout: float = 0.0) -> dict[str, Any]:
        calls.append((operation, body))
        persona = {"field": "style", "value": "tabs", "confidence": 1.0, "id": "p"}
        return {"header": {"maxrel": 0.25, "note": "n"}, "rows": [ROW], "dropped": {"kind": 2}, "persona": persona}

    monkeypatch.setattr(daemon_client, "call", call)
    monkeypatch.delenv("CHITTA_NO_DAEMON")
    return calls


def test_the_daemon_is_asked_the_whole_question_and_its_answer_is_kept(asked: list[tuple[str, Any]]) -> None:
    question = Question("words", limit=3, realm="global", kinds=("decision",), since=datetime(2026, 1, 2), depth=0)
    answer = asking.ask(table.load(), question)
    operation, body = asked[-1]
    assert operation == "recall" and from_fields(body) == question
    assert answer.rows[0].shared == ("a", "b") and (answer.maxrel, answer.note) == (0.25, "n")
    assert (
        answer.dropped == {"kind": 2} and answer.persona is not None and answer.persona.line.startswith("style: tabs")
    )


def test_what_replaced_a_note_gets_its_title(asked: list[tuple[str, Any]]) -> None:
    answer = asking.ask(table.load(), Question("words", realm=None))
    assert answer.reasons["old"]["replaced"]["why"].startswith("replaced by Newer")
    assert answer.rows[0].text == "the begin" and answer.around == {}


def test_at_depth_2_texts_are_whole(asked: list[tuple[str, Any]]) -> None:
    answer = asking.ask(table.load(), Question("words", realm=None, depth=2))
    assert answer.rows[0].text.strip() == "The beginning and the end." and "old" in answer.around


def test_a_refusal_is_answered_here_unless_only_the_daemon_could(
    asked: list[tuple[str, Any]], monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(settings: Any, operation: str, body: Any = None, timeout: float = 0.0) -> dict[str, Any]:
        raise daemon_client.DaemonRefused(UNAVAILABLE, "no model")

    monkeypatch.setattr(daemon_client, "call", refuse)
    assert [row.id for row in asking.ask(table.load(), Question("beginning", "keyword")).rows] == ["old"]
    assert asking.expand(table.load(), ["new"])[0]["title"] == "Newer"
    assert asking.transfer(table.load(), "a:b::c:?", None)["reason"] == "no edge from a to b"
    with pytest.raises(Unavailable):
        asking.ask(table.load(), Question("beginning", "semantic"))


def test_what_is_no_analogy_is_not_asked(asked: list[tuple[str, Any]]) -> None:
    with pytest.raises(Misuse):
        asking.transfer(table.load(), "a:b", None)
    assert asked == []
