"""Spans a person marked as private: `<private>…</private>` is never kept and never shown."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

from chitta.safety.shown import shown

#: Times that a text is looked through; what still has a tag after these was made to, and ends there.
_PASSES = 8
#: Characters from a tag's name to its end.
_REST_CHARS = 420
# Marks that are set over or around letters, of which a name may carry some.
_MARKS = "\u0300-\u036f\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff\ufe20-\ufe2f"
_NAME = "".join(f"{letter}[{_MARKS}]{{0,8}}" for letter in "private")


def _sign(plain: str, names: str, code: str) -> str:
    """A pattern of one sign: as it is typed or behind backslashes, as HTML escapes it however often and with or without
    semicolons, as JSON and as addresses do. ``code``: its hexadecimal number.
    """
    again = r"&(?:(?:amp|#0{0,4}38|#x0{0,4}26);?)*"
    number = rf"#0{{0,4}}{int(code, 16)}|#x0{{0,4}}{code}"
    return rf"(?:\\{{0,4}}[{plain}]|{again}(?:{names}|{number});?|\\{{1,4}}(?:u00|x){code}|%(?:25)*{code})"


# Brackets that some languages quote with; the others look like those of a tag (chitta.render.lookalikes).
_QUOTES = {"<": "\u2039\u27e8\u3008", ">": "\u203a\u27e9\u3009"}
_ALIKE = {
    "<": "\u1438\u02c2\u227a\u22d6\u29fc\u276c\u276e\u226e",
    ">": "\u1433\u02c3\u227b\u22d7\u29fd\u276d\u276f\u226f",
}
_SIGN = re.compile(rf"[<\uff1c\ufe64&\\%{_QUOTES['<']}{_ALIKE['<']}]")  # without which no tag begins
_LESS, _GREATER = _sign(f"<{_QUOTES['<']}", "lt", "3c"), _sign(f">{_QUOTES['>']}", "gt", "3e")
_GREATER = rf"(?=[>{_QUOTES['>']}&\\%]){_GREATER}"  # most signs are none, which is known at once
_SLASH = _sign("/", "sol", "2f")
_GAP = rf"[\s{_MARKS}]{{0,8}}"
_BEGIN = rf"({_LESS}){_GAP}({_SLASH})?{_GAP}(?:[a-z_][\w.-]{{0,40}}:)?{_NAME}"
# The name behind what a tag begins with, where any letter may be one of another script. Texts without it need no look
# at what letters look like, whose tables take a process some milliseconds to load.
_DRESSED = rf"[<\uff1c\ufe64{_QUOTES['<']}{_ALIKE['<']}/\uff0f;:\dcftl]{_GAP}" + "".join(
    f"(?:{one}|[^\0-\x7f{_MARKS}])[{_MARKS}]{{0,8}}" for one in "private"
)
# An opening tag may have attributes, and these any sign in quotes. One that ends in a slash is weak.
_PLAIN, _QUOTED = r"[^<>\"']", r"(?:\"[^\"]*\"|'[^']*')"
_REST = (
    rf"((?:\s|%20)[^<>]*?)?(?:(?<!/){_GREATER}|(/)\s{{0,8}}{_GREATER})"
    rf"|(\s{_PLAIN}*{_QUOTED}(?:{_PLAIN}|{_QUOTED})*?)(?:(?<!/){_GREATER}|(/)\s{{0,8}}{_GREATER})"
)


@lru_cache(maxsize=3)
def _compiled(pattern: str) -> re.Pattern[str]:
    """Some milliseconds each, which a process with a plain prompt need not spend."""
    return re.compile(pattern, re.IGNORECASE)


class _Tag(NamedTuple):
    """A tag's place. A ``weak`` one may be something else (``<private key>``, a search for ``\\<private\\>``): it opens
    a span only where one closes behind it. A ``lone`` one mostly is (``<private/>``, a word in quotation marks): it
    does so only outside of any span, and where the next tag closes it.
    """

    start: int
    end: int
    closes: bool
    weak: bool
    lone: bool = False


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
    every = [
        (number, tag) for number, its in enumerate(found) for tag in its if not tag.weak or (number, tag.start) < last
    ]
    left: list[list[_Tag]] = [[] for _ in texts]
    depth = 0
    for place, (number, tag) in enumerate(every):
        if tag.lone and (depth or place + 1 == len(every) or not every[place + 1][1].closes):
            continue
        depth = max(0, depth - 1) if tag.closes else depth + 1
        left[number].append(tag)
    return left


def _tags_of(text: str) -> Iterator[_Tag]:
    if text.isascii():
        if "private" not in text.lower():
            return
    elif _compiled(_DRESSED).search(text):
        text = _undressed(text)
    else:
        return
    at = 0
    begins, goes_on = _compiled(_BEGIN), _compiled(_REST)
    while begin := begins.search(text, at):
        at = begin.end()
        if rest := goes_on.match(text, at, at + _REST_CHARS):
            at = rest.end()
            attributes = (rest[1] or rest[3] or "").strip()
            escaped = begin[1].startswith("\\") and begin[1].endswith("<") and rest[0].endswith("\\>")
            lone = bool(rest[2] or rest[4]) or begin[1] in _QUOTES["<"]
            weak = lone or escaped or (bool(attributes) and "=" not in attributes)
            yield _Tag(begin.start(), at, bool(begin[2]), weak and not begin[2], lone and not begin[2])


class _Undressed(dict[int, str]):
    """Each character as the one that it looks like, as far as that is one; filled as characters come."""

    def __missing__(self, code: int) -> str:
        from chitta.render.lookalikes import latin  # late: most processes never need it

        alike = latin(chr(code))
        self[code] = alike if len(alike) == 1 else chr(code)
        return self[code]


_undressed_by_code = _Undressed()


def _undressed(text: str) -> str:
    """The text with plain letters for those that look like them, each in its place."""
    return text.translate(_undressed_by_code)


def private_parts(texts: Sequence[str]) -> tuple[str, ...]:
    """What stands in private spans of texts that follow one another, to look for it elsewhere; never to be shown or
    kept.
    """
    if not any(map(_SIGN.search, texts)):
        return ()
    parts: list[str] = []
    depth = 0
    plain = [shown(text) for text in texts]
    for text, its in zip(plain, _tags(plain), strict=True):
        at = 0
        for tag in its:
            if depth:
                parts.append(text[at : tag.start])
            depth = max(0, depth - 1) if tag.closes else depth + 1
            at = tag.end
        parts += [text[at:]] if depth else []
    return tuple(part.strip() for part in parts if part.strip())


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
