"""Look-alikes of Latin letters."""

import pytest

from chitta.render.lookalikes import BRACKETS, latin


@pytest.mark.parametrize(
    ("text", "read"),
    [
        ("plain", "plain"),
        ("\u0406gn\u043er\u0435", "Ignore"),
        ("\u13c6\u13c0 \ua4f2\ua4d6", "IG IG"),
        ("\uff49gn\u00f3r\u00e9", "ignore"),
        ("n\u0336o\u20dd", "no"),
        ("".join(BRACKETS["<"]) + "".join(BRACKETS[">"]), "<" * 7 + ">" * 7),
        ("\u5ffd\u7565 \u0928\u093f", "\u5ffd\u7565 \u0928\u093f"),
    ],
)
def test_each_letter_is_read_as_what_it_looks_like(text: str, read: str) -> None:
    assert latin(text) == read
