"""What notes cost, by estimate."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chitta.notes.note import Note
from chitta.render.economics import DISCOVERY, GLYPHS, OTHER_DISCOVERY, Cost, cost_of, totals


def test_reading_is_a_quarter_of_the_characters_and_at_least_one() -> None:
    assert cost_of(Note("a", title="t" * 40, text="x" * 680)).reading == 180
    assert cost_of(Note("a")).reading == 1


@pytest.mark.parametrize(
    ("stated", "tokens"),
    [
        (7_000, 7_000),
        ("7000", 7_000),
        (0, 3_000),
        (-5, 3_000),
        ("x", 3_000),
        (True, 3_000),
        (None, 3_000),
        ("9" * 40, 3_000),
    ],
)
def test_discovery_is_what_the_note_says_or_its_kinds_average(stated: object, tokens: int) -> None:
    assert cost_of(Note("a", kind="bug-fix", extra=(("discovery_tokens", stated),))).discovery == tokens


def test_a_kind_without_an_average_has_the_common_one() -> None:
    assert {kind: cost_of(Note("a", kind=kind)).discovery for kind in DISCOVERY} == DISCOVERY
    assert cost_of(Note("a", kind="insight")).discovery == OTHER_DISCOVERY


def test_a_line_has_glyph_costs_and_change() -> None:
    assert Cost("bug-fix", 3000, 180).line == "⚒ D:3000 → R:180 (-94%)"
    assert Cost("insight", 300, 2001).line == "· D:300 → R:2001 (+567%)"
    assert set(GLYPHS) == set(DISCOVERY)


def test_totals_are_of_what_is_shown() -> None:
    assert totals([Cost("bug-fix", 3000, 180), Cost("decision", 1200, 140)]) == (
        "2 notes, ~320 tokens in full, est ~3,880 saved"
    )
    assert totals([Cost("decision", 1200, 140)]).startswith("1 note, ")


@given(
    st.text(), st.text(), st.text(), st.one_of(st.none(), st.integers(), st.text(), st.floats(), st.lists(st.text()))
)
def test_any_note_has_a_cost(kind: str, title: str, text: str, stated: object) -> None:
    cost = cost_of(Note("a", kind=kind, title=title, text=text, extra=(("discovery_tokens", stated),)))
    assert cost.reading >= 1 and cost.discovery >= 1 and cost.line
