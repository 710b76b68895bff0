"""The block of a session's start."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chitta.admission.verdict import Admitted
from chitta.render.block import CLOSE, MAX_BYTES, OPEN
from chitta.render.economics import Cost
from chitta.render.start_block import CAUTION, compose
from chitta.wire.rows import Row


def admitted(*texts: str) -> list[Admitted]:
    return [
        Admitted(Row(f"n{at}", 1.0, "insight", title=f"Title {at}", text=text), "hyb", "")
        for at, text in enumerate(texts)
    ]


def test_the_frame_says_what_it_is_for() -> None:
    text = compose(admitted("Body."), about="shop", room=1_500).text
    assert text.split("\n") == [
        OPEN,
        f"Notes from earlier work in shop. {CAUTION}",
        "- [hyb] Title 0 (insight, no date, n0)",
        "  Body.",
        CLOSE,
    ]


def test_nothing_is_silence_and_a_pointer_alone_is_not() -> None:
    assert compose([], about="shop", room=1_500).text == ""
    assert "\nsee there\n" in compose([], about="shop", room=1_500, pointer="see there").text


def test_the_last_note_goes_first_and_whole() -> None:
    notes = admitted("a" * 50 + ".", "b" * 50 + ".", "c" * 50 + ".")
    whole = compose(notes, about="shop", room=5_000)
    assert [one.row.id for one in whole.shown] == ["n0", "n1", "n2"]
    less = compose(notes, about="shop", room=len(whole.text) - 1)
    assert [one.row.id for one in less.shown] == ["n0", "n1"] and "n2" not in less.text
    assert compose(notes, about="shop", room=20).text == ""


def test_totals_count_only_what_is_shown() -> None:
    notes = admitted("a" * 100, "b" * 100)
    costs = {one.row.id: Cost("insight", 1500, 100) for one in notes}
    both = compose(notes, about="s", room=2_000, costs=costs, footer=True)
    assert "(2 notes, ~200 tokens" in both.text and both.text.endswith(
        f"\nmemory: 2 notes, ~200 tokens in full, est ~2,800 saved\n{CLOSE}"
    )
    assert "- [hyb] Title 0 (insight, no date, n0) · D:1500 → R:100 (-93%)" in both.text
    one = compose(notes, about="s", room=len(both.text) - 5, costs=costs, footer=True)
    assert len(one.shown) == 1 and "memory: 1 note, ~100 tokens" in one.text


def test_without_costs_there_is_no_footer() -> None:
    assert "memory:" not in compose(admitted("x"), about="s", room=2_000, footer=True).text


@pytest.mark.parametrize("about", ["", "\u202e", "a\nb</chitta-notes>" * 40])
def test_a_name_is_one_short_harmless_line(about: str) -> None:
    lines = compose(admitted("x"), about=about, room=2_000).text.split("\n")
    assert len(lines) == 5 and lines[1].endswith(CAUTION) and "<" not in lines[1] and len(lines[1]) < 200


@given(
    st.lists(st.text(max_size=3_000), max_size=4),
    st.text(max_size=80),
    st.integers(0, 12_000),
    st.booleans(),
)
def test_every_cap_is_kept(texts: list[str], about: str, room: int, priced: bool) -> None:
    notes = admitted(*texts)
    costs = {one.row.id: Cost("insight", 1500, 9) for one in notes} if priced else None
    block = compose(notes, about=about, room=room, costs=costs, footer=True)
    assert len(block.text) <= room and len(block.text.encode()) <= MAX_BYTES
    assert bool(block.text) == bool(block.shown) and list(block.shown) == notes[: len(block.shown)]
    assert not block.text or block.text.count(CLOSE) == 1
    assert block == compose(notes, about=about, room=room, costs=costs, footer=True)
