from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chitta.cli import recall_text
from chitta.cli.recall_text import Block, beyond_title, blocks, excerpt, flowing, whole_text

CODE = "Keep the raw\nbody.\n\n```python\nfirst = 1\n\n    second = 2\n```\nThen parse."


def test_lines_of_a_paragraph_are_joined_and_code_stays() -> None:
    assert list(blocks(CODE)) == [
        Block("Keep the raw body."),
        Block("first = 1", code=True),
        Block("    second = 2", code=True),
        Block("Then parse."),
    ]


def test_headings_items_and_wanted_breaks_begin_anew() -> None:
    text = "# Head\nwords\n- one\n  more\n* two\n1. three\n> said\nbroken  \nhere"
    assert [block.text for block in blocks(text)] == [
        "# Head", "words", "- one more", "* two", "1. three", "> said broken", "here",
    ]  # fmt: skip


def test_an_excerpt_fills_its_lines_and_says_what_it_cuts() -> None:
    assert excerpt(CODE, "Title", 20) == ["Keep the raw body.", "first = 1", "    second = 2"]
    assert excerpt("```\n" + "x" * 30 + "\n```", "Title", 10) == ["x" * 9 + "…"]
    lines = excerpt("word\n" * 40, "Title", 20)
    assert lines[:2] == ["word word word word"] * 2 and lines[2].endswith("…")
    assert excerpt("All it says.", "All it says.", 40) == []


@given(st.text(alphabet="ab #-`~\n.|>\t", max_size=300), st.integers(5, 60))
def test_an_excerpt_is_never_too_long(text: str, room: int) -> None:
    lines = excerpt(text, "a b", room)
    assert len(lines) <= 3 and all(len(line) <= room for line in lines)


@given(st.text(max_size=300))
def test_in_a_pipe_every_line_is_as_it_is(text: str) -> None:
    lines = whole_text(text, "")
    assert flowing(lines) == [line.rstrip() for line in lines]


def test_on_a_terminal_paragraphs_flow(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("chitta.cli.output.on_terminal", lambda stream=None: True)
    monkeypatch.setenv("COLUMNS", "60")
    paragraph = ["word " * 13 + "end."] * 3
    code = ["```", "a = 1", "b = 2", "```"]
    lines = flowing([*paragraph, "", *code, "- item", "- item"], "   ")
    at = lines.index("")
    assert all(len(line) <= 60 and line.startswith("   ") for line in lines[:at])
    assert all(len(line) > 50 for line in lines[: at - 1])  # no orphans
    assert lines[at + 1 :] == [f"   {line}" for line in (*code, "- item", "- item")]


@pytest.mark.parametrize(
    ("line", "title", "rest"),
    [
        ("The build is nightly.", "The build is nightly.", ""),
        ("The build is nightly. It takes an hour.", "The build is nightly.", "…It takes an hour."),
        ("The build is nightly, and long", "The build is…", "…nightly, and long"),
        ("The build is nightly", "The build is nig…", "…nightly"),
        ("# Heading", "Heading", ""),
        ("Other words", "Heading", "Other words"),
    ],
)
def test_text_goes_on_where_the_title_ends(line: str, title: str, rest: str) -> None:
    assert beyond_title(line, title) == rest


def test_a_text_does_not_say_its_title_again() -> None:
    assert recall_text.whole_text("# A  title\n\ntext\n", "A title") == ["text"]
    assert recall_text.whole_text("other\ntext", "A title") == ["other", "text"]
    assert recall_text.whole_text("", "") == []
