"""A question as JSON and back, and the sentences for what is none."""

from __future__ import annotations

import json
from datetime import datetime, timezone
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chitta.gateway.question import CONTEXT, GLANCE, MOST_ROWS, STRATEGIES, Question, as_fields, from_fields

moments = st.none() | st.datetimes()
questions = st.builds(
    Question,
    query=st.text(),
    strategy=st.sampled_from(STRATEGIES),
    limit=st.integers(1, MOST_ROWS),
    realm=st.none() | st.text(),
    kinds=st.lists(st.text()).map(tuple),
    tags=st.lists(st.text()).map(tuple),
    domain=st.text(),
    min_confidence=st.floats(0, 1),
    min_overlap=st.none() | st.floats(0, 1),
    since=moments,
    until=moments,
    as_of=moments,
    known_as_of=moments,
    valid_at=moments,
    include_superseded=st.booleans(),
    include_quarantined=st.booleans(),
    depth=st.integers(GLANCE, CONTEXT),
)
anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(), lambda inner: st.lists(inner, max_size=3)
)


@given(questions)
def test_a_question_comes_back_as_it_went(question: Question) -> None:
    assert from_fields(json.loads(json.dumps(as_fields(question)))) == question


def test_only_what_was_asked_travels() -> None:
    assert as_fields(Question("why?")) == {"query": "why?"}
    assert as_fields(Question("why?", min_overlap=0.0)) == {"query": "why?", "min_overlap": 0.0}


@given(st.dictionaries(st.sampled_from(Question._fields), anything))
def test_anything_is_a_question_or_a_sentence(fields: dict[str, Any]) -> None:
    try:
        question = from_fields({"query": "why?", **fields})
    except ValueError as problem:
        assert str(problem)
    else:
        assert 1 <= question.limit <= MOST_ROWS and GLANCE <= question.depth <= CONTEXT


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({}, "a question has a query"),
        ({"query": 3}, "a question has a query"),
        ({"query": "q", "realm": ["r"]}, "a question has a query"),
        ({"query": "q", "strategy": "guess"}, "no strategy 'guess'; there are hybrid, semantic, keyword"),
        ({"query": "q", "strategy": {}}, "no strategy"),
        ({"query": "q", "limit": "3"}, "limit is a number"),
        ({"query": "q", "limit": True}, "limit is a number"),
        ({"query": "q", "limit": float("inf")}, "limit is a number"),
        ({"query": "q", "min_confidence": float("nan")}, "min_confidence is a number"),
        ({"query": "q", "min_overlap": "half"}, "min_overlap is a number"),
        ({"query": "q", "kinds": "insight"}, "kinds is a list of words"),
        ({"query": "q", "tags": [1]}, "tags is a list of words"),
        ({"query": "q", "domain": ["web"]}, "domain is a word"),
        ({"query": "q", "since": "soon"}, "since is a date and time"),
        ({"query": "q", "valid_at": 3}, "valid_at is a date and time"),
        ({"query": "q", "depth": None}, "depth is a number"),
    ],
)
def test_misuse_is_told_in_a_sentence(fields: dict[str, Any], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        from_fields(fields)


def test_a_moment_with_an_offset_is_kept_in_utc() -> None:
    asked = from_fields({"query": "q", "since": "2026-03-01T02:00:00+02:00", "until": "2026-03-02"})
    assert asked.since == datetime(2026, 3, 1) and asked.until == datetime(2026, 3, 2)
    aware = Question("q", since=datetime(2026, 3, 1, tzinfo=timezone.utc))
    assert from_fields(as_fields(aware)).since == datetime(2026, 3, 1)


@pytest.mark.parametrize(
    "changes",
    [{"kinds": ("insight",)}, {"min_confidence": 0.5}, {"since": datetime(2026, 1, 1)}, {"valid_at": datetime.min}],
)
def test_what_most_notes_may_not_meet_is_a_filter(changes: dict[str, Any]) -> None:
    assert Question("q", **changes).filtered
    assert not Question("q", tags=("a",), domain="web", realm="global", min_overlap=0.5).filtered
