"""Architecture decision records: folders of numbered Markdown files in Nygard's form or MADR's.

Nygard: ``# 7. Title``, ``Date: …``,
``## Status`` with the status and lines such as ``Superseded by [9. …](0009-….md)``.
MADR: front matter or list items ``* Status: …``, ``* Date: …``, or Nygard's headings.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from chitta.importing.imported import (
    NOT_OURS,
    Imported,
    below,
    checked,
    digest_of,
    in_repository,
    is_markdown,
    place_of,
    read_file,
    walk,
    whole_day,
    whole_place,
    with_aliases,
)
from chitta.importing.instruction_files import is_instructions
from chitta.importing.markdown import front_matter_remark
from chitta.importing.sections import Section, sections
from chitta.notes.frontmatter import decode, note_from_fields, parts_of
from chitta.notes.ids import make_id
from chitta.notes.note import Note, one_line

TITLE = "Decision records"
READS = "ADR folders (docs/adr, doc/adr, docs/decisions): Nygard's form and MADR"
#: Where projects keep them, below their folder.
PLACES = (
    *("docs/adr", "docs/adrs", "doc/adr", "adr", "docs/decisions", "decisions", "docs/architecture/decisions"),
    *("doc/architecture/decisions", "docs/architecture/adr", "docs/architectural-decisions"),
)
#: Trust in a decision that stands, and in one that is only proposed.
TRUST = 0.8
TRUST_PROPOSED = 0.4

#: Any name of a file: what is asked of a folder is asked of what would lie in it.
INSIDE = "_"
#: How the source of a record begins.
LABEL = "decision record "
_FOLDERS = frozenset(
    {"adr", "adrs", "decisions", "architectural-decisions", "architecture-decisions", "decision-records"}
)
_NUMBERED = re.compile(r"(?:adr[-_ ]?)?0*(\d{1,5})(?:[-_. ].*)?", re.IGNORECASE)
_INDEX = frozenset({"readme", "index", "adr-index", "_index"})
_TEMPLATE = re.compile(r"(?:^|[-_ ])template(?:[-_ .]|$)", re.IGNORECASE)
_LISTED = re.compile(
    r"^[ \t]*(?:[-*+][ \t]+)?\**(Status|Date|Deciders|Supersedes|Superseded by)\**[ \t]*:\**[ \t]*(.+)$", re.M | re.I
)
_TITLE_NUMBER = re.compile(r"(?:ADR[-_ ]?)?\d{1,5}\s*[.:)\u2013\u2014-]\s*|ADR[-_ ]?\d{1,5}\s+", re.IGNORECASE)
_LINK = re.compile(r"\(([^()\s]+\.md)(?:#[^()]*)?\)")
_NUMBER = re.compile(r"(?:ADR[-_ ]?|\[|#|\b)0*(\d{1,5})\b", re.IGNORECASE)
_SUPERSEDED_BY = re.compile(r"(?:superseded|superceded|replaced)[ \t]+by\b:?(.*)", re.IGNORECASE)
_SUPERSEDES = re.compile(r"(?:supersedes|supercedes|replaces)\b:?(.*)", re.IGNORECASE)
_STATES = (
    "superseded",
    "superceded",
    "replaced",
    "deprecated",
    "rejected",
    "declined",
    "proposed",
    "draft",
    "accepted",
    "approved",
)
_AGAINST = {"rejected": "was rejected", "declined": "was rejected", "deprecated": "is deprecated"}


class _Folder(NamedTuple):
    """One folder of records (absolute): which file has which number, the label that names its notes, and ``key``,
    from which their ids are made.
    """

    root: Path
    label: str
    key: str
    names: Mapping[int, str]


def detect(path: Path) -> bool:
    """Whether this is a folder of decision records, or what :func:`is_decision` takes."""
    if not path.is_dir():
        return is_decision(path)
    return _is_place(path) and any(_is_record(file) and _has_decision(file) for file in _listed(path))


def is_decision(file: Path) -> bool:
    """Whether a file is in a folder of records, at whatever depth, or is a record by itself."""
    if not is_markdown(file.name) or is_instructions(file):
        return False
    return _place_above(file) is not None or (_is_record(file) and _has_decision(file))


def default_paths() -> tuple[Path, ...]:
    """The usual places in the current folder."""
    return tuple(Path.cwd() / place for place in PLACES)


def read(path: Path, *, realm: str) -> Iterator[Imported]:
    """Each record as a note of the kind ``decision``; of a folder that is no place of records, all those below it."""
    if not path.is_dir():
        yield _read_one(path, _folder(_place_above(path) or path.parent, realm), realm, given=True)
        return
    if not (_is_place(path) or any(map(_is_record, _listed(path)))):
        found = False
        for item in read_below(path, realm=realm):
            found = True
            yield item
        if not found:
            yield Imported(None, str(path), f"has no decision records, nor {', '.join(PLACES[:3])} with some")
        return
    problems: list[Imported] = []
    folder = _folder(_place_above(path / INSIDE) or path, realm)
    for file in walk(path, problems, keep=is_markdown, without=NOT_OURS):
        if not is_instructions(file):
            yield _read_one(file, folder, realm)
    yield from problems


def read_below(path: Path, *, realm: str) -> Iterator[Imported]:
    """The records below any folder, each as it would be read with its own folder."""
    problems: list[Imported] = []
    folders: dict[Path, _Folder] = {}
    for file in files_below(path, problems):
        root = _place_above(file) or file.parent
        if root not in folders:
            folders[root] = _folder(root, realm)
        yield _read_one(file, folders[root], realm)
    yield from problems


def files_below(path: Path, problems: list[Imported]) -> Iterator[Path]:
    """The files below a folder that :func:`is_decision` takes."""
    return (file for file in walk(path, problems, keep=is_markdown, without=NOT_OURS) if is_decision(file))


def _place_above(file: Path) -> Path | None:
    """The folder of records (absolute) in which a file lies, at whatever depth; None where it lies in none."""
    whole = Path(os.path.abspath(file))
    return next((folder for folder in whole.parents if _is_place(folder) and detect(folder)), None)


def _is_place(folder: Path) -> bool:
    return Path(os.path.abspath(folder)).name.lower() in _FOLDERS


def _listed(folder: Path) -> list[Path]:
    try:
        return sorted(each for each in folder.iterdir() if is_markdown(each.name))
    except OSError:
        return []


def _is_record(path: Path) -> bool:
    return is_markdown(path.name) and _number(path.name) is not None


def _number(name: str) -> int | None:
    found = _NUMBERED.fullmatch(Path(name).stem)
    return int(found[1]) if found else None


def _has_decision(path: Path) -> bool:
    file = read_file(path)
    parts = parts_of(decode(file.data))
    named = {section.headings[-1].casefold() for section in sections(parts.body) if section.headings}
    return (
        not file.problem
        and any(name.startswith("decision") for name in named)
        and _status(parts.fields, parts.body) != ""
    )


def _folder(root: Path, realm: str) -> _Folder:
    names: dict[int, str] = {}
    for file in _listed(root):
        number = _number(file.name)
        if number is not None:
            names.setdefault(number, file.name)
    whole = Path(os.path.abspath(root))
    label = place_of(whole / INSIDE, whole, realm).removesuffix(INSIDE).strip("/")
    if label:
        return _Folder(whole, label, whole.name if label in PLACES else label, names)
    return _Folder(whole, "/".join(whole.parts[-2:] if len(whole.parts) > 2 else whole.parts[-1:]), whole.name, names)


def _id(key: str, name: str, realm: str) -> str:
    """The id of the record of this file name. At the usual places its folder's own name is the key, wherever the
    project lies; of two folders of one name in a repository, each has its path.
    """
    return make_id(Path(name).stem, realm, salt=f"decisions\0{key}\0{name}")


def _read_one(path: Path, folder: _Folder, realm: str, *, given: bool = False) -> Imported:
    name = below(Path(os.path.abspath(path)), folder.root)
    stem = path.stem.lower()
    if _TEMPLATE.search(stem):
        return Imported(None, str(path), "is a template")
    if stem in _INDEX:
        return Imported(None, str(path), "is the index of the folder")
    file = read_file(path, None if given else folder.root)
    if file.problem:
        return Imported(None, str(path), file.problem)
    parts = parts_of(decode(file.data))
    body = parts.body.strip("\n")
    if not body.strip():
        return Imported(None, str(path), "is empty")
    remarks = [front_matter_remark(parts.problem)] if parts.problem else []
    fields = with_aliases(parts.fields)
    status = _status(fields, body)
    fields.pop("status", None)
    fields["kind"] = "decision"
    fields.setdefault("created", _date(body))
    note = note_from_fields(fields, body, fallback_id=_id(folder.key, name, realm), fallback_realm=realm)
    note = note._replace(title=_TITLE_NUMBER.sub("", note.title, count=1) or one_line(path.stem), confidence=TRUST)
    note = note._replace(source=note.source or f"{LABEL}{folder.label}/{name}")
    note = _with_links(note, folder, name, status, body, remarks)
    noted = _with_status(note, status, remarks)
    made = note.id == _id(folder.key, name, realm)
    older = [(_id(folder.root.name, name, realm), "")] if made else []
    item = checked(noted, str(path), digest_of(file.data), remarks=remarks, day=file.day)
    item = item._replace(older=tuple(each for each in older if each[0] != note.id))
    if not made:
        return item
    place = whole_place(path)
    whole = f"{LABEL}{place}" if note.source == f"{LABEL}{folder.label}/{name}" else note.source
    return item._replace(place=place, whole="" if in_repository(path) else whole)


def _with_status(note: Note, status: str, remarks: list[str]) -> Note:
    """What the status says of the note: what was decided against is kept, under a title that says so."""
    state = next((state for state in _STATES if re.search(rf"\b{state}\b", status, re.IGNORECASE)), "")
    extra = dict(note.extra)
    if not state:
        remarks.append(
            "says no status that is known" if not status else f"status {one_line(status, 60)!r} is not known"
        )
    elif state in _AGAINST:
        note = note._replace(title=f"Decided against: {note.title}")
        remarks.append(f"{_AGAINST[state]}: kept as what was decided against")
        extra["decision"] = "rejected" if state == "declined" else state
    elif state in ("proposed", "draft"):
        note = note._replace(confidence=TRUST_PROPOSED)
        remarks.append("is only proposed")
        extra |= {"decision": "proposed", "speculative": True}
    elif state in ("accepted", "approved"):
        extra["decision"] = "accepted"
    else:
        extra |= {"decision": "superseded", "status": "superseded"}
    return note._replace(extra=tuple(extra.items()))


def _with_links(note: Note, folder: _Folder, name: str, status: str, body: str, remarks: list[str]) -> Note:
    """Which records it supersedes and which supersedes it, by the numbers and links that its status names."""
    newer: list[str] = []
    older: list[str] = []
    for line in _status_lines(status, body):
        for pattern, found in ((_SUPERSEDED_BY, newer), (_SUPERSEDES, older)):
            match = pattern.search(line)
            if match is not None:
                target = _target(match[1], folder)
                if target is None:
                    remarks.append(f"names a record that is not here: {one_line(line, 80)}")
                elif target != name:
                    found.append(_id(folder.key, target, note.realm))
    supersedes = tuple(dict.fromkeys((*note.supersedes, *older)))
    return note._replace(supersedes=supersedes, superseded_by=note.superseded_by or next(iter(newer), ""))


def _target(text: str, folder: _Folder) -> str | None:
    """The file name of the record that a text names."""
    link = _LINK.search(text)
    if link is not None:
        linked = link[1].rpartition("/")[2]
        if linked in folder.names.values():
            return linked
    number = _NUMBER.search(text)
    return folder.names.get(int(number[1])) if number is not None else None


def _status(fields: Mapping[str, object], body: str) -> str:
    """The status as it is written: of the front matter, under its heading, or in a list at the head of the text."""
    given = fields.get("status")
    if isinstance(given, str) and given.strip():
        return given.strip()
    under = _under(body, "status")
    if under is not None:
        return under.text.strip()
    return next((match[2].strip() for match in _LISTED.finditer(body) if match[1].lower() == "status"), "")


def _status_lines(status: str, body: str) -> list[str]:
    listed = [match[0] for match in _LISTED.finditer(body) if match[1].lower().startswith("supersede")]
    return list(dict.fromkeys([*status.split("\n"), *listed]))


def _date(body: str) -> str:
    dates = (whole_day(match[2].strip()) for match in _LISTED.finditer(body) if match[1].lower() == "date")
    found = next((date for date in dates if date), "")
    under = _under(body, "date")
    return found or (whole_day(under.text.strip()) if under is not None else "")


def _under(body: str, heading: str) -> Section | None:
    return next((each for each in sections(body) if each.headings and each.headings[-1].casefold() == heading), None)
