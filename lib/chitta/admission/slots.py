"""Rows among each other: which of those that are good by themselves share the slots, and why the others do not.

Causes are put where a row stands against others; those that stand already are left alone. Pure.
"""

from __future__ import annotations

from chitta.admission import policy
from chitta.admission.verdict import Admitted, Candidate, Situation, shared


def yield_to_scoped(candidates: list[Candidate], causes: list[str]) -> None:
    """Rows from beyond this realm wait for scoped recall to find nothing.

    A scoped row that the session has seen already still counts as found: the subject is known here.
    """
    passed = {c.lane.role for c, cause in zip(candidates, causes, strict=True) if not cause}
    if policy.SCOPED in passed:
        for place, candidate in enumerate(candidates):
            if candidate.lane.role == policy.BEYOND and not causes[place]:
                causes[place] = "cap"


def drop_withheld(candidates: list[Candidate], causes: list[str]) -> None:
    """What one lane knows to be quarantined or replaced no other may show: theirs may be an older index."""
    held = {row.id: "quar" for _, row in candidates if row.quarantine}
    replaced = {row.id: "sup" for _, row in candidates if row.superseded_by.strip()}
    for place, (_, row) in enumerate(candidates):
        causes[place] = causes[place] or held.get(row.id, "") or replaced.get(row.id, "")


def drop_seen(candidates: list[Candidate], causes: list[str], seen: frozenset[str]) -> None:
    """A session is shown a note once; a certain match comes again, for the mistake did too."""
    for place, (lane, row) in enumerate(candidates):
        if not causes[place] and row.id in seen and not lane.certain:
            causes[place] = "dup"


def drop_leftovers(candidates: list[Candidate], causes: list[str], seen: frozenset[str], situation: Situation) -> None:
    """A turn that leans on the last one asks of the same subject: what is less sure than a note of it that the
    session was shown already is a leftover, not an answer; unless it shares more of the turn's own words."""
    told: dict[str, tuple[float, int]] = {}
    for lane, row in candidates:
        if row.id in seen and not lane.certain:
            told[lane.role] = max(told.get(lane.role, (policy.NO_CONF, 0)), (row.conf, len(shared(row, situation))))
    for place, (lane, row) in enumerate(candidates):
        surest, words = told.get(lane.role, (policy.NO_CONF, 0))
        if not causes[place] and not lane.certain and row.conf < surest and len(shared(row, situation)) <= words:
            causes[place] = "dup"


def point_back(candidates: list[Candidate], causes: list[str], recent: frozenset[str]) -> str:
    """The id of the surest note that the last turn was shown, where this turn, which leans on that one, finds it again.

    The session has it, so its row is let in again only to be pointed to.
    """
    found = [
        (c.row.conf, -place)
        for place, (c, cause) in enumerate(zip(candidates, causes, strict=True))
        if cause == "dup" and c.row.id in recent and not c.lane.certain
    ]
    if not found:
        return ""
    place = -max(found)[1]
    causes[place] = ""
    return candidates[place].row.id


def drop_lesser(candidates: list[Candidate], causes: list[str]) -> None:
    """A row far less sure than the surest from the same place would only dilute it."""
    surest: dict[str, float] = {}
    for (lane, row), cause in zip(candidates, causes, strict=True):
        if not cause and not lane.certain:
            surest[lane.role] = max(surest.get(lane.role, policy.NO_CONF), row.conf)
    for place, (lane, row) in enumerate(candidates):
        if not causes[place] and not lane.certain and row.conf < policy.RELATIVE_FLOOR * surest[lane.role]:
            causes[place] = "cap"


def drop_doubles(candidates: list[Candidate], causes: list[str]) -> None:
    """One row a lane for each note: of two rows with one id the better stays."""
    had: set[tuple[str, str]] = set()
    for place, (lane, row) in enumerate(candidates):
        if not causes[place]:
            if (lane.tag, row.id) in had:
                causes[place] = "dup"
            had.add((lane.tag, row.id))


def share_slots(
    candidates: list[Candidate], causes: list[str], slots: int, situation: Situation, pointed: str
) -> tuple[Admitted, ...]:
    """Fill the slots and put a cause to every row that is left over.

    The best certain row has the first slot. Then the lanes take turns in fairness order, each
    giving its best note that is not in yet. A note is tagged by the first lane in that order that
    holds it; its rows from other lanes are doubles.
    """
    queues: dict[str, list[int]] = {}
    holder: dict[str, int] = {}
    for place, (lane, row) in enumerate(candidates):
        if not causes[place]:
            queues.setdefault(lane.tag, []).append(place)
            holder.setdefault(row.id, place)
    chosen: dict[str, bool] = {}
    for place in (p for p, c in enumerate(candidates) if c.lane.certain and not causes[p]):
        chosen[candidates[place].row.id] = True
        break
    while queues and len(chosen) < slots:
        for tag in list(queues):
            waiting = [place for place in queues[tag] if candidates[place].row.id not in chosen]
            queues[tag] = waiting[1:]
            if not waiting:
                del queues[tag]
            elif len(chosen) < slots:
                chosen[candidates[waiting[0]].row.id] = False
    for place, (_, row) in enumerate(candidates):
        if not causes[place]:
            own = place == holder[row.id]
            causes[place] = "dup" if not own else "" if row.id in chosen else "cap"
    shown = [(candidates[holder[name]], name == pointed, reserved) for name, reserved in chosen.items()]
    return tuple(
        _admitted(candidate, situation, reserved)._replace(pointer=again and not candidate.lane.certain)
        for candidate, again, reserved in shown
    )


def _admitted(candidate: Candidate, situation: Situation, reserved: bool) -> Admitted:
    row = candidate.row
    evidence = [f"trigger {row.why!r}"] if candidate.lane.certain and row.why else []
    evidence += [f"conf {row.conf:.2f}"] if row.conf >= 0 else []
    evidence += [f"cos {row.cos:.2f}"] if row.cos >= policy.COS_FLOOR else []
    tokens = shared(row, situation)
    evidence += [f"shares {' '.join(tokens[:5])}"] if tokens else []
    return Admitted(row, candidate.lane.tag, ", ".join(evidence), reserved)
