"""SuperLocalMemory's SQLite database.

Its documentation names the file and two tables, ``atomic_facts`` (what was learned) and ``memories`` (what
was said); the columns differ from version to version. So a table is read by what its own columns are called:
one holds the text, the others what they say. Where no table can be told to hold memories, the problem
lists the tables that are there.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from chitta.importing.imported import Imported, checked
from chitta.importing.loose_values import day_of, list_of, row_digest, text_of, trust_of, truth_of
from chitta.importing.projects import Projects, project_name
from chitta.importing.sqlite_rows import Database, Table, Unreadable, has_table, opened
from chitta.notes.ids import make_id, valid_id
from chitta.notes.note import BOOKKEEPING_KINDS, KNOWLEDGE_KINDS, Note, one_line

TITLE = "SuperLocalMemory"
READS = "SuperLocalMemory's memory.db: facts and memories with their dates, importance, tags and projects"

_FACTS = ("atomic_facts", "facts")
_MEMORIES = ("memories", "memory")
# What a column may be called, first come first taken. A trailing * takes any name with the word in it.
_NAMES: Mapping[str, tuple[str, ...]] = {
    "text": ("content", "fact", "fact_text", "memory", "text", "body", "statement"),
    "title": ("title", "name", "subject"),
    "summary": ("summary",),
    "created": ("created_at", "observed_at", "created", "observation_date", "observed", "timestamp", "date"),
    "updated": ("updated_at", "updated", "modified_at"),
    "trust": ("confidence", "importance", "importance_score"),
    "tags": ("tags", "keywords", "labels"),
    "entities": ("entities", "entit*"),
    "kind": ("kind", "fact_type", "memory_type", "type"),
    "category": ("category",),
    "project": ("project_name", "project", "project_path", "workspace"),
    "profile": ("profile", "profile_id", "profile_name"),
    "superseded_by": ("superseded_by", "supersededby", "replaced_by"),
    "superseded": ("is_superseded", "superseded", "superseded_at", "invalidated_at", "is_invalid"),
    "deleted": ("deleted", "is_deleted", "deleted_at", "forgotten", "forgotten_at"),
    "expires": ("expires_at", "valid_until", "expired_at", "valid_to"),
    "state": ("lifecycle", "lifecycle_state", "state", "status", "lifecycle*"),
    "session": ("session_id", "session"),
    "memory": ("memory_id", "source_memory_id", "parent_memory_id"),
}
_DEFAULT_TRUST = 0.6
_RETIRED = frozenset({"superseded", "archived", "expired", "invalid", "invalidated", "consolidated", "tombstoned"})
_GONE = frozenset({"deleted", "forgotten", "erased", "purged"})
_KINDS = {"episodic": "episode", "event": "episode", "bugfix": "bug-fix", "fix": "bug-fix", "opinion": "preference"}
# Beside their tables these keep others that hold copies of a text for searching.
_COPIES = re.compile(r"fts|bm25|vec|embedding|cache|log|history|audit|queue|backup|pending", re.IGNORECASE)


class _Source(NamedTuple):
    """A table with the column that each thing is in; things that it has no column for are missing."""

    table: Table
    columns: dict[str, str]


def detect(path: Path) -> bool:
    """Whether the file is a SQLite database with one of the tables of facts or memories, and a text in it."""
    return has_table(path, {"atomic_facts": {"content"}, "memories": {"content"}})


def default_paths() -> tuple[Path, ...]:
    """Where the program keeps its database (the second is that of its version 2), where there is one."""
    places = (Path.home() / ".superlocalmemory" / "memory.db", Path.home() / ".claude-memory" / "memory.db")
    return tuple(dict.fromkeys(place.resolve() for place in places if place.is_file()))


def read(path: Path, *, realm: str) -> Iterator[Imported]:
    """The facts, and those memories that no fact was made from; where there are no facts, all memories.

    A memory that was superseded, archived or has expired keeps that; one that was deleted is passed over.
    Which projects are taken is said in :mod:`chitta.importing.projects`. Ids come from the row's own.
    """
    try:
        with opened(path) as database:
            sources = _sources(database)
            projects = Projects(_counted(database, sources), realm)
            told: set[str] = set()
            for place, source in enumerate(sources):
                yield from _rows(path, database, source, realm, projects, told if len(sources) > 1 else None, place)
            if told:
                yield Imported(None, str(path), f"holds {len(told):,} texts whose facts were taken instead")
            left = projects.passed_over()
            if left:
                yield Imported(None, str(path), left)
    except Unreadable as problem:
        yield Imported(None, str(path), str(problem))


def _sources(database: Database) -> list[_Source]:
    """The table of facts and that of memories, or the one other that holds texts. Raises ``Unreadable``."""
    holders = [source for source in map(_source, database.tables) if "text" in source.columns]
    named = [
        next((source for source in holders if source.table.name.lower() in names), None)
        for names in (_FACTS, _MEMORIES)
    ]
    found = [source for source in named if source is not None]
    if not found:
        found = [source for source in holders if not _COPIES.search(source.table.name)]
    if len(found) == 1 or any(named):
        return found
    tables = ", ".join(table.name for table in database.tables[:20]) or "none"
    why = "several tables may hold memories" if found else "no table holds memories"
    raise Unreadable(f"is not a database of SuperLocalMemory that can be read: {why}; its tables are {tables}")


def _source(table: Table) -> _Source:
    written = {name.lower(): name for name in reversed(table.columns)}
    columns: dict[str, str] = {}
    for thing, names in _NAMES.items():
        for name in names:
            held = [own for own in sorted(written) if name[:-1] in own] if name.endswith("*") else [name]
            free = next((own for own in held if own in written and written[own] not in columns.values()), None)
            if free is not None:
                columns[thing] = written[free]
                break
    own = table.key[0] if len(table.key) == 1 else written.get("id")
    if own is not None:
        columns["id"] = own
    return _Source(table, columns)


def _counted(database: Database, sources: list[_Source]) -> Counter[str]:
    counts: Counter[str] = Counter()
    for source in sources:
        column = source.columns.get("project")
        if column is not None:
            counts.update(project_name(text_of(row[column])) for row in database.rows(source.table, [column]))
    return counts


def _rows(
    path: Path,
    database: Database,
    source: _Source,
    realm: str,
    projects: Projects,
    told: set[str] | None,
    place: int,
) -> Iterator[Imported]:
    """Notes of one table. ``told`` gains the memories that facts were made from, then loses those not met again."""
    made_from: set[str] = set()
    if told is not None and place == 0 and "memory" in source.columns:
        column = source.columns["memory"]
        made_from = {text_of(row[column]) for row in database.rows(source.table, [column])} - {""}
        told |= made_from
    met: set[str] = set()
    for number, row in enumerate(database.rows(source.table, list(source.columns.values())), start=1):
        values = {thing: row[column] for thing, column in source.columns.items()}
        if told is not None and place == 1 and text_of(values.get("id")) in told:
            met.add(text_of(values.get("id")))
            continue
        project = project_name(text_of(values.get("project")))
        if projects.takes(project):
            where = f"{path}:{source.table.name}:{text_of(values.get('id')) or number}"
            yield _taken(where, values, source, realm, project, projects)
    if told is not None and place == 1:
        told &= met


def _taken(
    where: str, values: dict[str, object], source: _Source, realm: str, project: str, projects: Projects
) -> Imported:
    text = text_of(values.get("text"))
    state = text_of(values.get("state")).lower()
    if not text:
        return Imported(None, where, "has no text")
    if truth_of(values.get("deleted")) or state in _GONE:
        return Imported(None, where, "was deleted there")
    first = text.partition("\n")[0].lstrip("# ")
    profile = text_of(values.get("profile"))
    tags = (*list_of(values.get("tags")), *list_of(values.get("category"), commas=False),
            *list_of(values.get("entities")), project, "" if profile == "default" else profile)  # fmt: skip
    successor = text_of(values.get("superseded_by"))
    retired = bool(successor) or truth_of(values.get("superseded")) or state in _RETIRED
    note = Note(
        id=_id(source.table.name, values, text),
        kind=_kind(text_of(values.get("kind")), text_of(values.get("category"))),
        realm=realm,
        title=one_line(text_of(values.get("title")) or text_of(values.get("summary")) or first, 80),
        text=text,
        created=day_of(values.get("created")),
        updated=day_of(values.get("updated")),
        tags=tuple(dict.fromkeys(tag for tag in tags if tag)),
        confidence=trust_of(values.get("trust"), _DEFAULT_TRUST),
        superseded_by=_id(source.table.name, {"id": successor}, "") if _named(successor) else "",
        valid_until=day_of(values.get("expires")),
        source=f"SuperLocalMemory {source.table.name} {text_of(values.get('id'))}".rstrip(),
        extra=tuple(_extra(values, retired, state)),
    )
    remark = projects.remark(project)
    return checked(note, where, row_digest(values), remarks=[remark] if remark else [])


def _extra(values: dict[str, object], retired: bool, state: str) -> Iterator[tuple[str, object]]:
    if retired:
        yield "status", "archived" if state == "archived" else "superseded"
    session = one_line(text_of(values.get("session")), 200)
    if session:
        yield "session", session


def _id(table: str, values: Mapping[str, object], text: str) -> str:
    """From the row's own id; a mere number, which another database has too, is told apart by its time."""
    own = text_of(values.get("id"))
    if _named(own):
        return make_id(f"slm {own}", "", table.lower())
    salt = "\0".join((table.lower(), text_of(values.get("created")), "" if own else text))
    return make_id(f"slm {own}" if own else f"slm {one_line(text, 40)}", "", salt)


def _named(own: str) -> bool:
    """Whether an id is more than a row's number."""
    return valid_id(own) and not own.lstrip("-").isdigit()


def _kind(kind: str, category: str) -> str:
    for word in (kind.lower().replace("_", "-"), category.lower().replace("_", "-")):
        known = _KINDS.get(word, word)
        if known in KNOWLEDGE_KINDS or known in BOOKKEEPING_KINDS and known != "session":
            return known
    return "insight"
