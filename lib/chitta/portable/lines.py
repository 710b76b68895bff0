"""Merging two edits of one text by lines (diff3: Khanna, Kunal and Pierce, "A Formal Investigation of Diff3", 2007).

Nothing that either side wrote is dropped: where both changed the same lines, ours stand and the
caller is told, so that theirs can be kept elsewhere.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from difflib import SequenceMatcher
from typing import NamedTuple

#: Lines of a text above which two edits are not compared: the comparison takes time by the square of them.
MOST_LINES = 20_000
#: Pairs of equal lines of two texts above which lines that are there often are not compared, since the comparison takes
#: time by the pairs and the runs (400 lines of two kinds: 4 s); and where that is not enough, nothing is.
MOST_PAIRS = 50_000


class MergedLines(NamedTuple):
    """The merged text. ``conflict``: both changed the same lines, and theirs are not in ``text``."""

    text: str
    conflict: bool


def merge_lines(base: str, ours: str, theirs: str) -> MergedLines:
    """Both edits of ``base`` in one text.

    A line that one side removed and the other left alone is gone. Where both only added at one
    place, both additions stay, ours first. Anything else that both changed differently is a conflict.
    """
    if ours == theirs or theirs == base:
        return MergedLines(ours, False)
    if ours == base:
        return MergedLines(theirs, False)
    before, mine, other = (text.split("\n") for text in (base, ours, theirs))
    if max(len(before), len(mine), len(other)) > MOST_LINES:
        return MergedLines(ours, True)
    if any(_pairs(before, side, rare=True) > MOST_PAIRS for side in (mine, other)):
        return MergedLines(ours, True)
    merged: list[str] = []
    conflict = False
    for old, left, right in _hunks(before, mine, other):
        if left == right or right == old:
            merged += left
        elif left == old:
            merged += right
        elif not any(line.strip() for line in old):
            merged += _both(left, right)
        else:
            merged += left
            conflict = True
    return MergedLines("\n".join(merged), conflict)


def _both(left: list[str], right: list[str]) -> list[str]:
    """Two additions at one place: what they begin and end with alike is said once."""
    head = 0
    while head < min(len(left), len(right)) and left[head] == right[head]:
        head += 1
    tail = 0
    while tail < min(len(left), len(right)) - head and left[-1 - tail] == right[-1 - tail]:
        tail += 1
    return left[: len(left) - tail] + right[head : len(right) - tail] + left[len(left) - tail :]


def _hunks(base: list[str], ours: list[str], theirs: list[str]) -> Iterator[tuple[list[str], list[str], list[str]]]:
    """What the three texts hold between, and at, the runs of lines that all three have in common."""
    at, left, right = 0, 0, 0
    for start, in_ours, in_theirs, size in _common(base, ours, theirs):
        yield base[at:start], ours[left:in_ours], theirs[right:in_theirs]
        same = base[start : start + size]
        yield same, same, same
        at, left, right = start + size, in_ours + size, in_theirs + size
    yield base[at:], ours[left:], theirs[right:]


def _common(base: list[str], ours: list[str], theirs: list[str]) -> Iterator[tuple[int, int, int, int]]:
    """Runs of lines of ``base`` that both sides kept: where each begins in the three texts, and how long it is."""
    left, right = _blocks(base, ours), _blocks(base, theirs)
    i = j = 0
    while i < len(left) and j < len(right):
        start = max(left[i].a, right[j].a)
        end = min(left[i].a + left[i].size, right[j].a + right[j].size)
        if start < end:
            yield start, left[i].b + start - left[i].a, right[j].b + start - right[j].a, end - start
        if left[i].a + left[i].size <= right[j].a + right[j].size:
            i += 1
        else:
            j += 1


class _Block(NamedTuple):
    a: int
    b: int
    size: int


def _blocks(one: list[str], other: list[str]) -> list[_Block]:
    matcher = SequenceMatcher(None, one, other, autojunk=_pairs(one, other) > MOST_PAIRS)
    return [_Block(*block) for block in matcher.get_matching_blocks() if block.size]


def _pairs(one: list[str], other: list[str], *, rare: bool = False) -> int:
    """How many lines of the two are equal, in pairs; of ``rare`` ones those that difflib's autojunk compares."""
    mine, others = Counter(one), Counter(other)
    most = len(other) // 100 + 1 if rare and len(other) >= 200 else len(other)
    return sum(count * others[line] for line, count in mine.items() if others[line] <= most)
