"""Vaults of Obsidian and basic-memory: folders of Markdown whose notes name each other.

The text stays as it is written. What it says of other notes goes into front matter as well, where
:mod:`chitta.notes.links` reads it: ``relations`` from basic-memory's ``- type [[Target]]`` lines, ``links``
from the other ``[[links]]`` and embeds of notes; inline ``#tags`` join those of the front matter.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator
from pathlib import Path

from chitta.importing.doubts import remarks_on
from chitta.importing.imported import (
    Imported,
    below,
    checked,
    digest_of,
    is_markdown,
    read_file,
    reason,
    tails,
    with_aliases,
)
from chitta.importing.loose_values import list_of
from chitta.importing.markdown import front_matter_remark, with_origin, with_whole
from chitta.notes.frontmatter import decode, note_from_fields, parts_of
from chitta.notes.ids import make_id
from chitta.notes.note import BOOKKEEPING_KINDS, KNOWLEDGE_KINDS, Note, one_line

TITLE = "Obsidian and basic-memory"
READS = "a vault of Obsidian or basic-memory: notes with their [[links]], relations, #tags and aliases"

MAX_LINKS = 50
MAX_RELATIONS = 50
MAX_TAGS = 40
#: Notes that are looked at to tell a vault of basic-memory, which has no folder of its own.
_LOOKED_AT = 20

_TEMPLATES = frozenset({"template", "templates", "_templates"})
_FENCED = re.compile(r"^ {0,3}(```|~~~).*?(?:^ {0,3}\1|\Z)", re.MULTILINE | re.DOTALL)
_COMMENT = re.compile(r"%%.*?%%|<!--.*?-->", re.DOTALL)
_SPAN = re.compile(r"`[^`\n]*`")
_LINK = re.compile(r"(!?)\[\[([^\[\]|\n]{1,200})(?:\|[^\[\]\n]{0,200})?\]\]")
# The same lines as chitta.notes.links reads.
_RELATION = re.compile(
    r"^[ \t]*[-*+][ \t]+(\w[\w-]*(?:[ \t]\w[\w-]*){0,2})[ \t]+\[\[([^\[\]|\n]{1,200})(?:\|[^\[\]\n]*)?\]\]"
    r"[ \t]*(?:\([^()\n]*\))?[ \t]*$",
    re.MULTILINE,
)
_OBSERVATION = re.compile(r"^[ \t]*[-*+][ \t]+\[([^\[\]()\n]{2,40})\][ \t]+(?!\()\S", re.MULTILINE)
_TAG = re.compile(r"(?<![\w/#&`])#([^\W\d_][\w/-]*|\d+[\w/-]*[^\W\d][\w/-]*)")
_DAY = re.compile(r"(\d{4}-\d{2}-\d{2})")
_NO_WORDS = re.compile(r"^\s*(?:#{1,6}\s.*|[-*+]\s*(?:\[.\])?\s*|---+|\d{4}-\d{2}-\d{2}|\[\[[^\]]*\]\])?\s*$")
_PAGE = re.compile(r"\.(?:md|markdown)$", re.IGNORECASE)
_SUFFIX = re.compile(r"\.[A-Za-z0-9]{1,5}$")
_KINDS = {"fix": "bug-fix", "bugfix": "bug-fix", "lesson": "insight", "learning": "insight", "rule": "convention"}


def detect(path: Path) -> bool:
    """Whether the folder is a vault: Obsidian's by its settings, basic-memory's by a note with a permalink."""
    if not path.is_dir():
        return False
    if (path / ".obsidian").is_dir():
        return True
    looked = 0
    for folder, folders, files in os.walk(path):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in sorted(filter(is_markdown, files)):
            looked += 1
            if looked > _LOOKED_AT:
                return False
            fields = parts_of(decode(read_file(Path(folder, name), path).data)).fields
            if isinstance(fields.get("permalink"), str) and ("type" in fields or "title" in fields):
                return True
    return False


def default_paths() -> tuple[Path, ...]:
    """Where basic-memory keeps its notes unless told otherwise, where there is such a folder."""
    place = Path.home() / "basic-memory"
    return (place,) if place.is_dir() else ()


def read(path: Path, *, realm: str) -> Iterator[Imported]:
    """Every note of the vault, in the order of its paths; a given id is kept, else it comes from the path.

    Templates, empty notes, the trash, drawings and canvases are passed over with a reason, attachments
    with their number.
    """
    if not path.is_dir():
        yield Imported(None, str(path), "is not a folder" if path.exists() else "is not there")
        return
    templates = _template_folder(path)
    failed: list[OSError] = []
    attachments = 0
    for folder, folders, files in os.walk(path, onerror=failed.append):
        here = Path(folder)
        if ".trash" in folders:
            yield Imported(None, str(here / ".trash"), "is the trash; passed over")
        for name in sorted(folders):
            if name.lower() in _TEMPLATES or below(here / name, path) == templates:
                yield Imported(None, str(here / name), "holds templates; passed over")
                folders.remove(name)
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in sorted(name for name in files if not name.startswith(".")):
            file = here / name
            if name.lower().endswith((".canvas", ".excalidraw.md", ".excalidraw")):
                yield Imported(None, str(file), "is a drawing; passed over")
            elif is_markdown(name):
                yield _read_note(file, path, realm)
            else:
                attachments += 1
    if attachments:
        files_are = "file that is no note was" if attachments == 1 else "files that are no notes were"
        yield Imported(None, str(path), f"{attachments:,} {files_are} passed over")
    for problem in failed:
        yield Imported(None, str(problem.filename), reason(problem))


def _template_folder(root: Path) -> str:
    """The folder that the vault's settings name for templates; "" where they name none."""
    file = read_file(root / ".obsidian" / "templates.json", root)
    try:
        settings = json.loads(decode(file.data)) if file.data else {}
    except (ValueError, RecursionError):
        return ""
    folder = settings.get("folder") if isinstance(settings, dict) else ""
    return folder.strip("/") if isinstance(folder, str) else ""


