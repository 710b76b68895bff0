from __future__ import annotations

import pytest

from chitta.cli import recall_reasons
from chitta.wire.rows import Row


@pytest.mark.parametrize(
    ("number", "text"),
    [(1, "1st"), (2, "2nd"), (3, "3rd"), (4, "4th"), (11, "11th"), (12, "12th"), (21, "21st"), (112, "112th")],
)
def test_ordinals(number: int, text: str) -> None:
    assert recall_reasons.ordinal(number) == text


def test_every_step_has_its_line() -> None:
    why = {
        "arms": {"keyword": {"rank": 2, "score": 8.5}, "semantic": {"rank": 1, "score": 0.75}},
        "fused": {"rank": 1, "score": 0.9},
        "logit": -1.5,
        "factors": {"recency": 0.92},
    }
    row = Row("a", 0.4321, conf=0.5, cos=0.7, bm25=8.5, coverage=0.25, shared=("stripe",))
    assert recall_reasons.lines(row, why, "") == [
        "found     words 2nd (8.5) · meaning 1st (0.75) · together 1st (0.9)",
        "reranked  logit -1.500",
        "factors   recency ×0.92",
        "score     0.4321",
        "evidence  conf 0.50 · cosine 0.700 · bm25 8.50 · coverage 0.25 · shared words:",
        "          stripe",
    ]


def test_steps_that_did_not_happen_are_left_out() -> None:
    assert recall_reasons.lines(Row("a", 1.0), {}, "") == ["score     1.0000", "evidence  cosine not measured"]


def test_an_empty_answer_is_explained_by_its_arms_and_by_what_is_not_shown() -> None:
    reasons: dict[str, dict[str, object]] = {
        "a": {"arms": {"semantic": {}}},
        "b": {"arms": {"semantic": {}, "keyword": {}}},
    }
    foot = recall_reasons.foot({"semantic": "ok", "keyword": "ok"}, {"expired": 1}, reasons, 2)
    assert any(line.split() == "meaning ok, found 2 of the 2 notes left".split() for line in foot)
    assert any(line.split() == "words ok, found 1 of the 2 notes left".split() for line in foot)
    assert "Left out: 2 too weakly tied to the question (--show-weak), 1 expired" in foot
    assert "No arm found a candidate." in recall_reasons.foot({"keyword": "ok"}, {})


def test_the_foot_names_arms_that_are_ill_or_off_and_what_was_left_out() -> None:
    foot = recall_reasons.foot(
        {"keyword": "the index is damaged", "graph": "off"}, {"kind": 2, "duplicate": 1, "gone": 0}
    )
    assert any("words" in line and "the index is damaged" in line for line in foot)
    assert any(line.split() == ["off", "graph"] for line in foot)
    assert "Left out: 2 of another kind, 1 saying the same as another" in foot
