"""Runs as TREC files: what is written is read again, whatever documents are called."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chitta.evaluate.dataset import BadDataset
from chitta.evaluate.runs import read_run, write_run
from chitta.notes.ids import valid_id

IDS = st.one_of(
    st.sampled_from(["a b", "100%", "%20", " ", "a\u00a0b", "ü/ß", "Q0"]).filter(valid_id),
    st.text(min_size=1, max_size=30).filter(valid_id),
)
RUNS = st.dictionaries(IDS, st.lists(IDS, min_size=1, max_size=6, unique=True), max_size=5)


@settings(deadline=None)
@given(RUNS)
def test_a_run_is_read_as_it_was_written(run: dict[str, list[str]]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "new", "a.run")
        write_run(path, run, "chitta-x")
        assert read_run(path) == run and list(read_run(path)) == list(run)
        assert [file.name for file in path.parent.iterdir()] == ["a.run"]


def test_a_line_has_the_six_columns_of_trec(tmp_path: Path) -> None:
    write_run(tmp_path / "a.run", {"a query": ["first note", "50%"]}, "chitta-keyword")
    assert (tmp_path / "a.run").read_text() == (
        "a%20query Q0 first%20note 1 2 chitta-keyword\na%20query Q0 50%25 2 1 chitta-keyword\n"
    )


def test_the_score_decides_and_the_rank_breaks_ties(tmp_path: Path) -> None:
    path = tmp_path / "a.run"
    path.write_text("q Q0 third 1 0.5 x\n\nq Q0 second 3 2 x\nq Q0 first 2 2 x\n")
    assert read_run(path) == {"q": ["first", "second", "third"]}


@pytest.mark.parametrize("line", ["q Q0 a 1 2", "q Q0 a 1 2 x y", "q Q0 a one 2 x", "q Q0 a 1 high x"])
def test_what_is_no_line_is_named(tmp_path: Path, line: str) -> None:
    path = tmp_path / "a.run"
    path.write_text(f"q Q0 a 1 2 x\n{line}\n")
    with pytest.raises(BadDataset, match=rf"{path}:2 is no line"):
        read_run(path)


def test_a_write_that_fails_leaves_the_old_run(tmp_path: Path) -> None:
    path = tmp_path / "a.run"
    write_run(path, {"q": ["a"]}, "x")
    with pytest.raises(UnicodeEncodeError):
        write_run(path, {"q": ["b"], "\ud800": ["c"]}, "x")
    assert read_run(path) == {"q": ["a"]}
