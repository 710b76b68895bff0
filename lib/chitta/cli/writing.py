"""Writing a note on a person's behalf: added, updated, or left alone. No hand edit is lost in silence."""

from __future__ import annotations

import datetime
from pathlib import Path
from typing import NamedTuple

from chitta.cli.bookshelf import Found
from chitta.curation.supersede import current, says_the_same, superseded, version_id
from chitta.notes.frontmatter import format_note
from chitta.notes.imprint import imprint_of, imprinted, is_edited, without_imprint
from chitta.notes.note import Note
from chitta.notes.store import NoteStore

ADDED = "added"
UPDATED = "updated"
UNCHANGED = "unchanged"
KEPT = "kept"


class Written(NamedTuple):
    """What became of a note, and its file (where it would go, for a dry run)."""

    outcome: str
    note: Note
    path: Path | None
    #: Id under which what the note said before is kept; "" where it is not.
    older: str = ""


def put(store: NoteStore, note: Note, standing: Found | None, *, dry_run: bool = False) -> Written:
    """Write ``note`` over the one that stands for it, or as a new one; an equal note is not rewritten.

    A note that says no date is created today. Raises ``OSError`` and ``ValueError``.
    """
    return _put(store, note, standing, source="", dry_run=dry_run)


def take_in(
    store: NoteStore,
    note: Note,
    source: str,
    standing: Found | None,
    *,
    overwrite: bool = False,
    dry_run: bool = False,
    supersede: bool = False,
) -> Written:
    """The same for a note that was read elsewhere; ``source`` is the digest of what was read.

    A source that has not changed since the last import changes nothing. One that has is kept out
    (``kept``) of a note that was edited meanwhile, unless ``overwrite``. A standing note without an
    imprint is rewritten as :func:`put` would. With ``supersede`` what an updated note said before stays,
    as a note of its own that it replaces. A note that differs in its ``source`` alone is the same note.
    """
    done = _taken(store, note, source, standing, overwrite=overwrite, dry_run=dry_run or supersede)
    if not supersede or done.outcome == UNCHANGED or done.outcome == KEPT:
        return done
    if standing is None or says_the_same(standing.note, done.note):
        return done if dry_run else _taken(store, note, source, standing, overwrite=overwrite, dry_run=False)
    if dry_run:
        return done._replace(older=version_id(standing.note))
    older, newer = superseded(standing.note, without_imprint(done.note), done.note.updated)
    newer = _marked(without_imprint(newer), source)
    store.write(older)  # first: a crash between the two loses neither
    return Written(UPDATED, newer, store.write(newer, path=standing.path), older.id)


def _taken(
    store: NoteStore, note: Note, source: str, standing: Found | None, *, overwrite: bool, dry_run: bool
) -> Written:
    imprint = imprint_of(standing.note) if standing is not None else None
    if standing is None or imprint is None:
        return _put(store, note, standing, source=source, dry_run=dry_run)
    if imprint.source == source and not overwrite:  # told first: whether it was edited takes longer to tell
        return Written(UNCHANGED, standing.note, standing.path)
    edited = is_edited(standing.note)
    if imprint.source == source and not edited:
        return Written(UNCHANGED, standing.note, standing.path)
    if (
        edited
        and not overwrite
        and not _equal(_dated(note, standing.note)._replace(source=standing.note.source), standing.note)
    ):
        return Written(KEPT, standing.note, standing.path)
    return _put(store, note, standing, source=source, dry_run=dry_run)


def over(note: Note, standing: Note, day: str) -> tuple[Note, Note | None]:
    """The note as it is written over the one of its id, and the note that keeps what that one said before.

    Where both say the same, nothing needs to be kept: the standing one stays, with what was given beside the text.
    """
    if says_the_same(standing, note):
        kind = note.kind if note.kind != Note("").kind else standing.kind
        tags = tuple(dict.fromkeys((*standing.tags, *note.tags)))
        source = note.source or standing.source
        return current(standing)._replace(kind=kind, tags=tags, source=source, updated=day), None
    older, newer = superseded(standing, note, day)
    return newer, older


def correct(store: NoteStore, note: Note, why: str, standing: Found | None) -> Written:
    """Write a correction; over a standing one only where ``right`` or the reason differ.

    What a person added to the standing one stays: triggers, lines of its text, other fields.
    """
    if standing is None:
        return put(store, note, None)
    old = standing.note
    if (old.wrong, old.right) == (note.wrong, note.right) and why in ("", _reason(old.text)):
        return Written(UNCHANGED, old, standing.path)
    added = added_lines(old)
    merged = old._replace(
        title=note.title,
        text=note.text + (f"\n{added}" if added else ""),
        right=note.right,
        wrong=note.wrong,
        triggers=tuple(dict.fromkeys((*note.triggers, *old.triggers))),
        updated="",
    )
    return put(store, merged, Found(old._replace(updated=""), standing.path))


def added_lines(correction: Note) -> str:
    """Text of a correction beside the lines that `chitta correct` gave it."""
    reason = _reason(correction.text)
    made = {f"Not: {correction.wrong}", f"Instead: {correction.right}", f"Why: {reason}"}
    return "\n".join(line for line in correction.text.split("\n") if line.strip() not in made).strip("\n")


def _reason(text: str) -> str:
    lines = (line.strip() for line in text.split("\n"))
    return next((line.removeprefix("Why:").strip() for line in lines if line.startswith("Why:")), "")


def _put(store: NoteStore, note: Note, standing: Found | None, *, source: str, dry_run: bool) -> Written:
    today = datetime.date.today().isoformat()
    if standing is None:
        fresh = _marked(note._replace(created=note.created or today), source)
        return Written(ADDED, fresh, None if dry_run else store.write(fresh))
    old, path = standing
    same = _dated(note, old)
    if source:  # two forms of one export name different files
        same = same._replace(source=same.source or old.source)
    if _equal(same._replace(source=old.source) if source else same, old):
        return Written(UNCHANGED, old, path)
    changed = _marked(same._replace(updated=note.updated or today), source)
    if not dry_run:
        store.write(changed, path=path)
    return Written(UPDATED, changed, path)


def _dated(note: Note, old: Note) -> Note:
    return note._replace(created=note.created or old.created, updated=note.updated or old.updated)


def _equal(one: Note, other: Note) -> bool:
    return format_note(without_imprint(one)) == format_note(without_imprint(other))


def _marked(note: Note, source: str) -> Note:
    return imprinted(note, source) if source else note
