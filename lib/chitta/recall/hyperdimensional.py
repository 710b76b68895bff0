"""Hyperdimensional search: a note's fields as one long bit vector, compared by how many bits agree.

After Kanerva, "Hyperdimensional Computing" (2009): a role and its filler are bound by XOR, the bound pairs are
bundled by majority, and what shares no pair agrees in half the bits, give or take chance. (Plate's holographic
reduced representations do the same with real vectors and circular convolution, at 32 times the memory.) A pair's
vector comes from a hash: nothing is learned, and nothing is random.

numpy is imported when something is first encoded, not with this module.
"""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from hashlib import blake2b
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Bits = NDArray[np.uint8]

DIMENSION = 2048
BYTES = DIMENSION // 8
#: Roles of a note's fields. Any other name is a role as well.
ROLES = ("kind", "tag", "identifier", "word", "title_word")
#: Different pairs in one vector, the first ones. One pair of n agrees by about √(2 / πn): 0.05 of 256, twice chance.
MOST_PAIRS = 256
#: Standard deviation of the similarity of vectors that share nothing, and the similarity below which nothing is found.
CHANCE = 1.0 / math.sqrt(DIMENSION)
FLOOR = 3 * CHANCE
SCORE_DIGITS = 6
_KEY = b"chitta hyperdimensional 1"
_DIGEST = 64


def encode(fields: Mapping[str, Sequence[str]]) -> Bits:
    """The vector of ``fields`` (role → fillers), packed bits, uint8 (:data:`BYTES`,); zeros when there are none.

    Fillers are compared without case and outer space; one counts once in its role, wherever it stands. Where as many
    pairs say 1 as say 0, a hash of all pairs decides: a fixed vector there would make unlike notes alike. Roles in
    order of name, so that the order of the mapping changes nothing.
    """
    import numpy as np

    pairs = _pairs(fields)
    if not pairs:
        return np.zeros(BYTES, dtype=np.uint8)
    bound = np.frombuffer(b"".join(_bound(role, filler) for role, filler in pairs), dtype=np.uint8)
    bound = bound.reshape(len(pairs), BYTES)
    votes = 2 * np.unpackbits(bound, axis=1).sum(axis=0, dtype=np.int32) - len(pairs)
    majority = votes > 0
    if len(pairs) % 2 == 0:
        parity = np.bitwise_xor.reduce(bound, axis=0)
        majority |= (votes == 0) & np.unpackbits(np.frombuffer(_expanded(b"tie", parity.tobytes()), np.uint8)).astype(
            bool
        )
    return np.packbits(majority)


def similarity(left: Bits, right: Bits) -> float:
    """``1 − 2 · hamming / DIMENSION``: 1 for equal vectors, about 0 for unrelated ones, −1 for opposite ones."""
    return float(_similarities(left[None, :], right)[0])


class HyperIndex:
    """The vectors of many notes, 256 bytes each. Read only once built; safe to share between threads."""

    def __init__(self, rows: Iterable[tuple[str, Mapping[str, Sequence[str]]]]) -> None:
        """``rows`` are (id, fields); the last row of an id counts, and a row without fields is never found."""
        import numpy as np

        found = {name: encode(fields) for name, fields in rows}
        named = [(name, found[name]) for name in sorted(found) if found[name].any()]
        self._ids = [name for name, _ in named]
        self._matrix: Bits = np.stack([vector for _, vector in named]) if named else np.zeros((0, BYTES), np.uint8)

    def __len__(self) -> int:
        return len(self._ids)

    def search(
        self, query_fields: Mapping[str, Sequence[str]], limit: int = 10, floor: float = FLOOR
    ) -> list[tuple[str, float]]:
        """The ``limit`` notes most similar to the fields, ties by id; none that is below ``floor``."""
        query = encode(query_fields)
        if limit <= 0 or not query.any():
            return []
        scores = [round(score, SCORE_DIGITS) for score in _similarities(self._matrix, query).tolist()]
        hits = [(name, score) for name, score in zip(self._ids, scores, strict=True) if score >= floor]
        return sorted(hits, key=lambda hit: (-hit[1], hit[0]))[:limit]


def _pairs(fields: Mapping[str, Sequence[str]]) -> list[tuple[str, str]]:
    found: dict[tuple[str, str], None] = {}
    for role in sorted(fields, key=str):
        fillers = fields[role]
        for filler in [fillers] if isinstance(fillers, str) else fillers or ():
            plain = unicodedata.normalize("NFKC", str(filler)).casefold().strip()
            if plain:
                found[str(role), plain] = None
                if len(found) == MOST_PAIRS:
                    return list(found)
    return list(found)


@lru_cache(maxsize=32_768)
def _bound(role: str, filler: str) -> bytes:
    """Role XOR filler, packed; 8 MB of them are kept."""
    left = int.from_bytes(_item("role", role), "big")
    return (left ^ int.from_bytes(_item("filler", filler), "big")).to_bytes(BYTES, "big")


def _item(space: str, name: str) -> bytes:
    return _expanded(space.encode(), name.encode("utf-8", "surrogatepass"))


def _expanded(space: bytes, name: bytes) -> bytes:
    """:data:`BYTES` bytes of a keyed hash of ``name``, a counter telling its parts apart."""
    parts = range(BYTES // _DIGEST)
    return b"".join(blake2b(name, key=_KEY, salt=bytes([part]), person=space).digest() for part in parts)


def _similarities(rows: Bits, query: Bits) -> NDArray[np.float64]:
    """The similarity of each row (n, :data:`BYTES`) with ``query``."""
    import numpy as np

    differing = np.bitwise_xor(rows, query)
    if hasattr(np, "bitwise_count"):  # numpy 2
        counts = np.bitwise_count(differing.view(np.uint64)).sum(axis=1, dtype=np.int64)
    else:
        counts = _ones()[differing].sum(axis=1, dtype=np.int64)
    result: NDArray[np.float64] = 1.0 - 2.0 * counts / DIMENSION
    return result


@lru_cache(maxsize=1)
def _ones() -> Bits:
    """How many bits are set in each byte."""
    import numpy as np

    return np.array([value.bit_count() for value in range(256)], dtype=np.uint8)
