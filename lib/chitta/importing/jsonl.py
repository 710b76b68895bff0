"""JSON lines: an object with a ``text`` is a note, its other members are front matter."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

from chitta.importing.doubts import remarks_on
from chitta.importing.imported import Imported, checked, digest_of, reason, with_aliases
from chitta.importing.markdown import with_description, with_origin
from chitta.notes.frontmatter import decode, heading, note_from_fields
from chitta.notes.ids import make_id, valid_id
from chitta.notes.note import one_line
from chitta.notes.store import MAX_NOTE_BYTES

TITLE = "JSON lines"
READS = "JSONL files: an object a line with `text`, and any key of a note"
SUFFIXES = (".jsonl", ".ndjson")
_OTHERS = frozenset({"memory", "user_id", "agent_id", "app_id", "run_id"})
_NO_ID = ""  # while a note is read; replaced before anyone sees it
_BLANK = b"\xef\xbb\xbf \t\r\n"


def detect(path: Path) -> bool:
    """Whether the file is named so."""
    return path.suffix.lower() in SUFFIXES and not path.is_dir()


def is_own(path: Path) -> bool:
    """Whether the file's first line is chitta's own form, and not another program's that has a ``text`` too."""
    if not detect(path):
        return False
    try:
        if not path.is_file():
            return False
        with open(path, "rb") as file:
            fields = json.loads(decode(file.readline(MAX_NOTE_BYTES + 1)))
    except (OSError, ValueError, RecursionError):
        return False
    return isinstance(fields, dict) and isinstance(fields.get("text"), str) and not _OTHERS & fields.keys()


def default_paths() -> tuple[Path, ...]:
    """None: such files lie everywhere."""
    return ()


def read(path: Path, *, realm: str) -> Iterator[Imported]:
    """Each line as a note; a note without id is named after its realm and text."""
    try:
        if not path.is_file():
            yield Imported(None, str(path), "is not a regular file")
            return
        with open(path, "rb") as file:
            number = 0
            while line := file.readline(MAX_NOTE_BYTES + 1):
                number += 1
                rest = line
                while len(rest) > MAX_NOTE_BYTES and not rest.endswith(b"\n"):  # a line without end is not kept
                    rest = file.readline(MAX_NOTE_BYTES + 1)
                if line.strip(_BLANK):
                    yield _read_line(line, f"{path}:{number}", realm)
    except OSError as problem:
        yield Imported(None, str(path), reason(problem))


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
    fields = with_aliases(fields)
    text = with_description(text, fields.pop("description", None))
    note = note_from_fields(fields, text, fallback_id=_NO_ID, fallback_realm=realm)
    first_line = one_line(note.text.lstrip().partition("\n")[0], 80)
    if given is None:
        note = note._replace(id=make_id(first_line, note.realm, salt=note.text))
    note = with_origin(note._replace(title=note.title or heading(note.text) or first_line), "")
    return checked(note, place, digest_of(line.strip()), remarks=remarks_on(fields, note))
