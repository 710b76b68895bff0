"""What `chitta recall` says where it has nothing to show: what there is, what was held back, and what would show it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from chitta.cli import bookshelf, output, recall_reasons
from chitta.cli.asking import NOTHING_WRITTEN
from chitta.settings import Settings

if TYPE_CHECKING:
    from chitta.cli.asking import Answer
    from chitta.gateway.question import Question

#: What is held back without being asked for, in words after a number, and the option that shows it.
_HELD_BACK = {
    "quarantined": ("in quarantine", "--include-quarantined"),
    "superseded": ("replaced by others", "--include-superseded"),
    "expired": ("expired", ""),
}


def left_out(question: Question, answer: Answer) -> list[str]:
    """What filters that were asked for left out, by cause."""
    asked = {
        "kind": bool(question.kinds),
        "confidence": question.min_confidence > 0.0,
        "before": question.since is not None,
        "after": question.until is not None,
        "undated": any(moment is not None for moment in (question.since, question.until, question.known_as_of)),
        "unknown then": question.known_as_of is not None or question.as_of is not None,
        "not valid then": question.valid_at is not None,
        "superseded": question.as_of is not None,
        "expired": question.valid_at is not None or question.as_of is not None,
        "out of domain": question.min_overlap is not None,
    }
    return recall_reasons.causes({cause: count for cause, count in answer.dropped.items() if asked.get(cause)})


def sentence(settings: Settings, question: Question, answer: Answer, place: str | None) -> str:
    """Why there is nothing to show in a realm (None: all)."""
    with bookshelf.opened(settings) as snapshot:
        held = snapshot.catalog.count(place) if snapshot is not None else 0
    where = f"in {place}" if place is not None else "in this store"
    if not held:
        return f"there are no notes {where} yet"
    if answer.warming:
        return f"nothing found by words alone among {output.plural(held, 'note')} {where}; by meaning it may still be"
    if asked := left_out(question, answer):
        return f"nothing is left {where} of what the question finds; left out as asked: {', '.join(asked)}"
    if back := held_back(answer):
        weak = "; --show-weak shows what is merely nearest" if answer.rows or answer.beyond else ""
        return f"nothing to show: {back}{weak}"
    if answer.note.startswith(NOTHING_WRITTEN):
        return f"{answer.note} {where}"
    if answer.rows or answer.beyond:
        return f"not in memory: no note {where} is likely to answer this; --show-weak shows the nearest of {held:,}"
    return f"not in memory: none of the {output.plural(held, 'note')} {where} holds any of these words"


def held_back(answer: Answer) -> str:
    """``1 note in quarantine, 1 expired were left out (--include-quarantined shows the former)``; "" for none."""
    told: list[str] = []
    options: list[str] = []
    for cause, (words, option) in _HELD_BACK.items():
        if count := answer.dropped.get(cause, 0):
            told.append(f"{count:,} {words}" if told else f"{output.plural(count, 'note')} {words}")
            options += [option] if option else []
    if not told:
        return ""
    one = sum(answer.dropped.get(cause, 0) for cause in _HELD_BACK) == 1
    shown = ""
    if options:
        rest = "the former" if len(options) == 1 else "the first two"
        which = ("it" if one else "them") if len(options) == len(told) else rest
        shown = f" ({' and '.join(options)} {'shows' if len(options) == 1 else 'show'} {which})"
    return f"{', '.join(told)} {'was' if one else 'were'} left out{shown}"
