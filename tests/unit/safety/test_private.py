"""Private spans."""

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chitta.render.lookalikes import BRACKETS
from chitta.safety.private import private_parts, without_private, without_private_in

Growth = Callable[[Callable[[int], object], int], float]


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("nothing private here", "nothing private here"),
        ("a <private>b</private> c", "a  c"),
        ("a <private>b\nc", "a "),
        ("a <private>b <private>c</private> d</private> e", "a  e"),
        ("a </private> b", "a  b"),
        ("a <PRIVATE >b</ private> c", "a  c"),
        ('a <private a="1">b</private> c', "a  c"),
        ("a <private because='x > y & z'>b</private> c", "a  c"),
        ("a <private of mine>b</private> c", "a  c"),
        ("a <private a=1>b", "a "),
        ("a &lt;private&gt;b&lt;/private&gt; c", "a  c"),
        ("a &amp;LT;private a=&quot;1&quot;&amp;gt;b&#60;/private&#x3e; c", "a  c"),
        ("a <private>b&lt;/private&gt; c", "a  c"),
        ('a <private why="a<b">b</private> c', "a  c"),
        ("a <private why='</private>' x=\"<\">b</private> c", "a  c"),
        ("a <private it's>b</private> c", "a  c"),
        ("a \uff1cprivate\uff1eb\uff1c/private\uff1e c", "a  c"),
        ("a \uff1c\uff50\uff52\uff49\uff56\uff41\uff54\uff45\uff1eb\uff1c\uff0fprivate\uff1e c", "a  c"),
        ("a \\<private\\>b\\</private\\> c", "a  c"),
        ("a <private>b<\\/private> c", "a  c"),
        ("a &ltprivate&gtb&lt/private&gt c", "a  c"),
        ("a &amp;amp;amp;lt;private why=1&amp;amp;gt;b&amp;amp;lt;/private&amp;gt; c", "a  c"),
        ("a &#38;lt;private&#38;gt;b&ampamp;lt;&sol;private&gt; c", "a  c"),
        ("a \\u003cprivate\\u003eb\\u003c\\u002fprivate\\u003e c", "a  c"),
        ("a \\u003cprivate\\u003eb", "a "),
        ("a %3Cprivate%3Eb%3C/private%3E c", "a  c"),
        ("a %253Cprivate%20why%3D1%253eb%3c%2Fprivate%3e c", "a  c"),
        ("grep '\\<private\\>' lib", "grep '\\<private\\>' lib"),
        ("a \\<private>b", "a "),
        ("ssh -i <private key> host", "ssh -i <private key> host"),
        ("a <Private/> b <private-key> c", "a <Private/> b <private-key> c"),
        ("<pri<private>x</private>vate>y</private>z", ""),
        ("<pri" * 3_000 + "<private>x" + "vate>" * 3_000, "<pri" * 3_000),
    ],
)
def test_private_spans_go(text: str, left: str) -> None:
    assert without_private(text) == left


@given(
    st.lists(
        st.sampled_from(
            [
                "<private>",
                "</private>",
                "&lt;private&gt;",
                "<private a=1>",
                "<private b>",
                "secret",
                "<pri",
                "vate>",
                " ",
                "\n",
            ]
        )
    ).map("".join)
)
def test_no_tag_is_left_and_a_second_time_changes_nothing(text: str) -> None:
    left = without_private(text)
    assert "<private>" not in left and "</private>" not in left and without_private(left) == left


def test_a_tag_in_letters_that_fold_to_its_own_is_one() -> None:
    assert without_private("a <pr\u0130vate>b</private> c") == "a  c"


@pytest.mark.parametrize("unseen", ["\u200b", "\xad", "\u202d", "\0", "\ufe0f", "\x1b[0m", "\ue000", "\u2060\ufe0f"])
def test_unseen_characters_do_not_hide_a_tag(unseen: str) -> None:
    assert without_private(f"a <pri{unseen}vate>b</private> c") == "a  c"
    assert without_private(f"a <private>b<{unseen}/private> c") == "a  c"
    assert without_private(f"{unseen}a{unseen}") == f"{unseen}a{unseen}"


def test_what_joins_letters_stays_where_no_tag_is_hidden() -> None:
    assert without_private("می\u200cخواهم <private>x</private>") == "می\u200cخواهم "


def test_a_tag_whose_beginning_a_terminal_sequence_swallows_is_one() -> None:
    assert "hidden" not in without_private("\x1b<private>hidden</private>\u200b")