def _read_note(path: Path, root: Path, realm: str) -> Imported:
    file = read_file(path, root)
    if file.problem:
        return Imported(None, str(path), file.problem)
    parts = parts_of(decode(file.data))
    fields = with_aliases(parts.fields)
    if all(_NO_WORDS.match(line) for line in parts.body.split("\n")):
        return Imported(None, str(path), "has no words of its own; passed over")
    place = below(path, root)
    note = note_from_fields(_tagged(fields), parts.body, fallback_id="", fallback_realm=realm)
    made = not note.id
    older: tuple[tuple[str, str], ...] = ()
    if made:
        older = tuple((make_id(path.stem, note.realm, salt=each), "") for each in tails(path) if each != place)
        note = note._replace(id=make_id(path.stem, note.realm, salt=place))
    named = _DAY.match(path.stem)
    note = note._replace(
        title=note.title or one_line(path.stem),
        created=note.created or (named.group(1) if named else ""),
    )
    remarks = [front_matter_remark(parts.problem)] if parts.problem else remarks_on(fields, note)
    note = _linked(note, has_kind="kind" in fields)
    taken = with_origin(note, place)
    item = checked(taken, str(path), digest_of(file.data), remarks=remarks, day=file.day)._replace(older=older)
    return with_whole(item, path, note, anywhere=True) if made else item


def _tagged(fields: dict[str, object]) -> dict[str, object]:
    """Tags without their #, under the key that notes have; Obsidian also reads ``tag``, and spaces as commas."""
    fields = dict(fields)
    other = fields.pop("tag", None)
    value = fields.get("tags") or other
    if isinstance(value, str) and "," not in value:
        value = value.split()
    tags = [tag.lstrip("#") for tag in list_of(value)]
    return {**fields, "tags": [tag for tag in tags if tag]}


def _linked(note: Note, *, has_kind: bool) -> Note:
    """The note with what its text says of tags, kinds and other notes."""
    prose = _SPAN.sub("", _COMMENT.sub("", _FENCED.sub("", note.text)))
    relations = [
        {"type": one_line(relation, 40), "target": _target(target)}
        for relation, target in _RELATION.findall(prose)
        if _target(target)
    ]
    others = (_target(target) for _, target in _LINK.findall(_RELATION.sub("", prose)))
    links = list(dict.fromkeys(link for link in others if link))
    found = [tag.rstrip("/-") for tag in _TAG.findall(_LINK.sub("", prose))]
    tags = tuple(dict.fromkeys(tag for tag in (*note.tags, *found) if tag))[:MAX_TAGS]
    extra = dict(note.extra)
    kind = note.kind
    if not has_kind:
        kind = _kind_of(str(extra.get("type", "")), prose) or kind
    _add(extra, "relations", _distinct(relations)[:MAX_RELATIONS])
    _add(extra, "links", links[:MAX_LINKS])
    return note._replace(tags=tags, kind=kind, extra=tuple(extra.items()))


def _add(extra: dict[str, object], key: str, found: list[object] | list[str]) -> None:
    """Add to a list of front matter what it does not hold; a value of another shape is left alone."""
    held = extra.get(key)
    if held is None:
        held = []
    if found and isinstance(held, list):
        extra[key] = [*held, *(item for item in found if item not in held)]


def _distinct(relations: list[dict[str, str]]) -> list[object]:
    return list({(each["type"], each["target"]): each for each in relations}.values())


def _target(written: str) -> str:
    """The note that a link names, without heading, block and suffix; "" where it names an attachment or no note."""
    name = re.split(r"[#^]", written, maxsplit=1)[0].strip()
    page = _PAGE.sub("", name)
    if page == name and _SUFFIX.search(name) and not re.search(r"\.\d+$", name):
        return ""  # an image, a sheet, a PDF; `v1.2` is a name
    return one_line(page, 200)


def _kind_of(kind: str, prose: str) -> str:
    """The kind that its type names, or that all of its observations are of; "" where there is none."""
    named = _known(kind)
    if named:
        return named
    categories = {_known(category) for category in _OBSERVATION.findall(prose)}
    return categories.pop() if len(categories) == 1 else ""


def _known(word: str) -> str:
    word = one_line(word).lower().replace("_", "-").replace(" ", "-")
    word = _KINDS.get(word, word)
    return word if word in KNOWLEDGE_KINDS or word in BOOKKEEPING_KINDS else ""
