from __future__ import annotations

from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chitta.curation.opinion import CEILING, FLOOR, Standing, forgotten_opinion, judged, standing
from chitta.feedback import DOWN, UP, Judgement
from chitta.notes.frontmatter import format_note, parse_note
from chitta.notes.note import Note
from chitta.recall.score import Asked, boost

NOTE = Note("a", text="x", confidence=0.6)


def said(verdict: str, *sessions: str, name: str = "a", minute: int = 1) -> list[Judgement]:
    when = f"2025-01-01T00:{minute:02}:00Z"
    return [Judgement(when, f"b{session}", session, name, verdict, None, None, "sem") for session in sessions]


def test_one_session_s_down_changes_nothing_and_two_lower() -> None:
    assert judged(NOTE, said(DOWN, "1", "1")) == NOTE
    low = judged(NOTE, said(DOWN, "1", "2"))
    assert low.authority == "doubted" and low.confidence == pytest.approx(0.3)
    assert judged(NOTE, said(DOWN, *"12345678")).confidence == FLOOR
    assert judged(NOTE, said(DOWN, "1", "2", name="other")) == NOTE


def test_an_up_stands_against_any_down_and_raises() -> None:
    new = judged(NOTE, [*said(DOWN, "1", "2", "3"), *said(UP, "4")])
    assert (new.confidence, new.authority) == (0.7, "advisory")
    assert judged(NOTE._replace(authority="captured"), said(UP, "1")).authority == "advisory"
    assert judged(NOTE._replace(authority="law"), said(UP, "1")).authority == "law"
    assert judged(NOTE, said(UP, *"12345678")).confidence == CEILING


def test_what_is_taken_back_takes_its_effect_back_and_nothing_counts_twice() -> None:
    low = judged(NOTE, said(DOWN, "1", "2"))
    assert judged(low, said(DOWN, "1", "2")) == low
    assert judged(low, said(DOWN, "1")) == NOTE
    read = parse_note(format_note(low), fallback_id="", fallback_realm="")
    assert judged(read, []) == parse_note(format_note(NOTE), fallback_id="", fallback_realm="")


def test_an_edit_by_hand_is_where_the_note_begins_anew() -> None:
    edited = judged(NOTE, said(DOWN, "1", "2"))._replace(confidence=0.9, authority="advisory")
    again = judged(edited, said(DOWN, "1", "2"))
    assert (again.confidence, again.authority) == (0.9, "advisory")
    later = judged(again, [*said(DOWN, "1", "2"), *said(DOWN, "3", "4", minute=9)])
    assert later.authority == "doubted" and later.confidence == pytest.approx(0.6)


def test_a_look_forgets_it() -> None:
    assert forgotten_opinion(judged(NOTE, said(DOWN, "1", "2"))) == NOTE
    assert forgotten_opinion(NOTE) == NOTE


def test_ranking_feels_it() -> None:
    asked = Asked(date(2025, 1, 1))
    mine = Note("a", created="2025-01-01")
    assert boost(judged(mine, said(DOWN, "1", "2")), asked) < boost(mine, asked)
    doubted = mine._replace(authority="doubted")
    captured = mine._replace(kind="operational", authority="captured", confidence=0.3)
    assert boost(doubted, asked) < boost(mine, asked), "also with the same confidence"
    for confidence in (0.3, 0.6, 0.95):
        assert boost(captured, asked) < boost(mine._replace(confidence=confidence), asked)
    old = mine._replace(created="2020-01-01", confidence=0.3)
    assert boost(captured._replace(proof_count=50), asked) < boost(old, asked), "new and proved is not enough"


@given(
    st.floats(0, 1),
    st.sampled_from(["advisory", "captured", "doubted", "law", ""]),
    st.integers(0, 9),
    st.integers(0, 9),
)
def test_standing_is_bounded_and_each_word_moves_one_way(trust: float, authority: str, up: int, down: int) -> None:
    base = Standing(trust, authority)
    new = standing(base, up, down)
    assert 0 <= new.confidence <= 1
    if up:
        assert new.confidence >= round(trust, 3)
    else:
        assert new.confidence <= round(trust, 3) or new == base
