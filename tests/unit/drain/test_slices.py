"""The lines around signals, without what clients put between."""

from hypothesis import given
from hypothesis import strategies as st

from chitta.drain.slices import (
    AROUND,
    GAP,
    MOST_LINE_CHARS,
    WRAPPERS,
    cut,
    is_signal,
    joined,
    lines_of,
    without_wrappers,
)

TALK = [f"agent: line {at}" for at in range(40)]
SIGNAL = "person: no, use pnpm instead of npm"


def test_three_lines_stay_on_each_side_of_a_signal() -> None:
    lines = [*TALK[:20], SIGNAL, *TALK[20:]]
    assert cut(lines).split("\n") == lines[20 - AROUND : 21 + AROUND]


def test_signals_apart_have_a_gap_between_and_near_ones_share_their_lines() -> None:
    assert cut([SIGNAL, *TALK[:20], SIGNAL]).split("\n") == [SIGNAL, *TALK[:3], GAP, *TALK[17:20], SIGNAL]
    assert cut([SIGNAL, *TALK[:4], SIGNAL]).split("\n") == [SIGNAL, *TALK[:4], SIGNAL]


def test_without_a_signal_there_is_nothing() -> None:
    assert cut(TALK) == "" and cut([]) == ""


def test_signals_are_of_those_who_speak() -> None:
    assert is_signal("output: FAILED tests/test_a.py") and is_signal("agent: the root cause was a stale lock")
    assert is_signal("person: from now on run make check") and not is_signal("person: add a button")
    assert not is_signal("command: grep -n error log") and not is_signal("no prefix")


def test_wrappers_go_with_what_is_in_them() -> None:
    assert without_wrappers("a<system-reminder>x</system-reminder>b") == "ab"
    assert without_wrappers("a<system-reminder>x<system-reminder>y</system-reminder>z</system-reminder>b") == "ab"
    assert without_wrappers("a<command-name>/x <system-reminder></command-name>b") == "ab"
    assert without_wrappers('a<ide_selection file="f">x</ide_selection>b</ide_selection>c') == "abc"
    assert without_wrappers("if a <b> c") == "if a <b> c"


def test_what_is_not_closed_goes_to_the_end() -> None:
    assert without_wrappers("a<system-reminder>secret, and more") == "a"


def test_a_line_says_who_speaks_and_is_bounded() -> None:
    assert lines_of("person", " a \n\n b  c\n") == ["person: a", "person: b c"]
    assert len(lines_of("agent", "x" * 5_000)[0]) == MOST_LINE_CHARS + len("agent: ")


def test_the_end_of_a_session_stays_when_it_is_too_much() -> None:
    lines = [f"person: no, use {at}" for at in range(1_000)]
    found = cut(lines, 500)
    assert len(found) <= 500 and found.split("\n")[-1] == lines[-1] and lines[0] not in found


def test_a_conversation_is_freed_of_wrappers_text_by_text() -> None:
    assert joined([("person", "<system-reminder>open"), ("person", "no, use pnpm")]) == "person: no, use pnpm"


_SAID = st.lists(
    st.tuples(st.sampled_from(["person", "agent", "output"]), st.text(max_size=40) | st.just("no error instead")),
    max_size=30,
)


@given(_SAID, st.integers(0, 300))
def test_a_slice_is_bounded_and_of_the_lines_it_was_given(said: list[tuple[str, str]], most: int) -> None:
    lines = [line for who, text in said for line in lines_of(who, text)]
    found = cut(lines, most)
    assert len(found) <= most
    assert set(found.split("\n")) <= {*lines, GAP, ""}


@given(
    st.lists(
        st.sampled_from(["a", "<system-reminder>", "</system-reminder>", "<bash-stdout>", "</bash-stdout>"]),
        max_size=14,
    )
)
def test_no_wrapper_is_left_whatever_stands_in_which(parts: list[str]) -> None:
    found = without_wrappers("".join(parts))
    assert not any(f"<{name}>" in found for name in WRAPPERS)
    assert without_wrappers(found) == found
