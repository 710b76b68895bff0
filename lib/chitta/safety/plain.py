"""A text as a model may read it: one plain form for all that letters can be dressed in.

Signs of speech to a model are looked for in this form, so that none of them has to know of disguises.
"""

from __future__ import annotations

import base64
import codecs
import html
import re
import unicodedata
from collections import Counter
from collections.abc import Iterator

from chitta.render.neutral import NEWLINES, seen

#: Entities in entities and escapes in escapes are read to this depth; so is what is encoded.
DEPTH = 3
# Lines and strokes through letters, and frames around them; other marks are part of a language's letters.
_OVERLAYS = re.compile("[\u0332-\u0338\u033f\u0305\u20d0-\u20f0]")
_ENTITY = re.compile(r"&(?:#[0-9]{1,10}|#[xX][0-9A-Fa-f]{1,8}|[A-Za-z]{2,31});?")
_ESCAPE = re.compile(
    r"%([2-7][0-9A-Fa-f])|\\x([2-7][0-9A-Fa-f])|\\u([0-9A-Fa-f]{4})|\\u\{([0-9A-Fa-f]{1,6})\}"
    r"|\\U([0-9A-Fa-f]{8})|\\(0?(?:[4-7][0-7]|1[0-7]{2}))(?![0-9])"
)
# What stands inside a word and is not shown, or only as its style: comments, tags of style, emphasis, a hyphen at a
# line's end. Each begins with a letter that can be looked for fast; what is before that comes behind it.
_INSIDE = (
    re.compile(
        r"<(?:!--[^<>]*--|/?(?:abbr|b|bdi|bdo|big|code|del|em|font|i|ins|kbd|mark|s|small|span|strike|strong|sub|sup|tt"
        r"|u|wbr)(?:\s[^<>]{0,200})?/?)>",
        re.IGNORECASE,
    ),
    re.compile(r"(?:\*|~|`|_(?=_))(?<=[^\W_].)[*_~`]{0,2}(?=[^\W_])"),
    re.compile(r"-\n(?<=[a-z]-\n)[ \t]{0,8}(?=[a-z])"),
)
# Five letters or more that stand alone, each a few marks or spaces from the next.
_SPACED = re.compile(r"(?<![^\W_])[^\W\d_](?:[\s.\xb7\u2022_*|,/~+-]{1,3}[^\W\d_](?![^\W_])){4,}")
_BETWEEN = re.compile(r"[^\W\d_]([\s.\xb7\u2022_*|,/~+-]+)")
# Words of orders, to be told apart where letters that were spaced out leave no space between words: then a word has
# more letters than these have.
_RUN_CHARS = 13
_RUN_TOGETHER = re.compile(
    r"ignore|disregard|forget|bypass|previous|prior|above|all|any|your|the|instructions?|rules?|guidelines?|prompts?"
    r"|system|user|human|send|secrets?|passwords?|reveal|donot|nottell|tell|youare|arenow|and|run",
    re.IGNORECASE,
)
# Base64, in either alphabet, of 40 characters or more; lines of such are joined before.
_BASE64 = re.compile(r"[A-Za-z0-9+/_-]{40,}")
_BASE64_BREAK = re.compile(r"(?<=[A-Za-z0-9+/]{40})\r?\n[ \t]{0,8}(?=[A-Za-z0-9+/])")
# Sixteen bytes or more in hexadecimal digits, the bytes apart or not.
_HEX = re.compile(r"(?<![0-9A-Za-z])[0-9A-Fa-f]{2}(?:[ :,-]?[0-9A-Fa-f]{2}){15,}(?![0-9A-Za-z])")
_ROT13 = re.compile(r"\b(?:rot|caesar)[\W_]{0,3}(?:13|thirteen)\b|\b(?:13|thirteen)\b[^\n]{0,30}\b(?:rot|caesar)", re.I)


def readings(text: str) -> tuple[str, ...]:
    """The text as it is seen, and with all that is inside words taken out and decoded, the lines that this changes."""
    first = as_seen(text)
    further = _without_dress(first)
    return (first,) if further == first else (first, _changed(first, further))


