"""What a text comes to once it is shown."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chitta.render.neutral import neutral
from chitta.safety.shown import shown


def test_nothing_that_the_renderer_takes_out_is_missed() -> None:
    """Every character there is, between two letters, against the renderer itself."""
    for code in range(0x110000):
        text = f"a{chr(code)}b"
        if neutral(text) == "ab":
            assert shown(text) == "ab", hex(code)


@pytest.mark.parametrize(
    "text", ["plain", "a\tb\r\nc\n", "Grüße, 世界\u3000!", "\u00a0x", "", "👍\ufe0f yes", "a\x85b", "\ud800"]
)
def test_a_text_without_unseen_characters_is_itself(text: str) -> None:
    assert shown(text) is text


def test_terminal_sequences_go_to_the_end_of_their_line() -> None:
    assert shown("a\x1b[31mb\x1b[0mc") == "abc"
    assert shown("a\x1b]0;title\x85b") == "a\nb"


@given(st.text())
def test_twice_is_once(text: str) -> None:
    assert shown(shown(text)) == shown(text)
