"""claude-mem's SQLite database, by the columns that its documentation names.

``observations`` become one note each; of ``session_summaries``, what was learned is knowledge and what was
completed an episode. ``memories`` is what versions before the fourth wrote. What a person typed
(``user_prompts``) is not read.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from chitta.importing.imported import Imported, checked
from chitta.importing.loose_values import day_of, list_of, row_digest, text_of
from chitta.importing.projects import Projects, project_name
from chitta.importing.sqlite_rows import Database, Table, Unreadable, has_table, opened
from chitta.notes.ids import make_id
from chitta.notes.note import Note, one_line

TITLE = "claude-mem"
READS = "claude-mem's database: observations, what sessions learned and completed, and older memories"

# Written by a model that watched, and read again by nobody: below what a person saves.
_TRUST = 0.5
_KINDS = {
    "bugfix": "bug-fix",
    "decision": "decision",
    "discovery": "insight",
    "feature": "reference",  # that there is such a thing is worth knowing; that something was changed is not
    "refactor": "operational",
    "change": "operational",
}
_COMMON = ("id", "project", "created_at", "created_at_epoch")
_SESSION = ("memory_session_id", "sdk_session_id", "session_id", "content_session_id", "claude_session_id")
_OBSERVATION = (
    *("type", "title", "subtitle", "narrative", "text", "facts", "concepts", "keywords"),
    *("files_read", "files_modified", "files_touched", "prompt_number", "priority"),
)
_SUMMARY = ("request", "learned", "completed", "notes", "prompt_number")
_MAX_FILES = 20
_TABLES = {"observations": _OBSERVATION, "session_summaries": _SUMMARY, "memories": _OBSERVATION}


def detect(path: Path) -> bool:
    """Whether the file is a SQLite database with claude-mem's tables."""
    return has_table(
        path,
        {
            "observations": {"project", "title", "narrative", "facts"},
            "session_summaries": {"project", "request", "learned", "completed"},
            "memories": {"project", "text", "session_id", "created_at_epoch"},
        },
    )


def default_paths() -> tuple[Path, ...]:
    """Where claude-mem keeps its database, where there is one."""
    place = Path.home() / ".claude-mem" / "claude-mem.db"
    return (place,) if place.is_file() else ()


def read(path: Path, *, realm: str) -> Iterator[Imported]:
    """Observations, then summaries, then older memories, each in the order they were written.

    Which projects are taken is said in :mod:`chitta.importing.projects`. Ids come from the row's number
    and time, which stay.
    """
    try:
        with opened(path) as database:
            tables = [table for table in map(database.table, _TABLES) if table is not None]
            if not tables:
                names = ", ".join(table.name for table in database.tables[:20]) or "none"
                wanted = ", ".join(_TABLES)
                raise Unreadable(f"is not claude-mem's database: it has none of {wanted}; its tables are {names}")
            projects = Projects(_counted(database, tables), realm)
            for table in tables:
                yield from _rows(path, database, table, realm, projects)
            left = projects.passed_over()
            if left:
                yield Imported(None, str(path), left)
    except Unreadable as problem:
        yield Imported(None, str(path), str(problem))


def _counted(database: Database, tables: list[Table]) -> Counter[str]:
    return Counter(
        project_name(text_of(row["project"])) for table in tables for row in database.rows(table, ["project"])
    )


def _rows(path: Path, database: Database, table: Table, realm: str, projects: Projects) -> Iterator[Imported]:
    name = table.name.lower()
    for number, row in enumerate(database.rows(table, (*_COMMON, *_SESSION, *_TABLES[name])), start=1):
        project = project_name(text_of(row.get("project")))
        if not projects.takes(project):
            continue
        where = f"{path}:{name}:{text_of(row.get('id')) or number}"
        notes = _summary(row) if name == "session_summaries" else _observation(row)
        notes = [note._replace(id=_id(name, row, note), realm=realm) for note in notes]
        if not notes:
            yield Imported(None, where, "has no text" if name != "session_summaries" else "learned nothing")
        remark = projects.remark(project)
        for note in notes:
            tags = tuple(dict.fromkeys(tag for tag in (*note.tags, project) if tag))
            note = note._replace(tags=tags, source=f"claude-mem {name} {text_of(row.get('id'))}".rstrip())
            place = where if len(notes) == 1 else f"{where}:{note.kind}"
            yield checked(note, place, row_digest(row), remarks=[remark] if remark else [])


def _observation(row: dict[str, object]) -> list[Note]:
    """One note: the narrative under its subtitle, the facts as a list."""
    title, subtitle = text_of(row.get("title")), text_of(row.get("subtitle"))
    facts = list_of(row.get("facts"), commas=False)
    told = text_of(row.get("narrative")) or text_of(row.get("text"))
    parts = [subtitle, told, "\n".join(f"- {fact}" for fact in facts)]
    body = "\n\n".join(part for part in parts if part)
    if not body:
        body = title
    if not body:
        return []
    kind = text_of(row.get("type")).lower()
    read, changed = list_of(row.get("files_read")), list_of(row.get("files_modified"))
    files = tuple(dict.fromkeys((*changed, *list_of(row.get("files_touched")), *read)))[:_MAX_FILES]
    note = Note(
        id="",
        kind=_KINDS.get(kind, "insight"),
        title=one_line(title or body.partition("\n")[0], 120),
        text=body,
        tags=(*list_of(row.get("concepts")), *list_of(row.get("keywords")), *((one_line(kind, 40),) if kind else ())),
    )
    return [_dated(note, row, (("files", list(files)),) if files else ())]


def _summary(row: dict[str, object]) -> list[Note]:
    """What a session learned, with its remarks, and what it completed: two notes, or one, or none."""
    asked = one_line(text_of(row.get("request")), 100)
    learned, completed = text_of(row.get("learned")), text_of(row.get("completed"))
    notes = []
    if learned:
        remarks = text_of(row.get("notes"))
        text = f"{learned}\n\n{remarks}" if remarks else learned
        notes.append(Note(id="", kind="insight", title=one_line(learned.partition("\n")[0], 120), text=text))
    if completed:
        title = asked or one_line(completed.partition("\n")[0], 120)
        notes.append(Note(id="", kind="episode", title=title, text=completed))
    return [_dated(note, row, (("request", asked),) if asked else ()) for note in notes]


def _dated(note: Note, row: dict[str, object], extra: tuple[tuple[str, object], ...]) -> Note:
    session = one_line(_session(row), 200)
    if session:
        extra = (*extra, ("session", session))
    day = day_of(row.get("created_at_epoch")) or day_of(row.get("created_at"))
    return note._replace(created=day, confidence=_TRUST, extra=extra)


def _session(row: dict[str, object]) -> str:
    return next((text for text in (text_of(row.get(name)) for name in _SESSION) if text), "")


def _id(table: str, row: dict[str, object], note: Note) -> str:
    """From number, time and session: the number alone is another row's in another database."""
    time = text_of(row.get("created_at_epoch")) or text_of(row.get("created_at"))
    number = text_of(row.get("id"))
    salt = "\0".join((table, note.kind if table == "session_summaries" else "", time, _session(row)))
    return make_id(f"claude-mem {number}" if number else f"claude-mem {note.title}", "", salt)
