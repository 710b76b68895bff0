"""Which note files changed, and what that means for the notes that can be found.

A file claims to hold a note: an id and a realm. Two files of one realm may claim the same note (a
copy was left behind): the first by path is used. Two realms may use the same id (notes written by
hand are named after their file): both can be found, the second under its id with a suffix.
"""

from __future__ import annotations

import hashlib
import os
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from chitta.breadcrumb import place_of
from chitta.index import IndexFault, watch
from chitta.index.earlier import Earlier
from chitta.index.keyword import KeywordWriter
from chitta.index.ledger import FileRow, Ledger
from chitta.index.terms import take_apart
from chitta.notes.note import Note
from chitta.notes.store import NoteStore, stays_below

#: Files between two commits.
CHUNK = 1_000

Progress = Callable[[str, int, int], None]


class Change(NamedTuple):
    """A note file that is new, may have changed, or (``path`` None) is gone. ``key``: its path in the notes folder."""

    key: str
    path: Path | None


@dataclass
class Counts:
    """Notes by what happened to them; ``touched`` are the ids of those added or updated."""

    added: int = 0
    updated: int = 0
    removed: int = 0
    unchanged: int = 0
    touched: list[str] = field(default_factory=list)


def file_changes(notes: NoteStore, ledger: Ledger, problems: list[str]) -> list[Change]:
    """Every file whose time or size is not what the ledger says, in order of path.

    Notes in a folder that cannot be read are out of sight, not gone: they stay as they were.
    """
    known = ledger.files()
    hidden: list[str] = []
    changes: list[Change] = []
    for fact in notes.scan(lambda problem: _hide(notes, problem, hidden, problems)):
        key = file_key(notes, fact.path)
        row = known.pop(key, None)
        if row is None or row.own_id is None or row.fresh or (row.mtime_ns, row.size) != (fact.mtime_ns, fact.size):
            changes.append(Change(key, fact.path))
    changes += [Change(key, None) for key in known if not _below(key, hidden)]
    return sorted(changes, key=lambda change: change.key)


def path_changes(notes: NoteStore, ledger: Ledger, paths: Iterable[str | os.PathLike[str]]) -> list[Change]:
    """The changes among these files; paths outside the notes folder, and names that are no note's, are passed over."""
    changes: dict[str, Change] = {}
    for path in map(Path, paths):
        try:
            key = file_key(notes, Path(os.path.abspath(path)))
        except ValueError:
            try:
                key = file_key(notes, path.resolve())
            except ValueError:
                continue
        if path.suffix != ".md" or any(part.startswith(".") for part in key.split("/")):
            continue
        if path.is_file() and (not path.is_symlink() or stays_below(os.fspath(path), notes.root)):
            changes[key] = Change(key, path)
        elif ledger.file(key) is not None:
            changes[key] = Change(key, None)
    return sorted(changes.values(), key=lambda change: change.key)


def apply(
    notes: NoteStore,
    ledger: Ledger,
    writer: KeywordWriter,
    changes: Sequence[Change],
    problems: list[str],
    progress: Progress | None = None,
    earlier: Earlier | None = None,
) -> Counts:
    """Make the changes, committing keywords and then the ledger after every thousand files.

    Of files that ``earlier`` holds with the same content, neither reading nor cleaning is done again. A file whose
    note cannot be made ready is named in ``problems`` and passed over, whatever went wrong: no one note may keep the
    others out of the index.
    """
    counts = Counts()
    earlier = earlier or Earlier(None)
    for start in range(0, max(len(changes), 1), CHUNK):
        chunk = changes[start : start + CHUNK]
        read: dict[str, Note] = {}
        affected: set[str] = set()
        for change in chunk:
            affected |= _take(notes, ledger, change, read, problems, earlier)
        for own_id in sorted(affected):
            _settle(notes, ledger, writer, own_id, read, counts, problems, earlier)
        writer.commit()
        ledger.commit()
        if progress is not None and changes:
            progress("notes", start + len(chunk), len(changes))
    return counts


def _take(
    notes: NoteStore,
    ledger: Ledger,
    change: Change,
    read: dict[str, Note],
    problems: list[str],
    earlier: Earlier,
) -> set[str]:
    """Bring one file's row up to date; the ids whose notes that may change."""
    before = ledger.file(change.key)
    try:
        row, note = _read(notes, change, before, earlier)
    except FileNotFoundError:
        row, note = None, None
    except (OSError, ValueError) as problem:
        problems.append(f"{change.path} cannot be read: {problem}")
        row, note = _unreadable(change, before), None
    except Exception as problem:
        problems.append(f"{change.path} cannot be read: {_reason(problem)}")
        row, note = _unusable(change), None
    if row is None:
        ledger.drop_file(change.key)
    else:
        ledger.put_file(row)
    if note is not None:
        read[change.key] = note
    if row is not None and before is not None and row.sha256 == before.sha256 and row.own_id == before.own_id:
        return set()
    return {claim.own_id for claim in (before, row) if claim is not None and claim.own_id is not None}


