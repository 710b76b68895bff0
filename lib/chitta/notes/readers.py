"""Reading notes from elsewhere: Markdown files and folders, and JSONL.

What cannot be read becomes a sentence for people; the rest goes on.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from chitta.notes.frontmatter import decode, format_note, heading, note_from_fields, parse_note
from chitta.notes.ids import make_id, valid_id
from chitta.notes.imprint import digest
from chitta.notes.note import Note, one_line
from chitta.notes.store import MAX_NOTE_BYTES

_MARKDOWN = (".md", ".markdown")
_NO_ID = ""  # while a note is read; replaced before anyone sees it


class Imported(NamedTuple):
    """One thing that was read: a note, or the problem that kept it from becoming one.

    ``digest`` is that of the bytes the note was made from.
    """

    note: Note | None
    source: str
    problem: str
    digest: str = ""


def read_path(path: str | os.PathLike[str], *, realm: str) -> Iterator[Imported]:
    """Read a Markdown file, a folder of them, or a JSONL file; never raises.

    ``realm`` is for notes that name none. A given id is kept. Without one, a Markdown note is named
    after its realm and its path below the folder that was given, so it keeps its id when it is
    edited and imported again; a JSONL note is named after its realm and text.
    An id that comes twice in one realm is a problem the second time, not a silent overwrite.
    """
    seen: dict[tuple[str, str], str] = {}
    for item in _read(Path(path), realm):
        if item.note is not None:
            first = seen.setdefault((item.note.realm, item.note.id), item.source)
            if first != item.source:
                item = Imported(None, item.source, f"has the same id as {first}: {item.note.id}")
        yield item


def _read(path: Path, realm: str) -> Iterator[Imported]:
    if path.is_dir():
        yield from _read_folder(path, realm)
    elif not path.exists():
        yield Imported(None, str(path), "is not there")
    elif path.suffix.lower() in _MARKDOWN:
        yield _read_markdown(path, path.parent, realm)
    elif path.suffix.lower() in (".jsonl", ".ndjson"):
        yield from _read_jsonl(path, realm)
    else:
        yield Imported(None, str(path), "is neither Markdown, nor JSONL, nor a folder")


# Markdown


def _read_folder(root: Path, realm: str) -> Iterator[Imported]:
    problems: list[OSError] = []
    for folder, folders, files in os.walk(root, onerror=problems.append):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in sorted(files):
            if not name.startswith(".") and name.lower().endswith(_MARKDOWN):
                yield _read_markdown(Path(folder, name), root, realm)
    for problem in problems:
        yield Imported(None, str(problem.filename), _reason(problem))


def _read_markdown(path: Path, root: Path, realm: str) -> Imported:
    try:
        with open(path, "rb") as file:
            data = file.read(MAX_NOTE_BYTES + 1)
    except OSError as problem:
        return Imported(None, str(path), _reason(problem))
    if len(data) > MAX_NOTE_BYTES:
        return Imported(None, str(path), f"is larger than {MAX_NOTE_BYTES >> 20} MiB")
    note = parse_note(decode(data), fallback_id=_NO_ID, fallback_realm=realm)
    below = path.relative_to(root).as_posix()
    if note.id == _NO_ID:
        note = note._replace(id=make_id(path.stem, note.realm, salt=below))
    return _finish(note._replace(title=note.title or one_line(path.stem)), str(path), below, digest(data))


# JSONL


def _read_jsonl(path: Path, realm: str) -> Iterator[Imported]:
    try:
        with open(path, "rb") as file:
            for number, line in enumerate(file, start=1):
                if line.strip(b"\xef\xbb\xbf \t\r\n"):
                    yield _read_line(line, f"{path}:{number}", realm)
    except OSError as problem:
        yield Imported(None, str(path), _reason(problem))


def _read_line(line: bytes, place: str, realm: str) -> Imported:
    if len(line) > MAX_NOTE_BYTES:
        return Imported(None, place, f"is larger than {MAX_NOTE_BYTES >> 20} MiB")
    try:
        fields = json.loads(decode(line))
    except (ValueError, RecursionError) as problem:
        return Imported(None, place, f"is not JSON: {problem}")
    if not isinstance(fields, dict):
        return Imported(None, place, "is not a JSON object")
    text = fields.pop("text", None)
    if not isinstance(text, str) or not text.strip():
        return Imported(None, place, "has no text")
    given = fields.get("id")
    if given is not None and not valid_id(str(given)):
        return Imported(None, place, "has an id that is empty, too long or not printable")
    note = note_from_fields(fields, text, fallback_id=_NO_ID, fallback_realm=realm)
    first_line = one_line(note.text.lstrip().partition("\n")[0], 80)
    if given is None:
        note = note._replace(id=make_id(first_line, note.realm, salt=note.text))
    return _finish(note._replace(title=note.title or heading(note.text) or first_line), place, "", digest(line.strip()))


# Both


def _finish(note: Note, place: str, below: str, read: str) -> Imported:
    """Turn a category into a tag, and what says where a note is from into its source."""
    extra = dict(note.extra)
    category = extra.pop("category", None)
    if isinstance(category, str) and category.strip():
        note = note._replace(tags=tuple(dict.fromkeys((category.strip(), *note.tags))))
    if not note.source:
        parts = [str(extra.pop(name)) for name in ("repo", "path") if isinstance(extra.get(name), str)]
        licence = next((str(extra.pop(name)) for name in ("licence", "license") if name in extra), "")
        source = " ".join(parts) or below
        note = note._replace(source=f"{source} ({licence})".strip() if licence else source)
    note = note._replace(extra=tuple(extra.items()))
    try:
        format_note(note)
    except ValueError as problem:
        return Imported(None, place, str(problem))
    return Imported(note, place, "", read)


def _reason(problem: OSError) -> str:
    return f"cannot be read: {problem.strerror or problem}"
