"""Files of notes that were changed on two machines: bytes in, bytes out, for git's merge driver and for sync."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import PurePosixPath
from typing import NamedTuple

from chitta.notes.frontmatter import decode, format_note, parse_note
from chitta.notes.ids import file_name, hashed_file_name, valid_id
from chitta.notes.note import Note
from chitta.notes.realms import GLOBAL, folder_realm
from chitta.notes.store import MAX_NOTE_BYTES
from chitta.portable.merging import merge_notes

_MOST_TRIES = 1000


class MergedFile(NamedTuple):
    """What the file holds now; ``beside`` is a second file below the notes folder, with its content."""

    content: bytes
    beside: tuple[str, bytes] | None = None
    remarks: tuple[str, ...] = ()


def note_of(data: bytes, below: str) -> Note:
    """The note that a file below the notes folder holds, as the store reads it; never raises."""
    place = PurePosixPath(below)
    fallback_id = place.stem if valid_id(place.stem) else hashed_file_name(place.stem)[:-3]
    try:
        realm = folder_realm(place.parent.as_posix())
    except ValueError:
        realm = GLOBAL
    return parse_note(decode(data), fallback_id=fallback_id, fallback_realm=realm)


def merge_files(
    base: bytes | None,
    ours: bytes | None,
    theirs: bytes | None,
    below: str,
    other: str,
    content_at: Callable[[str], bytes | None],
) -> MergedFile | None:
    """Both changes of one file; None where both deleted it. Never raises for what a file holds.

    ``content_at`` tells what lies at a place below the notes folder already (None: nothing): a second
    file never takes the place of another one.
    """
    if ours is None or theirs is None or ours == theirs or theirs == base:
        kept = ours if ours is not None else theirs
        if kept is None:
            return None
        lone = ours is None or theirs is None
        return MergedFile(kept, None, ("deleted on one side, edited on the other: kept",) if lone else ())
    if ours == base:
        return MergedFile(theirs)
    if below.endswith(".md") and max(map(len, (base or b"", ours, theirs))) <= MAX_NOTE_BYTES:
        merged = _merge_notes(base, ours, theirs, below, other, content_at)
        if merged is not None:
            return merged
    return _both(ours, theirs, below, other, content_at)


def _merge_notes(
    base: bytes | None,
    ours: bytes,
    theirs: bytes,
    below: str,
    other: str,
    content_at: Callable[[str], bytes | None],
) -> MergedFile | None:
    """The same for notes; None where the result is none that a file can hold."""
    old = note_of(base, below) if base is not None else None
    mine, their = note_of(ours, below), note_of(theirs, below)
    for label in _labels(other):
        merged = merge_notes(old, mine, their, label)
        assert merged is not None
        try:
            content = _as_it_was(merged.note, mine, ours, their, theirs) or format_note(merged.note).encode()
            if merged.beside is None:
                return MergedFile(content, None, merged.remarks)
            second = format_note(merged.beside).encode()
        except ValueError:
            return None
        name = file_name(merged.beside.id)
        if name == PurePosixPath(below).name:
            name = hashed_file_name(merged.beside.id)
        place = _next_to(below, name)
        if content_at(place) in (None, second):
            return MergedFile(content, (place, second), merged.remarks)
        if merged.beside.id == their.id:  # the name does not depend on the label
            return None
    return None


def _both(ours: bytes, theirs: bytes, below: str, other: str, content_at: Callable[[str], bytes | None]) -> MergedFile:
    """Both files as they are, theirs under another name."""
    path = PurePosixPath(below)
    for label in _labels(other):
        place = _next_to(below, f"{path.stem}-from-{label}{path.suffix}")
        if content_at(place) in (None, theirs):
            break
    return MergedFile(ours, (place, theirs), (f"cannot be merged: the other one is {place}",))


def _as_it_was(note: Note, mine: Note, ours: bytes, their: Note, theirs: bytes) -> bytes | None:
    """The file as it was where nothing in its note has changed."""
    return ours if note == mine else theirs if note == their else None


def _labels(other: str) -> list[str]:
    return [other, *(f"{other}-{number}" for number in range(2, _MOST_TRIES))]


def _next_to(below: str, name: str) -> str:
    return PurePosixPath(below).with_name(name).as_posix()
