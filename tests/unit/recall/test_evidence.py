"""Absolute evidence and the signals made of it."""

import pytest

from chitta.recall.evidence import Evidence, note_signals, prompt_signals, weighted_share


def test_weighted_share_is_a_share_of_weight() -> None:
    weight = {"rare": 6.0, "common": 2.0}
    assert weighted_share(["rare", "common"], {"common"}, weight) == pytest.approx(2.0 / (6.0 + 2.0))
    assert weighted_share(["rare", "common"], {"rare", "common", "other"}, weight) == 1.0


def test_weighted_share_of_nothing_is_nothing() -> None:
    assert weighted_share([], {"a"}, {"a": 1.0}) == 0.0
    assert weighted_share(["a"], {"a"}, {}) == 0.0


def test_an_unmeasured_cosine_is_no_signal() -> None:
    signals = note_signals(Evidence(cos=-1.0, lift=0.4))
    assert signals["cos"] == 0.0
    assert signals["lift"] == 0.0


def test_prompt_signals_read_the_page_in_its_order() -> None:
    page = [
        Evidence(cos=0.7, lift=0.2, bm25=10.0, density=0.5, coverage=0.6, title=0.1),
        Evidence(cos=0.8, lift=0.3, bm25=4.0, density=0.2, coverage=0.9, title=0.5),
        Evidence(cos=0.6, lift=0.1, bm25=1.0),
    ]
    signals = prompt_signals(page, idf_mass=50.0, terms=15)
    assert signals["best_cos"] == 0.8
    assert signals["first_cos"] == 0.7
    assert signals["mean_three_cos"] == pytest.approx((0.8 + 0.7 + 0.6) / 3)
    assert signals["best_coverage"] == 0.9
    assert signals["first_coverage"] == 0.6
    assert signals["agreement"] == 0.0
    assert signals["terms"] == pytest.approx(15 / 30)
    assert signals["idf_mass"] == pytest.approx(50 / 200)


def test_arms_agree_when_both_put_the_same_note_first() -> None:
    page = [Evidence(cos=0.9, bm25=9.0), Evidence(cos=0.5, bm25=3.0)]
    assert prompt_signals(page, 10.0, 3)["agreement"] == 1.0


def test_an_empty_page_has_no_signals() -> None:
    assert prompt_signals([], 10.0, 3) == {}
