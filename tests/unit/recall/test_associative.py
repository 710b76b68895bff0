"""One step of a Hopfield network, with its formula written out."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from chitta.recall.associative import CANDIDATES, associate, default_beta

X = np.array([[1.0, 0.0], [0.6, 0.8], [-1.0, 0.0]], dtype=np.float32)
IDS = ["a", "b", "c"]
QUERY = np.array([1.0, 0.0], dtype=np.float32)


def by_hand(beta: float, query: tuple[float, float]) -> tuple[float, float]:
    """The unit pattern of X."""
    rows = [(1.0, 0.0), (0.6, 0.8), (-1.0, 0.0)]
    weights = [math.exp(beta * (row[0] * query[0] + row[1] * query[1])) for row in rows]
    mean = [
        sum(weight * row[axis] for weight, row in zip(weights, rows, strict=True)) / sum(weights) for axis in (0, 1)
    ]
    return mean[0] / math.hypot(*mean), mean[1] / math.hypot(*mean)


def test_scores_are_cosines_to_the_softmax_weighed_mean() -> None:
    pattern = by_hand(2.0, (1.0, 0.0))
    scores = dict(associate(QUERY, X, IDS, beta=2.0))
    assert scores["a"] == pytest.approx(pattern[0], abs=1e-5)
    assert scores["b"] == pytest.approx(0.6 * pattern[0] + 0.8 * pattern[1], abs=1e-5)
    assert scores["c"] == pytest.approx(-pattern[0], abs=1e-5)


def test_beta_is_one_over_the_root_of_the_dimension_by_default() -> None:
    assert default_beta(384) == pytest.approx(1 / math.sqrt(384))
    assert associate(QUERY, X, IDS) == associate(QUERY, X, IDS, beta=1 / math.sqrt(2))


def test_a_second_step_starts_from_the_pattern() -> None:
    second = by_hand(2.0, by_hand(2.0, (1.0, 0.0)))
    assert dict(associate(QUERY, X, IDS, beta=2.0, steps=2))["a"] == pytest.approx(second[0], abs=1e-5)


def test_a_sharp_beta_finds_the_stored_vector_and_a_flat_one_the_mean() -> None:
    noisy = np.array([0.7, 0.75], dtype=np.float32)
    [(name, score)] = associate(noisy, X, IDS, beta=200.0, limit=1)
    assert name == "b" and score == pytest.approx(1.0, abs=1e-3)
    mean = X.mean(axis=0) / np.linalg.norm(X.mean(axis=0))
    assert dict(associate(noisy, X, IDS, beta=0.0))["a"] == pytest.approx(float(mean[0]), abs=1e-5)


def test_the_default_beta_averages_nearly_everything() -> None:
    rows = np.eye(384, dtype=np.float32)[:50]
    scores = [score for _, score in associate(rows[7], rows, [f"{n:02}" for n in range(50)], limit=50)]
    assert scores[0] / scores[-1] == pytest.approx(math.exp(default_beta(384)), rel=1e-3)


def test_neighbours_of_the_pattern_pass_neighbours_of_the_query() -> None:
    crowd = [[0.8, 0.6, 0.0], [0.8, 0.55, 0.1], [0.8, 0.55, -0.1]]
    rows = np.array([*crowd, [0.9, -0.4, 0.0]], dtype=np.float32)
    query = np.array([1.0, 0.0, 0.0], dtype=np.float32)
    assert (rows[3] / np.linalg.norm(rows[3]))[0] > 0.9  # nearest to the query
    assert [name for name, _ in associate(query, rows, ["x", "y", "z", "alone"])][-1] == "alone"


def test_ties_are_broken_by_id_and_the_order_of_rows_changes_nothing() -> None:
    rows = np.array([[1.0, 0.0], [1.0, 0.0], [0.0, 1.0]], dtype=np.float32)
    assert [name for name, _ in associate(QUERY, rows, ["b", "a", "c"])] == ["a", "b", "c"]
    assert associate(QUERY, X, IDS) == associate(QUERY, X[::-1], IDS[::-1])


def test_only_the_nearest_candidates_make_the_pattern() -> None:
    many = np.tile(QUERY, (CANDIDATES, 1))
    far = np.tile(np.array([0.0, 1.0], dtype=np.float32), (CANDIDATES, 1))
    ids = [f"{n:04}" for n in range(2 * CANDIDATES)]
    found = associate(QUERY, np.concatenate([far, many]), ids, limit=2 * CANDIDATES)
    assert found == [(name, 1.0) for name in ids[CANDIDATES:]]


def test_rows_and_queries_without_a_direction() -> None:
    rows = np.array([[0.0, 0.0], [np.nan, 1.0], [np.inf, 0.0], [3.0, 0.0]], dtype=np.float32)
    assert associate(QUERY, rows, ["zero", "nan", "inf", "good"]) == [("good", 1.0)]
    assert associate(QUERY * 0, X, IDS) == [] == associate(QUERY * np.float32(np.nan), X, IDS)
    assert associate(QUERY, np.array([[0.0, 1.0], [0.0, -1.0]], dtype=np.float32), ["a", "b"]) == []  # they cancel out
    assert associate(QUERY, X[:0], []) == [] == associate(QUERY, X, IDS, limit=0)


def test_what_does_not_fit_is_refused() -> None:
    for arguments in ((QUERY, X, ["a"]), (QUERY, X[:, :1], IDS), (X, X, IDS)):
        with pytest.raises(ValueError, match="shape"):
            associate(*arguments)
    for beta, steps in ((-1.0, 1), (math.nan, 1), (math.inf, 1), (1.0, 0)):
        with pytest.raises(ValueError, match="no pattern"):
            associate(QUERY, X, IDS, beta=beta, steps=steps)


@given(arrays(np.float32, (6, 3), elements=st.floats(-1, 1, width=32)), st.floats(0, 1e9), st.integers(1, 3))
def test_scores_are_bounded_sorted_and_the_same_again(rows, beta, steps) -> None:  # type: ignore[no-untyped-def]
    ids = list("abcdef")
    found = associate(rows[0], rows, ids, beta, steps, 4)
    assert len(found) <= 4 and all(-1 - 1e-6 <= score <= 1 + 1e-6 for _, score in found)
    assert found == sorted(found, key=lambda hit: (-hit[1], hit[0])) == associate(rows[0], rows, ids, beta, steps, 4)
