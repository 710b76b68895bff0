"""What a cross-encoder may change, and what it may read.

A cross-encoder reads prompt and passage together. It is the costliest step and it helps
questions and short prompts only: on prompts of many words its own order is worse than the
fused one. So it is asked only where it helps, reads the note's best passage rather than its
first words, and moves the fused order by a bounded share.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence

from chitta.recall.fuse import Ranking, min_max

#: Candidates that the reranker reads, in fused order. Past ten the gain on LoCoMo is 3 points for twice the time.
WINDOW = 10
#: Share of the reranker in the joined order; the rest is the fused score.
WEIGHT = 0.3
#: A prompt of more words than this is left in fused order: pure reranking of long prompts loses 40 points of hit@3.
MAX_PROMPT_WORDS = 24
#: Words of a passage: with the prompt it fits the 128 tokens that the reranker reads.
PASSAGE_WORDS = 60

_SENTENCE = re.compile(r"(?<=[.!?])\s+|\n+")


def wanted(prompt: str) -> bool:
    """Whether reranking can help this prompt: it is short, or it is one question."""
    words = prompt.split()
    return 2 <= len(words) <= MAX_PROMPT_WORDS


def best_passage(title: str, text: str, terms: Collection[str], words: int = PASSAGE_WORDS) -> str:
    """The title and the run of whole sentences, at most ``words`` long, that holds the most of ``terms``.

    ``terms`` are lower-cased; a term counts once. Ties go to the earlier run.
    """
    sentences = [part.strip() for part in _SENTENCE.split(text) if part.strip()]
    if sum(len(sentence.split()) for sentence in sentences) <= words:
        return f"{title}\n{text}".strip()
    best, best_score = "", -1
    for start in range(len(sentences)):
        run: list[str] = []
        length = 0
        for sentence in sentences[start:]:
            size = len(sentence.split())
            if run and length + size > words:
                break
            run.append(sentence)
            length += size
        joined = " ".join(run)
        score = sum(term in joined.lower() for term in terms)
        if score > best_score:
            best, best_score = joined, score
    return f"{title}\n{' '.join(best.split()[:words])}".strip()


def blend(fused: Ranking, logits: Sequence[float], weight: float = WEIGHT) -> list[tuple[str, float]]:
    """The ranking with its first ``len(logits)`` ids reordered by fused score and logit.

    ``(1 − weight) · minmax(fused) + weight · minmax(logit)`` within the scored prefix, ties in
    fused order; the rest follows unchanged and never passes a scored one. Fewer than two logits,
    or one that is not finite, change nothing.
    """
    head = list(fused[: len(logits)])
    if len(head) < 2 or any(logit != logit or abs(logit) == float("inf") for logit in logits):
        return list(fused)
    near = min_max(head)
    judged = min_max([(name, logit) for (name, _), logit in zip(head, logits, strict=True)])
    joined = [(name, (1.0 - weight) * near[name] + weight * judged[name]) for name, _ in head]
    order = sorted(range(len(joined)), key=lambda at: (-joined[at][1], at))
    floor = min(score for _, score in joined)
    rest = [(name, min(score, floor)) for name, score in fused[len(logits) :]]
    return [joined[at] for at in order] + rest
