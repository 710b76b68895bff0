"""Spans a person marked as private: `<private>…</private>` is never kept and never shown."""

from __future__ import annotations

import re

#: Times that a text is looked through; what still has a tag after these was made to, and ends there.
_PASSES = 8
#: The tag as it is typed or as HTML escapes it, once or twice; an opening one may have attributes.
_TAG = re.compile(
    r"(?:<|&(?:amp;)?(?:lt|#0{0,4}60|#x0{0,4}3c);)\s{0,8}(/?)\s{0,8}private(\s[^<>]{0,400}?)?(?<!/)"
    r"(?:>|&(?:amp;)?(?:gt|#0{0,4}62|#x0{0,4}3e);)",
    re.IGNORECASE,
)


def without_private(text: str, mark: str = "") -> str:
    """``text`` without its private spans, and with ``mark`` in the place of each.

    A span inside another ends with the outer one; an unclosed one reaches to the end; a lone closing tag is
    dropped. What is left around a span is joined as it stands.
    """
    for _ in range(_PASSES):
        left = _without_spans(text, mark)
        if left == text:
            return text
        text = left  # what closed up may spell a tag again
    tag = next(iter(_tags(text)), None)
    return text[: tag.start()] if tag else text


def _tags(text: str) -> list[re.Match[str]]:
    """The tags in order. Bare words in an opening one (``<private key>``) stand for a value, unless one closes it."""
    found = list(_TAG.finditer(text))
    closing = max((tag.start() for tag in found if tag[1]), default=-1)
    return [
        tag for tag in found if tag[1] or "=" in (bare := (tag[2] or "").strip()) or not bare or tag.end() <= closing
    ]


def _without_spans(text: str, mark: str) -> str:
    parts: list[str] = []
    depth = at = 0
    for tag in _tags(text):
        if depth == 0:
            parts.append(text[at : tag.start()])
        depth = max(0, depth - 1) if tag[1] else depth + 1
        at = tag.end()
    return mark.join([*parts, text[at:] if depth == 0 else ""])
