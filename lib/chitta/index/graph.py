"""The catalog's read side of what notes share, state of each other, and when they were written.

The rows are made of :mod:`chitta.notes.links` when a note is put; :mod:`chitta.index.ledger` writes them.

Imported on the prompt path when the daemon is away: nothing beyond the standard library.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

from chitta.notes.triplet import Edge, name_key

#: entities: which note holds which entity; with the realm, so that a realm is counted without reading its notes.
#: triplets: what a note states; names are compared by their keys.
GRAPH_TABLES = """
CREATE TABLE entities (
    entity TEXT NOT NULL, realm TEXT NOT NULL, id TEXT NOT NULL, PRIMARY KEY (entity, realm, id)
) WITHOUT ROWID;
CREATE INDEX entities_id ON entities (id);
CREATE TABLE triplets (
    source TEXT NOT NULL, relation TEXT NOT NULL, target TEXT NOT NULL, id TEXT NOT NULL,
    source_key TEXT NOT NULL, target_key TEXT NOT NULL
);
CREATE INDEX triplets_source ON triplets (source_key);
CREATE INDEX triplets_target ON triplets (target_key);
CREATE INDEX triplets_id ON triplets (id);
"""

_CHUNK = 400  # variables of one statement

Rows = Callable[[str, Sequence[Any]], list[Any]]


class Dated(NamedTuple):
    """A note of a window of time and its latest stamp inside it, ``YYYY-MM-DDTHH:MM:SS`` in UTC."""

    id: str
    stamp: str


class Graph:
    """Answers from the catalog's rows; ``rows`` runs a statement. Raises what ``rows`` raises."""

    def __init__(self, rows: Rows) -> None:
        self._rows = rows

    def entities_of(self, ids: Sequence[str]) -> dict[str, tuple[str, ...]]:
        """Entities by note, sorted; notes that hold none, and unknown ones, are left out."""
        found: dict[str, list[str]] = {}
        for chunk in _chunks(ids):
            statement = f"SELECT id, entity FROM entities WHERE id IN ({_marks(chunk)}) ORDER BY id, entity"
            for name, entity in self._rows(statement, chunk):
                found.setdefault(name, []).append(entity)
        return {name: tuple(found[name]) for name in ids if name in found}

    def entity_counts(self, entities: Sequence[str], realm: str | None = None) -> dict[str, int]:
        """How many notes, of a realm or of all, hold each entity; entities that none holds are left out."""
        found: dict[str, int] = {}
        where, values = _within(realm)
        for chunk in _chunks(entities):
            statement = (
                f"SELECT entity, count(*) FROM entities WHERE entity IN ({_marks(chunk)}) {where} GROUP BY entity"
            )
            found |= self._rows(statement, [*chunk, *values])
        return {entity: found[entity] for entity in entities if entity in found}

    def sharing(self, entities: Sequence[str], realm: str | None = None, limit: int = 200) -> dict[str, list[str]]:
        """Notes, of a realm or of all, that hold each entity: the first ``limit`` by id; none held, none given."""
        where, values = _within(realm)
        statement = f"SELECT id FROM entities WHERE entity = ? {where} ORDER BY id LIMIT ?"
        found: dict[str, list[str]] = {}
        for entity in dict.fromkeys(entities):
            names = [row[0] for row in self._rows(statement, [entity, *values, limit])]
            if names:
                found[entity] = names
        return found

    def degree(self, ids: Sequence[str]) -> dict[str, int]:
        """How many entities each note holds; 0 for a note that holds none or is not known."""
        found: dict[str, int] = dict.fromkeys(ids, 0)
        for chunk in _chunks(ids):
            found |= self._rows(f"SELECT id, count(*) FROM entities WHERE id IN ({_marks(chunk)}) GROUP BY id", chunk)
        return found

    def edges(self, name: str, realm: str | None = None) -> list[Edge]:
        """Stated relations that begin or end at ``name``, whatever its case and white space; in a fixed order."""
        key = name_key(name)
        where, values = _within(realm)
        of = "SELECT source, relation, target, t.id FROM triplets t JOIN notes n ON n.id = t.id"
        sides = [f"{of} WHERE {side} = ? {where}" for side in ("source_key", "target_key")]
        return sorted(Edge(*row) for row in self._rows(" UNION ".join(sides), [key, *values, key, *values]))

    def successors(self, ids: Sequence[str]) -> dict[str, tuple[str, ...]]:
        """Notes that supersede these, by either note's front matter; ids sorted, notes without any left out.

        A name in front matter is first that of a note in the same realm, then a note's id here.
        """
        asked = self._places(ids)
        names = sorted({name for name, (own_id, _) in asked.items() for name in (name, own_id)})
        stated: list[tuple[str, str, str]] = []
        for chunk in _chunks([name_key(name) for name in names]):
            stated += self._rows(
                "SELECT t.source, t.target, n.realm FROM triplets t JOIN notes n ON n.id = t.id "
                f"WHERE t.relation = 'supersedes' AND t.target_key IN ({_marks(chunk)})",
                chunk,
            )
        known = self._places(sorted({*names, *(source for source, _, _ in stated)}))
        own = {(realm, own_id): name for name, (own_id, realm) in known.items()}
        found: dict[str, set[str]] = {}
        for source, target, realm in stated:
            newer, older = (own.get((realm, end)) or (end if end in known else None) for end in (source, target))
            if newer and older in asked and newer != older:
                found.setdefault(older, set()).add(newer)
        return {name: tuple(sorted(found[name])) for name in ids if name in found}

    def between(self, realm: str | None, start: str, end: str, limit: int = 50) -> list[Dated]:
        """Notes created or updated from ``start`` up to but not at ``end``, newest first, ties by id.

        Both are ISO 8601; without a zone they are UTC, and a date is its first moment. Nothing is found
        when one of them is no date.
        """
        first, last = utc_stamp(start), utc_stamp(end)
        if not first or not last:
            return []
        where, values = ("", []) if realm is None else ("AND +realm = ?", [realm])  # the plus: time picks fewer
        sides = [
            f"SELECT id, {stamp} AS stamp FROM notes WHERE {stamp} >= ? AND {stamp} < ? {where}"
            for stamp in ("created_utc", "updated_utc")
        ]
        statement = f"SELECT id, max(stamp) FROM ({' UNION ALL '.join(sides)}) GROUP BY id ORDER BY 2 DESC, id LIMIT ?"
        asked = [first, last, *values]
        return [Dated(*row) for row in self._rows(statement, [*asked, *asked, limit])]

    def _places(self, names: Sequence[str]) -> dict[str, tuple[str, str]]:
        """own_id and realm by id, of notes that have one of these names as either."""
        found: dict[str, tuple[str, str]] = {}
        for chunk in _chunks(names):
            marks = _marks(chunk)
            statement = f"SELECT id, own_id, realm FROM notes WHERE id IN ({marks}) OR own_id IN ({marks})"
            found |= {name: (own_id, realm) for name, own_id, realm in self._rows(statement, [*chunk, *chunk])}
        return found


def utc_stamp(text: str) -> str:
    """An ISO 8601 date or time as ``YYYY-MM-DDTHH:MM:SS`` in UTC, which sorts; ``""`` for what is none."""
    import datetime

    try:
        moment = datetime.datetime.fromisoformat(re.sub(r"[zZ]$", "+00:00", text.strip()))
        if moment.tzinfo is not None:
            moment = moment.astimezone(datetime.timezone.utc)
    except (ValueError, OverflowError):
        return ""
    return moment.replace(tzinfo=None, microsecond=0).isoformat()


def _within(realm: str | None) -> tuple[str, list[str]]:
    """The condition and its values that keep to a realm."""
    return ("", []) if realm is None else ("AND realm = ?", [realm])


def _marks(values: Sequence[object]) -> str:
    return ",".join("?" * len(values))


def _chunks(values: Sequence[str]) -> Iterator[Sequence[str]]:
    for start in range(0, len(values), _CHUNK):
        yield values[start : start + _CHUNK]
