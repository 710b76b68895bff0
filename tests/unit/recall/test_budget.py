"""Answers within a number of tokens."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chitta.recall.budget import SHORTEST_TEXT, Item, estimate, fit, keep_whole, shorten

TEXT = "one two three four five six seven eight nine ten " * 8  # 49 characters each

texts = st.text(max_size=120)
items = st.lists(st.builds(Item, texts, texts, st.lists(texts, max_size=2).map(tuple)), max_size=5)


def printed(given_items: list[Item]) -> str:
    return "".join(part for item in given_items for part in (item.head, item.text, *item.context))


def test_estimate_is_a_quarter_of_the_characters_rounded_up() -> None:
    assert [estimate("x" * count) for count in (0, 1, 4, 5)] == [0, 1, 1, 2]


def test_a_character_of_han_kana_or_hangul_is_a_token() -> None:
    assert estimate("数据库") == estimate("データ") == estimate("데이터") == 3
    assert estimate("数据库 sql") == 3 + 1


def test_whole_texts_are_kept_until_one_would_exceed() -> None:
    ten, five = "x" * 40, "x" * 20
    assert keep_whole([ten, ten, five], 20) == 2
    assert keep_whole([ten, ten, five], 19) == 1, "a later one that would fit does not jump the queue"
    assert keep_whole([ten, ten, five], 25) == 3


def test_the_first_text_is_kept_whatever_its_length() -> None:
    assert keep_whole(["x" * 400, "x"], 10) == 1
    assert keep_whole([], 10) == 0


def test_no_limit_keeps_all() -> None:
    assert keep_whole([TEXT, TEXT], 0) == 2
    assert fit([Item("a", TEXT, (TEXT,))], 0) == ([Item("a", TEXT, (TEXT,))], [])


def test_what_fits_is_not_touched() -> None:
    given_items = [Item("head", "text", ("context",))]
    assert fit(given_items, 1 + 1 + 2) == (given_items, [])


def test_context_goes_first_and_the_last_ones_before_the_others() -> None:
    given_items = [Item("a", "aaaa", ("x" * 40,)), Item("b", "bbbb", ("x" * 40,))]
    fitted = fit(given_items, 15)
    assert [bool(item.context) for item in fitted.items] == [True, False]
    assert fitted.trimmed == ["context of 1 memory left out"]


def test_then_the_last_text_is_shortened() -> None:
    given_items = [Item("a", TEXT, (TEXT,)), Item("b", TEXT)]
    fitted = fit(given_items, estimate("a") + estimate(TEXT) + estimate("b") + SHORTEST_TEXT)
    assert fitted.items[0] == Item("a", TEXT)
    assert fitted.items[1].text.endswith("…") and TEXT.startswith(fitted.items[1].text[:-1])
    assert fitted.trimmed == ["context of 1 memory left out", "text of the last memory shortened"]


def test_then_memories_are_left_out() -> None:
    given_items = [Item("a", TEXT), Item("b", TEXT), Item("c", TEXT)]
    fitted = fit(given_items, estimate("a") + estimate(TEXT) + estimate("b") + SHORTEST_TEXT - 1)
    assert fitted == (given_items[:1], ["2 memories left out"])


def test_a_head_that_does_not_fit_leaves_nothing() -> None:
    assert fit([Item(TEXT)], 3) == ([], ["1 memory left out"])


def test_a_lone_memory_is_shortened_however_little_is_left() -> None:
    fitted = fit([Item("a", TEXT)], 4)
    assert fitted.items == [Item("a", "one two…")]


def test_text_is_cut_between_words() -> None:
    assert shorten("alpha beta gamma", 3) == "alpha beta…"
    assert shorten("x" * 40, 2) == "x" * 7 + "…", "one endless word is cut inside"
    assert shorten("alpha", 0) == ""


@given(items, st.integers(1, 120))
def test_fault_17_the_cap_is_never_exceeded(given_items: list[Item], cap: int) -> None:
    fitted = fit(given_items, cap)
    assert estimate(printed(fitted.items)) <= cap
    assert fitted == fit(given_items, cap)
    assert bool(fitted.trimmed) == (fitted.items != given_items)
    assert all(item.head == before.head for item, before in zip(fitted.items, given_items, strict=False))


@given(texts, st.integers(0, 40))
def test_a_shortened_text_fits_and_is_a_beginning(text: str, cap: int) -> None:
    short = shorten(text, cap)
    assert estimate(short) <= cap
    assert short == text or text.startswith(short.removesuffix("…"))


@pytest.mark.parametrize("cap", [1, 7, 30])
@given(st.lists(texts, max_size=6))
def test_whole_texts_fit_but_for_the_first(cap: int, given_texts: list[str]) -> None:
    kept = keep_whole(given_texts, cap)
    assert kept <= 1 or sum(map(estimate, given_texts[:kept])) <= cap
