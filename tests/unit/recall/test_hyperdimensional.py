"""Bound, bundled bit vectors: their algebra, and that like notes are found."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from chitta.recall import hyperdimensional
from chitta.recall.hyperdimensional import BYTES, CHANCE, DIMENSION, FLOOR, MOST_PAIRS, HyperIndex, encode, similarity

FIELDS = st.dictionaries(
    st.sampled_from(["kind", "tag", "word"]) | st.text(st.characters(), max_size=5),
    st.lists(st.text(st.characters(), max_size=8), max_size=6),
    max_size=4,
)


def words(*found: str) -> dict[str, list[str]]:
    return {"word": list(found)}


def test_similarity_is_one_minus_twice_the_share_of_differing_bits() -> None:
    left = encode(words("lock"))
    right = left.copy()
    right[0] ^= 0b0000_0111
    assert similarity(left, left) == 1.0
    assert similarity(left, right) == pytest.approx(1 - 2 * 3 / DIMENSION)
    assert similarity(left, ~left) == -1.0


def test_a_vector_is_packed_bits() -> None:
    vector = encode({"kind": ["decision"], "tag": ["sqlite", "lock"]})
    assert vector.dtype == np.uint8 and vector.shape == (BYTES,) and BYTES * 8 == DIMENSION
    assert not encode({}).any() and not encode({"tag": [], "word": ["", "  "]}).any()


def test_a_role_and_its_filler_are_bound_by_exclusive_or() -> None:
    """Taking the same role off two bound vectors, or the same filler, leaves the same difference."""
    tag_a, tag_b = encode({"tag": ["a"]}), encode({"tag": ["b"]})
    word_a, word_b = encode({"word": ["a"]}), encode({"word": ["b"]})
    assert ((tag_a ^ tag_b) == (word_a ^ word_b)).all()
    assert abs(similarity(tag_a, word_a)) < 5 * CHANCE


def test_a_bundle_is_the_majority() -> None:
    parts = np.stack([np.unpackbits(encode(words(name))) for name in ("a", "b", "c")])
    assert (np.unpackbits(encode(words("a", "b", "c"))) == (parts.sum(axis=0) >= 2)).all()


def test_an_even_bundle_keeps_what_agrees_and_decides_ties_by_a_hash() -> None:
    left, right = (np.unpackbits(encode(words(name))) for name in ("a", "b"))
    both = np.unpackbits(encode(words("a", "b")))
    assert (both[left == right] == left[left == right]).all()
    ties = both[left != right]
    assert 0.4 < ties.mean() < 0.6
    assert abs(similarity(encode(words("a", "b")), encode(words("c", "d")))) < 5 * CHANCE


def test_unlike_vectors_agree_by_chance_alone() -> None:
    vectors = [encode(words(f"w{n}")) for n in range(60)]
    likeness = [similarity(vectors[i], vectors[j]) for i in range(60) for j in range(i)]
    assert abs(float(np.mean(likeness))) < CHANCE / 4
    assert float(np.std(likeness)) == pytest.approx(CHANCE, rel=0.15)


def test_one_pair_of_many_agrees_by_the_root_of_two_over_pi_n() -> None:
    many = [f"w{n}" for n in range(101)]
    bundle = encode(words(*many))
    mean = float(np.mean([similarity(bundle, encode(words(name))) for name in many]))
    assert mean == pytest.approx(math.sqrt(2 / (math.pi * 101)), rel=0.1)


def test_order_case_and_repetition_change_nothing() -> None:
    first = encode({"tag": ["Lock", " sqlite "], "kind": ["decision"]})
    assert (first == encode({"kind": ["decision"], "tag": ["sqlite", "lock", "LOCK"]})).all()
    assert (encode({"tag": "lock"}) == encode({"tag": ["lock"]})).all()  # a word is no list of letters


def test_the_vectors_stay_the_same_between_versions() -> None:
    """They are made of a hash: another number here means that an index from before no longer fits."""
    assert encode({"tag": ["lock"]})[:4].tobytes().hex() == "a27a732e"


def test_pairs_beyond_the_most_are_not_read() -> None:
    many = [f"w{n}" for n in range(MOST_PAIRS)]
    assert (encode(words(*many)) == encode(words(*many, "more"))).all()
    assert (encode(words(*many)) != encode(words(*many[:-1]))).any()


def test_an_index_finds_the_note_that_shares_most() -> None:
    filler = [f"w{n}" for n in range(20)]
    index = HyperIndex(
        [(f"other{n}", words(*(f"o{n}.{m}" for m in range(20)))) for n in range(50)]
        + [("some", words(*filler[:19], "lock")), ("more", words(*filler[:18], "lock", "sqlite"))]
    )
    assert [name for name, _ in index.search(words("lock", "sqlite"), 2)] == ["more", "some"]
    assert index.search({"tag": ["lock", "sqlite"]}, 60, floor=5 * CHANCE) == []  # the role is part of it


def test_an_index_breaks_ties_by_id_keeps_to_its_limits_and_skips_the_empty() -> None:
    index = HyperIndex(
        [("b", words("lock")), ("a", words("lock")), ("empty", {}), ("c", words("x")), ("c", words("lock"))]
    )
    assert len(index) == 3
    assert index.search(words("lock")) == [("a", 1.0), ("b", 1.0), ("c", 1.0)]
    assert index.search(words("lock"), 1) == [("a", 1.0)]
    assert index.search(words("lock"), 0) == [] == index.search({}) == HyperIndex([]).search(words("lock"))
    assert all(score >= FLOOR for _, score in index.search(words("anything")))


def test_counting_bits_without_numpy_2_gives_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    left, right = encode(words("a", "b")), encode(words("b"))
    now = similarity(left, right)
    monkeypatch.delattr(np, "bitwise_count", raising=False)
    assert similarity(left, right) == now
    assert hyperdimensional._ones()[0b1011] == 3


@given(FIELDS, FIELDS)
def test_never_raises_and_is_bounded_symmetric_and_the_same_again(left, right) -> None:  # type: ignore[no-untyped-def]
    one, other = encode(left), encode(right)
    assert (one == encode(dict(reversed(left.items())))).all()
    assert -1.0 <= similarity(one, other) <= 1.0
    assert similarity(one, other) == similarity(other, one)
    found = HyperIndex([("a", left), ("b", right)]).search(left)
    assert not one.any() or ("a", 1.0) in found
