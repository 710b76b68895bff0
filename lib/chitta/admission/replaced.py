"""Of the rows that enter the context, the one that holds no more below the one that replaced it."""

from __future__ import annotations

from collections.abc import Sequence

from chitta.admission.verdict import Admitted
from chitta.notes.note import Note


def replaced_below(admitted: Sequence[Admitted]) -> tuple[Admitted, ...]:
    """The rows in their order, but none above one that replaced it (:func:`chitta.recall.diversify.contradictions`).

    Lanes order their own rows so; two rows of different lanes meet here first.
    """
    if len(admitted) < 2:
        return tuple(admitted)
    from chitta.recall.diversify import contradictions, settle  # dear to import, and without a daemon paid by a prompt

    found = contradictions([_note(item) for item in admitted])
    if not found:
        return tuple(admitted)
    by_id = {item.row.id: item for item in admitted}
    places = [(item.row.id, float(-place)) for place, item in enumerate(admitted)]
    return tuple(by_id[name] for name, _ in settle(places, found))


def _note(item: Admitted) -> Note:
    row = item.row
    return Note(row.id, row.kind, row.realm, row.title, row.text, row.created, tags=row.tags)
