from __future__ import annotations

from datetime import datetime

import pytest

from chitta.cli import recall_options as given
from chitta.cli.failure import Misuse


@pytest.mark.parametrize(
    ("text", "value"), [("", 0.0), ("high", 0.9), (" MEDIUM ", 0.6), ("Low", 0.3), ("0.25", 0.25), ("1", 1.0)]
)
def test_a_confidence_is_a_number_or_a_word(text: str, value: float) -> None:
    assert given.confidence_of(text) == value


@pytest.mark.parametrize("text", ["-0.1", "1.1", "inf", "nan", "very"])
def test_anything_else_is_no_confidence(text: str) -> None:
    with pytest.raises(Misuse):
        given.confidence_of(text)


def test_a_stage_has_a_depth() -> None:
    assert [given.depth_of(None, stage) for stage in ("", "index", "timeline", "hydrate")] == [1, 0, 0, 2]
    assert given.depth_of(0, "") == 0


def test_a_day_is_whole_on_every_side() -> None:
    day = "2026-03-31"
    filters = given.Filters(since=day, until=day, as_of=day, kinds=("a", "a"))
    question = given.question_of("words", "hybrid", 5, None, 1, filters)
    assert (question.since, question.until) == (datetime(2026, 3, 31), datetime(2026, 4, 1))
    assert question.as_of == datetime(2026, 3, 31, 23, 59, 59, 999999)
    assert question.kinds == ("a",) and question.known_as_of is None


def test_without_options_the_question_has_no_filter() -> None:
    assert not given.question_of("words", "hybrid", 5, None, 1, given.Filters()).filtered
