"""New inputs out of old ones: the same for the same random numbers. No more is known of an input than its bytes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from random import Random

#: Put into inputs of every target: what parsers, regular expressions and decoders trip over.
WORDS: tuple[bytes, ...] = (
    *(b"\0", b"\n", b"\r\n", b"\r", b"\t", b" ", b"\x1b[31m", b"\x1b]0;", b"\x07", b"\x85", b"\xff", b"\xfe\xff"),
    *(b"\xef\xbb\xbf", b"\xed\xa0\x80", b"\xed\xb0\x80", b"\xe2\x80\x8b", b"\xe2\x80\xae", b"\xe2\x80\xa8"),
    *(
        b"\xf3\xa0\x81\x81",
        b"\xef\xbc\x9c",
        b"\xf0\x9f\x98\x80",
        b"\xcc\x81",
        b"\xd9\xa3",
        b"\xc4\xb0",
        b"\xe4\xb8\xad",
    ),
    *(b"{", b"}", b"[", b"]", b"(", b")", b'"', b"'", b"`", b"```", b"~~~", b"\\", b"\\n", b"\\u0000", b"\\ud800"),
    *(b"<", b">", b"</", b"&lt;", b"---", b"---\n", b"# ", b"- ", b": ", b"|", b"&a", b"*a", b"!!", b"%", b"@", b"$"),
    *(b"0", b"-1", b"1e999", b"NaN", b"Infinity", b"-0", b"9" * 30, b"9" * 400, b"1" + b"0" * 5000, b"null", b"true"),
    *(b"0x" + b"f" * 4000, b"1.0000000000000001", b"2026-02-30", b"9999-12-31", b"0001-01-01", b"\x1e\x1f"),
    *(b"<chitta-notes>", b"</chitta-notes>", b"[admit]", b"<private>", b"</private>", b"AND", b"OR", b"NOT", b"NEAR/2"),
)
#: Times that a piece is written again: enough for what grows by the square.
_REPEATS = (2, 3, 8, 50, 400, 3000)

_Change = Callable[[Random, bytearray, Sequence[bytes], Sequence[bytes]], None]


def mutated(random: Random, seeds: Sequence[bytes], words: Sequence[bytes], most_bytes: int) -> bytes:
    """One input: a seed with a few changes."""
    data = bytearray(random.choice(seeds)) if seeds else bytearray()
    for _ in range(random.choice((1, 1, 2, 3, 5, 9))):
        random.choice(_CHANGES)(random, data, seeds, words)
        del data[most_bytes:]
    return bytes(data)


def _place(random: Random, data: bytearray) -> int:
    return random.randint(0, len(data))


def _span(random: Random, data: bytearray) -> tuple[int, int]:
    start = _place(random, data)
    return start, min(len(data), start + random.choice((1, 2, 4, 16, 64, 512)))


def _flip(random: Random, data: bytearray, seeds: Sequence[bytes], words: Sequence[bytes]) -> None:
    if data:
        data[random.randrange(len(data))] ^= 1 << random.randrange(8)


def _byte(random: Random, data: bytearray, seeds: Sequence[bytes], words: Sequence[bytes]) -> None:
    if data:
        data[random.randrange(len(data))] = random.randrange(256)


def _word(random: Random, data: bytearray, seeds: Sequence[bytes], words: Sequence[bytes]) -> None:
    at = _place(random, data)
    data[at:at] = random.choice(words if words and random.random() < 0.6 else WORDS)


def _over(random: Random, data: bytearray, seeds: Sequence[bytes], words: Sequence[bytes]) -> None:
    start, end = _span(random, data)
    data[start:end] = random.choice(words if words and random.random() < 0.6 else WORDS)


def _delete(random: Random, data: bytearray, seeds: Sequence[bytes], words: Sequence[bytes]) -> None:
    start, end = _span(random, data)
    del data[start:end]


def _copy(random: Random, data: bytearray, seeds: Sequence[bytes], words: Sequence[bytes]) -> None:
    start, end = _span(random, data)
    at = _place(random, data)
    data[at:at] = data[start:end]


def _repeat(random: Random, data: bytearray, seeds: Sequence[bytes], words: Sequence[bytes]) -> None:
    """A short piece many times: what makes a pattern look back, and a reader nest."""
    start = _place(random, data)
    end = min(len(data), start + random.choice((1, 1, 2, 3, 6, 20)))
    piece = bytes(data[start:end]) if random.random() < 0.5 else random.choice(words or WORDS)
    data[start:start] = piece[:64] * random.choice(_REPEATS)


def _cross(random: Random, data: bytearray, seeds: Sequence[bytes], words: Sequence[bytes]) -> None:
    if seeds:
        other = random.choice(seeds)
        data[_place(random, data) :] = other[random.randint(0, len(other)) :]


def _shuffle(random: Random, data: bytearray, seeds: Sequence[bytes], words: Sequence[bytes]) -> None:
    lines = bytes(data).split(b"\n")
    if len(lines) > 1:
        one, other = random.randrange(len(lines)), random.randrange(len(lines))
        lines[one], lines[other] = lines[other], lines[one]
        data[:] = b"\n".join(lines)


def _cut(random: Random, data: bytearray, seeds: Sequence[bytes], words: Sequence[bytes]) -> None:
    del data[_place(random, data) :]


_CHANGES: tuple[_Change, ...] = (
    *(_flip, _byte, _word, _word, _word, _over, _over),
    *(_delete, _copy, _repeat, _cross, _shuffle, _cut),
)
