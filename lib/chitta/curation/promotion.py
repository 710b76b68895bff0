"""Notes that wait for a person, and what keeping one makes of it. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from chitta.curation.opinion import DOUBTED, forgotten_opinion
from chitta.curation.proof import sessions_of
from chitta.notes.note import BOOKKEEPING_KINDS, Note
from chitta.recall.filters import contradicted, is_retired
from chitta.safety import SUSPECTED, TRUSTED

CAPTURED, ADVISORY = "captured", "advisory"
#: Confidence of a note that a person has kept: an ordinary note's.
KEPT_CONFIDENCE = 0.6
EPISODE = "episode"
#: State of a note that contradicts another one since a sync.
CONFLICTING = "conflicting"
#: The knowledge kind by what was captured. What merely happened stays an episode, which no prompt shows.
KINDS = {"fix": "bug-fix", "correction": "correction", "preference": "preference"}
HAPPENED = ("todo", "commit")


class Waiting(NamedTuple):
    """A note and why it waits: ``captured``, ``quarantined`` or ``doubted``, with the reasons that the note gives."""

    note: Note
    state: str
    reasons: tuple[str, ...] = ()


def waiting(notes: Iterable[Note], *, proved_first: bool = False) -> list[Waiting]:
    """The notes that wait, the newest session first; with ``proved_first`` those of most proofs. Ties by id."""
    found = [one for one in map(as_waiting, notes) if one is not None]
    found.sort(key=lambda one: (one.note.realm, one.note.id))
    found.sort(key=lambda one: max(one.note.created, one.note.updated), reverse=True)
    if proved_first:
        found.sort(key=lambda one: -one.note.proof_count)
        return found
    newest: dict[str, str] = {}
    for one in found:
        session = _session(one.note)
        newest[session] = max(newest.get(session, ""), one.note.created, one.note.updated)
    return sorted(found, key=lambda one: (newest[_session(one.note)], _session(one.note)), reverse=True)


def as_waiting(note: Note) -> Waiting | None:
    """The note with the reason why it waits; None for one that does not, or is retired."""
    if is_retired(note):
        return None
    if note.quarantine:
        return Waiting(note, "quarantined", _suspicions(note))
    if others := contradicted(note):
        return Waiting(note, CONFLICTING, tuple(f"says otherwise than {name}" for name in others))
    if note.authority in (CAPTURED, DOUBTED):
        return Waiting(note, note.authority)
    return None


def suggested_kind(note: Note) -> str:
    """The kind that fits: of what was captured, else the note's own where it is knowledge, else ``insight``."""
    what = str(dict(note.extra).get(CAPTURED) or "")
    if what in KINDS:
        return KINDS[what]
    if what in HAPPENED:
        return EPISODE if note.kind in BOOKKEEPING_KINDS else note.kind
    return "insight" if note.kind in BOOKKEEPING_KINDS else note.kind


def merely_happened(note: Note) -> bool:
    """Whether the note tells of a finished list or a commit: seldom worth keeping."""
    return dict(note.extra).get(CAPTURED) in HAPPENED


def kept(note: Note, kind: str, day: str) -> Note:
    """The note as a person's own: of this kind, advisory, no less sure than 0.6, out of quarantine, updated ``day``.

    A correction that names its wrong form and no trigger is triggered by it.
    """
    plain = forgotten_opinion(note)
    triggers = plain.triggers
    if kind == "correction" and plain.wrong and not triggers:
        triggers = (plain.wrong,)
    return released(plain)._replace(
        kind=kind,
        authority=ADVISORY,
        confidence=max(plain.confidence, KEPT_CONFIDENCE),
        triggers=triggers,
        updated=day,
    )


def released(note: Note) -> Note:
    """The note out of quarantine, without the reasons; everything else stays.

    One that was suspected is marked as trusted: its text is looked at whenever it is indexed.
    """
    extra = tuple((key, value) for key, value in note.extra if key not in (SUSPECTED, TRUSTED))
    suspected = bool(_suspicions(note)) or dict(note.extra).get(TRUSTED) is True
    return note._replace(quarantine=False, extra=(*extra, (TRUSTED, True)) if suspected else extra)


def is_captured(note: Note) -> bool:
    """Whether capture wrote the note: refusing it then has a meaning."""
    return note.authority == CAPTURED or bool(dict(note.extra).get(CAPTURED))


def _suspicions(note: Note) -> tuple[str, ...]:
    said = dict(note.extra).get(SUSPECTED)
    return tuple(str(one) for one in said if one) if isinstance(said, list) else (str(said),) if said else ()


def _session(note: Note) -> str:
    known = sessions_of(note)
    return known[-1] if known else ""