def _changed(before: str, after: str) -> str:
    """The lines of ``after`` that are not in ``before``, each with its neighbours."""
    known = set(before.split("\n"))
    lines = after.split("\n")
    fresh = [False, *(line not in known for line in lines), False]
    return "\n".join(line for at, line in enumerate(lines) if any(fresh[at : at + 3]))


def as_seen(text: str) -> str:
    """The text without what is unseen or only strikes letters through, hidden tags as letters, other forms plain."""
    text = NEWLINES.sub("\n", text)
    if text.isascii():
        return seen(text)
    text = "".join(chr(ord(c) - 0xE0000) if 0xE0020 <= ord(c) <= 0xE007E else c for c in text)
    return _OVERLAYS.sub("", unicodedata.normalize("NFKC", seen(text)))


def _without_dress(text: str) -> str:
    for _ in range(DEPTH):
        decoded = _ESCAPE.sub(_character, _ENTITY.sub(lambda found: html.unescape(found[0]), text))
        if decoded == text:
            break
        text = as_seen(decoded)
    for inside in _INSIDE:
        text = inside.sub("", text)
    return _SPACED.sub(_joined, text)


def _character(found: re.Match[str]) -> str:
    byte, escape, short, braced, long, octal = found.groups()
    code = int(octal, 8) if octal else int(byte or escape or short or braced or long, 16)
    return chr(code) if code < 0x110000 and not 0xD800 <= code < 0xE000 else found[0]


def _joined(found: re.Match[str]) -> str:
    """Letters that stand apart by what most often stands between them as words; anything else ends a word."""
    apart = Counter(_BETWEEN.findall(found[0])).most_common(1)[0][0]
    words = "".join(
        letter if between == apart else letter + " "
        for letter, between in re.findall(r"([^\W\d_])([\W_]*)", found[0] + apart)
    )
    return " ".join(word if len(word) < _RUN_CHARS else _RUN_TOGETHER.sub(r" \g<0> ", word) for word in words.split())


def decoded(text: str) -> Iterator[tuple[str, str, bool]]:
    """What is encoded in the text and reads as text: the code's name, what it says, and whether it is all there is."""
    yield from _decoded(text, DEPTH)
    if ("13" in text or "hirteen" in text) and _ROT13.search(text):
        yield "rot13", codecs.encode(text, "rot13"), False


def _decoded(text: str, depth: int) -> Iterator[tuple[str, str, bool]]:
    joined = _BASE64_BREAK.sub("", text) if _BASE64.search(text) else text
    whole = joined.strip(" \t\r\n`'\"=")
    found = [("base64", run.group(), _of_base64(run.group())) for run in _BASE64.finditer(joined)]
    found += [("hexadecimal digits", run.group(), _of_hex(run.group())) for run in _HEX.finditer(text)]
    for name, run, said in found:
        if said:
            yield name, said, run == whole
            if depth > 1:
                yield from ((name, deeper, False) for name, deeper, _ in _decoded(said, depth - 1))


def _of_base64(run: str) -> str:
    """What base64 says if it is text, else nothing. A last group that is not whole is left out."""
    whole = run[: len(run) - (len(run) % 4 == 1)].translate(str.maketrans("-_", "+/"))
    return _if_text(base64.b64decode(whole + "=" * (-len(whole) % 4)), 0.6 * len(whole))


def _of_hex(run: str) -> str:
    digits = re.sub(r"[^0-9A-Fa-f]", "", run)
    return _if_text(bytes.fromhex(digits[: len(digits) // 2 * 2]), 0.45 * len(digits))


def _if_text(said: bytes, least: float) -> str:
    """What the bytes say in UTF-8, if hardly any of them (``least`` of all stay) are something else."""
    text = said.decode("utf-8", "ignore")
    readable = sum(c.isprintable() or c.isspace() for c in text)
    return text if readable >= 0.9 * len(text) and len(text.encode()) >= least else ""
