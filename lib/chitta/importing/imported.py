"""What a reader gives, and what all readers of files share: bounded reading, days, and the sentences for what fails.

A reader is ``read(path, *, realm) -> Iterator[Imported]``: it never raises for what a file holds, streams, is
deterministic, and gives a thing the same id when it is read again.
"""

from __future__ import annotations

import datetime
import os
import re
import stat
from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from chitta.importing.doubts import as_text
from chitta.notes.frontmatter import MAX_FRONT_MATTER, fields_of, format_note
from chitta.notes.imprint import digest
from chitta.notes.note import BOOKKEEPING_KINDS, KNOWLEDGE_KINDS, Note, one_line
from chitta.notes.realms import realm_of, work_tree
from chitta.notes.store import MAX_NOTE_BYTES

MARKDOWN = (".md", ".markdown")
#: What front matter elsewhere calls a key of a note; the first one that is there counts.
ALIASES: Mapping[str, tuple[str, ...]] = {
    "title": ("name",),
    "created": ("date", "created_at", "createdAt"),
    "updated": ("updated_at", "updatedAt", "modified", "last_modified"),
}
#: The key that says which section of its file a note is from; what disappeared from a file is told by it.
SECTION_KEY = "section"
#: Folders of other people's code, and of what is made from one's own.
NOT_OURS = frozenset("node_modules vendor venv site-packages target dist build __pycache__".split())
_DATES = ("created", "updated", "valid_from", "valid_until")
_DAY_FORMATS = ("%Y/%m/%d", "%d.%m.%Y", "%d %B %Y", "%d %b %Y", "%B %d, %Y", "%b %d, %Y", "%B %d %Y", "%Y%m%d")
_ISO = re.compile(r"(\d{4}-\d{2})(-\d{2}(?=$|[T ,]))?")
_SHOWN = 60
#: Characters of front matter in Python's writing that YAML cannot make too long: it escapes one to at most ten.
_SURELY_SHORT = MAX_FRONT_MATTER // 16


class Imported(NamedTuple):
    """One thing that was read: a note, or the problem that kept it from becoming one.

    ``source`` is where it was read (a file, with its line where it has several). ``digest`` is that of the
    bytes the note was made from. ``remark`` is something a person should know about a note that was taken.
    ``file_day`` (ISO) is the day of the file, for a note that names none.
    """

    note: Note | None
    source: str
    problem: str
    digest: str = ""
    remark: str = ""
    file_day: str = ""
    #: Ids that an older rule gave the note, each with the ``source`` that it gave it ("": only an equal digest tells).
    older: tuple[tuple[str, str], ...] = ()
    #: Whether ``source`` was not named by the note: it says where the file lies, and a standing note keeps its own.
    placed: bool = False
    #: The file (:func:`whole_place`) from whose place the note's id was made; "" where the note names its id itself.
    place: str = ""
    #: What the store says as the note's source, where the id was made from a name that files of several folders have:
    #: the whole path is in it, unless the note names its source itself.
    whole: str = ""


class FileRead(NamedTuple):
    """A file's bytes and day, or the sentence that says why it is not read."""

    data: bytes = b""
    problem: str = ""
    day: str = ""


def read_file(path: Path, root: Path | None = None) -> FileRead:
    """A regular file of text, at most 4 MiB of it. A link must not lead out of ``root``, where that is given."""
    try:
        if root is not None and leads_outside(path, root):
            return FileRead(problem="is a link that leads out of the folder; import what it points to instead")
        status = os.stat(path)
        if not stat.S_ISREG(status.st_mode):
            return FileRead(problem="is not a regular file")
        with open(path, "rb") as file:
            data = file.read(MAX_NOTE_BYTES + 1)
    except OSError as problem:
        return FileRead(problem=reason(problem))
    if len(data) > MAX_NOTE_BYTES:
        return FileRead(problem=f"is larger than {MAX_NOTE_BYTES >> 20} MiB")
    data, problem_of = as_text(data)
    return FileRead(data, problem_of, _file_day(status.st_mtime))


def leads_outside(path: Path, root: Path) -> bool:
    """Whether ``path``, which stands below ``root``, is really somewhere else. Raises ``OSError``."""
    real, real_root = os.path.realpath(path), os.path.realpath(root)
    return real != real_root and not real.startswith(real_root.rstrip(os.sep) + os.sep)


def walk(
    root: Path,
    problems: list[Imported],
    *,
    keep: Callable[[str], bool],
    hidden: frozenset[str] = frozenset(),
    without: frozenset[str] = frozenset(),
) -> Iterator[Path]:
    """Files below ``root`` whose name is wanted, in a fixed order; hidden folders only where they are named,
    those of ``without`` not at all.

    Folders that cannot be read are added to ``problems``. Links to folders are not followed.
    """
    failed: list[OSError] = []
    for folder, folders, files in os.walk(root, onerror=failed.append):
        seen = (name for name in folders if name not in without)
        folders[:] = sorted(name for name in seen if name in hidden or not name.startswith("."))
        for name in sorted(files):
            if keep(name):
                yield Path(folder, name)
    problems += [Imported(None, str(problem.filename), reason(problem)) for problem in failed]


def is_markdown(name: str) -> bool:
    """Whether a file of this name is Markdown that a person sees."""
    return not name.startswith(".") and name.lower().endswith(MARKDOWN)


def markdown_files(root: Path, problems: list[Imported]) -> Iterator[Path]:
    """Every Markdown file below ``root`` that is not hidden."""
    return walk(root, problems, keep=is_markdown)


def below(path: Path, root: Path) -> str:
    """``path`` as it stands below ``root``, in POSIX form; the name alone where it stands elsewhere."""
    try:
        return path.relative_to(root).as_posix()
    except ValueError:
        return path.name


