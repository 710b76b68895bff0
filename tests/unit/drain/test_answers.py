"""What an agent may say, and what is not taken from it."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chitta.drain.answers import (
    IDLE,
    MALFORMED,
    MOST_CHARS,
    MOST_LEARNINGS,
    MOST_TITLE_CHARS,
    PROSE,
    REFUSED,
    VALID,
    Learning,
    parse,
)

GOOD = {"kind": "fix", "title": "Stale lock", "text": "Remove the stale lock before you build."}


def lines(*values: Any) -> bytes:
    return b"".join(json.dumps(value).encode() + b"\n" for value in values)


def test_lines_in_the_format_are_learnings() -> None:
    found = parse(b"```json\n" + lines(GOOD, {**GOOD, "kind": "preference"}) + b"```\n")
    assert found.kind == VALID and found.left_out == 0
    assert found.learnings[0] == Learning("fix", "Stale lock", "Remove the stale lock before you build.")


@pytest.mark.parametrize(
    ("raw", "kind"),
    [
        (b'{"kind": "none"}\n', IDLE),
        (b"Here is what I found: use pnpm.\n", PROSE),
        (b"I'm sorry, but I can't help with that.\n", REFUSED),
        ("I can\u2019t do that.".encode(), REFUSED),
        (b"", MALFORMED),
        (b"\xff\xfe\x00", PROSE),
        (b"[1, 2]\n", MALFORMED),
        (b'{"kind": "none", "id": "x"}\n', MALFORMED),
        (b"[" * 100_000, PROSE),
    ],
)
def test_each_class(raw: bytes, kind: str) -> None:
    assert parse(raw).kind == kind and not parse(raw).learnings


@pytest.mark.parametrize(
    "bad",
    [
        {**GOOD, "id": "somebody-elses-note"},
        {**GOOD, "action": "UPDATE"},
        {"action": "DELETE", "id": "x"},
        {**GOOD, "kind": "decision"},
        {**GOOD, "kind": ["fix"]},
        {**GOOD, "title": ""},
        {**GOOD, "title": "x" * (MOST_TITLE_CHARS + 1)},
        {**GOOD, "text": "x" * (MOST_CHARS + 1)},
        {**GOOD, "text": "short"},
        {**GOOD, "text": None},
        {"kind": "fix", "title": "no text"},
    ],
)
def test_what_is_not_exactly_the_format_is_left_out(bad: Any) -> None:
    assert parse(lines(bad)).kind == MALFORMED
    mixed = parse(lines(GOOD, bad) + b"That is all.\n")
    assert (mixed.kind, len(mixed.learnings), mixed.left_out) == (VALID, 1, 2)


def test_more_than_twelve_are_left_out_and_so_is_what_comes_twice() -> None:
    many = [{**GOOD, "title": f"t{at}"} for at in range(MOST_LEARNINGS + 5)]
    found = parse(lines(*many))
    assert len(found.learnings) == MOST_LEARNINGS == 12 and found.left_out == 5
    assert len(parse(lines(GOOD, GOOD)).learnings) == 1


def test_control_characters_do_not_come_through() -> None:
    found = parse(lines({**GOOD, "title": "a\x1b[31mb\nc", "text": "one\x00two\u202e three four"})).learnings[0]
    assert found.title == "a [31mb c" and found.text == "one two  three four"


@given(st.binary(max_size=300) | st.text(max_size=200).map(lambda text: json.dumps({**GOOD, "text": text}).encode()))
def test_any_bytes_are_an_answer_within_bounds(raw: bytes) -> None:
    found = parse(raw)
    assert bool(found.learnings) == (found.kind == VALID)
    assert all(len(one.text) <= MOST_CHARS and "\n" not in one.title for one in found.learnings)
