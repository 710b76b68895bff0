"""Cutting Markdown by headings and items: where the cuts are, and that no line is lost."""

from __future__ import annotations

from hypothesis import example, given
from hypothesis import strategies as st

from chitta.importing.sections import Section, blocks, prose, sections

PIECES = (
    *("# One", "## Two ##", "####### seven", "#", "Title", "=====", "---", "- item", "* item", "  - below", "    code"),
    *(
        "1. step",
        "```",
        "```python",
        "~~~~",
        "~~~",
        "",
        "  ",
        "plain words",
        "<!--",
        "-->",
        "| a | b |",
        "> said",
        "\t# no",
    ),
)
DOCUMENTS = st.lists(st.sampled_from(PIECES), max_size=30).map("\n".join) | st.text(max_size=300)


def ways(text: str) -> list[tuple[str, ...]]:
    return [section.headings for section in sections(text)]


def test_each_heading_begins_a_section_and_says_the_way_to_it() -> None:
    text = "intro\n# A\none\n## B\ntwo\n#### C\n## D ##\n# E\n"
    assert ways(text) == [(), ("A",), ("A", "B"), ("A", "B", "C"), ("A", "D"), ("E",)]
    assert [section.line for section in sections(text)] == [1, 2, 4, 6, 7, 8]
    assert [section.text.strip() for section in sections(text)] == ["intro", "one", "two", "", "", ""]
    assert [section.parent for section in sections(text)] == [True, True, True, False, False, False]


def test_underlined_lines_are_headings_and_rules_are_not() -> None:
    assert ways("Top\n===\n\nSub\n---\nwords\n\n---\n\nmore") == [("Top",), ("Top", "Sub")]
    assert ways("- item\n---\n") == [()]
    assert ways("two lines\nof a paragraph\n---\n") == [()]


def test_nothing_in_a_fence_or_a_comment_is_a_heading() -> None:
    text = "# A\n```sh\n# not\n~~~\n```\n<!--\n# hidden\n-->\n````\n```\n# nor this\n````\n# B"
    assert ways(text) == [("A",), ("B",)]


def test_items_at_the_edge_take_what_is_indented_below_them() -> None:
    section = Section((), "lead\n- one\n  more\n\n  still\n  ```\n- code\n  ```\n- two\nlazy\n\nafter\n1. step\n", 1)
    assert [(block.item, block.line) for block in blocks(section)] == [
        ("", 1),
        ("one\n  more\n\n  still\n  ```\n- code\n  ```", 2),
        ("two\nlazy\n", 9),
        ("", 12),
    ]


def test_an_item_below_an_item_is_part_of_it() -> None:
    (first, second) = blocks(Section(("H",), "- one\n  - below\n- two", 5, headed=1))
    assert first.item == "one\n  - below" and (first.line, second.line) == (6, 8)


def test_prose_is_what_stands_outside_of_fences() -> None:
    assert prose("a\n```\nb\n```\nc\n~~~\nd") == "a\nc"


@given(DOCUMENTS)
@example("Title\n===\n# A\n- x\n```\n# y")
def test_no_line_that_is_not_blank_is_lost(text: str) -> None:
    lines = text.split("\n")
    found = sections(text)
    held: list[str] = []
    for section in found:
        start = section.line - 1
        held += lines[start : start + section.headed] + section.text.split("\n")
    assert [line for line in held if line.strip()] == [line for line in lines if line.strip()]
    assert found == sections(text)


@given(DOCUMENTS)
def test_the_blocks_of_a_section_are_its_lines(text: str) -> None:
    for section in sections(text):
        parts = blocks(section)
        assert "\n".join(part.raw for part in parts) == section.text
        for part in parts if section.text else ():  # a heading right before another has no lines
            assert text.split("\n")[part.line - 1] == part.raw.split("\n")[0]
