"""What becomes of notes whose section or file is no longer in their source: replaced by a new rule, or retired."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from pathlib import Path

from chitta.cli.bookshelf import Found
from chitta.curation import decay
from chitta.curation.gathering import SEVERAL
from chitta.importing import instruction_files
from chitta.importing.imported import SECTION_KEY, place_of
from chitta.notes.frontmatter import decode, parse_note
from chitta.notes.imprint import imprint_of, imprinted, is_edited
from chitta.notes.note import Note
from chitta.notes.realms import GLOBAL, realm_folder, work_tree

#: Says on which day an import put the note away. A note that a person took out of the archive keeps it, and stays.
GONE_KEY = "gone_from_source"
#: How alike two rules are when the new one stands for the old: anywhere (it was moved), below one heading, and where
#: each is the only one that went or came there. Shares of equal characters; measured on edits of rules.
ALIKE_ANYWHERE, ALIKE_BELOW, ALIKE_ALONE = 0.9, 0.5, 0.3
_MOST_PAIRS = 4_000
_COMPARED_CHARS = 2_000


def sections(root: Path, realm: str) -> dict[str, list[Found]]:
    """Notes of the realm that were imported from sections of files, by file; other notes are hardly read."""
    found: dict[str, list[Found]] = {}
    for path in sorted(Path(root, realm_folder(realm)).glob("*.md")):
        try:
            data = path.read_bytes()
        except OSError:
            continue
        if f"\n{SECTION_KEY}:".encode() not in data:
            continue
        note = parse_note(decode(data), fallback_id="", fallback_realm=realm)
        if note.realm == realm and note.id and imprint_of(note) is not None:
            found.setdefault(note.source, []).append(Found(note, path))
    return found


def stands(note: Note) -> bool:
    """Whether the note still holds: neither archived nor replaced."""
    return not note.superseded_by and not decay.is_archived(note)


def is_away(label: str, folder: Path, realm: str) -> bool:
    """Whether a file of instructions that notes are named after lay below ``folder`` and is no longer there.

    Only where the name says which file that is: in a repository, and where it is a whole path. That of a merged note
    says several.
    """
    if SEVERAL in label:
        return False
    if label.startswith(("~/", "/")):
        file = Path(os.path.expanduser(label))
    else:
        top = work_tree(os.path.abspath(folder))
        if not top or realm == GLOBAL:
            return False
        before = place_of(Path(top, "x"), Path(top), realm).removesuffix("x")
        if not label.startswith(before):
            return False
        file = Path(top, label.removeprefix(before))
    real, whole = os.path.realpath(folder), os.path.join(os.path.realpath(file.parent), file.name)
    below = whole.startswith(real.rstrip(os.sep) + os.sep)
    return below and instruction_files.is_instructions(file) and not os.path.lexists(file)


def pairs(gone: Sequence[Note], came: Sequence[Note]) -> Iterator[tuple[Note, Note]]:
    """Which of the new rules stands for which of those that are gone; each at most once, the most alike first."""
    if len(gone) * len(came) > _MOST_PAIRS:
        return
    scored = []
    for old in gone:
        for new in came:
            alike = _alike(old, new)
            if old.realm == new.realm and alike >= _needed(old, new, gone, came):
                scored.append((-alike, old.id, new.id, old, new))
    used: set[str] = set()
    for _, _, _, old, new in sorted(scored, key=lambda each: each[:3]):
        if not used & {f"-{old.id}", f"+{new.id}"}:
            used |= {f"-{old.id}", f"+{new.id}"}
            yield old, new


def retired(note: Note, day: str) -> Note:
    """The note in the archive since ``day``; its imprint says that no person edited it."""
    away = decay.archived(note, day)
    return again(note, away._replace(extra=(*away.extra, (GONE_KEY, day))))


def returned(note: Note, day: str) -> Note:
    """The note that an import put away, out of the archive: its source has it again."""
    back = decay.restored(note, day)
    back = back._replace(updated=note.updated, extra=tuple(each for each in back.extra if each[0] != GONE_KEY))
    return again(note, back)


def was_retired(note: Note) -> bool:
    return decay.is_archived(note) and GONE_KEY in dict(note.extra)


def again(before: Note, after: Note) -> Note:
    """``after`` with the imprint that it needs to count as little edited as ``before``."""
    imprint = imprint_of(before)
    return after if imprint is None or is_edited(before) else imprinted(after, imprint.source)


def said(text: str) -> str:
    """A rule's text for comparing: marks of lists, case and spaces do not matter."""
    return " ".join(text.casefold().split()).strip(" .-*+")


def _needed(old: Note, new: Note, gone: Sequence[Note], came: Sequence[Note]) -> float:
    if _place(old) != _place(new):
        return ALIKE_ANYWHERE
    alone = [sum(_place(note) == _place(old) for note in notes) for notes in (gone, came)] == [1, 1]
    return ALIKE_ALONE if alone else ALIKE_BELOW


def _place(note: Note) -> tuple[str, str, str]:
    return note.realm, note.source, str(dict(note.extra).get(SECTION_KEY, ""))


def _alike(one: Note, other: Note) -> float:
    one_text, other_text = (said(note.text)[:_COMPARED_CHARS] for note in (one, other))
    return SequenceMatcher(a=one_text, b=other_text, autojunk=False).ratio()
