"""Vectors of notes: one file of float16 rows per realm, compared exactly, or through a graph where they are many.

A file is rows of ``dim`` little-endian float16 values and nothing else; the catalog says which
row is which note's and how many rows there must be, so a file cut short is noticed. Rows are
only ever added: a row that a reader may be looking at never changes, and rows of notes that are
gone stay behind until the index is rebuilt.

numpy is imported when a vector is first needed, not with this module.
"""

from __future__ import annotations

import math
import os
import sys
import time
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from itertools import groupby
from operator import itemgetter
from threading import Lock
from typing import TYPE_CHECKING, NamedTuple

from chitta.index import Hit, neighbours
from chitta.notes.note import BOOKKEEPING_KINDS

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from chitta.index.neighbours import Graph

    Matrix = NDArray[np.float32]

#: Bytes of float32 kept in memory (131,072 vectors of 384); a realm beyond that is read from disk each time.
KEPT_BYTES = 192 * 1024 * 1024
#: Most rows that are read one by one rather than through a map of the file.
_FEW_ROWS = 512
#: Rows that are turned to float32 at a time.
BLOCK = 1024
#: Rows that the mean of all is taken of, evenly spread, where there are more: it is then within .001 of the whole's.
_MEAN_ROWS = 16_384
#: What a graph is asked for beyond the limit: rows of notes that are gone, and exact order among the last.
_SPARE_SHARE, _SPARE = 2, 32
#: Most notes that a graph is asked for; a larger page is compared exactly.
_GRAPH_LIMIT = 200
BOOKKEEPING = frozenset(BOOKKEEPING_KINDS)
#: Sets of kinds whose rows are remembered, a byte a row each.
_MOST_MASKS = 4
#: Seconds between two looks for a graph that is not there yet.
_LOOK_EVERY_S = 5.0
SCORE_DIGITS = 6
_TIE = 2 * 10**-SCORE_DIGITS


class VectorRow(NamedTuple):
    """Where a note's vector is."""

    id: str
    kind: str
    file: str
    row: int


_ID, _KIND, _FILE, _ROW = (itemgetter(at) for at in range(4))
_PLACE = itemgetter(2, 3)


class MatrixFile(NamedTuple):
    """One realm's file and how many rows the catalog knows in it."""

    file: str
    realm: str
    rows: int


class _Matrix:
    """The live rows of one file, in order of row. ``kept`` is None while they are on disk."""

    __slots__ = ("file", "ids", "kept", "kinds", "masks", "rows")

    def __init__(self, file: str) -> None:
        self.file = file
        self.ids: list[str] = []
        self.kinds: list[str] = []
        self.rows: list[int] = []
        self.kept: Matrix | None = None
        self.masks: dict[frozenset[str], NDArray[np.bool_]] = {}

    def of_kind(self, kinds: frozenset[str]) -> NDArray[np.bool_]:
        """Which rows are of these kinds; the prompts of a store ask for the same ones."""
        import numpy as np

        found = self.masks.get(kinds)
        if found is None:
            found = np.fromiter((kind in kinds for kind in self.kinds), dtype=bool, count=len(self.kinds))
            if len(self.masks) < _MOST_MASKS:
                self.masks[kinds] = found
        return found


