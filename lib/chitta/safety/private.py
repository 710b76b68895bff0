"""Spans a person marked as private: `<private>…</private>` is never kept and never shown."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from chitta.safety.shown import shown

#: Times that a text is looked through; what still has a tag after these was made to, and ends there.
_PASSES = 8
#: Characters from a tag's name to its end.
_REST_CHARS = 420
_NAME = "".join(f"[{letter}{chr(ord(letter) + 0xFEE0)}]" for letter in "private")
_NAMED = re.compile(_NAME, re.IGNORECASE)


def _sign(plain: str, names: str, code: str) -> str:
    """A pattern of one sign: as it is typed or behind backslashes, as HTML escapes it however often and with or without
    semicolons, as JSON and as addresses do. ``code``: its hexadecimal number.
    """
    again = r"&(?:(?:amp|#0{0,4}38|#x0{0,4}26);?)*"
    number = rf"#0{{0,4}}{int(code, 16)}|#x0{{0,4}}{code}"
    return rf"(?:\\{{0,4}}[{plain}]|{again}(?:{names}|{number});?|\\{{1,4}}(?:u00|x){code}|%(?:25)*{code})"


_SIGN = re.compile(r"[<\uff1c\ufe64&\\%]")  # without which no tag begins
_LESS, _GREATER = _sign("<\uff1c\ufe64", "lt", "3c"), _sign(">\uff1e\ufe65", "gt", "3e")
_GREATER = rf"(?=[>\uff1e\ufe65&\\%]){_GREATER}"  # most signs are none, which is known at once
_SLASH = _sign("/\uff0f", "sol", "2f")
_BEGIN = re.compile(rf"({_LESS})\s{{0,8}}({_SLASH})?\s{{0,8}}{_NAME}", re.IGNORECASE)
# An opening tag may have attributes, and these any sign in quotes. One that ends in a slash opens nothing.
_PLAIN, _QUOTED = r"[^<>\uff1c\uff1e\"']", r"(?:\"[^\"]*\"|'[^']*')"
_REST = re.compile(
    rf"((?:\s|%20)[^<>\uff1c\uff1e]*?)?(?<!/){_GREATER}|(\s{_PLAIN}*{_QUOTED}(?:{_PLAIN}|{_QUOTED})*?)(?<!/){_GREATER}",
    re.IGNORECASE,
)


class _Tag(NamedTuple):
    """A tag's place. A ``weak`` one may be something else (``<private key>``, a search for ``\\<private\\>``): it opens
    a span only where one closes behind it.
    """

    start: int
    end: int
    closes: bool
    weak: bool


def without_private(text: str, mark: str = "") -> str:
    """``text`` without its private spans, and with ``mark`` in the place of each.

    A span inside another ends with the outer one; an unclosed one reaches to the end; a lone closing tag is
    dropped. What is left around a span is joined as it stands. Where unseen characters hide a tag they are taken out
    of the whole text. Time is linear in the text.
    """
    return without_private_in((text,), mark)[0]


def without_private_in(texts: Sequence[str], mark: str = "") -> list[str]:
    """The same of texts that follow one another: a span that is open at the end of one goes on in the next."""
    if not any(map(_SIGN.search, texts)):
        return list(texts)
    left, tags = _cleared(texts, mark)
    plain = [shown(text) for text in texts]
    if plain == list(texts):
        return left
    plain_left, plain_tags = _cleared(plain, mark)
    if [shown(text) for text in left] == [shown(text) for text in plain_left]:
        return left  # nothing was hidden, so what joins letters or emoji stays
    if plain_tags >= tags:
        return plain_left
    return _cleared([shown(text) for text in left], mark)[0]  # a terminal sequence had swallowed a tag's beginning


def _cleared(texts: Sequence[str], mark: str) -> tuple[list[str], int]:
    """The texts without spans, and how many tags they had."""
    left, tags = list(texts), _tags(texts)
    count = sum(map(len, tags))
    for _ in range(_PASSES):
        if not any(tags):
            return left, count
        left = _without_spans(left, tags, mark)
        tags = _tags(left)  # what closed up may spell a tag again
    at = next((number for number, its in enumerate(tags) if its), None)
    if at is not None:
        left = [*left[:at], left[at][: tags[at][0].start], *("" for _ in left[at + 1 :])]
    return left, count


def _tags(texts: Sequence[str]) -> list[list[_Tag]]:
    """The tags of each text in order, without weak ones behind which none closes."""
    found = [list(_tags_of(text)) for text in texts]
    last = max(((number, tag.start) for number, its in enumerate(found) for tag in its if tag.closes), default=(-1, 0))
    return [[tag for tag in its if not tag.weak or (number, tag.start) < last] for number, its in enumerate(found)]


def _tags_of(text: str) -> Iterator[_Tag]:
    if "private" not in text.lower() and (text.isascii() or not _NAMED.search(text)):
        return
    at = 0
    while begin := _BEGIN.search(text, at):
        at = begin.end()
        if rest := _REST.match(text, at, at + _REST_CHARS):
            at = rest.end()
            attributes = (rest[1] or rest[2] or "").strip()
            escaped = begin[1].startswith("\\") and begin[1].endswith("<") and rest[0].endswith("\\>")
            weak = escaped or (bool(attributes) and "=" not in attributes)
            yield _Tag(begin.start(), at, bool(begin[2]), weak and not begin[2])


def _without_spans(texts: Sequence[str], tags: Sequence[Sequence[_Tag]], mark: str) -> list[str]:
    left: list[str] = []
    depth = 0
    for text, its in zip(texts, tags, strict=True):
        parts: list[str] = []
        at = 0
        for tag in its:
            if depth == 0:
                parts.append(text[at : tag.start])
            depth = max(0, depth - 1) if tag.closes else depth + 1
            at = tag.end
        left.append(mark.join([*parts, text[at:] if depth == 0 else ""]))
    return left
