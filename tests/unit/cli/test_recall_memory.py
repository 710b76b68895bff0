from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from chitta import gaps, searches
from chitta import settings as table
from chitta.cli import recall_memory
from chitta.cli.asking import Answer
from chitta.gateway.question import Question

Run = Callable[..., Any]
WELL = {"keyword": "ok", "semantic": "ok", "graph": "off"}
ASKED = Question("how does the billing export reach snowflake")


def shows_gap(answer: Answer, question: Question = ASKED) -> bool:
    return recall_memory.shows_gap(table.load(), question, answer)


@pytest.fixture
def note(chitta: Run) -> None:
    assert chitta("remember", "Kafka keeps its offsets in a topic of its own.", "--global").code == 0
    assert chitta("reindex").code in (0, 1)


def test_an_empty_answer_in_full_is_a_gap(note: None) -> None:
    assert shows_gap(Answer([], health=WELL))


@pytest.mark.parametrize(
    "answer",
    [
        Answer([], warming=True, health=WELL),
        Answer([], note="the model is not there", health=WELL),
        Answer([], health={**WELL, "semantic": "no model"}),
        Answer([], health=WELL, dropped={"quarantined": 1}),
    ],
    ids=["warming", "words alone", "an arm that failed", "held back"],
)
def test_trouble_and_what_was_held_back_are_none(note: None, answer: Answer) -> None:
    assert not shows_gap(answer)


def test_neither_are_an_empty_store_and_a_part_of_the_search(chitta: Run) -> None:
    assert not shows_gap(Answer([], health=WELL))
    assert not shows_gap(Answer([], health=WELL), ASKED._replace(strategy="keyword"))


def test_a_question_is_kept_by_its_terms_and_never_stops_the_answer(chitta: Run, own_home: Path, note: None) -> None:
    ran = chitta("recall", "where does kafka keep its offsets")
    assert ran.code == 0
    state = own_home / ".chitta" / "state"
    (line,) = [json.loads(one) for one in (state / searches.NAME).read_text().splitlines()]
    assert line["terms"] == ["kafka", "offsets"] and line["ids"] and line["kind"] == "new"
    (state / searches.NAME).unlink()
    (state / searches.NAME).mkdir()
    assert chitta("recall", "where does kafka keep its offsets").out == ran.out


def test_a_gap_of_a_question_counts_like_one_of_a_prompt(note: None) -> None:
    recall_memory.keep(table.load(), ASKED, Answer([], health=WELL), [], "global")
    (line,) = gaps.read(table.load().state_dir)
    assert line["terms"] == ["billing", "export", "reach", "snowflake"] and line["realm"] == "global"
