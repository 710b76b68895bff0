"""The folder of notes: one Markdown file a note, one folder a realm.

People edit, move and delete these files with their own tools, so nothing here remembers where a
note was: names are a fast guess, the front matter is the truth. A write is a rename of a complete
file; whoever reads at the same time sees the old note or the new one.
"""

from __future__ import annotations

import errno
import os
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

from chitta.notes.frontmatter import decode, format_note, parse_note
from chitta.notes.ids import file_name, hashed_file_name, valid_id
from chitta.notes.note import Note
from chitta.notes.realms import GLOBAL, folder_realm, realm_folder

#: A larger file is not a note; reading it is refused rather than cut, since a rewrite would lose the rest.
MAX_NOTE_BYTES = 4 << 20


class FileFact(NamedTuple):
    """What tells whether a file has changed."""

    path: Path
    mtime_ns: int
    size: int


class NoteStore:
    """The notes below ``notes_dir``, which is made on the first write."""

    def __init__(self, notes_dir: str | os.PathLike[str]) -> None:
        self.root = Path(notes_dir)

    def write(self, note: Note, *, path: Path | None = None) -> Path:
        """Write the note whole and durably, and say where: ``path``, else the place its realm and id give it.

        Raises ``ValueError`` for an id, realm or front matter that no file can hold, and ``OSError``, also for a
        folder that a link has outside of the store.
        """
        if not valid_id(note.id):
            raise ValueError(f"{note.id[:80]!r} is no id for a note")
        content = format_note(note).encode()
        if len(content) > MAX_NOTE_BYTES:
            raise ValueError(f"the note {note.id!r} is larger than {MAX_NOTE_BYTES >> 20} MiB")
        path = path or self._place(note)
        if not _is_inside(path.parent, self.root):
            words = f"a link leads out of {self.root}, so nothing is written there; remove that link"
            raise OSError(errno.ELOOP, words, str(path.parent))
        _make_private(path.parent)
        _replace(path, content)
        return path

    def read(self, path: str | os.PathLike[str]) -> Note:
        """Read one note; its file name and folder stand in for a missing id and realm.

        Raises ``OSError``, and ``ValueError`` for a file larger than 4 MiB.
        """
        path = Path(path)
        with open(path, "rb") as file:
            data = file.read(MAX_NOTE_BYTES + 1)
        if len(data) > MAX_NOTE_BYTES:
            raise ValueError(f"{path} is larger than {MAX_NOTE_BYTES >> 20} MiB")
        fallback_id = path.stem if valid_id(path.stem) else hashed_file_name(path.stem)[:-3]
        return parse_note(decode(data), fallback_id=fallback_id, fallback_realm=self._realm_at(path))

    def find(self, note_id: str, realm: str = "") -> Path | None:
        """The file that holds the note: by its name first, then by reading every file."""
        names = {file_name(note_id), hashed_file_name(note_id)}
        if realm:
            folder = self.root / realm_folder(realm)
            for name in sorted(names):
                if self._holds(folder / name, note_id, realm):
                    return folder / name
        others: list[Path] = []
        for fact in self.scan(on_error=_ignore):
            if fact.path.name not in names:
                others.append(fact.path)
            elif self._holds(fact.path, note_id, realm):
                return fact.path
        return next((path for path in others if self._holds(path, note_id, realm)), None)

    def remove(self, note_id: str, realm: str = "") -> bool:
        """Delete the note's file; False when there is none."""
        path = self.find(note_id, realm)
        if path is None:
            return False
        try:
            path.unlink()
        except FileNotFoundError:
            return False
        _sync_folder(path.parent)
        return True

    def scan(self, on_error: Callable[[OSError], None] | None = None) -> Iterator[FileFact]:
        """Every note file, in a fixed order; hidden files, links to folders and links out of the store are passed over.

        A folder that cannot be read raises ``OSError`` (its notes are not gone, only out of sight),
        unless ``on_error`` takes it. No notes folder at all means no notes.
        """
        pending = [self.root]
        while pending:
            folder = pending.pop()
            try:
                with os.scandir(folder) as entries:
                    found = sorted((entry for entry in entries if not entry.name.startswith(".")), key=lambda e: e.name)
            except FileNotFoundError:  # no notes yet, or a folder that went away meanwhile
                continue
            except OSError as problem:
                if on_error is None:
                    raise
                on_error(problem)
                continue
            for entry in found:
                fact = _fact(entry, self.root)
                if fact is not None:
                    yield fact
            pending += [Path(entry.path) for entry in reversed(found) if entry.is_dir(follow_symlinks=False)]

    def _place(self, note: Note) -> Path:
        """Where a new note goes. A file of that name that holds another note is left alone."""
        folder = self.root / realm_folder(note.realm)
        path = folder / file_name(note.id)
        if path.exists() and not self._holds(path, note.id, note.realm):
            return folder / hashed_file_name(note.id)
        return path

    def _holds(self, path: Path, note_id: str, realm: str) -> bool:
        try:
            note = self.read(path)
        except (OSError, ValueError):
            return False
        return note.id == note_id and realm in ("", note.realm)

    def _realm_at(self, path: Path) -> str:
        try:
            return folder_realm(path.parent.relative_to(self.root).as_posix())
        except ValueError:
            return GLOBAL


def _ignore(problem: OSError) -> None:
    """A folder that cannot be read holds nothing that can be found."""


def stays_below(path: str, root: str | os.PathLike[str]) -> bool:
    """Whether a link leads to a file in the notes folder: a repository of notes could bring one to any other file."""
    return os.path.realpath(path).startswith(os.path.join(os.path.realpath(root), ""))


def _is_inside(folder: Path, root: Path) -> bool:
    """Whether what is written in the folder, once its links are followed, lands in the notes folder."""
    return os.path.realpath(folder) == os.path.realpath(root) or stays_below(str(folder), root)


def _fact(entry: os.DirEntry[str], root: Path) -> FileFact | None:
    if not entry.name.endswith(".md"):
        return None
    try:
        if not entry.is_file() or (entry.is_symlink() and not stays_below(entry.path, root)):
            return None
        status = entry.stat()
    except OSError:  # gone since the folder was listed, or a link to nowhere
        return None
    return FileFact(Path(entry.path), status.st_mtime_ns, status.st_size)


def _make_private(folder: Path) -> None:
    """Make the missing folders, each for the owner alone; ``os.makedirs`` gives its mode to the last one only."""
    missing = []
    while not folder.is_dir():
        missing.append(folder)
        folder = folder.parent
    for made in reversed(missing):
        try:
            made.mkdir(mode=0o700)
        except FileExistsError:
            if not made.is_dir():
                raise
        _sync_folder(made.parent)


def _replace(path: Path, content: bytes) -> None:
    """Put ``content`` at ``path`` in one step that a crash cannot halve."""
    handle, temporary = tempfile.mkstemp(prefix=".", suffix=".tmp", dir=path.parent)  # made with mode 0600
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
    except BaseException:
        os.unlink(temporary)
        raise
    _sync_folder(path.parent)


def _sync_folder(folder: Path) -> None:
    """Make a rename in ``folder`` durable, where the file system can."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    except OSError as problem:
        if problem.errno not in (errno.EINVAL, errno.ENOTSUP, errno.EBADF):
            raise
    finally:
        os.close(handle)
