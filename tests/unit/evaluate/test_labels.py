"""Signals and labels of golden prompts, over a small real store."""

from __future__ import annotations

from pathlib import Path

import pytest

from chitta.admission import calibration
from chitta.admission.tokens import clean_prompt
from chitta.evaluate.fitting import NOTE_SIGNALS, PROMPT_SIGNALS, WORDS_ONLY_SIGNALS
from chitta.evaluate.golden import ANSWERABLE, UNANSWERABLE, Case, Golden, read_golden
from chitta.evaluate.labels import Labelled, label_all
from chitta.gateway.engine import Engine
from chitta.gateway.ranking import PAGE
from chitta.index.snapshot import open_snapshot
from chitta.models.protocol import Embedder
from chitta.settings import Settings
from chitta.turn import focus
from chitta.wire.request import Request


@pytest.fixture
def golden(golden_folder: Path) -> Golden:
    return read_golden(golden_folder)


def label(store: Settings, prompt: str, *gold: str, maybe: tuple[str, ...] = ()) -> Labelled:
    case = Case("c", ANSWERABLE, "", (prompt,), frozenset(gold), frozenset(maybe))
    (found,) = label_all(store, [case])
    return found


def test_every_case_has_its_labels_in_their_order(word_store: Settings, golden: Golden) -> None:
    cases, steps = golden.of(ANSWERABLE, UNANSWERABLE), list[int]()
    found = label_all(word_store, cases, progress=lambda stage, done, total: steps.append(done))
    assert [one.case for one in found] == list(cases) and steps == [1, 2, 3, 4, 5]
    assert [one.answerable for one in found] == [True] * 3 + [False] * 2
    assert not any(one.right for one in found if not one.answerable)
    assert found == label_all(word_store, cases)


def test_right_is_gold_among_the_first_three(word_store: Settings) -> None:
    prompt = "the stripe webhook signature check fails with 400"
    found = label(word_store, prompt, "stripe-raw-body")
    assert found.answerable and found.right
    assert [good for _, good in found.notes].count(True) == 1
    other = label(word_store, prompt, "not-in-the-store")
    assert other.answerable and not other.right and not any(good for _, good in other.notes)
    assert other.signals == found.signals


def test_a_note_that_may_help_counts_neither_way(word_store: Settings) -> None:
    prompt = "the stripe webhook signature check fails with 400"
    whole = label(word_store, prompt, "stripe-idempotency")
    without = label(word_store, prompt, "stripe-idempotency", maybe=("stripe-raw-body",))
    assert len(without.notes) == len(whole.notes) - 1
    assert len(without.words_only) == len(whole.words_only) - 1


def test_signals_are_those_that_the_fits_ask_for(word_store: Settings) -> None:
    found = label(word_store, "add an index in postgres", "postgres-concurrently")
    assert set(PROMPT_SIGNALS) <= set(found.signals)
    assert all(set(NOTE_SIGNALS) <= set(signals) for signals, _ in found.notes)
    assert all(set(WORDS_ONLY_SIGNALS) <= set(signals) for signals, _ in found.words_only)
    assert any(signals["cos"] > 0 for signals, _ in found.notes)
    assert found.words_only and all(signals["cos"] == 0 for signals, _ in found.words_only)


def test_the_prompts_signals_give_the_maxrel_of_the_hybrid_lane(
    word_store: Settings, words: Embedder, golden: Golden
) -> None:
    fit = calibration.shipped()
    snapshot = open_snapshot(word_store.index_dir)
    engine = Engine(word_store, snapshot, words, None, fit)
    for one in label_all(word_store, golden.of(ANSWERABLE)):
        query = focus(clean_prompt(one.case.turns[-1]))
        tokens = engine.find(query, strategy="fused", limit=PAGE, realm="global")[0].terms
        request = Request(prompt=query, query=query, tokens=tuple(tokens.words), k=PAGE)
        header, _ = engine.rows("hybrid", request, word_store)
        assert header.maxrel == pytest.approx(fit.prompt.probability(one.signals), abs=1e-3)
    assert snapshot is not None
    snapshot.close()
