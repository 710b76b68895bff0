from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from chitta.cli.recall_ids import typed, unique_lengths

IDS = st.lists(st.text(alphabet="ab-", min_size=1, max_size=8), min_size=1, max_size=12, unique=True)


def test_an_id_needs_one_character_more_than_it_shares() -> None:
    held = ["stripe-a", "stripe-b", "sentry", "stripe-bc"]
    assert unique_lengths(["stripe-a", "sentry"], held) == {"stripe-a": 8, "sentry": 2}
    assert unique_lengths(["stripe-b"], held) == {"stripe-b": 8}  # it begins another: all of it


@given(IDS)
def test_the_beginning_names_one_note(held: list[str]) -> None:
    for name, length in unique_lengths(held, held).items():
        assert length == len(name) or [other for other in held if other.startswith(name[:length])] == [name]
        assert length == 1 or len([other for other in held if other.startswith(name[: length - 1])]) > 1


def test_the_mark_of_a_shortened_id_may_be_copied_along() -> None:
    assert typed("stripe-a…") == "stripe-a" and typed("stripe") == "stripe" and typed("…") == "…"
