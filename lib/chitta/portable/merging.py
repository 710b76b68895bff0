"""One note that was changed on two machines: both changes in one note, and nothing lost. Pure.

Each field is merged by what it means; the text by lines. What cannot stand in one note goes into a
second one beside it, never as conflict marks into a text that a prompt may show.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any, NamedTuple

from chitta.notes.ids import MAX_ID
from chitta.notes.note import KNOWLEDGE_KINDS, Note
from chitta.portable.lines import merge_lines
from chitta.recall.filters import CONFLICTS_WITH

#: Values that a note cannot have two of and a person must choose between.
_CHOSEN = ("title", "wrong", "right")
_MISSING = object()


class Merged(NamedTuple):
    """The note under its own id; ``beside`` is the other machine's version where it could not be taken in whole.

    ``remarks`` are what a person should know, as clauses ("edited on both sides").
    """

    note: Note
    beside: Note | None = None
    remarks: tuple[str, ...] = ()


def merge_notes(base: Note | None, ours: Note | None, theirs: Note | None, other: str) -> Merged | None:
    """Both changes of ``base`` (None: there was none) in one note; None where both sides deleted it.

    Deleted here and edited there, or the other way round: the edit wins. ``other`` names the other
    machine; the second note is ``<id>-from-<other>``. The same arguments give the same result, and
    exchanging ours and theirs changes the order of lists and which version stands beside, not what is kept.
    """
    if ours is None or theirs is None:
        left = ours or theirs
        return None if left is None else Merged(left, None, ("deleted on one side, edited on the other: kept",))
    if ours == theirs or (base is not None and theirs == base):
        return Merged(ours)
    if base is not None and ours == base:
        return Merged(theirs)
    if ours.id != theirs.id:
        return _of_two_ids(base, ours, theirs, other)
    note = _fields(base, ours, theirs)
    text = merge_lines(base.text if base is not None else "", ours.text, theirs.text)
    conflict = text.conflict or (base is None and ours.text != theirs.text)
    note = note._replace(text=ours.text if base is None and ours.text.strip() else text.text)
    clashing = [name for name in _CHOSEN if _clash(base, ours, theirs, name)]
    if conflict or clashing:
        what = " and ".join(["text"] * conflict + clashing)
        beside = _beside(theirs, ours.id, other)
        return Merged(note, beside, (f"its {what} changed on both sides: the other one is {beside.id}",))
    remarks = ["changed on both sides"]
    if note.superseded_by and text.text != (ours.text if ours.superseded_by else theirs.text):
        remarks.append(f"replaced by {note.superseded_by} on one side and edited on the other")
    return Merged(note, None, tuple(remarks))


def _of_two_ids(base: Note | None, ours: Note, theirs: Note, other: str) -> Merged:
    """One file, two ids: a note was renamed in place, or two notes happen to share a file's name."""
    if base is not None and base.id in (ours.id, theirs.id):
        chosen = theirs.id if base.id == ours.id else ours.id
        same = merge_notes(base._replace(id=chosen), ours._replace(id=chosen), theirs._replace(id=chosen), other)
        assert same is not None
        return same._replace(remarks=(*same.remarks, f"its id is now {chosen}"))
    return Merged(ours, theirs, (f"another note, {theirs.id}, had the same file name",))


def _beside(theirs: Note, note_id: str, other: str) -> Note:
    ending = f"-from-{other}"
    extra = dict(theirs.extra) | {CONFLICTS_WITH: [note_id]}
    return theirs._replace(id=note_id[: MAX_ID - len(ending)].rstrip() + ending, extra=tuple(extra.items()))


# Fields


