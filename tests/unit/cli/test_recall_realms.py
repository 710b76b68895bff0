"""Which realms a question is put to, and how their answers become one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from chitta.admission.policy import BY_LANE
from chitta.cli import asking
from chitta.cli.asking import LISTED, Answer
from chitta.gateway.question import Question
from chitta.recall.persona import PersonaLine
from chitta.wire.rows import Row

Run = Callable[..., Any]
FLOOR = BY_LANE["hybrid"].conf_floor


def ids(ran: Any) -> list[str]:
    return [row["id"] for row in ran.value["rows"]]


def row_of(name: str, conf: float, realm: str = "global", score: float = 1.0) -> Row:
    return Row(name, score, realm=realm, title=name, text=f"text of {name}", conf=conf, cos=0.9)


@pytest.fixture
def by_realm(chitta: Run, monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Lets each realm (None: all) answer with given rows, in the folder of project:here."""
    monkeypatch.setenv("CHITTA_REALM", "project:here")

    def answers(rows: dict[str | None, list[Row]]) -> None:
        def ask(settings: Any, question: Question) -> Answer:
            return Answer(rows.get(question.realm, [])[: question.limit], maxrel=0.5)

        monkeypatch.setattr(asking, "ask", ask)

    return answers


def test_this_realm_and_global_are_one_answer_by_conf_then_score(chitta: Run, by_realm: Callable[..., None]) -> None:
    here, elsewhere = row_of("here", 0.5, "project:here"), row_of("elsewhere", 0.9, "project:there")
    by_realm({"project:here": [here], "global": [row_of("top", 0.8), row_of("low", 0.5, score=0.1)], None: [elsewhere]})
    value = chitta("recall", "words", "--json").value
    assert [row["id"] for row in value["rows"]] == ["top", "here", "low"]
    assert value["scope"] == "here" and not any(row["beyond"] for row in value["rows"])
    assert [row["id"] for row in chitta("recall", "words", "--limit", "1", "--json").value["rows"]] == ["top"]


def test_other_projects_answer_where_nothing_here_is_supported(chitta: Run, by_realm: Callable[..., None]) -> None:
    near, far = row_of("near", FLOOR / 2, "project:here"), row_of("far", 0.9, "project:there")
    by_realm({"project:here": [near], None: [far, near]})
    value = chitta("recall", "words", "--json").value
    assert [(row["id"], row["beyond"]) for row in value["rows"]] == [("near", False), ("far", True)]
    assert value["scope"] == "beyond"
    out = chitta("recall", "words").out
    assert out.index("near") < out.index("From other projects:") < out.index("far") and "project:there" in out


def test_a_named_realm_and_all_realms_are_asked_alone(chitta: Run, by_realm: Callable[..., None]) -> None:
    by_realm({"project:x": [row_of("x", 0.0)], None: [row_of("far", 0.9, "project:there")]})
    assert chitta("recall", "words", "--realm", "project:x", "--json").value["scope"] == "named"
    everywhere = chitta("recall", "words", "--global", "--json").value
    assert everywhere["scope"] == "everywhere" and [row["beyond"] for row in everywhere["rows"]] == [False]


def test_a_semantic_answer_was_found_by_meaning_only(chitta: Run, by_realm: Callable[..., None]) -> None:
    by_realm({"global": [row_of("a", 0.9)._replace(bm25=3.0)]})
    assert "found by meaning\n" in chitta("recall", "words", "--strategy", "semantic").out
    assert "found by words and meaning\n" in chitta("recall", "words").out


def test_reasons_and_counts_of_both_realms_are_joined(chitta: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CHITTA_REALM", "project:here")
    replaced = {"winner": "low", "loser": "top", "why": "replaced by low"}
    answers = {
        "project:here": Answer(
            [row_of("top", 0.9)], reasons={"top": {"replaced": replaced}}, dropped={"kind": 1}, health={"keyword": "ok"}
        ),
        "global": Answer([row_of("low", 0.5)], reasons={"low": {}}, dropped={"kind": 2}, health={"keyword": "damaged"}),
    }
    monkeypatch.setattr(asking, "ask", lambda settings, question: answers[question.realm])
    value = chitta("recall", "words", "--json", "--explain").value
    assert [row["id"] for row in value["rows"]] == ["low", "top"]
    assert set(value["reasons"]) == {"low", "top"} and value["dropped"] == {"kind": 3}
    assert value["health"] == {"keyword": "damaged"}


def test_a_habit_of_another_project_is_no_answer_here(chitta: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CHITTA_REALM", "project:here")
    elsewhere = Answer([], persona=PersonaLine("style", "tabs", 1.0, "p"))
    monkeypatch.setattr(asking, "ask", lambda settings, question: Answer([]) if question.realm else elsewhere)
    assert chitta("recall", "style").code == 1
    assert chitta("recall", "style", "--global").out == "style: tabs (persona, confidence 1.00)\n   p\n"


def test_the_newest_of_both_realms_are_by_date(
    chitta: Run, by_realm: Callable[..., None], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CHITTA_REALM", "project:here")
    dated = {
        "project:here": [row_of("b", 0.0)._replace(created="2026-01-02")],
        "global": [row_of("c", 0.0)._replace(created="2026-01-03"), row_of("a", 0.0)._replace(created="2026-01-01")],
    }
    monkeypatch.setattr(
        asking, "ask", lambda settings, question: Answer(dated[question.realm], note=f"{LISTED}newest memories")
    )
    assert ids(chitta("recall", "words", "--json")) == ["c", "b", "a"]


def test_a_time_alone_lists_what_was_written_then(chitta: Run) -> None:
    chitta("remember", "We deploy with make ship.", "--id", "ship", "--global")
    ran = chitta("recall", "--since", "2020-01-01", "--global", "--json")
    assert ids(ran) == ["ship"]
    assert chitta("recall", "--since", "2999-01-01", "--global").code == 1
    assert "there is no question" in chitta("recall").err
