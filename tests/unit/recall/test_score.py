"""Boosts with their formula written out, priors of kinds, and the file that sets them."""

import json
import math
from datetime import date, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chitta.notes.note import Note
from chitta.recall.score import (
    KIND_PRIORS,
    Alphas,
    Asked,
    boost,
    boosted,
    bounds,
    factors,
    kind_prior,
    prior_scale,
    read_alphas,
    read_priors,
    replicated,
    reranked_score,
    sigmoid,
)

TODAY = date(2026, 6, 1)
ASKED = Asked(TODAY)

alphas = st.builds(Alphas, *[st.floats(0, 2)] * len(Alphas._fields))
notes = st.builds(
    Note,
    id=st.just("n"),
    realm=st.sampled_from(["global", "project:a"]),
    created=st.sampled_from(["", "2020-01-01", "2026-05-31", "2999-01-01", "no date"]),
    tags=st.lists(st.sampled_from(["a", "b", "speculative"]), max_size=3).map(tuple),
    confidence=st.floats(0, 1),
    proof_count=st.integers(0, 10**9),
    authority=st.sampled_from(["law", "promoted", "advisory", "archived", "?"]),
    extra=st.sampled_from([(), (("domain", "web"),), (("speculative", True),)]),
)
questions = st.builds(
    Asked, st.just(TODAY), st.sampled_from([(), ("a",), ("a", "b")]), st.sampled_from(["", "project:a"]), st.just("web")
)


def factor(name: str, note: Note, asked: Asked = ASKED) -> float:
    return factors(note, asked)[name]


def test_a_note_of_which_nothing_is_known_is_not_moved() -> None:
    assert set(factors(Note("n"), ASKED).values()) == {1.0}
    assert set(factors(Note("n"), ASKED)) == set(Alphas._fields)
    assert boost(Note("n"), ASKED, Alphas(*[2.0] * len(Alphas._fields))) == 1.0


@pytest.mark.parametrize("confidence, norm", [(0.9, 1.0), (0.6, 0.5), (0.45, 0.25), (0.3, 0.0), (0.0, 0.0), (1.0, 1.0)])
def test_confidence_is_a_line_from_low_to_high_and_none_is_low(confidence: float, norm: float) -> None:
    assert factor("confidence", Note("n", confidence=confidence)) == pytest.approx(1 + 0.2 * (norm - 0.5))


@pytest.mark.parametrize("days, norm", [(0, 1.0), (73, 0.8), (365, 0.1), (4000, 0.1), (-30, 1.0)])
def test_recency_falls_over_a_year_to_a_floor(days: int, norm: float) -> None:
    note = Note("n", created=(TODAY - timedelta(days=days)).isoformat())
    assert factor("recency", note) == pytest.approx(1 + 0.2 * (norm - 0.5))


def test_recency_goes_by_the_later_date_and_no_date_is_neutral() -> None:
    assert factor("recency", Note("n", created="2020-01-01", updated="2026-06-01T08:00:00Z")) == pytest.approx(1.1)
    assert factor("recency", Note("n", created="last spring")) == 1.0


def test_tags_count_by_the_share_of_those_asked_for() -> None:
    note = Note("n", tags=("Redis", "pool", "other"))
    assert factor("tags", note, Asked(TODAY, ("redis", "cache"))) == pytest.approx(1 + 0.2 * (1 / 2 - 0.5))
    assert factor("tags", note, Asked(TODAY, ("redis", "pool"))) == pytest.approx(1.1)
    assert factor("tags", note, Asked(TODAY, ("cache",))) == pytest.approx(0.9)
    assert factor("tags", note) == 1.0


def test_proof_rises_with_the_logarithm_and_never_lowers() -> None:
    assert factor("proof", Note("n", proof_count=5)) == pytest.approx(1 + 0.1 * math.log(5) / 10)
    assert factor("proof", Note("n", proof_count=0)) == 1.0
    assert factor("proof", Note("n", proof_count=10**9)) == pytest.approx(1.05)


def test_the_same_project_and_domain_raise_and_others_stay() -> None:
    note = Note("n", realm="project:a", extra=(("domain", "Web"),))
    asked = Asked(TODAY, realm="project:a", domain="web")
    assert factor("project", note, asked) == factor("domain", note, asked) == pytest.approx(1.1)
    assert factor("project", note, asked._replace(one_realm=True)) == 1.0
    elsewhere = asked._replace(realm="project:b", domain="db")
    assert factor("project", note, elsewhere) == factor("domain", note, elsewhere) == 1.0


