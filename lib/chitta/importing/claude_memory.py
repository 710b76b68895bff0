"""Claude Code's own memory: ``~/.claude/projects/<slug>/memory/*.md`` with an index, MEMORY.md.

A slug is the path of a project with everything but letters and digits as dashes, so it does not say where its
dashes were; it names a project where one existing folder alone fits it.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from chitta.importing.imported import Imported, checked, digest_of, is_markdown, read_file, reason, with_aliases
from chitta.importing.instructions import notes_of
from chitta.importing.markdown import front_matter_remark, with_description
from chitta.importing.rules import correction_of
from chitta.notes.correction import make_correction
from chitta.notes.frontmatter import decode, note_from_fields, parts_of
from chitta.notes.ids import make_id
from chitta.notes.note import Note, one_line
from chitta.notes.realms import realm_of

TITLE = "Claude Code's memory"
READS = "~/.claude/projects/<project>/memory: the notes that Claude Code keeps of a project"
INDEX = "MEMORY.md"
#: What the four types of memory are here.
KINDS: Mapping[str, str] = {
    "user": "preference",
    "feedback": "preference",
    "project": "insight",
    "reference": "reference",
}
#: Folders looked at for the one that a slug names.
_LOOK_AT = 20_000
_INDEX_LINE = re.compile(r"\s*(?:[-*+]|\d+[.)])\s+\[[^\]]*\]\([^)]*\.md\).*")


def detect(path: Path) -> bool:
    """Whether this is a memory folder, a file of one, or a folder of projects that have some."""
    if not path.is_dir():
        return is_markdown(path.name) and path.parent.name == "memory" and _is_memory(path.parent)
    return any(True for _ in _folders(path))


def default_paths() -> tuple[Path, ...]:
    """Where Claude Code keeps the memories of all projects."""
    return (Path.home() / ".claude" / "projects",)


def read(path: Path, *, realm: str) -> Iterator[Imported]:
    """Each memory as a note in the realm of its project, or in ``realm``, with a remark, where that is not known."""
    if not path.is_dir():
        yield from _read_folder(path.parent, realm, only=path)
        return
    found = False
    for folder in _folders(path):
        found = True
        yield from _read_folder(folder, realm)
    if not found:
        yield Imported(None, str(path), "holds no memory folder of Claude Code")


def _folders(path: Path) -> Iterator[Path]:
    """The memory folders at, in, or two below a folder."""
    path = Path(os.path.abspath(path))
    if path.name == "memory" and _is_memory(path):
        yield path
    elif (path / "memory").is_dir() and _is_memory(path / "memory"):
        yield path / "memory"
    else:
        try:
            below = sorted(each / "memory" for each in path.iterdir() if each.name.startswith("-"))
        except OSError:
            return
        yield from (each for each in below if each.is_dir())


def _is_memory(folder: Path) -> bool:
    return (folder / INDEX).is_file() or (
        folder.parent.name.startswith("-") and folder.parent.parent.name == "projects"
    )


def _read_folder(folder: Path, realm: str, only: Path | None = None) -> Iterator[Imported]:
    slug = Path(os.path.abspath(folder)).parent.name
    place, remark = realm_of_slug(slug, realm)
    try:
        names = [only.name] if only is not None else sorted(each.name for each in folder.iterdir())
    except OSError as problem:
        yield Imported(None, str(folder), reason(problem))
        return
    shown = folder if only is None else only.parent
    for name in names:
        if name == INDEX:
            yield from _read_index(shown / name, slug, place, remark)
        elif is_markdown(name):
            yield _read_one(shown / name, slug, place, remark)


def _read_one(path: Path, slug: str, realm: str, remark: str) -> Imported:
    file = read_file(path, path.parent)
    if file.problem:
        return Imported(None, str(path), file.problem)
    parts = parts_of(decode(file.data))
    fields = with_aliases(parts.fields)
    remarks = [remark] if remark else []
    if parts.problem:
        remarks.append(front_matter_remark(parts.problem))
    nested = fields.get("metadata")
    kind = fields.pop("type", None) or (nested.get("type") if isinstance(nested, dict) else None)
    if kind is not None and kind not in KINDS:
        remarks.append(f"type {one_line(str(kind), 40)!r} is none of Claude Code's")
    fields.setdefault("kind", KINDS.get(str(kind), "insight"))
    description = fields.pop("description", None)
    label = f"{slug}/{path.name}"
    note = note_from_fields(fields, with_description(parts.body, description), fallback_id="", fallback_realm=realm)
    if not note.text.strip():
        return Imported(None, str(path), "is empty")
    title = note.title or one_line(path.stem.replace("_", " "))
    note = note._replace(
        id=note.id or make_id(path.stem.replace("_", " "), note.realm, salt=f"claude_memory\0{label}"),
        title=title,
        tags=tuple(dict.fromkeys((*note.tags, *([str(kind)] if kind in KINDS else [])))),
        source=f"Claude Code memory {label}",
    )
    return checked(_as_correction(note, parts.body), str(path), digest_of(file.data), remarks=remarks, day=file.day)


def _as_correction(note: Note, body: str) -> Note:
    """Feedback whose first sentences say "this, not that" comes up when the wrong form is typed again."""
    found = correction_of(body) if note.kind == "preference" else None
    if found is None:
        return note
    made = make_correction(found.wrong, found.right, realm=note.realm)
    return note._replace(
        kind=made.kind, wrong=made.wrong, right=made.right, triggers=made.triggers, text=f"{made.text}\n\n{note.text}"
    )


def _read_index(path: Path, slug: str, realm: str, remark: str) -> Iterator[Imported]:
    """Of the index what it says itself, by its sections; lines that point to the other files say nothing more."""
    file = read_file(path, path.parent)
    if file.problem:
        yield Imported(None, str(path), file.problem)
        return
    text = decode(file.data)
    kept = "\n".join("" if _INDEX_LINE.fullmatch(line) else line for line in text.splitlines())
    if kept.strip() and any(line.strip() and not line.lstrip().startswith("#") for line in kept.split("\n")):
        for item in notes_of(kept, path=path, label=f"{slug}/{INDEX}", realm=realm, day=file.day):
            if item.note is None:
                continue  # a heading whose list points to files
            told = "; ".join(each for each in (remark, item.remark) if each)
            source = f"Claude Code memory {slug}/{INDEX}"
            yield item._replace(note=item.note._replace(source=source), remark=told)
    else:
        yield Imported(None, str(path), "is only the index of the folder")


def realm_of_slug(slug: str, realm: str) -> tuple[str, str]:
    """The realm of the one existing folder that a slug stands for; else ``realm``, and a remark."""
    found = _named(Path("/"), slug.lstrip("-"), [_LOOK_AT]) if slug.startswith("-") else []
    if len(found) == 1:
        return realm_of(str(found[0])), ""
    many = "no folder" if not found else "more than one folder"
    return realm, f"{many} on this machine is {slug}: taken into {realm}"


def _named(folder: Path, rest: str, left: list[int]) -> list[Path]:
    """Existing folders below ``folder`` whose slug is ``rest``; ``left`` is how many may still be looked at."""
    found: list[Path] = []
    try:
        with os.scandir(folder) as entries:
            names = sorted(entry.name for entry in entries if entry.is_dir(follow_symlinks=False))
    except OSError:
        return found
    for name in names:
        left[0] -= 1
        slug = re.sub(r"[^A-Za-z0-9]", "-", name)
        if left[0] < 0 or len(found) > 1:
            break
        if slug == rest:
            found.append(folder / name)
        elif rest.startswith(f"{slug}-"):
            found += _named(folder / name, rest[len(slug) + 1 :], left)
    return found