def _read(
    notes: NoteStore, change: Change, before: FileRow | None, earlier: Earlier
) -> tuple[FileRow | None, Note | None]:
    """The file's row, and its note when the content is not what it was. The time is taken first: what is
    written after that gives the file a time that the next sync does not know.
    """
    if change.path is None:
        return None, None
    status = change.path.stat()
    digest = watch.digest_of(change.path)
    fresh = status.st_mtime_ns > time.time_ns() - watch.FRESH_NS
    if before is not None and before.own_id is not None and before.sha256 == digest:
        return before._replace(mtime_ns=status.st_mtime_ns, size=status.st_size, fresh=fresh), None
    claim = earlier.claim(change.key, digest)
    if claim is not None:
        return FileRow(change.key, status.st_mtime_ns, status.st_size, digest, *claim, fresh), None
    note = notes.read(change.path)
    return FileRow(change.key, status.st_mtime_ns, status.st_size, digest, note.id, note.realm, fresh), note


def _unreadable(change: Change, before: FileRow | None) -> FileRow | None:
    """A row that has the file tried again, but does not make it look new each time.

    What was read of it earlier still stands.
    """
    try:
        status = change.path.stat() if change.path is not None else None
    except OSError:
        status = None
    if status is None:
        return before
    row = before or FileRow(change.key, 0, 0, "", None, None, True)
    return row._replace(mtime_ns=status.st_mtime_ns, size=status.st_size, fresh=True)


def _unusable(change: Change) -> FileRow | None:
    """A row of a file that holds no note, tried again with each sync, so that each names it."""
    try:
        status = change.path.stat() if change.path is not None else None
        digest = watch.digest_of(change.path) if change.path is not None else ""
    except OSError:
        status = None
    return FileRow(change.key, status.st_mtime_ns, status.st_size, digest, None, None, True) if status else None


def _settle(
    notes: NoteStore,
    ledger: Ledger,
    writer: KeywordWriter,
    own_id: str,
    read: Mapping[str, Note],
    counts: Counts,
    problems: list[str],
    earlier: Earlier,
) -> None:
    """Make the notes in the index those that the files claim for this id, without secrets and private spans.

    A file may have been written by hand or have come from another machine, so what was checked at capture is checked
    here again: nothing that answers from the index can give away what is only in the file.
    """
    placed = ledger.placed(own_id)
    wanted: dict[str, tuple[str, str, str]] = {}
    realms: set[str] = set()
    for path, realm, digest in ledger.claims(own_id):
        if realm not in realms:
            wanted[own_id if not realms else _suffixed(own_id, realm)] = (path, realm, digest)
            realms.add(realm)
    for name in placed.keys() - wanted.keys():
        writer.drop(name)
        ledger.drop_note(name)
        counts.removed += 1
    for name, (path, realm, digest) in wanted.items():
        before = placed.get(name)
        if before is not None and (before.path, before.realm, before.sha256) == (path, realm, digest):
            continue
        note = earlier.note(name, own_id, path, digest)
        try:
            if note is None or note.realm != realm:
                note = _cleaned(notes, path, read, (own_id, realm), problems)
            if note is None:
                continue
            note = note._replace(id=name)
            apart = take_apart(note.title, note.text)
            writer.put(note, apart)
            ledger.put_note(note, own_id, path, digest, before, apart)
        except IndexFault:
            raise
        except Exception as problem:
            problems.append(f"{notes.root / path} cannot be indexed: {_reason(problem)}")
            writer.drop(name)
            ledger.drop_note(name)
            counts.removed += before is not None
            _pass_over(ledger, path)
            # Without this file's claim another file may hold the note.
            _settle(notes, ledger, writer, own_id, read, counts, problems, earlier)
            return
        counts.touched.append(name)
        counts.added += before is None
        counts.updated += before is not None


def _cleaned(
    notes: NoteStore, path: str, read: Mapping[str, Note], claimed: tuple[str, str], problems: list[str]
) -> Note | None:
    """The file's note as it may be indexed; None where it cannot be read, cleaned, or is another one by now."""
    from chitta.safety.cleaning import clean  # its patterns are compiled where a note has changed only

    try:
        note = read[path] if path in read else notes.read(notes.root / path)
    except (OSError, ValueError):
        return None
    if (note.id, note.realm) != claimed:  # changed again meanwhile; the next sync finds it
        return None
    try:
        return clean(note).note
    except ImportError as missing:  # unexamined it stays out
        problems.append(f"notes cannot be looked through for secrets and stay out of the index: {missing}")
        return None


def _pass_over(ledger: Ledger, path: str) -> None:
    """Let the file hold no note; it is tried again with the next sync."""
    row = ledger.file(path)
    if row is not None:
        ledger.put_file(row._replace(own_id=None, realm=None, fresh=True))


def _reason(problem: Exception) -> str:
    """Why, on one line, without what the error may quote of the note."""
    return f"{type(problem).__name__} at {place_of(problem)}"


def _suffixed(own_id: str, realm: str) -> str:
    return f"{own_id}.{hashlib.sha256(realm.encode('utf-8', 'replace')).hexdigest()[:6]}"


def file_key(notes: NoteStore, path: Path) -> str:
    """The path in the notes folder, as text that any encoding holds. Raises ``ValueError`` for one outside."""
    whole, root = os.fspath(path), os.path.join(notes.root, "")
    if not whole.startswith(root):
        raise ValueError(f"{whole} is not in {root}")
    return watch.as_text(whole[len(root) :])


def _hide(notes: NoteStore, problem: OSError, hidden: list[str], problems: list[str]) -> None:
    problems.append(f"{problem.filename} cannot be read: {problem.strerror}; its notes stay as they were")
    folder = Path(os.fsdecode(problem.filename)) if problem.filename else notes.root
    hidden.append("" if folder == notes.root else f"{file_key(notes, folder)}/")


def _below(key: str, folders: Sequence[str]) -> bool:
    return any(key.startswith(folder) for folder in folders)