@pytest.mark.parametrize(
    "authority, norm", [("law", 1), ("Promoted", 1), ("advisory", 0.5), ("archived", 0), ("", 0.5)]
)
def test_authority(authority: str, norm: float) -> None:
    assert factor("authority", Note("n", authority=authority)) == pytest.approx(1 + 0.1 * (norm - 0.5))


@pytest.mark.parametrize(
    "note",
    [
        Note("n", tags=("Speculative",)),
        Note("n", extra=(("speculative", True),)),
        Note("n", extra=(("status", "speculative"),)),
    ],
)
def test_a_speculative_note_is_lowered(note: Note) -> None:
    assert factor("speculative", note) == pytest.approx(0.9)
    assert factor("speculative", Note("n", extra=(("speculative", "no"),))) == 1.0


@given(notes, questions, alphas)
def test_each_factor_and_the_whole_stay_within_their_bounds(note: Note, asked: Asked, given_alphas: Alphas) -> None:
    for name, value in factors(note, asked, given_alphas).items():
        assert abs(value - 1) <= getattr(given_alphas, name) / 2 + 1e-12
    least, greatest = bounds(given_alphas)
    assert least - 1e-9 <= boost(note, asked, given_alphas) <= greatest + 1e-9


@given(notes, notes, questions, st.floats(-10, 10), st.floats(-10, 10))
def test_no_boost_lifts_a_poor_note_over_a_good_one(
    good: Note, poor: Note, asked: Asked, high: float, low: float
) -> None:
    least, greatest = bounds()
    if sigmoid(high) > sigmoid(low) * (greatest / least) * (1 + 1e-9):
        assert sigmoid(high) * boost(good, asked) > sigmoid(low) * boost(poor, asked)


def test_the_default_bounds_are_reached() -> None:
    best = Note(
        "n",
        realm="project:a",
        created="2026-06-01",
        tags=("a",),
        confidence=1.0,
        proof_count=10**9,
        authority="law",
        extra=(("domain", "web"),),
    )
    worst = Note("n", created="2000-01-01", tags=("speculative",), confidence=0.0, authority="archived")
    asked = Asked(TODAY, ("a",), "project:a", "web")
    assert boost(worst, asked) == pytest.approx(bounds()[0]) == pytest.approx(0.9**3 * 0.92 * 0.95)
    assert boost(best, asked) == pytest.approx(bounds()[1]) == pytest.approx(1.1**5 * 1.05**2)


def test_the_prior_of_a_kind_scales_three_tenths_of_the_score() -> None:
    assert reranked_score(0.0, 1.0) == pytest.approx(0.5)
    assert reranked_score(2.0, 1.3) == pytest.approx(1 / (1 + math.exp(-2.0)) * (0.7 + 0.3 * 1.3))
    assert kind_prior("correction") == 1.3 and kind_prior("no such kind") == 1.0
    assert kind_prior("correction", {"correction": 0.5}) == 0.5
    assert kind_prior("episode", {"correction": 0.5}) == KIND_PRIORS["episode"]


@pytest.mark.parametrize(
    "logit, score", [(float("inf"), 1.0), (float("-inf"), 0.0), (1e6, 1.0), (-1e6, 0.0), (float("nan"), 0.0)]
)
def test_any_logit_gives_a_score(logit: float, score: float) -> None:
    assert reranked_score(logit, 1.0) == score


def test_a_prior_of_one_changes_nothing_and_none_leaves_seven_tenths() -> None:
    assert prior_scale(1.0) == pytest.approx(1.0)
    assert prior_scale(0.0) == pytest.approx(0.7)
    assert reranked_score(0.4, 1.3) == pytest.approx(sigmoid(0.4) * prior_scale(1.3))


SURE, UNSURE = Note("sure", confidence=0.9), Note("unsure", confidence=0.3)
PAIR = {"sure": SURE, "unsure": UNSURE}


def test_boosts_reorder_what_is_close_and_not_what_is_far() -> None:
    close = boosted([("unsure", 0.5), ("sure", 0.49)], PAIR, ASKED)
    assert [name for name, _ in close] == ["sure", "unsure"]
    assert dict(close) == pytest.approx({"sure": 0.49 * boost(SURE, ASKED), "unsure": 0.5 * boost(UNSURE, ASKED)})
    assert [name for name, _ in boosted([("unsure", 0.9), ("sure", 0.3)], PAIR, ASKED)] == ["unsure", "sure"]


def test_boosts_that_are_off_change_nothing() -> None:
    ranking = [("unsure", 0.5), ("sure", 0.5), ("nobody", 0.2)]
    assert boosted(ranking, PAIR, ASKED, Alphas(*[0.0] * len(Alphas._fields))) == ranking


