"""Private spans."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chitta.safety.private import without_private


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
