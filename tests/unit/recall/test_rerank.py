"""What the cross-encoder may change and read."""

import time

import pytest

from chitta.recall.rerank import MAX_PROMPT_WORDS, QUESTION_WINDOW, WINDOW, best_passage, blend, plan
from chitta.recall.score import prior_scale, reranked_score, sigmoid

FUSED = [("a", 1.0), ("b", 0.5), ("c", 0.0), ("d", -0.5)]


def test_blend_joins_stretched_scores() -> None:
    joined = dict(blend(FUSED, [0.0, 4.0, 2.0], weight=0.3))
    assert joined["a"] == pytest.approx(0.7 * 1.0 + 0.3 * 0.0)
    assert joined["b"] == pytest.approx(0.7 * 0.5 + 0.3 * 1.0)
    assert joined["c"] == pytest.approx(0.7 * 0.0 + 0.3 * 0.5)


def test_what_was_not_scored_stays_behind_and_in_order() -> None:
    joined = blend([("a", 0.2), ("b", 0.1), ("c", 5.0), ("d", 4.0)], [1.0, 2.0])
    assert [name for name, _ in joined[2:]] == ["c", "d"]
    assert min(score for _, score in joined[:2]) >= max(score for _, score in joined[2:])


@pytest.mark.parametrize("logits", [[], [3.0], [1.0, float("nan")], [1.0, float("inf")]])
def test_missing_or_malformed_scores_change_nothing(logits: list[float]) -> None:
    assert blend(FUSED, logits) == FUSED


def test_full_weight_is_the_cross_encoders_order() -> None:
    assert [name for name, _ in blend(FUSED, [1.0, 2.0, 4.0, 3.0], weight=1.0)] == ["c", "d", "b", "a"]


def test_at_full_weight_the_score_is_the_sigmoid_times_the_prior() -> None:
    logits, priors = [1.0, 2.0, -1.0], [1.3, 0.7, 1.0]
    assert dict(blend(FUSED[:3], logits, weight=1.0)) == pytest.approx(
        {name: sigmoid(logit) for (name, _), logit in zip(FUSED, logits, strict=False)}
    )
    assert dict(blend(FUSED[:3], logits, 1.0, priors)) == pytest.approx(
        {name: reranked_score(logit, prior) for (name, _), logit, prior in zip(FUSED, logits, priors, strict=False)}
    )


def test_priors_scale_the_joined_score_at_any_weight() -> None:
    logits, priors = [0.0, 4.0, 2.0], [0.7, 1.0, 2.0]
    plain, scaled = dict(blend(FUSED, logits, 0.3)), dict(blend(FUSED, logits, 0.3, priors))
    for name, prior in zip("abc", priors, strict=True):
        assert scaled[name] == pytest.approx(plain[name] * prior_scale(prior))
    assert scaled["d"] <= min(scaled[name] for name in "abc")
    assert blend(FUSED, logits, 0.3, [1.0] * 3) == blend(FUSED, logits, 0.3)


def test_a_prior_orders_equal_judgements() -> None:
    assert [name for name, _ in blend(FUSED[:2], [3.0, 3.0], 1.0, [0.7, 1.3])] == ["b", "a"]
    assert [name for name, _ in blend(FUSED[:2], [3.0, 3.0], 1.0)] == ["a", "b"]


def test_long_prompts_and_single_words_are_left_alone() -> None:
    assert plan("squash two commits") is not None
    assert plan("squash") is None and plan("squash?") is None
    assert plan("word " * (MAX_PROMPT_WORDS + 1)) is None


def test_a_questions_order_is_the_rerankers_own() -> None:
    question, request = plan("how do I squash two commits? "), plan("how to squash two commits")
    assert question is not None and request is not None
    assert question == (QUESTION_WINDOW, 1.0) and request == (WINDOW, 0.3)
    assert [name for name, _ in blend(FUSED, [1.0, 2.0, 4.0, 3.0], question.weight)] == ["c", "d", "b", "a"]


def test_best_passage_is_whole_when_it_fits() -> None:
    assert best_passage("Title", "One. Two.", ["two"]) == "Title\nOne. Two."


def test_best_passage_finds_the_sentences_that_speak_of_the_terms() -> None:
    filler = "Nothing to see in this sentence at all. " * 20
    text = filler + "The deadlock comes from the advisory lock. Release it first. " + filler
    passage = best_passage("Locks", text, ["deadlock", "advisory"], words=20)
    assert "deadlock" in passage
    assert len(passage.split()) <= 21


def test_best_passage_of_one_endless_sentence_is_cut() -> None:
    assert len(best_passage("T", "word " * 500, ["word"], words=50).split()) == 51


def test_a_text_of_megabytes_is_read_in_no_time() -> None:
    text = "The service is deployed with make ship. " * 100_000
    started = time.process_time()
    assert best_passage("Deploy", text, ("deployed", "ship")).startswith("Deploy\nThe service is deployed")
    assert time.process_time() - started < 1.0


def test_terms_of_several_sentences_count_together_and_once() -> None:
    filler = "Nothing is said here at all. " * 3
    text = f"{filler}Alpha alpha alpha. {filler}Alpha once. Beta twice. {filler}"
    assert best_passage("", text, ("alpha", "beta"), words=8) == "Alpha once. Beta twice."
