"""Private spans."""

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chitta.safety.private import without_private, without_private_in

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