def test_ties_keep_their_place_and_an_unknown_note_is_neutral() -> None:
    twins = {name: Note(name) for name in ("z", "a")}
    assert boosted([("z", 0.5), ("nobody", 0.5), ("a", 0.5)], twins, ASKED) == [("z", 0.5), ("nobody", 0.5), ("a", 0.5)]


def test_what_lies_past_the_window_stays_below_in_its_order() -> None:
    ranking = [("unsure", 0.5), ("x", 0.5), ("sure", 0.5)]
    found = boosted(ranking, PAIR, ASKED, window=2)
    assert [name for name, _ in found] == ["x", "unsure", "sure"]
    assert found[2][1] <= found[1][1]


@given(
    st.lists(st.floats(0, 1), max_size=8), st.lists(notes, min_size=8, max_size=8), questions, alphas, st.integers(0, 9)
)
def test_boosting_keeps_every_note_and_descends(
    scores: list[float], made: list[Note], asked: Asked, given_alphas: Alphas, window: int
) -> None:
    ranking = [(f"n{at}", score) for at, score in enumerate(sorted(scores, reverse=True))]
    found = boosted(ranking, {f"n{at}": note for at, note in enumerate(made)}, asked, given_alphas, window)
    assert sorted(name for name, _ in found) == sorted(name for name, _ in ranking)
    assert all(one[1] >= other[1] for one, other in zip(found, found[1:], strict=False))


def test_no_more_than_so_many_of_one_source_or_content() -> None:
    ranking = [(name, 1.0) for name in "abcdex"]
    held = {
        "a": Note("a", text="one", source="blog"),
        "b": Note("b", text="two", source="blog"),
        "c": Note("c", text="one"),
        "d": Note("d", text="three"),
        "e": Note("e", text="four", source="blog"),
    }
    assert [name for name, _ in replicated(ranking, held, 1)] == ["a", "d", "x"]
    assert [name for name, _ in replicated(ranking, held, 2)] == ["a", "b", "c", "d", "x"]
    assert replicated(ranking, held, 0) == ranking


# scoring.json


def raw(value: Any) -> bytes:
    return json.dumps(value).encode()


def test_priors_are_read() -> None:
    assert read_priors(raw({"kind_priors": {"Decision": 1.5, "episode": 0}})) == ({"decision": 1.5, "episode": 0.0}, [])
    assert read_priors(b"{}") == ({}, [])


def test_a_bad_value_is_left_out_and_named() -> None:
    text = b'{"kind_priors": {"a": "high", "b": true, "c": NaN, "d": 1.2, "e": null}}'
    priors, problems = read_priors(text)
    assert priors == {"d": 1.2}
    assert [problem.split("'")[1] for problem in problems] == ["a", "b", "c", "e"]


def test_a_value_out_of_range_is_clamped_and_said() -> None:
    priors, problems = read_priors(b'{"kind_priors": {"a": 5, "b": -Infinity, "c": 1' + b"0" * 400 + b"}}")
    assert priors == {"a": 2.0, "b": 0.0, "c": 2.0}
    assert len(problems) == 3


@pytest.mark.parametrize(
    "text", [b"", b"\xff\xfe", b"[]", b"{", b'"x"', b"[" * 100_000, b'{"kind_priors": 3}', b'{"other": 1}']
)
def test_a_file_that_is_none_of_ours_is_said(text: bytes) -> None:
    priors, problems = read_priors(text)
    assert priors == {} and len(problems) == 1


def test_alphas_are_read_over_the_defaults() -> None:
    given_alphas, problems = read_alphas(raw({"alphas": {"tags": 0.5, "proof": 9, "colour": 1, "recency": "x"}}))
    assert given_alphas == Alphas(tags=0.5, proof=2.0)
    assert len(problems) == 3
    assert read_alphas(b"not json") == (Alphas(), [])


@given(
    st.binary(max_size=60)
    | st.recursive(
        st.none() | st.booleans() | st.floats() | st.integers() | st.text(max_size=5),
        lambda inner: (
            st.lists(inner, max_size=3)
            | st.dictionaries(st.sampled_from(["kind_priors", "alphas", "tags", "correction"]), inner, max_size=3)
        ),
    ).map(raw)
)
def test_reading_never_raises_and_is_in_range(text: bytes) -> None:
    priors, _ = read_priors(text)
    assert all(0.0 <= value <= 2.0 for value in (*priors.values(), *read_alphas(text)[0]))
