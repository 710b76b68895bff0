"""A graph over real vectors: it finds what exact search finds, covers what it says, and is never needed."""

from __future__ import annotations

import os
import subprocess
import sys
import zlib
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from chitta.index import neighbours
from chitta.index.vectors import MatrixFile, VectorIndex, VectorRow, write_rows

DIM = 16
ROWS = 3_000
FILE = "a.f16"


def some_vectors(count: int, seed: int = 1) -> NDArray[np.float32]:
    found = np.random.default_rng(seed).normal(size=(count, DIM))
    return np.asarray(found / np.linalg.norm(found, axis=1, keepdims=True), np.float32)


def index_of(folder: Path, rows: int, dead: frozenset[int] = frozenset()) -> VectorIndex:
    live = [VectorRow(f"n{row:05d}", "insight", FILE, row) for row in range(rows) if row not in dead]
    return VectorIndex(str(folder), DIM, [MatrixFile(FILE, "a", rows)], live)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(neighbours, "WORTH_ROWS", 1_000)
    write_rows(str(tmp_path / FILE), DIM, 0, some_vectors(ROWS).astype("<f2").tobytes())
    return tmp_path


def names(index: VectorIndex, query: NDArray[np.float32]) -> list[str]:
    return [hit.id for hit in index.compare(query).search(realm="a", limit=10)]


def exact(index: VectorIndex, query: NDArray[np.float32]) -> list[str]:
    """With kinds a file is always gone through whole."""
    return [hit.id for hit in index.compare(query).search(realm="a", limit=10, kinds=("insight",))]


def test_it_finds_what_exact_search_finds(folder: Path) -> None:
    assert neighbours.build(str(folder), FILE, DIM) == ROWS
    index, found, all_of_them = index_of(folder, ROWS), 0, 0
    assert index.graph_of(index.matrices("a")[0]) is not None
    for query in some_vectors(50, seed=2):
        nearest = exact(index, query)
        found += len(set(names(index, query)) & set(nearest))
        all_of_them += len(nearest)
    assert found >= 0.98 * all_of_them


def test_its_cosines_are_the_exact_ones(folder: Path) -> None:
    neighbours.build(str(folder), FILE, DIM)
    index, query = index_of(folder, ROWS), some_vectors(1, seed=3)[0]
    hits = index.compare(query).search(realm="a", limit=10)
    assert {hit.id: hit.score for hit in hits} == index.compare(query).cosines([hit.id for hit in hits])


def test_rows_added_since_and_rows_of_notes_that_are_gone(folder: Path) -> None:
    neighbours.build(str(folder), FILE, DIM)
    fresh = some_vectors(5, seed=4)
    write_rows(str(folder / FILE), DIM, ROWS, fresh.astype("<f2").tobytes())
    gone = frozenset(range(0, ROWS, 3))
    index = index_of(folder, ROWS + 5, gone)
    for place, vector in enumerate(fresh):
        assert names(index, vector)[0] == f"n{ROWS + place:05d}"
    for query in some_vectors(20, seed=5):
        found = names(index, query)
        assert len(found) == 10
        assert not {int(name[1:]) for name in found} & gone


def test_it_is_built_anew_when_enough_is_not_covered(folder: Path) -> None:
    assert neighbours.is_stale(str(folder), FILE, ROWS)
    neighbours.build(str(folder), FILE, DIM)
    assert not neighbours.is_stale(str(folder), FILE, ROWS + ROWS // 20)
    assert neighbours.is_stale(str(folder), FILE, ROWS + ROWS // 5)
    assert not neighbours.is_stale(str(folder), FILE, 999)
    write_rows(str(folder / FILE), DIM, ROWS, some_vectors(600, seed=6).astype("<f2").tobytes())
    neighbours.build(str(folder), FILE, DIM)
    assert [name.split(".")[2].split("-")[0] for name in os.listdir(folder) if name.endswith(".hnsw")] == ["3600"]


@pytest.mark.parametrize("damage", [b"", b"no graph at all", b"random", None])
def test_a_damaged_graph_leaves_exact_search(folder: Path, damage: bytes | None) -> None:
    neighbours.build(str(folder), FILE, DIM)
    path = next(folder.glob("*.hnsw"))
    if damage is None:  # cut short, under its old name
        path.write_bytes(path.read_bytes()[:-100])
    elif damage == b"random":  # as long as it says
        path.write_bytes(path.read_bytes()[:-5000] + os.urandom(5000))
    else:
        rows = path.name.split(".")[2].split("-")[0]
        path.unlink()
        (folder / f"{FILE}.{rows}-{len(damage)}-{zlib.crc32(damage):08x}.hnsw").write_bytes(damage)
    index, query = index_of(folder, ROWS), some_vectors(1, seed=7)[0]
    assert index.graph_of(index.matrices("a")[0]) is None
    assert names(index, query) == exact(index, query)


def test_what_tidies_the_vectors_leaves_graphs_and_builds_of_files_that_stay(folder: Path) -> None:
    neighbours.build(str(folder), FILE, DIM)
    graph = next(folder.glob("*.hnsw")).name
    assert neighbours.belongs(str(folder), graph, {FILE}) and not neighbours.belongs(str(folder), graph, {"b.f16"})
    (folder / f"{FILE}.77.part").touch()
    assert neighbours.belongs(str(folder), f"{FILE}.77.part", {FILE})
    os.utime(folder / f"{FILE}.77.part", (1, 1))
    assert not neighbours.belongs(str(folder), f"{FILE}.77.part", {FILE})
    assert not neighbours.belongs(str(folder), "stray.f16", {FILE})


def test_without_the_library_search_is_exact(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    neighbours.build(str(folder), FILE, DIM)
    monkeypatch.setitem(sys.modules, "usearch.index", None)
    index, query = index_of(folder, ROWS), some_vectors(1, seed=8)[0]
    assert names(index, query) == exact(index, query)


def test_built_by_a_process_of_its_own(folder: Path) -> None:
    command = [sys.executable, "-m", "chitta.index.neighbours", str(folder), FILE, str(DIM)]
    subprocess.run(command, check=True, timeout=120)
    graph = neighbours.open_graph(str(folder), FILE, DIM)
    assert graph is not None and graph.rows == ROWS
    assert next(folder.glob("*.hnsw")).stat().st_mode & 0o077 == 0


def test_the_model_can_be_loaded_after_a_graph_was_opened(tmp_path: Path) -> None:
    """In this order the two libraries' imports end the process, unless the first takes care of it."""
    program = (
        "import sys; from chitta.index import neighbours\n"
        "try: neighbours.Graph(sys.argv[1], 1, 8)\nexcept Exception: pass\n"
        "assert 'usearch' in sys.modules\nimport onnxruntime"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, str(tmp_path / "none.hnsw")], capture_output=True, check=False
    )
    assert done.returncode == 0, done.stderr
