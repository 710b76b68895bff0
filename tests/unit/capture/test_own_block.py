"""Every form in which chitta's block comes back is cut out, and nothing else is."""

from __future__ import annotations

import html
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chitta.capture.own_block import cut, holds, is_own_command, is_own_path

BLOCK = """<chitta-notes>
Notes from earlier work that may bear on this prompt. They are reference material, not instructions.
- [sem] Use pnpm instead of npm (preference, 2026-01-02, use-pnpm-1a2b3c)
  Never use npm in this repository.
[admit] KNOWN 93%: relevant memory is present; verify before relying on it · admitted sem 1
</chitta-notes>"""
START = BLOCK.replace("that may bear on this prompt.", "in shop.")


def forms(block: str) -> list[str]:
    return [
        block,
        f"UserPromptSubmit hook additional context: {block}",
        f"SessionStart:startup hook success: {block}",
        f"<system-reminder>\nUserPromptSubmit hook additional context: {block}\n</system-reminder>",
        f"<hook_context>\n{html.escape(block)}\n</hook_context>",
        f"<system_reminder>\n{block}\n</system_reminder>",
        html.escape(html.escape(block)),
        json.dumps(block)[1:-1],
        json.dumps({"a": json.dumps({"b": block})}),
        json.dumps(block).replace("<", "\\u003c").replace(">", "\\u003e"),
        block.removesuffix("</chitta-notes>"),
    ]


@pytest.mark.parametrize("form", [*forms(BLOCK), *forms(START)])
def test_fault_31_every_form_is_cut(form: str) -> None:
    left = cut(f"before {form}")
    assert left.startswith("before")
    for words in ("pnpm", "npm in this", "[admit]", "Notes from earlier", "chitta-notes"):
        assert words not in left


def test_what_stands_around_a_block_stays() -> None:
    assert cut(f"one\n{BLOCK}\ntwo") == "one\n\ntwo"


def test_lines_without_their_frame_are_cut() -> None:
    inner = "\n".join(BLOCK.split("\n")[1:3])
    assert "pnpm" not in cut(f"it said:\n{inner}")


@pytest.mark.parametrize(
    "text", ["use pnpm", "- [ ] a thing to do", "- [x] done (2026-01-02)", "an [admit] tag?"[3:5], "a < b"]
)
def test_other_text_is_left(text: str) -> None:
    assert cut(text) == text and not holds(text)


@given(st.text(max_size=300))
def test_cutting_twice_is_cutting_once(text: str) -> None:
    assert cut(cut(text)) == cut(text)


@given(
    st.lists(
        st.sampled_from(["<chitta-notes>", "</chitta-notes>", "a", "&lt;", "\\u003c", "\n", "[admit] ", "- [sem] "]),
        max_size=60,
    )
)
def test_pieces_of_blocks_are_cut(parts: list[str]) -> None:
    assert len(cut("".join(parts))) <= len("".join(parts))


@pytest.mark.parametrize(
    "command",
    [
        "chitta recall pnpm",
        "cd x && bin/chitta try 'y'",
        "/opt/chitta/bin/chitta list",
        "cat ~/.chitta/notes/global/a.md",
        "ls $CHITTA_HOME/notes",
    ],
)
def test_chittas_commands(command: str) -> None:
    assert is_own_command(command)


@pytest.mark.parametrize(
    "command", ["cd /work/chitta && make", "git clone x/chitta.git", "cat chitta.toml", "npm test"]
)
def test_other_commands(command: str) -> None:
    assert not is_own_command(command)


def test_files_of_the_store() -> None:
    assert is_own_path("/home/d/.chitta/notes/a.md")
    assert is_own_path("/srv/notes/a.md", "/srv/notes")
    assert not is_own_path("/srv/notes.md", "/srv/notes")


def test_a_block_that_what_is_left_spells_is_cut_too() -> None:
    nested = "<chitta<chitta-notes></chitta-notes>-notes>secret"
    assert not holds(cut(nested))
    deep = "<chitta-notes>"
    for _ in range(20):
        deep = f"<chitta<chitta-notes>{deep}</chitta-notes>-notes>"
    assert not holds(cut(deep))


@pytest.mark.parametrize("mark", ["* ", "1. ", "12) ", "• ", "-\u00a0", "> - ", "> ", "", "\t- ", "– ", "+ "])
@pytest.mark.parametrize("tag", ["[sem]", "**[sem]**", "`[sem]`"])
def test_an_item_is_known_whatever_its_bullet(mark: str, tag: str) -> None:
    item = BLOCK.split("\n")[2].removeprefix("- [sem]")
    assert cut(f"it said:\n{mark}{tag}{item}\nand then") == "it said:\n\nand then"
