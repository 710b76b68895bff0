"""How far the evidence behind a found note carries, and which arms found it."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from chitta.wire.rows import Row

SUPPORTED, RELATED, UNRELATED = "supported", "related", "none"
#: Share of the question's words (weighed by rarity) that ties a note to it, where none of them is distinctive.
RELATED_COVERAGE = 0.5
#: Least probability of a note that only its meaning ties to the question: the model finds everything somewhat near.
RELATED_CONF = 0.02
#: The same where they share a distinctive word. Of the notes that two peers' golden sets call right, the least sure has
#: 0.004; of those that merely have a word in common, nine in ten are below 0.002.
SHARED_CONF = 0.002
#: A note that holds every word of a question of at least two is an answer, however unlike a prompt the question is.
ALL_WORDS, ALL_SHARED = 0.99, 2


def tier(row: Row) -> str:
    """How far the evidence carries: enough for a prompt, some tie of words, meaning or the time asked for, or none."""
    from chitta.admission.policy import BY_LANE, COS_FLOOR

    terms = BY_LANE["hybrid"]
    if row.conf >= (terms.conf_floor if row.cos >= 0 else terms.words_conf_floor):
        return SUPPORTED
    if row.bm25 > 0 and row.coverage >= ALL_WORDS and len(row.shared) >= ALL_SHARED:
        return SUPPORTED
    shared = bool(row.shared) and (row.cos < 0 or row.conf >= SHARED_CONF)
    by_words = row.bm25 > 0 and (shared or row.coverage >= RELATED_COVERAGE)
    return RELATED if by_words or row.why or (row.cos >= COS_FLOOR and row.conf >= RELATED_CONF) else UNRELATED


def arms(row: Row, strategy: str = "hybrid") -> list[str]:
    """Which arms found the note; a strategy of one arm finds by that one alone."""
    if strategy == "semantic":
        return ["meaning"]
    return [name for name, found in (("words", row.bm25 > 0), ("meaning", row.cos >= 0)) if found]