@pytest.mark.parametrize(
    ("texts", "left"),
    [
        (("a <private>b", "c</private> d"), ["a ", " d"]),
        (("a <private>b", "c"), ["a ", ""]),
        (("a <private of mine>b", "c</private> d"), ["a ", " d"]),
        (("a <private key>", "c"), ["a <private key>", "c"]),
        (("a <pri\u200bvate>b", "c</private> d", "e"), ["a ", " d", "e"]),
        (("a </private>", "c"), ["a ", "c"]),
    ],
)
def test_a_span_goes_on_in_the_next_text(texts: tuple[str, ...], left: list[str]) -> None:
    assert without_private_in(texts) == left


@pytest.mark.parametrize(
    "piece",
    [
        "&amp;amp;lt;private ",
        "&amp",
        "\\",
        "%25",
        "<private '",
        "\\<private\\>",
        '<private "<',
        "\u200b<private x",
        "< ",
    ],
)
def test_a_long_text_is_linear(piece: str, growth: Growth) -> None:
    assert growth(lambda count: without_private("&" + piece * count), 2_000) < 30


@given(
    st.lists(
        st.sampled_from(
            ["<private>", "</private>", "<pri", "vate>", "\u200b", "\x1b", "\x1b[", "\\", "&lt;", "private", "b", ">"]
        )
    ).map("".join)
)
def test_nothing_shown_of_what_is_left_is_a_tag(text: str) -> None:
    left = without_private(text)
    assert "<private>" not in left and without_private(left) == left and len(left) <= len(text)


def dressed(text: str, first: int) -> str:
    """``text`` with its small letters from another block of the alphabet."""
    return "".join(chr(first + ord(c) - 97) if c.islower() else c for c in text)


@pytest.mark.parametrize(
    ("opening", "closing"),
    [
        (f"<{dressed('private', 0x1D41A)}>", f"</{dressed('private', 0x1D41A)}>"),
        (f"\u2039{dressed('private', 0x1D41A)}>", "</private>"),
        ("<pr\u0456v\u0430te>", "</private>"),
        ("<private>", "</pr\u0456vate>"),
        ("<\u1d18\u0280\u026a\u1d20\u1d00\u1d1b\u1d07>", "</private>"),
        ("<p\u0338r\u0338i\u0338vat\u0301e>", "</private>"),
        ("\u2039private\u203a", "\u2039/private\u203a"),
        ("\u27e8private\u27e9", "\u27e8/private\u27e9"),
        ("\u227aprivate\u227b", "\u227a/private\u227b"),
        ("<xs:private>", "</xs:private>"),
        ("<x-1.a:private why='x'>", "</private>"),
        ("<private/>", "</private>"),
        ("<private />", "</private>"),
        ('<private why="x"/>', "</private>"),
    ],
)
def test_fault_38_a_tag_in_other_letters_signs_or_forms_is_one(opening: str, closing: str) -> None:
    assert without_private(f"a {opening}b{closing} c") == "a  c"
    assert private_parts([f"a {opening}b{closing} c"]) == ("b",)


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("the word \u2039private\u203a stays", "the word \u2039private\u203a stays"),
        ("\u2039private\u203a and <private>b</private> c", "\u2039private\u203a and  c"),
        ("<private/> and <private>b</private> c", "<private/> and  c"),
        ("a <private>b <private/> c</private> d", "a  d"),
        ("<std::private> x", "<std::private> x"),
        ("<privateer> x \u0430", "<privateer> x \u0430"),
    ],
)
def test_what_only_speaks_of_the_tag_stays(text: str, left: str) -> None:
    assert without_private(text) == left


def test_every_bracket_that_looks_like_a_tags_is_looked_for() -> None:
    for less, greater in zip(BRACKETS["<"], BRACKETS[">"], strict=True):
        assert without_private(f"a {less}private{greater}b</private> c") == "a  c"


def test_private_parts_of_texts_that_follow_one_another() -> None:
    assert private_parts(["a <private>b", "c</private> d"]) == ("b", "c")
    assert private_parts(["a <private>b <private>c</private>"]) == ("b", "c")
    assert private_parts(["nothing < here"]) == ()


@pytest.mark.parametrize(
    "piece", ["<\u0430", "\u0430", "<p\u0301\u0301", "<a:", "\u2039private\u203a", "<private/>", "<private /"]
)
def test_a_long_text_of_other_letters_is_linear(piece: str, growth: Growth) -> None:
    assert growth(lambda count: without_private("<" + piece * count), 2_000) < 30
