"""The daemon begins a build for a large file and goes on; a build that fails is not begun again at once."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest

from chitta.daemon.graphs import GraphBuilder
from chitta.daemon.logbook import Logbook
from chitta.index import neighbours
from chitta.index.snapshot import Snapshot
from chitta.index.vectors import MatrixFile, VectorIndex, VectorRow, write_rows

DIM, ROWS, PATIENCE_S = 8, 200, 120


@pytest.fixture
def snapshot(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Snapshot:
    """As much of one as a builder looks at, over a real file of vectors."""
    monkeypatch.setattr(neighbours, "WORTH_ROWS", 100)
    found = np.random.default_rng(1).normal(size=(ROWS, DIM))
    found /= np.linalg.norm(found, axis=1, keepdims=True)
    write_rows(str(tmp_path / "a.f16"), DIM, 0, found.astype("<f2").tobytes())
    rows = [VectorRow(f"n{row}", "insight", "a.f16", row) for row in range(ROWS)]
    return cast(
        Snapshot, SimpleNamespace(vectors=VectorIndex(str(tmp_path), DIM, [MatrixFile("a.f16", "a", ROWS)], rows))
    )


def graphs(snapshot: Snapshot) -> list[str]:
    assert snapshot.vectors is not None
    return [path.name for path in Path(snapshot.vectors.folder).glob("*.hnsw")]


def test_a_missing_graph_is_built_once(snapshot: Snapshot) -> None:
    builder = GraphBuilder(Logbook(None))
    builder.see_to(snapshot)
    builder.wait(PATIENCE_S)
    first = graphs(snapshot)
    assert len(first) == 1
    builder.see_to(snapshot)
    builder.wait(PATIENCE_S)
    assert graphs(snapshot) == first


def test_a_build_that_fails_is_not_tried_again_at_once(snapshot: Snapshot, monkeypatch: pytest.MonkeyPatch) -> None:
    begun: list[Any] = []
    builder = GraphBuilder(Logbook(None))
    monkeypatch.setattr("chitta.daemon.graphs._PROGRAM", "raise SystemExit(3)")
    begin = builder._begin

    def counted(*given: Any) -> None:
        begun.append(given)
        begin(*given)

    monkeypatch.setattr(builder, "_begin", counted)
    for _ in range(3):
        builder.see_to(snapshot)
        builder.wait(PATIENCE_S)
    assert len(begun) == 1
    assert graphs(snapshot) == []


def test_nothing_to_build_from(snapshot: Snapshot) -> None:
    builder = GraphBuilder(Logbook(None))
    builder.see_to(None)
    builder.see_to(cast(Snapshot, SimpleNamespace(vectors=None)))
    builder.wait(0)
    assert graphs(snapshot) == []
