"""Values as other programs write them."""

from __future__ import annotations

import datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chitta.importing.loose_values import day_of, list_of, mapping_of, row_digest, text_of, trust_of, truth_of

ANYTHING = st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.binary() | st.lists(st.text())


@given(
    st.datetimes(datetime.datetime(1975, 1, 1), datetime.datetime(2100, 1, 1)),
    st.sampled_from([1, 10**3, 10**6, 10**9]),
)
def test_a_count_of_any_unit_is_its_day(time: datetime.datetime, unit: int) -> None:
    seconds = int((time - datetime.datetime(1970, 1, 1)).total_seconds())
    assert day_of(seconds * unit) == time.date().isoformat()
    assert day_of(str(seconds * unit)) == time.date().isoformat()


@pytest.mark.parametrize(
    "value, day",
    [("2024-02-03T23:59:59-08:00", "2024-02-03"), ("2024-02-03 01:02", "2024-02-03"), ("2024-02-30", ""), ("soon", ""),
     (None, ""), (-5, ""), (1e300, ""), (float("nan"), ""), (True, "")],
)  # fmt: skip
def test_days(value: object, day: str) -> None:
    assert day_of(value) == day


@pytest.mark.parametrize(
    "value, items",
    [('["a", "b", "a"]', ("a", "b")), ("a, b,,", ("a", "b")), (["a", {"name": "b"}, 3, None], ("a", "b", "3")),
     ('{"a": true, "b": false}', ("a",)), (None, ()), ("", ()), ('["a', ('["a',)), ([["x"]], ())],
)  # fmt: skip
def test_lists(value: object, items: tuple[str, ...]) -> None:
    assert list_of(value) == items


@pytest.mark.parametrize(
    "value, trust", [(0.7, 0.7), (1, 1.0), (7, 0.7), (85, 0.85), ("0.5", 0.5), (-1, 0.6), (1e9, 0.6)]
)
def test_trust_of_any_scale(value: object, trust: float) -> None:
    assert trust_of(value, 0.6) == trust


def test_flags_and_mappings() -> None:
    assert [truth_of(value) for value in (1, "yes", True, "2024-01-01", 0, "", None, "false", 0.0)] == [True] * 4 + [
        False
    ] * 5
    assert mapping_of('{"a": 1}') == {"a": 1} and mapping_of("[1]") == {} and mapping_of("{" * 10_000) == {}
    assert row_digest({"a": 1, "b": 2}) == row_digest({"b": 2, "a": 1}) != row_digest({"a": 1, "b": 3})


@given(ANYTHING)
def test_nothing_raises(value: object) -> None:
    text_of(value).encode()
    assert day_of(value) == "" or len(day_of(value)) == 10
    assert 0 <= trust_of(value, 0.5) <= 1
    assert all(list_of(value)) and mapping_of(value) is not None and truth_of(value) in (True, False)
