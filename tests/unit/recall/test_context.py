"""Turns of a session as one question, in words and as a vector."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from chitta.recall.context import TURN_CHARS, WEIGHTS, bag, mean


def unit(*values: float) -> np.ndarray:
    vector = np.array(values, dtype=np.float32)
    directed: np.ndarray = vector / np.linalg.norm(vector)
    return directed


def test_a_turn_stands_in_the_bag_as_often_as_it_counts() -> None:
    assert bag(("b", "a")) == "b\n" * WEIGHTS[0] + "a\n" * WEIGHTS[1]
    assert bag(()) == ""


def test_of_a_long_turn_the_bag_holds_the_head() -> None:
    assert bag(("x" * (TURN_CHARS + 1),)) == ("x" * TURN_CHARS + "\n") * WEIGHTS[0]


def test_the_mean_is_weighted_and_of_length_one() -> None:
    turns = (unit(1, 0, 0), unit(0, 1, 0), unit(0, 0, 1))
    found = mean(turns)
    assert found.dtype == np.float32
    assert found == pytest.approx(np.array(WEIGHTS) / np.linalg.norm(WEIGHTS))


@given(st.lists(st.floats(-1, 1, width=32), min_size=4, max_size=4).filter(lambda v: np.linalg.norm(v) > 0.1))
def test_one_turn_is_its_own_mean(values: list[float]) -> None:
    assert mean((unit(*values),)) == pytest.approx(unit(*values), abs=1e-6)


def test_turns_that_cancel_out_have_no_direction() -> None:
    assert not np.isnan(mean((unit(2, 0), unit(-1, 0), unit(-1, 0)))).any()