class VectorIndex:
    """The read side. Safe to share between threads.

    ``report`` is told, once each, of files that are missing or cut short; the rows that are
    there go on being used.
    """

    def __init__(
        self,
        folder: str,
        dim: int,
        files: Iterable[MatrixFile],
        rows: Iterable[VectorRow],
        report: Callable[[str], None] = lambda problem: None,
    ) -> None:
        self.dim = dim
        self.folder = folder
        self._report = report
        self._lock = Lock()
        self._kept_bytes = 0
        self._mean: Matrix | None = None
        self._by_file: dict[str, _Matrix] = {}
        self._realms: dict[str, list[_Matrix]] = {}
        self._graphs: dict[str, Graph] = {}
        self._looked: dict[str, float] = {}
        room: dict[str, int] = {}
        for file in files:
            matrix = _Matrix(file.file)
            self._by_file[file.file] = matrix
            self._realms.setdefault(file.realm, []).append(matrix)
            room[file.file] = rows_in(os.path.join(folder, file.file), dim)
            if room[file.file] < file.rows:
                report(f"vectors of {file.realm}: {file.rows - room[file.file]} of {file.rows} rows are missing")
        #: Of each note, how many rows stand before its own in all files together; ``_starts`` says where files begin.
        self._place: dict[str, int] = {}
        self._starts: list[int] = []
        self._in_order: list[_Matrix] = []
        for name, group in groupby(sorted(rows, key=_PLACE), key=_FILE):
            if name in room:
                self._add(self._by_file[name], list(group), room[name])

    def _add(self, matrix: _Matrix, rows: list[VectorRow], room: int) -> None:
        """The rows of one file, in order, as far as the file goes: a hundred thousand in a tenth of a second."""
        there = rows[: bisect_left(rows, room, key=_ROW)]
        start = len(self._place)
        matrix.ids = list(map(_ID, there))
        matrix.kinds = list(map(sys.intern, map(_KIND, there)))
        matrix.rows = list(map(_ROW, there))
        self._place.update(zip(matrix.ids, range(start, start + len(there)), strict=True))
        self._starts.append(start)
        self._in_order.append(matrix)

    @property
    def count(self) -> int:
        """Notes that have a vector."""
        return len(self._place)

    def search(
        self,
        query: Matrix,
        *,
        realm: str | None = None,
        limit: int = 10,
        kinds: Collection[str] | None = None,
    ) -> list[Hit]:
        """See :meth:`Comparison.search`. Raises ``ValueError`` for a query of another dimension."""
        return self.compare(query).search(realm=realm, limit=limit, kinds=kinds)

    def cosines(self, query: Matrix, ids: Sequence[str]) -> dict[str, float]:
        """See :meth:`Comparison.cosines`. Raises ``ValueError`` for a query of another dimension."""
        return self.compare(query).cosines(ids)

    def compare(self, query: Matrix, without: frozenset[str] = frozenset()) -> Comparison:
        """The unit vector ``query`` (dim,) as something to ask. Raises ``ValueError`` for one of another dimension."""
        return Comparison(self, self._checked(query), without)

    def files(self) -> list[tuple[str, int]]:
        """Every file's name and its rows, those of notes that are gone among them."""
        return [
            (matrix.file, rows_in(os.path.join(self.folder, matrix.file), self.dim)) for matrix in self.matrices(None)
        ]

    def matrices(self, realm: str | None) -> Sequence[_Matrix]:
        """The files of a realm, or of all; a realm without vectors has none."""
        return list(self._by_file.values()) if realm is None else self._realms.get(realm, [])

    def of(self, ids: Sequence[str]) -> Matrix:
        """The vectors of these notes, float32 (n, dim), in the order asked; zeros for a note without one."""
        import numpy as np

        found = np.zeros((len(ids), self.dim), dtype=np.float32)
        for matrix, at in self.gathered(ids):
            places = list(at.values())
            rows = self._at(matrix, places)
            found[list(at)] = rows
        return found

    def gathered(self, ids: Sequence[str]) -> list[tuple[_Matrix, dict[int, int]]]:
        """The files of these notes' vectors, each with the places in it by the number in ``ids``."""
        found: dict[str, tuple[_Matrix, dict[int, int]]] = {}
        for number, name in enumerate(ids):
            place = self._place.get(name)
            if place is not None:
                file = bisect_right(self._starts, place) - 1
                matrix = self._in_order[file]
                found.setdefault(matrix.file, (matrix, {}))[1][number] = place - self._starts[file]
        return list(found.values())

    def graph_of(self, matrix: _Matrix) -> Graph | None:
        """The graph of a file that is worth one; None where it is small, or there is none yet."""
        if len(matrix.ids) < neighbours.WORTH_ROWS:
            return None
        with self._lock:
            now = time.monotonic()
            if matrix.file not in self._graphs and now - self._looked.get(matrix.file, -_LOOK_EVERY_S) >= _LOOK_EVERY_S:
                self._looked[matrix.file] = now
                graph = neighbours.open_graph(self.folder, matrix.file, self.dim)
                if graph is not None:
                    self._graphs[matrix.file] = graph
            return self._graphs.get(matrix.file)

    def dots(self, matrix: _Matrix, query: Matrix) -> Matrix:
        """The dot product of ``query`` (dim,) with every live row of a file, in order, float32 (n,)."""
        import numpy as np

        self._keep(matrix)
        blocks = [_dot(block, query) for _, block in self._some_blocks(matrix)]
        return np.concatenate(blocks) if blocks else np.zeros(0, dtype=np.float32)

    def dots_at(self, matrix: _Matrix, places: Sequence[int], query: Matrix) -> Matrix:
        """The dot products of ``query`` with some rows: the same numbers as :meth:`dots` has for them."""
        return _dot(self._at(matrix, places), query)

    def centre(self, query: Matrix) -> float:
        """Cosine of the unit vector ``query`` with the mean of all vectors but those that only record what happened;
        0 when there are none.
        """
        import numpy as np

        query = self._checked(query)
        if self._mean is None:
            total = np.zeros(self.dim, dtype=np.float64)
            every = max(1, self.count // _MEAN_ROWS)
            for matrix in self._by_file.values():
                counts = ~matrix.of_kind(BOOKKEEPING)
                for start, block in self._some_blocks(matrix, every):
                    total += block[counts[start : start + len(block)]].sum(axis=0, dtype=np.float64)
            norm = float(np.linalg.norm(total))
            self._mean = (total / norm if norm else total).astype(np.float32)
        return round(float(_dot(self._mean[None, :], query)[0]), SCORE_DIGITS)

    def _checked(self, query: Matrix) -> Matrix:
        import numpy as np

        query = np.asarray(query, dtype=np.float32)
        if query.shape != (self.dim,):
            raise ValueError(f"a query of shape {query.shape} for vectors of dimension {self.dim}")
        return query

    def _some_blocks(self, matrix: _Matrix, every: int = 1) -> Iterator[tuple[int, Matrix]]:
        """Every so many blocks of the live rows as float32, in order, each with the place of its first row.

        Where they are kept in memory they are one block.
        """
        if matrix.kept is not None:
            yield 0, matrix.kept
            return
        for start in range(0, len(matrix.ids), BLOCK * every):
            yield start, self._at(matrix, range(start, min(start + BLOCK, len(matrix.ids))))

    def _keep(self, matrix: _Matrix) -> None:
        with self._lock:
            size = len(matrix.ids) * self.dim * 4
            if matrix.kept is None and matrix.ids and self._kept_bytes + size <= KEPT_BYTES:
                matrix.kept = self._from_disk(matrix, range(len(matrix.ids)))
                self._kept_bytes += size

    def _at(self, matrix: _Matrix, places: Sequence[int]) -> Matrix:
        return self._from_disk(matrix, places) if matrix.kept is None else matrix.kept[list(places)]

    def _from_disk(self, matrix: _Matrix, places: Sequence[int]) -> Matrix:
        """Live rows by their place as float32 (n, dim); zeros, and a report, where they cannot be read.

        The file is mapped only as long as it is read, and not beyond its present end: touching
        a map past the end of a file that was cut short ends the process. A few rows are read one by one: half the time.
        """
        import numpy as np

        rows = np.zeros((len(places), self.dim), dtype=np.float32)
        wanted = np.asarray([matrix.rows[place] for place in places], dtype=np.int64)
        path = os.path.join(self.folder, matrix.file)
        there = wanted < rows_in(path, self.dim)
        try:
            if there.any():
                few = len(places) <= _FEW_ROWS
                rows[there] = (_rows_read if few else _rows_mapped)(path, wanted[there], self.dim)
        except (OSError, ValueError) as problem:
            self._report(f"vectors in {matrix.file} cannot be read: {problem}")
            return rows
        bad = _bad(rows)
        if bad.any():
            self._report(f"vectors in {matrix.file}: {int(bad.sum())} rows are missing or no vectors")
            rows[bad] = 0.0
        return rows


class Comparison:
    """One query and the vectors. Each file is gone through when it is first searched, or asked through its graph;
    what came of it is kept.

    A search finds no note of the kinds ``without``. Safe to share between threads.
    """

    def __init__(self, index: VectorIndex, query: Matrix, without: frozenset[str] = frozenset()) -> None:
        self.query = query
        self._without = without
        self._index = index
        self._lock = Lock()
        self._dots: dict[str, Matrix] = {}
        self._near: dict[str, tuple[int, list[Hit]]] = {}

    def search(self, *, realm: str | None = None, limit: int = 10, kinds: Collection[str] | None = None) -> list[Hit]:
        """The ``limit`` notes of highest cosine with the query, ties by id.

        ``realm`` None means all realms, ``kinds`` None all kinds. Of a file with a graph they are nearly always the
        nearest (:mod:`chitta.index.neighbours`); the cosines are exact.
        """
        scored: list[Hit] = []
        for matrix in self._index.matrices(realm):
            scored += self._best(matrix, limit, kinds)
        scored.sort(key=lambda hit: (-hit.score, hit.id))
        return scored[: max(limit, 0)]

    def cosines(self, ids: Iterable[str]) -> dict[str, float]:
        """The cosine of each of these notes with the query; notes without a vector are left out."""
        names = list(ids)
        found: dict[int, float] = {}
        for matrix, at in self._index.gathered(names):
            places = list(at.values())
            whole = self._dots.get(matrix.file)
            dots = self._index.dots_at(matrix, places, self.query) if whole is None else whole[places]
            found |= zip(at, dots.tolist(), strict=True)
        return {name: round(found[number], SCORE_DIGITS) for number, name in enumerate(names) if number in found}

    def centre(self) -> float:
        """Cosine of the query with the mean of all vectors; 0 when there are none."""
        return self._index.centre(self.query)

    def _best(self, matrix: _Matrix, limit: int, kinds: Collection[str] | None) -> list[Hit]:
        import numpy as np

        if not matrix.ids or limit <= 0:
            return []
        if kinds is None and limit <= _GRAPH_LIMIT and matrix.file not in self._dots:
            graph = self._index.graph_of(matrix)
            if graph is not None:
                return self._through(graph, matrix, limit)
        dots = self._whole(matrix)
        if kinds is not None:
            dots = np.where(matrix.of_kind(frozenset(kinds)), dots, -np.inf)
        if self._without:
            dots = np.where(matrix.of_kind(self._without), -np.inf, dots)
        if len(dots) > limit:
            cut = np.partition(dots, len(dots) - limit)[len(dots) - limit]
            chosen = np.flatnonzero(dots >= cut - _TIE)  # what is rounded to the same score is a tie
        else:
            chosen = np.arange(len(dots))
        scores = _rounded(dots[chosen])
        found = zip(chosen.tolist(), scores, strict=True)
        return [Hit(matrix.ids[place], score) for place, score in found if score > -math.inf]

    def _through(self, graph: Graph, matrix: _Matrix, limit: int) -> list[Hit]:
        """The best of what the graph names and of the rows that it does not cover."""
        with self._lock:
            asked, hits = self._near.get(matrix.file, (0, []))
            if asked < limit:
                rows = sorted(graph.near(self.query, _SPARE_SHARE * limit + _SPARE))
                places = [
                    place
                    for place, row in ((bisect_left(matrix.rows, row), row) for row in rows)
                    if place < len(matrix.rows) and matrix.rows[place] == row
                ]
                places += range(bisect_left(matrix.rows, graph.rows), len(matrix.rows))
                if self._without:
                    left_out = matrix.of_kind(self._without)
                    places = [place for place in places if not left_out[place]]
                dots = self._index.dots_at(matrix, places, self.query)
                scores = _rounded(dots)
                hits = [Hit(matrix.ids[place], score) for place, score in zip(places, scores, strict=True)]
                hits.sort(key=lambda hit: (-hit.score, hit.id))
                hits = hits[:limit]
                self._near[matrix.file] = (limit, hits)
        return hits[:limit]

    def _whole(self, matrix: _Matrix) -> Matrix:
        with self._lock:
            found = self._dots.get(matrix.file)
            if found is None:
                found = self._dots[matrix.file] = self._index.dots(matrix, self.query)
            return found


def _rounded(dots: Matrix) -> list[float]:
    import numpy as np

    rounded: list[float] = np.round(dots.astype(np.float64), SCORE_DIGITS).tolist()
    return rounded


def _dot(rows: Matrix, query: Matrix) -> Matrix:
    """``rows @ query`` without BLAS, whose thread pool stalls for milliseconds on a busy machine."""
    import numpy as np

    result: Matrix = np.einsum("ij,j->i", rows, query)
    return result


def _rows_mapped(path: str, wanted: NDArray[np.int64], dim: int) -> NDArray[np.float16]:
    import numpy as np

    values = np.memmap(path, dtype="<f2", mode="r")
    found: NDArray[np.float16] = values[: values.size // dim * dim].reshape(-1, dim)[wanted]
    return found


def _rows_read(path: str, wanted: NDArray[np.int64], dim: int) -> NDArray[np.float16]:
    """Raises ``ValueError`` where the file ends before a row does."""
    import numpy as np

    size = dim * 2
    file = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        raw = b"".join([os.pread(file, size, row * size) for row in wanted.tolist()])
    finally:
        os.close(file)
    return np.frombuffer(raw, dtype="<f2").reshape(len(wanted), dim)


def rows_in(path: str, dim: int) -> int:
    """Whole rows in a vector file; 0 when it is missing."""
    try:
        return os.stat(path).st_size // (dim * 2) if dim > 0 else 0
    except OSError:
        return 0


def read_rows(path: str, dim: int, rows: Sequence[int]) -> list[bytes | None]:
    """Stored rows as bytes, in the order asked; None for one that is missing or no unit vector."""
    import numpy as np

    found: list[bytes | None] = []
    try:
        with open(path, "rb") as file:
            for row in rows:
                file.seek(row * dim * 2)
                raw = file.read(dim * 2)
                vector = np.frombuffer(raw[: len(raw) // 2 * 2], dtype="<f2").astype(np.float32)
                found.append(raw if len(vector) == dim and not _bad(vector[None])[0] else None)
    except OSError:
        return [None] * len(rows)
    return found


def broken_rows(path: str, dim: int, rows: int) -> list[int]:
    """Which of a file's first rows are no unit vectors, as after a fault of the disk; of what is missing nothing."""
    import numpy as np

    broken: list[int] = []
    try:
        with open(path, "rb") as file:
            for first in range(0, rows, BLOCK):
                raw = file.read(min(BLOCK, rows - first) * dim * 2)
                block = np.frombuffer(raw[: len(raw) // (dim * 2) * dim * 2], dtype="<f2").reshape(-1, dim)
                broken += (first + np.flatnonzero(_bad(block.astype(np.float32)))).tolist()
    except OSError:
        pass  # what cannot be read is reported by who asks for it
    return broken


def _bad(rows: Matrix) -> NDArray[np.bool_]:
    """Which rows are no unit vectors, not a number among them."""
    import numpy as np

    lengths = np.sqrt(np.einsum("ij,ij->i", rows, rows))
    bad: NDArray[np.bool_] = ~((lengths > 0.9) & (lengths < 1.1))
    return bad


def write_rows(path: str, dim: int, first: int, rows: bytes) -> None:
    """Put whole rows at row number ``first`` and see them on disk before returning.

    What lies after ``first`` was written by a process that died before the catalog knew of it.
    """
    os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    with os.fdopen(descriptor, "r+b") as file:
        file.seek(first * dim * 2)
        file.write(rows)
        file.flush()
        os.fsync(file.fileno())