def whole_place(path: Path) -> str:
    """A file's whole real path, from ``~/`` on where it lies in the person's home. The file may be a link itself."""
    whole = Path(os.path.realpath(path.parent), path.name)
    try:
        return "~/" + whole.relative_to(os.path.realpath(Path.home())).as_posix()
    except ValueError:
        return whole.as_posix()


def tails(path: Path) -> list[str]:
    """The file as it stands below each of the folders above it, the nearest first."""
    parts = Path(os.path.realpath(path.parent), path.name).parts[1:]
    return ["/".join(parts[at:]) for at in reversed(range(len(parts)))]


def in_repository(path: Path) -> bool:
    """Whether a file lies in a repository, where its place is told from the top."""
    return bool(_repository(os.path.realpath(path.parent))[0])


def place_of(path: Path, root: Path, realm: str) -> str:
    """The name of a file from which its note's id is made: one name, whichever folder it was imported by.

    In a repository that is the path below its top, and in a realm that is not the repository's the repository's
    before it. Outside of one it is the path below ``root``, the folder that was given: files of several folders have
    that name, so it does not say alone whose a note is (:attr:`Imported.place` does).
    """
    whole = Path(os.path.realpath(path.parent), path.name)
    top, own = _repository(str(whole.parent))
    if not top:
        return below(path, root)
    place = below(whole, Path(top))
    return place if own == realm else f"{own.removeprefix('project:')}/{place}"


def older_places(path: Path, root: Path, place: str) -> list[tuple[str, str]]:
    """What :func:`place_of` was before it knew repositories: the path below whatever folder was given. Outside of one
    it is that still, and none of these says alone whose a note is: each comes with "".

    In one, each comes with itself where it was given by ``root``, else with "". What another file is named now is left
    out.
    """
    whole = Path(os.path.realpath(path.parent), path.name)
    top = _repository(str(whole.parent))[0]
    if not top:
        return [(name, "") for name in tails(path) if name != place]
    given, parts = below(path, root), below(whole, Path(top)).split("/")
    names = dict.fromkeys([given, *("/".join(parts[at:]) for at in range(len(parts)))])
    others = (name for name in names if name != place and name != "/".join(parts))
    found = [(name, name if name == given else "") for name in others if not Path(top, name).exists()]
    own = "/".join(parts)
    return found if own == place else [(own, own if own == given else ""), *found]


@lru_cache(maxsize=4096)
def _repository(folder: str) -> tuple[str, str]:
    """The top of the repository in which a folder lies, and its realm; both empty outside of one."""
    top = work_tree(folder)
    return (top, realm_of(top)) if top else ("", "")


def whole_day(text: str) -> str:
    """A date in one of the usual ways of writing, as ISO (kept as it is when it is that already); "" for none."""
    text = text.strip()
    if not text:
        return ""
    found = _ISO.match(text)
    if found and (found[2] or found.end() == len(text)):
        for candidate, kept in ((text, text), (found[0] + ("" if found[2] else "-01"), found[0])):
            try:
                datetime.datetime.fromisoformat(candidate)
            except ValueError:
                continue
            return kept
        return ""
    for form in _DAY_FORMATS:
        try:
            return datetime.datetime.strptime(text, form).date().isoformat()
        except ValueError:
            continue
    return ""


def with_aliases(fields: Mapping[str, object]) -> dict[str, object]:
    """Fields with their usual other names under the ones that a note has; what a note says itself wins."""
    named = dict(fields)
    for key, others in ALIASES.items():
        if named.get(key) not in (None, ""):
            continue
        other = next((name for name in others if isinstance(named.get(name), str) and named[name]), None)
        if other is not None:
            named[key] = named.pop(other)
    return named


def checked(note: Note, place: str, read: str, *, remarks: list[str], day: str = "") -> Imported:
    """The note as it is taken, with remarks on its kind and dates; a problem where no file can hold it."""
    if note.kind not in KNOWLEDGE_KINDS + BOOKKEEPING_KINDS:
        remarks = [*remarks, f"{note.kind!r} is no kind that chitta knows; kept as it is written"]
    days = {name: str(getattr(note, name)) for name in _DATES}
    for name, written in days.items():
        days[name] = whole_day(written)
        if written and not days[name]:
            remarks = [*remarks, f"{name}: {one_line(written, _SHOWN)!r} is no date that can be read; left out"]
    # A day more: it may be tomorrow already where the note was written.
    if days["created"][:10] > (datetime.date.today() + datetime.timedelta(days=1)).isoformat():
        said = f"created: {days['created']!r} is in the future; " + ("its file's day is taken" if day else "left out")
        remarks, days["created"] = [*remarks, said], ""
    note = note._replace(
        created=days["created"],
        updated=days["updated"],
        valid_from=days["valid_from"],
        valid_until=days["valid_until"],
    )
    try:
        if len(repr(fields_of(note))) > _SURELY_SHORT:  # else it fits, and to write it out takes time
            format_note(note)
    except ValueError as problem:
        return Imported(None, place, str(problem))
    return Imported(note, place, "", read, "; ".join(remarks), day)


def reason(problem: OSError) -> str:
    """The sentence for a file that cannot be read."""
    return f"cannot be read: {problem.strerror or problem}"


def digest_of(*parts: str | bytes) -> str:
    """The digest of several parts, told apart."""
    whole = b"\0".join(part.encode("utf-8", "surrogatepass") if isinstance(part, str) else part for part in parts)
    return digest(whole)


def _file_day(seconds: float) -> str:
    try:
        return datetime.date.fromtimestamp(seconds).isoformat()
    except (OverflowError, ValueError, OSError):
        return ""
