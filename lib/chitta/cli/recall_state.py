"""Rows of an answer that are not in good standing: they say so, and none that waits stands above a person's own."""

from __future__ import annotations

from typing import TYPE_CHECKING

from chitta.cli.asking import Answer
from chitta.cli.recall_tier import SUPPORTED, tier
from chitta.curation import state
from chitta.settings import Settings

if TYPE_CHECKING:
    from chitta.wire.rows import Row

#: Key of an answer's reasons that holds a row's state.
STATE = "state"
#: That another note replaced it is said by a line of its own.
_SAID_ELSEWHERE = (state.SUPERSEDED,)


def marked(settings: Settings, answer: Answer) -> Answer:
    """The answer with the state of its notes among its reasons; what waits stands below what a person's own support."""
    from chitta.cli import bookshelf

    rows = [*answer.rows, *answer.beyond]
    if not rows:
        return answer
    with bookshelf.opened(settings) as snapshot:
        notes = snapshot.catalog.notes([row.id for row in rows]) if snapshot is not None else {}
    disputed = state.disputed(notes.values())
    states = {name: word for name, note in notes.items() if (word := state.state_of(note, disputed))}
    if not states:
        return answer
    reasons = {**answer.reasons}
    for name, word in states.items():
        reasons[name] = {**reasons.get(name, {}), STATE: word}
    if answer.newest:
        return answer._replace(reasons=reasons)
    ordered = _below(answer.rows, states), tuple(_below(list(answer.beyond), states))
    return answer._replace(reasons=reasons, rows=ordered[0], beyond=ordered[1])


def words_of(answer: Answer, row: Row) -> str:
    """How the row's state is said; "" for one in good standing."""
    return state.WORDS.get(str(answer.reasons.get(row.id, {}).get(STATE) or ""), "")


def beside(answer: Answer, row: Row) -> str:
    """What stands before the title of a row in a list: ``[waits for review] ``, or nothing."""
    word = answer.reasons.get(row.id, {}).get(STATE)
    said = words_of(answer, row)
    return f"[{said}] " if said and word not in _SAID_ELSEWHERE else ""


def _below(rows: list[Row], states: dict[str, str]) -> list[Row]:
    """The rows in their order, those that wait or are held back no higher than the last supported one that is not."""
    held = (state.WAITING, state.QUARANTINED, state.ARCHIVED)
    sure = [
        at
        for at, row in enumerate(rows)
        if tier(row) == SUPPORTED and states.get(row.id) not in (*held, state.SUPERSEDED)
    ]
    if not sure:
        return list(rows)
    first, after = rows[: sure[-1] + 1], rows[sure[-1] + 1 :]
    waits = [row for row in first if states.get(row.id) in held]
    return [*(row for row in first if states.get(row.id) not in held), *waits, *after]
