"""What a cross-encoder may change, and what it may read.

A cross-encoder reads prompt and passage together. It is the costliest step and it helps
questions most: of them its own order is the best there is. On short requests it may move the fused
order by a share, and prompts of many words it only harms. It reads a note's best passage rather
than its first words.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from typing import NamedTuple

from chitta.recall.fuse import Ranking, min_max
from chitta.recall.score import prior_scale, reranked_score

#: For a question: candidates that the reranker reads, and its share of the joined order. Over LoCoMo's 786 questions
#: its own order of twenty is 14 points of MRR above the fused one and every blend is below it; past thirty nothing
#: gains.
QUESTION_WINDOW, QUESTION_WEIGHT = 30, 1.0
#: For a request or a statement. Its own order costs CoSQA's web queries 8 points of MRR and note titles 9; a share of
#: 0.3 over ten is at least as good as none on both, and on SciFact's claims.
WINDOW, WEIGHT = 10, 0.3
#: A prompt of more words than this is left in fused order: pure reranking of long prompts loses 40 points of hit@3.
MAX_PROMPT_WORDS = 24
#: Words of a passage: with the prompt it fits the 128 tokens that the reranker reads.
PASSAGE_WORDS = 60
#: Characters of a text that are looked through for it: of 4 MB, a log's, every question would wait for seconds.
READ_CHARS = 100_000

_SENTENCE = re.compile(r"(?<=[.!?])\s+|\n+")


class Plan(NamedTuple):
    """How many candidates the reranker reads, in fused order, and its share (0–1) of the joined order."""

    window: int
    weight: float


def plan(prompt: str) -> Plan | None:
    """What the reranker may do for this prompt; None where it cannot help: a single word, or a long prompt."""
    words = len(prompt.split())
    if not 2 <= words <= MAX_PROMPT_WORDS:
        return None
    return Plan(QUESTION_WINDOW, QUESTION_WEIGHT) if prompt.rstrip().endswith("?") else Plan(WINDOW, WEIGHT)


def best_passage(title: str, text: str, terms: Collection[str], words: int = PASSAGE_WORDS) -> str:
    """The title and the run of whole sentences, at most ``words`` long, that holds the most of ``terms``.

    ``terms`` are lower-cased; a term counts once. Ties go to the earlier run.
    """
    text = text[:READ_CHARS]
    sentences = [part.strip() for part in _SENTENCE.split(text) if part.strip()]
    sizes = [len(sentence.split()) for sentence in sentences]
    if sum(sizes) <= words:
        return f"{title}\n{text}".strip()
    # Which of the terms each sentence holds, as bits: a run holds what its sentences do.
    held = [sum(1 << at for at, term in enumerate(terms) if term in sentence.lower()) for sentence in sentences]
    best, best_score = (0, 0), -1
    for start in range(len(sentences)):
        end, length, holds = start, 0, 0
        while end < len(sentences) and (end == start or length + sizes[end] <= words):
            length += sizes[end]
            holds |= held[end]
            end += 1
        score = holds.bit_count()
        if score > best_score:
            best, best_score = (start, end), score
    passage = " ".join(sentences[best[0] : best[1]])
    return f"{title}\n{' '.join(passage.split()[:words])}".strip()


def blend(
    fused: Ranking, logits: Sequence[float], weight: float = WEIGHT, priors: Sequence[float] = ()
) -> list[tuple[str, float]]:
    """The ranking with its first ``len(logits)`` ids reordered by fused score and logit.

    ``(1 − weight) · minmax(fused) + weight · minmax(logit)`` within the scored prefix, and where the
    reranker alone decides (``weight`` 1) ``sigmoid(logit)``; both times ``0.7 + 0.3 · prior`` of the
    note's kind (chitta's paper), 1 without ``priors``. Ties in fused order; the rest follows unchanged
    and never passes a scored one. Fewer than two logits, or one that is not finite, change nothing.
    """
    head = list(fused[: len(logits)])
    if len(head) < 2 or any(logit != logit or abs(logit) == float("inf") for logit in logits):
        return list(fused)
    judged = [
        (name, logit, prior) for (name, _), logit, prior in zip(head, logits, priors or [1.0] * len(head), strict=True)
    ]
    if weight >= 1.0:
        joined = [(name, reranked_score(logit, prior)) for name, logit, prior in judged]
    else:
        near, stretched = min_max(head), min_max([(name, logit) for name, logit, _ in judged])
        shares = ((name, (1.0 - weight) * near[name] + weight * stretched[name], prior) for name, _, prior in judged)
        joined = [(name, share * prior_scale(prior)) for name, share, prior in shares]
    order = sorted(range(len(joined)), key=lambda at: (-joined[at][1], at))
    floor = min(score for _, score in joined)
    rest = [(name, min(score, floor)) for name, score in fused[len(logits) :]]
    return [joined[at] for at in order] + rest
