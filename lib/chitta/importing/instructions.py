"""Instructions to coding agents, section by section: CLAUDE.md and its like, rules of Cursor, Windsurf and Copilot.

A section becomes a preference or a reference. Of a long list of rules each is a note of its own, and so is
whatever says "this, not that": a correction. Notes are named after the file's path in its project and the way to
their heading, so that an edit of the file updates them.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from chitta.importing import instruction_files as files
from chitta.importing.imported import (
    SECTION_KEY,
    Imported,
    below,
    checked,
    digest_of,
    in_repository,
    read_file,
    tails,
    whole_place,
)
from chitta.importing.markdown import front_matter_remark, with_description
from chitta.importing.rules import LONGEST_SENTENCE, correction_of, is_rule, kind_of, lines_of, sentences
from chitta.importing.sections import Block, Section, blocks, prose, sections
from chitta.notes.correction import make_correction
from chitta.notes.frontmatter import decode
from chitta.notes.ids import make_id
from chitta.notes.note import Note, one_line
from chitta.notes.realms import GLOBAL

TITLE = "Instructions for agents"
READS = (
    "CLAUDE.md, AGENTS.md, GEMINI.md, .cursorrules, .cursor/rules, .windsurfrules, "
    ".github/copilot-instructions.md, .github/instructions"
)
#: Items from which a list is long: each of its rules is a note of its own.
LONG_LIST = 4
#: Lines up to which a section without a list is a list of rules, where each of them is a correction.
SHORT_SECTION = 3
#: Words that an item needs to be understood without its list.
SELF_CONTAINED_WORDS = 4
#: A rule that was written down for agents is meant; corrections have a trust of their own.
TRUST = 0.8
_TITLE_CHARS = 120
_KEY_WORDS = 6
_LEAD_IN_WORDS = 12
# Headings that say nothing of what stands below them.
_BARE = frozenset(
    "agent agents claude codex convention conventions copilot cursor gemini general guideline guidelines important"
    " instructions misc miscellaneous note notes other overview preference preferences readme rule rules tips todo"
    " windsurf".split()
)


detect = files.detect
default_paths = files.default_paths


class _Source(NamedTuple):
    """One file that is being read: its label names its notes, ``front`` is what it says of all of them."""

    path: Path
    label: str
    realm: str
    day: str
    front: files.Front
    used: Counter[str]
    older: tuple[str, ...] = ()  # labels that an older rule gave it, or that another folder given would
    place: str = ""  # the file, whatever its label
    whole: str = ""  # the label with the whole path, where that is another one


class _Pending(NamedTuple):
    """A file that is to be read: how many imports deep, in whose folder, and into which realm."""

    file: Path
    depth: int
    home: Path
    realm: str


def read(path: Path, *, realm: str) -> Iterator[Imported]:
    """Every section of a file of instructions, or of all such files of a project; ``realm`` is for all of them.

    Those of a person's own agent folders (~/.claude and its like) hold everywhere: their realm is ``global``.
    """
    problems: list[Imported] = []
    root = files.top(path if path.is_dir() else path.parent)
    pending = [_Pending(file, 0, file.parent, files.realm_of_file(file, realm)) for file in files.find(path, problems)]
    done: dict[str, str] = {}
    while pending:
        file, depth, home, place = pending.pop(0)
        real = os.path.realpath(file)
        if real in done:
            if depth == 0 and file.is_symlink():
                yield Imported(None, str(file), f"is a link to {done[real]}, which is read by that name")
            continue
        read_as = read_file(file, None if file == path else root if depth == 0 else home)
        if read_as.problem:
            yield Imported(None, str(file), read_as.problem)
            continue
        done[real] = file.name
        front = files.front_of(decode(read_as.data))
        label, whole = files.label(file, root, place), whole_place(file)
        outside = place != GLOBAL and not in_repository(file)
        others = tails(file) if outside else [] if place == GLOBAL else [below(Path(os.path.abspath(file)), root)]
        older = tuple(each for each in others if each != label)
        source = _Source(file, label, place, read_as.day, front, Counter(), older, whole, whole if outside else "")
        more: list[Path] = []
        yield from _sections(source, home, depth, more)
        pending[:0] = [_Pending(imported, depth + 1, home, place) for imported in more]
    yield from problems


def notes_of(text: str, *, path: Path, label: str, realm: str, day: str) -> Iterator[Imported]:
    """The sections of a text that another reader found; no imports are followed."""
    source = _Source(path, label, realm, day, files.Front({}, text.replace("\r\n", "\n"), 0), Counter())
    yield from _sections(source, path.parent, 0, None)


def _sections(source: _Source, home: Path, depth: int, more: list[Path] | None) -> Iterator[Imported]:
    first = True
    for section in sections(source.front.body):
        place = f"{source.path}:{section.line + source.front.lines}"
        remarks = [front_matter_remark(source.front.problem)] if first and source.front.problem else []
        if more is not None and files.has_imports(source.path.name, depth):
            imports = files.imports_of(section.text, source.path, home, depth)
            more += imports.paths
            remarks += imports.remarks
        why = files.skipped(section)
        if why:
            if section.text.strip() or not section.parent:
                told = "; ".join([f"{_named(section)} {why}", *remarks])
                yield Imported(None, place, told)
            continue
        for item in _notes(source, section, remarks, first=first):
            first = False
            yield item


def _notes(source: _Source, section: Section, remarks: list[str], *, first: bool) -> Iterator[Imported]:
    parts = _short(section) or blocks(section)
    alone = _alone(parts)
    taken = {part.line for part in alone}
    left = "\n".join(part.raw for part in parts if part.line not in taken).strip("\n")
    if left.strip() and not (alone and _leads_in(left)):
        yield _section_note(source, section, left, remarks, first=first)
        remarks = []
    elif left.strip():
        yield Imported(None, _place(source, section.line), f"{_named(section)} has only words that lead in its list")
    for part in alone:
        yield _item_note(source, section, part, remarks)
        remarks = []


def _alone(parts: list[Block]) -> list[Block]:
    """The items that are notes of their own: corrections, and in a long list of rules all that stand by themselves."""
    listed = [part for part in parts if part.item]
    rules = [part for part in listed if is_rule(_first(part.item))]
    long = len(listed) >= LONG_LIST and 2 * len(rules) >= len(listed)
    return [part for part in listed if correction_of(part.item) or (long and _stands_alone(part.item))]


def _short(section: Section) -> list[Block]:
    """The lines of a short section as items, where each of them is a correction; else none."""
    if len(section.text.strip()) > SHORT_SECTION * LONGEST_SENTENCE or prose(section.text) != section.text:
        return []
    lines = lines_of(section.text)
    if not 1 < len(lines) <= SHORT_SECTION or not all(correction_of(line) for line in lines):
        return []
    numbers = [at for at, line in enumerate(section.text.split("\n")) if line.strip() and line.strip() in lines]
    first = section.line + section.headed
    return [
        Block(line, first + (numbers[at] if at < len(numbers) else at), line.strip()) for at, line in enumerate(lines)
    ]


def _stands_alone(item: str) -> bool:
    first = _first(item)
    refers = first.split(" ")[0].casefold() in files.REFERRING if first else True
    return len(first.split()) >= SELF_CONTAINED_WORDS and not first.endswith(":") and not refers


def _section_note(source: _Source, section: Section, text: str, remarks: list[str], *, first: bool) -> Imported:
    found = correction_of(text) if len(sentences(text)) == 1 else None
    title = _telling(source, section, text) or one_line(source.front.description) or _first(text)
    if first:
        text = with_description(text, source.front.description)
    key = (*section.headings, "")
    name = f"{source.path.stem.lstrip('.')} {section.headings[-1] if section.headings else ''}"
    if found is not None:
        note = make_correction(found.wrong, found.right, found.why, source.realm)
        note = note._replace(text=f"{note.text}\n\n{text}")
    else:
        note = Note("", kind_of(text), source.realm, one_line(title, _TITLE_CHARS), text, confidence=TRUST)
    return _finished(source, section, note, name, key, text, section.line, remarks)


def _item_note(source: _Source, section: Section, part: Block, remarks: list[str]) -> Imported:
    text = part.item.strip()
    found = correction_of(text)
    if found is not None:
        note = make_correction(found.wrong, found.right, found.why, source.realm)
        note = note._replace(text=f"{note.text}\n\n{text}")
        key = found.wrong
    else:
        note = Note("", kind_of(text), source.realm, one_line(_first(text), _TITLE_CHARS), text, confidence=TRUST)
        key = " ".join(_first(text).casefold().split()[:_KEY_WORDS])
    return _finished(source, section, note, note.title, (*section.headings, key), part.raw, part.line, remarks)


def _finished(
    source: _Source,
    section: Section,
    note: Note,
    name: str,
    way: tuple[str, ...],
    raw: str,
    line: int,
    remarks: list[str],
) -> Imported:
    """The note with its id, its place and what the front matter says of it."""
    salt = "\0".join(("instructions", source.label, *way))
    source.used[salt] += 1
    if source.used[salt] > 1:
        salt = f"{salt}\0{source.used[salt]}"
    extra: dict[str, object] = {SECTION_KEY: " > ".join(section.headings), **source.front.extra}
    text = f"For files: {source.front.globs}\n\n{note.text}" if source.front.globs else note.text
    note = note._replace(
        id=make_id(name, source.realm, salt=salt),
        text=text.strip("\n"),
        source=source.label,
        extra=tuple(extra.items()),
    )
    read = digest_of(source.label, "\n".join(section.headings), raw, repr(sorted(source.front.fields.items())))
    item = checked(note, _place(source, line), read, remarks=remarks, day=source.day)
    item = item._replace(place=source.place, whole=source.whole)
    if not source.older:
        return item
    ids = [make_id(name, source.realm, salt=salt.replace(source.label, each, 1)) for each in source.older]
    names = source.older if not source.whole else [""] * len(ids)
    return item._replace(older=tuple(zip(ids, names, strict=True)))


def _place(source: _Source, line: int) -> str:
    return f"{source.path}:{line + source.front.lines}"


def _title(section: Section) -> str:
    return one_line(": ".join(section.headings[-2:] if len(section.headings) > 2 else section.headings[-1:]))


def _telling(source: _Source, section: Section, text: str) -> str:
    """The title, with the first sentence after a heading that alone says nothing."""
    title, first = _title(section), _first(text).rstrip(" .!")
    bare = section.headings[-1].strip(" :").casefold().removesuffix(".md") if section.headings else ""
    if not first or first.endswith(":") or (bare not in _BARE and bare != source.path.stem.casefold()):
        return title
    return f"{title}: {first[:1].lower() + first[1:] if first[1:2].islower() else first}"


def _named(section: Section) -> str:
    return f"section {_title(section)!r}" if section.headings else "what stands before the first heading"


def _first(text: str) -> str:
    return next(iter(sentences(text)), "") or one_line(text, _TITLE_CHARS)


def _leads_in(text: str) -> bool:
    return text.rstrip().endswith(":") and len(text.split()) <= _LEAD_IN_WORDS
