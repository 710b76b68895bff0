"""A note and what is around it: its session, what shares its subjects, what replaced it and what it replaced."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from chitta.gateway.graph_arm import Links, transferred
from chitta.index import IndexFault
from chitta.notes.links import session_of
from chitta.notes.note import Note
from chitta.recall.filters import is_bookkeeping

if TYPE_CHECKING:
    from chitta.index.snapshot import Snapshot

#: Notes of the same session and of the same subjects that are shown with one (SuperLocalMemory).
MOST = 3
#: Least shared weight of subjects: one name that many notes hold is no kinship.
_LEAST_KINSHIP = 0.3


class Surroundings(NamedTuple):
    """Notes around one note. ``replaced_by`` is the newest note that says it replaces this one.

    ``because`` gives, by the id of a related note, the entities that both hold, the rarest first.
    """

    session: tuple[Note, ...] = ()
    related: tuple[Note, ...] = ()
    replaced_by: Note | None = None
    replaces: tuple[Note, ...] = ()
    because: Mapping[str, tuple[str, ...]] = {}


def surroundings(snapshot: Snapshot, note: Note) -> Surroundings:
    """What is around a note, at most :data:`MOST` of each; less, and reported, where the catalog is damaged."""
    catalog = snapshot.catalog
    newer = catalog.successors([note.id]).get(note.id, ())
    after = list(catalog.notes(newer).values())
    after.sort(key=lambda one: (one.created, one.id))
    session: list[str] = []
    key = session_of(note)
    if key:
        session = [name for name in catalog.sharing([key], note.realm).get(key, []) if name != note.id]
    apart = {note.id, *session, *newer, *note.supersedes}
    links = Links(catalog, note.realm)
    try:
        kin = links.neighbours([note.id]).get(note.id, [])
        near = [name for name, weight in kin if weight >= _LEAST_KINSHIP and name not in apart]
        related = _shown(catalog.notes(near))
        because = links.shared(note.id, [one.id for one in related])
    except IndexFault:
        related, because = (), {}
    return Surroundings(
        session=_shown(catalog.notes(session)),
        related=related,
        replaced_by=after[-1] if after else None,
        replaces=tuple(catalog.notes(list(note.supersedes[:MOST])).values()),
        because={name: entities[:MOST] for name, entities in because.items()},
    )


def expanded(snapshot: Snapshot, ids: Sequence[str]) -> list[dict[str, Any]]:
    """These notes, whole, with what is around each, as JSON; unknown ids are left out."""
    return [
        {**note._asdict(), "extra": dict(note.extra), "around": as_json(surroundings(snapshot, note))}
        for note in snapshot.catalog.notes(ids).values()
    ]


def as_json(around: Surroundings) -> dict[str, Any]:
    """Each neighbour as its id, title, kind and date, a related one with why (``because``); empty ones are left out."""
    facts: dict[str, Any] = {
        name: [_brief(note) for note in getattr(around, name)] for name in ("session", "related", "replaces")
    }
    for brief in facts["related"]:
        brief["because"] = list(around.because.get(brief["id"], ()))
    facts["replaced_by"] = _brief(around.replaced_by) if around.replaced_by is not None else None
    return {name: value for name, value in facts.items() if value}


def transferred_json(snapshot: Snapshot | None, text: str, realm: str | None) -> dict[str, Any]:
    """The answer to an analogy with its edges, or why there is none. Raises ``ValueError`` for what is no analogy."""
    if snapshot is None:
        return {"solutions": [], "reason": "the store is empty"}
    answer = transferred(snapshot, text, realm)
    solutions = [
        {
            "answer": solution.target,
            "relation": solution.relation,
            "because": [edge._asdict() for edge in solution.given],
            "and": [edge._asdict() for edge in solution.found],
        }
        for solution in answer.solutions
    ]
    return {"solutions": solutions, "reason": answer.reason}


def _shown(notes: Mapping[str, Note]) -> tuple[Note, ...]:
    """The first of those that could be in an answer."""
    return tuple(note for note in notes.values() if not note.quarantine and not is_bookkeeping(note))[:MOST]


def _brief(note: Note) -> dict[str, Any]:
    return {"id": note.id, "title": note.title, "kind": note.kind, "created": note.created}