def _fields(base: Note | None, ours: Note, theirs: Note) -> Note:
    old = base or Note(id="")
    return ours._replace(
        title=_changed(base, ours, theirs, "title", ours.title or theirs.title),
        wrong=_changed(base, ours, theirs, "wrong", ours.wrong or theirs.wrong),
        right=_changed(base, ours, theirs, "right", ours.right or theirs.right),
        kind=_changed(base, ours, theirs, "kind", min((ours.kind, theirs.kind), key=_usefulness)),
        realm=_changed(base, ours, theirs, "realm", min(ours.realm, theirs.realm)),
        created=_changed(base, ours, theirs, "created", min(_given(ours.created, theirs.created), default="")),
        updated=max(ours.updated, theirs.updated),
        tags=_united(old.tags, ours.tags, theirs.tags),
        triggers=_united(old.triggers, ours.triggers, theirs.triggers),
        supersedes=_united(old.supersedes, ours.supersedes, theirs.supersedes),
        superseded_by=_changed(
            base, ours, theirs, "superseded_by", min(_given(ours.superseded_by, theirs.superseded_by), default="")
        ),
        valid_from=_changed(base, ours, theirs, "valid_from", min(ours.valid_from, theirs.valid_from)),
        valid_until=_changed(base, ours, theirs, "valid_until", _longest(ours.valid_until, theirs.valid_until)),
        confidence=_changed(base, ours, theirs, "confidence", min(ours.confidence, theirs.confidence)),
        proof_count=_proofs(base, ours, theirs),
        quarantine=_changed(base, ours, theirs, "quarantine", True),
        visibility=_changed(base, ours, theirs, "visibility", _narrowest(ours.visibility, theirs.visibility)),
        authority=_changed(base, ours, theirs, "authority", min(ours.authority, theirs.authority)),
        source=_changed(base, ours, theirs, "source", min(_given(ours.source, theirs.source), default="")),
        extra=_extra(base, ours, theirs),
    )


def _changed(base: Note | None, ours: Note, theirs: Note, name: str, both: Any) -> Any:
    """The value of the side that changed it; ``both`` where both did, and differently."""
    old = getattr(base, name) if base is not None else _MISSING
    return _three(old, getattr(ours, name), getattr(theirs, name), both)


def _three(old: Any, mine: Any, other: Any, both: Any) -> Any:
    if mine == other or other == old:
        return mine
    return other if mine == old else both


def _clash(base: Note | None, ours: Note, theirs: Note, name: str) -> bool:
    mine, other = getattr(ours, name), getattr(theirs, name)
    old = getattr(base, name) if base is not None else _MISSING
    return bool(mine and other) and mine != other and old not in (mine, other)


def _united(old: Iterable[Any], mine: Iterable[Any], other: Iterable[Any]) -> tuple[Any, ...]:
    """What either side holds, ours first, without what either one removed."""
    before, left, right = ({repr(item): item for item in items} for items in (old, mine, other))
    removed = before.keys() - (left.keys() & right.keys())
    return tuple(item for key, item in (left | right).items() if key not in removed)


def _proofs(base: Note | None, ours: Note, theirs: Note) -> int:
    """How often it was learned: before, and since on each side.

    Without a common beginning the same proofs may be counted on both sides, so it is the greater
    count, or that of the sessions which the two name together.
    """
    if base is not None:
        return max(0, ours.proof_count + theirs.proof_count - base.proof_count)
    sessions = _united((), _list(ours, "sessions"), _list(theirs, "sessions"))
    return max(ours.proof_count, theirs.proof_count, len(sessions))


def _list(note: Note, key: str) -> list[Any]:
    value = dict(note.extra).get(key)
    return value if isinstance(value, list) else []


def _extra(base: Note | None, ours: Note, theirs: Note) -> tuple[tuple[str, object], ...]:
    old = dict(base.extra) if base is not None else {}
    return tuple(_mapping(old, dict(ours.extra), dict(theirs.extra)).items())


def _mapping(old: dict[str, Any], mine: dict[str, Any], other: dict[str, Any]) -> dict[str, Any]:
    merged: dict[str, Any] = {}
    for key in dict.fromkeys((*mine, *other)):
        before, left, right = (values.get(key, _MISSING) for values in (old, mine, other))
        value = _three(before, left, right, _value(before, left, right))
        if value is not _MISSING:
            merged[key] = value
    return merged


def _value(before: Any, left: Any, right: Any) -> Any:
    """A key that both sides changed: lists and mappings are merged, a deletion gives way, else the greater one."""
    if left is _MISSING or right is _MISSING:
        return right if left is _MISSING else left
    if isinstance(left, list) and isinstance(right, list):
        return list(_united(before if isinstance(before, list) else [], left, right))
    if isinstance(left, dict) and isinstance(right, dict):
        return _mapping(before if isinstance(before, dict) else {}, left, right)
    return max(left, right, key=lambda value: json.dumps(value, sort_keys=True))


def _given(*values: str) -> list[str]:
    return [value for value in values if value]


def _usefulness(kind: str) -> tuple[bool, str]:
    return kind not in KNOWLEDGE_KINDS, kind


def _narrowest(one: str, other: str) -> str:
    return "private" if "private" in (one, other) else min(one, other)


def _longest(one: str, other: str) -> str:
    """No end is the longest time."""
    return max(one, other) if one and other else ""
