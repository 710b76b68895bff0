"""Notes that cannot be read as they are: which, why, and what a person does about each."""

from __future__ import annotations

import codecs
import os
import re
import stat
from collections.abc import Iterator
from typing import NamedTuple

from chitta.cli import output
from chitta.cli.finding import FAIL, WARN, Finding
from chitta.notes.frontmatter import parts_of, unclosed
from chitta.notes.store import MAX_NOTE_BYTES, NoteStore
from chitta.settings import Settings

#: Notes that the check names one by one.
_SHOWN = 10
_STOPS = "holds something that the index stumbles over, and is passed over"
# Front matter that YAML surely reads, line by line: it takes a millisecond a note to ask it.
_SURELY_READ = re.compile(
    r"---\n(?:(?:created|updated): [0-9]{4}-[0-9]{2}-[0-9]{2}\n|[A-Za-z][\w-]*:"
    r"(?: (?:[A-Za-z/](?:[\w ./@()&+%,;'\"`?!>-]|:(?=\w))*"
    r"|[0-9]{1,9}(?:\.[0-9]{1,9})?|[0-9a-f]{16} [0-9a-f]{16}|'[\w ./:@`,;()&+-]*'"
    r"|\[[A-Za-z][\w ./-]*(?:, [A-Za-z][\w ./-]*)*\]))?\n)+---\n"
)
_MARKS = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)


class Unread(NamedTuple):
    """A path, why it is not read (``lost``) or only guessed at, and what to do."""

    path: str
    why: str
    todo: str
    lost: bool = True


def unreadable(settings: Settings) -> Iterator[Unread]:
    """Every note, and every folder of notes, that cannot be read, in the order of the store. Changes nothing."""
    folders: list[Unread] = []
    passed_over = set(_passed_over(settings))
    store = NoteStore(settings.notes_dir)
    for fact in store.scan(on_error=lambda problem: folders.append(_refused(str(problem.filename), problem))):
        found = _too_large(str(fact.path), fact.size) if fact.size > MAX_NOTE_BYTES else _looked_at(str(fact.path))
        if found is None and str(fact.path) in passed_over:
            found = Unread(str(fact.path), _STOPS, "`chitta reindex` says what it is; mend the file or move it away")
        if found is not None:
            yield found
    yield from folders


def notes(settings: Settings) -> Iterator[Finding]:
    """A finding for each of the first that cannot be read, and one for the rest; nothing where all can."""
    found = list(unreadable(settings))
    for one in found[:_SHOWN]:
        yield Finding("notes", FAIL if one.lost else WARN, f"{one.path} {one.why}", one.todo)
    if len(found) > _SHOWN:
        more = f"{output.plural(len(found) - _SHOWN, 'more path')} cannot be read either"
        yield Finding("notes", WARN, more, "`chitta doctor --repair` lists those that are lost")


def _passed_over(settings: Settings) -> Iterator[str]:
    from chitta.index import IndexFault, generation
    from chitta.index.catalog import Catalog

    try:
        current = generation.current(settings.index_dir)
        if current is None:
            return
        catalog = Catalog(current.catalog)
        try:
            below = catalog.passed_over()
        finally:
            catalog.close()
    except IndexFault:  # the check of the index says so
        return
    yield from (os.path.join(settings.notes_dir, path) for path in below)


def _looked_at(path: str) -> Unread | None:
    try:
        with open(path, "rb") as file:
            data = file.read(MAX_NOTE_BYTES + 1)
    except FileNotFoundError:  # removed since it was listed
        return None
    except OSError as problem:
        return _refused(path, problem)
    if data.startswith(_MARKS):
        return None
    try:
        return _front_matter(path, data.decode("utf-8-sig"))
    except UnicodeDecodeError as problem:
        line = data.count(b"\n", 0, problem.start) + 1
        why = f"is no UTF-8 (line {line}), and is read as Windows-1252"
        return Unread(path, why, f"save it as UTF-8: iconv -f WINDOWS-1252 -t UTF-8 {path}", lost=False)


def _front_matter(path: str, text: str) -> Unread | None:
    if not text.startswith("---") or _SURELY_READ.match(text):
        return None
    parts = parts_of(text)
    if parts.unread:
        why = f"has front matter that cannot be read ({parts.problem}), so it is in quarantine"
        return Unread(path, why, "mend the lines between its first two ---", lost=False)
    if why := unclosed(text):
        return Unread(path, f"has front matter that is read as text: {why}", "close it with a line ---", lost=False)
    return None


def _too_large(path: str, size: int) -> Unread:
    why = f"has {output.size_of(size)}; a note has at most {MAX_NOTE_BYTES >> 20} MiB, so it is not read"
    return Unread(path, why, "split it into several notes, or move it out of the store")


def _refused(path: str, problem: OSError) -> Unread:
    why = f"cannot be read: {problem.strerror or problem}"
    if not isinstance(problem, PermissionError):
        return Unread(path, why, "see what is wrong with it, and take it from a copy")
    return Unread(path, why, _allow(path))


def _allow(path: str) -> str:
    try:
        found = os.stat(path)
    except OSError:
        return f"chown -R $USER {os.path.dirname(path)}"
    if found.st_uid != os.geteuid():
        return f"chown $USER {path}"
    return f"chmod {'700' if stat.S_ISDIR(found.st_mode) else '600'} {path}"
