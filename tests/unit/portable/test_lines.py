from __future__ import annotations

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from chitta.portable.lines import MOST_LINES, merge_lines

TEXTS = st.lists(st.sampled_from(["a", "b", "c", "d", "e", "", "  x"]), max_size=12).map("\n".join)


def test_edits_at_different_places_are_both_there() -> None:
    merged = merge_lines("a\nb\nc\nd\ne", "A\nb\nc\nd\ne", "a\nb\nc\nd\nE")
    assert merged == ("A\nb\nc\nd\nE", False)


def test_what_both_changed_in_different_ways_is_a_conflict_and_ours_stand() -> None:
    assert merge_lines("a\nb\nc", "a\nours\nc", "a\ntheirs\nc") == ("a\nours\nc", True)


def test_what_both_changed_alike_is_none() -> None:
    assert merge_lines("a\nb\nc", "a\nx\nc", "a\nx\nc") == ("a\nx\nc", False)


def test_additions_at_one_place_are_both_kept_and_what_they_share_is_said_once() -> None:
    merged = merge_lines("a", "a\n\n## Later\nours", "a\n\n## Later\ntheirs")
    assert merged == ("a\n\n## Later\nours\ntheirs", False)


def test_a_line_that_one_side_removed_is_gone() -> None:
    assert merge_lines("a\nb\nc", "a\nc", "a\nb\nc\nd") == ("a\nc\nd", False)


def test_a_line_removed_here_and_changed_there_is_a_conflict() -> None:
    assert merge_lines("a\nb\nc", "a\nc", "a\nB\nc").conflict


def test_texts_too_long_to_compare_are_a_conflict() -> None:
    long = "\n".join(["x"] * (MOST_LINES + 1))
    assert merge_lines("a", long, "b") == (long, True)


@given(base=TEXTS, ours=TEXTS, theirs=TEXTS)
def test_no_addition_is_lost_unless_it_is_told(base: str, ours: str, theirs: str) -> None:
    merged = merge_lines(base, ours, theirs)
    there = set(merged.text.split("\n"))
    added = {line for line in ours.split("\n") if line.strip()} - set(base.split("\n"))
    assert added <= there
    if not merged.conflict:
        assert {line for line in theirs.split("\n") if line.strip()} - set(base.split("\n")) <= there


@given(base=TEXTS, ours=TEXTS, theirs=TEXTS)
def test_exchanging_the_sides_changes_the_order_alone(base: str, ours: str, theirs: str) -> None:
    one, other = merge_lines(base, ours, theirs), merge_lines(base, theirs, ours)
    assert one.conflict == other.conflict
    if not one.conflict:
        assert Counter(one.text.split("\n")) == Counter(other.text.split("\n"))


@given(base=TEXTS, edit=TEXTS)
def test_one_edit_is_taken_as_it_is(base: str, edit: str) -> None:
    assert merge_lines(base, edit, base) == merge_lines(base, base, edit) == (edit, False)


def test_many_equal_lines_are_merged_in_time_or_kept_apart() -> None:
    count = 4_000
    base, ours, theirs = "x\ny\n" * count, "y\nx\n" * count + "q", "x\nx\ny\n" * count
    merged = merge_lines(base, ours, theirs)
    assert "q" in merged.text.split("\n")
    assert merged.conflict or merged.text.count("x") >= count
