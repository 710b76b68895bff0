"""Plain Markdown: a file is a note, a folder is all of those below it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

from chitta.importing import doubts
from chitta.importing.imported import (
    MARKDOWN,
    Imported,
    checked,
    digest_of,
    in_repository,
    markdown_files,
    older_places,
    place_of,
    read_file,
    whole_place,
    with_aliases,
)
from chitta.notes.frontmatter import decode, note_from_fields, parts_of
from chitta.notes.ids import make_id
from chitta.notes.note import Note, one_line

TITLE = "Markdown"
READS = "Markdown files and folders of them: a note a file, with front matter or without"
_NO_ID = ""  # while a note is read; replaced before anyone sees it


def detect(path: Path) -> bool:
    """Whether this is a Markdown file, or any folder."""
    return path.is_dir() or path.suffix.lower() in MARKDOWN


def default_paths() -> tuple[Path, ...]:
    """None: Markdown lies everywhere."""
    return ()


def read(path: Path, *, realm: str, without: Callable[[Path], bool] | None = None) -> Iterator[Imported]:
    """Each Markdown file as a note, but for those that ``without`` names (another reader's).

    ``realm`` is for notes that name none. A given id is kept; else a note is named after its realm and its path
    (:func:`chitta.importing.imported.place_of`), so it keeps its id when it is edited and imported again.
    """
    if not path.is_dir():
        yield _read_one(path, path.parent, realm, given=True)
        return
    problems: list[Imported] = []
    for file in markdown_files(path, problems):
        if without is None or not without(file):
            yield _read_one(file, path, realm)
    yield from problems


def _read_one(path: Path, root: Path, realm: str, *, given: bool = False) -> Imported:
    file = read_file(path, None if given else root)
    if file.problem:
        return Imported(None, str(path), file.problem)
    parts = parts_of(decode(file.data))
    if why := doubts.empty(parts):
        return Imported(None, str(path), why)
    fields = with_aliases(parts.fields)
    body = with_description(parts.body, fields.pop("description", None))
    note = note_from_fields(fields, body, fallback_id=_NO_ID, fallback_realm=realm)
    place = place_of(path, root, note.realm)
    older: list[tuple[str, str]] = []
    made = note.id == _NO_ID
    if made:
        before = older_places(path, root, place)
        older = [(make_id(path.stem, note.realm, salt=name), source) for name, source in before]
        note = note._replace(id=make_id(path.stem, note.realm, salt=place))
    note = note._replace(title=note.title or one_line(path.stem))
    taken = with_origin(note, place)
    remarks = [front_matter_remark(parts.problem)] if parts.problem else doubts.remarks_on(fields, note)
    item = checked(taken, str(path), digest_of(file.data), remarks=remarks, day=file.day)
    item = item._replace(older=tuple(older), placed=not note.source and taken.source == place)
    return with_whole(item, path, note) if made else item


def with_whole(item: Imported, path: Path, note: Note, *, anywhere: bool = False) -> Imported:
    """The item with its file's whole place; ``note`` is without the origin that its reader gives it.

    In a repository the source stays as it is, but for ``anywhere``: there the reader does not tell it from the top.
    """
    place = whole_place(path)
    firm = not anywhere and in_repository(path)
    return item._replace(place=place, whole="" if firm else with_origin(note, place).source)


def front_matter_remark(problem: str) -> str:
    """The remark for front matter that was taken as text."""
    return f"front matter could not be read; taken as text: {problem}"


def with_description(body: str, description: object) -> str:
    """The text with its one-line description first, where it does not say it already."""
    if not isinstance(description, str) or not one_line(description) or one_line(description) in one_line(body):
        return body
    return f"{description.strip()}\n\n{body.lstrip()}".rstrip()


def with_origin(note: Note, place: str) -> Note:
    """A category as a tag, and what says where a note is from as its source, else ``place``."""
    extra = dict(note.extra)
    category = extra.pop("category", None)
    if isinstance(category, str) and category.strip():
        note = note._replace(tags=tuple(dict.fromkeys((category.strip(), *note.tags))))
    if not note.source:
        parts = [str(extra.pop(name)) for name in ("repo", "path") if isinstance(extra.get(name), str)]
        licence = next((str(extra.pop(name)) for name in ("licence", "license") if name in extra), "")
        source = " ".join(parts) or place
        note = note._replace(source=f"{source} ({licence})".strip() if licence else source)
    return note._replace(extra=tuple(extra.items()))
