"""Exact cosines from float16 files: order, filters, and files that are cut short, missing or zeroed."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from chitta.index import vectors
from chitta.index.vectors import (
    BLOCK,
    MatrixFile,
    VectorIndex,
    VectorRow,
    broken_rows,
    read_rows,
    rows_in,
    write_rows,
)

DIM = 8


def unit(seed: int) -> NDArray[np.float32]:
    vector = np.random.default_rng(seed).normal(size=DIM)
    return np.asarray(vector / np.linalg.norm(vector), np.float32)


def stored(rows: Sequence[NDArray[np.float32]]) -> bytes:
    return np.stack(rows).astype("<f2").tobytes()


def build(folder: Path, count: int = 20, problems: list[str] | None = None) -> VectorIndex:
    """``count`` vectors in two files: even numbers in realm a, odd ones in realm b."""
    files, rows = [], []
    for which, realm in enumerate("ab"):
        numbers = range(which, count, 2)
        write_rows(str(folder / f"{realm}.f16"), DIM, 0, stored([unit(number) for number in numbers]))
        files.append(MatrixFile(f"{realm}.f16", realm, len(numbers)))
        kinds = ["insight", "episode"]
        rows += [VectorRow(f"n{n:02d}", kinds[n % 3 == 0], f"{realm}.f16", row) for row, n in enumerate(numbers)]
    return opened(folder, files, rows, problems)


def opened(folder: Path, files: list[MatrixFile], rows: list[VectorRow], problems: list[str] | None) -> VectorIndex:
    kept = [] if problems is None else problems
    return VectorIndex(str(folder), DIM, files, rows, kept.append)


def expected(query: NDArray[np.float32], numbers: Sequence[int]) -> list[str]:
    return [f"n{n:02d}" for n in sorted(numbers, key=lambda n: -float(unit(n).astype(np.float16) @ query))]


@pytest.fixture(params=["in memory", "on disk"])
def kept_bytes(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Both ways of reading: a budget for everything, and none, with blocks smaller than a file."""
    if request.param == "on disk":
        monkeypatch.setattr(vectors, "KEPT_BYTES", 0)
        monkeypatch.setattr(vectors, "BLOCK", 3)


@pytest.mark.usefixtures("kept_bytes")
class TestSearch:
    def test_the_order_is_by_cosine(self, tmp_path: Path) -> None:
        index, query = build(tmp_path), unit(99)
        hits = index.search(query, limit=7)
        assert [hit.id for hit in hits] == expected(query, range(20))[:7]
        for hit in hits:
            assert hit.score == pytest.approx(float(unit(int(hit.id[1:])) @ query), abs=2e-3)

    def test_a_realm_and_kinds_leave_others_out(self, tmp_path: Path) -> None:
        index, query = build(tmp_path), unit(99)
        assert [hit.id for hit in index.search(query, realm="a", limit=5)] == expected(query, range(0, 20, 2))[:5]
        episodes = [hit.id for hit in index.search(query, kinds=["episode"], limit=50)]
        assert episodes == expected(query, range(0, 20, 3))
        assert index.search(query, realm="none") == []
        assert index.search(query, limit=0) == []

    def test_equal_vectors_are_ordered_by_id(self, tmp_path: Path) -> None:
        write_rows(str(tmp_path / "a.f16"), DIM, 0, stored([unit(1)] * 9))
        rows = [VectorRow(name, "insight", "a.f16", row) for row, name in enumerate("ihgfedcba")]
        index = opened(tmp_path, [MatrixFile("a.f16", "a", 9)], rows, None)
        assert "".join(hit.id for hit in index.search(unit(1), limit=4)) == "abcd"

    def test_cosines_of_named_notes(self, tmp_path: Path) -> None:
        index, query = build(tmp_path), unit(99)
        found = index.cosines(query, ["n03", "absent", "n10"])
        assert list(found) == ["n03", "n10"]
        by_search = {hit.id: hit.score for hit in index.search(query, limit=50)}
        assert found == {name: by_search[name] for name in found}

    def test_vectors_of_named_notes_in_the_order_asked(self, tmp_path: Path) -> None:
        index = build(tmp_path)
        asked = ["n03", "absent", "n10", "n03"]
        for _ in range(2):  # before and after the files are kept
            found = index.of(asked)
            assert found.shape == (4, DIM) and found.dtype == np.float32
            for row, number in ((0, 3), (2, 10), (3, 3)):
                assert np.array_equal(found[row], unit(number).astype(np.float16).astype(np.float32))
            assert not found[1].any()
            index.search(unit(99))
        assert index.of([]).shape == (0, DIM)

    def test_one_comparison_answers_as_each_question_alone(self, tmp_path: Path) -> None:
        index, query = build(tmp_path), unit(99)
        questions = [
            (realm, limit, kinds)
            for realm in (None, "a", "b", "none")
            for limit in (1, 3, 50)
            for kinds in (None, ["episode"])
        ]
        names = [f"n{n:02d}" for n in range(20)]
        for order in (questions, questions[::-1]):
            comparison = index.compare(query)
            alone = index.cosines(query, names)
            assert comparison.cosines(names) == alone
            for realm, limit, kinds in order:
                found = comparison.search(realm=realm, limit=limit, kinds=kinds)
                assert found == build(tmp_path).search(query, realm=realm, limit=limit, kinds=kinds)
                assert all(alone[hit.id] == hit.score for hit in found)
            assert comparison.cosines(names) == alone
            assert comparison.centre() == index.centre(query)

    def test_a_file_is_gone_through_once_a_comparison(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        index = build(tmp_path)
        through: list[str] = []
        real = VectorIndex.dots

        def dots(self: VectorIndex, matrix: Any, query: Any) -> Any:
            through.append(matrix.file)
            return real(self, matrix, query)

        monkeypatch.setattr(VectorIndex, "dots", dots)
        comparison = index.compare(unit(99))
        for realm in ("a", "a", None, "b"):
            comparison.search(realm=realm, limit=3)
        assert through == ["a.f16", "b.f16"]

    def test_the_centre_is_the_mean_of_all_that_may_enter_a_prompt(self, tmp_path: Path) -> None:
        index, query = build(tmp_path), unit(99)
        mean = np.mean([unit(n) for n in range(20) if n % 3], axis=0)  # every third is an episode
        assert index.centre(query) == pytest.approx(float(mean @ query / np.linalg.norm(mean)), abs=2e-3)

    def test_rows_of_notes_that_are_gone_are_passed_over(self, tmp_path: Path) -> None:
        build(tmp_path)
        rows = [VectorRow("n00", "insight", "a.f16", 0), VectorRow("n18", "insight", "a.f16", 9)]
        index = opened(tmp_path, [MatrixFile("a.f16", "a", 10)], rows, None)
        assert index.count == 2
        assert {hit.id for hit in index.search(unit(4), limit=9)} == {"n00", "n18"}

    def test_a_file_cut_short_after_opening_is_noticed(self, tmp_path: Path) -> None:
        problems: list[str] = []
        index = build(tmp_path, problems=problems)
        os.truncate(tmp_path / "a.f16", DIM * 2 * 3 + 1)
        assert index.search(unit(0), realm="a", limit=3)[0].id == "n00"
        assert problems

    def test_zeroed_rows_are_no_vectors(self, tmp_path: Path) -> None:
        problems: list[str] = []
        index = build(tmp_path, problems=problems)
        with open(tmp_path / "a.f16", "r+b") as file:
            file.write(bytes(DIM * 2))
        assert index.cosines(unit(0), ["n00", "n02"])["n00"] == 0.0
        assert problems


def test_a_missing_or_short_file_is_reported_and_the_rest_goes_on(tmp_path: Path) -> None:
    build(tmp_path)
    files = [MatrixFile("a.f16", "a", 10), MatrixFile("b.f16", "b", 10)]
    rows = [VectorRow(f"n{n:02d}", "insight", f"{'ab'[n % 2]}.f16", n // 2) for n in range(20)]
    (tmp_path / "a.f16").unlink()
    os.truncate(tmp_path / "b.f16", DIM * 2 * 4)
    problems: list[str] = []
    index = opened(tmp_path, files, rows, problems)
    assert index.count == 4
    assert problems == ["vectors of a: 10 of 10 rows are missing", "vectors of b: 6 of 10 rows are missing"]
    assert {hit.id for hit in index.search(unit(0), limit=50)} == {"n01", "n03", "n05", "n07"}
    assert index.cosines(unit(0), ["n00", "n01"]).keys() == {"n01"}


def test_fault_41_a_query_of_another_dimension_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="dimension 8"):
        build(tmp_path).search(np.zeros(9, np.float32))


def test_no_vectors_at_all(tmp_path: Path) -> None:
    index = opened(tmp_path, [], [], None)
    assert (index.count, index.search(unit(1)), index.centre(unit(1))) == (0, [], 0.0)


def test_rows_are_written_over_what_a_dead_process_left(tmp_path: Path) -> None:
    path = str(tmp_path / "new folder" / "a.f16")
    write_rows(path, DIM, 0, stored([unit(1), unit(2), unit(3)]))
    write_rows(path, DIM, 1, stored([unit(4)]))
    assert rows_in(path, DIM) == 3
    assert read_rows(path, DIM, [1, 0]) == [stored([unit(4)]), stored([unit(1)])]


@pytest.mark.parametrize("count", [3, 2 * BLOCK + 7])
def test_rows_that_are_no_vectors_are_found_in_a_file_of_any_length(tmp_path: Path, count: int) -> None:
    path = str(tmp_path / "a.f16")
    bad = {1: bytes(DIM * 2), count - 1: b"\xff" * (DIM * 2)}
    write_rows(path, DIM, 0, b"".join(bad.get(row, stored([unit(row)])) for row in range(count)))
    assert broken_rows(path, DIM, count) == sorted(bad)
    assert broken_rows(path, DIM, count + 5) == sorted(bad), "what is missing is another's to find"
    assert broken_rows(path, DIM, 1) == []
    assert broken_rows(str(tmp_path / "absent"), DIM, 4) == []


def test_rows_that_are_missing_or_no_vector_are_none(tmp_path: Path) -> None:
    path = str(tmp_path / "a.f16")
    write_rows(path, DIM, 0, stored([unit(1)]) + bytes(DIM * 2) + b"half")
    assert read_rows(path, DIM, [0, 1, 2, 9]) == [stored([unit(1)]), None, None, None]
    assert read_rows(str(tmp_path / "absent"), DIM, [0]) == [None]
    assert rows_in(str(tmp_path / "absent"), DIM) == 0
