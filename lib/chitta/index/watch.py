"""Whether the note files are still what the index says, asked again and again at little cost.

What the catalog knows of the files is read once for each of its commits. A look then costs one
listing a folder and one ``stat`` a file; a glance costs one ``stat`` a folder, and sees what came,
went or was replaced by a rename, but not what was written in place.

Which file is a note is :meth:`chitta.notes.store.NoteStore.scan`'s to say; this follows it.
"""

from __future__ import annotations

import hashlib
import os
import time
from collections.abc import Mapping
from threading import Lock

from chitta.index import IndexDamaged, generation
from chitta.index.catalog import Catalog
from chitta.index.generation import Generation
from chitta.notes.store import MAX_NOTE_BYTES, stays_below
from chitta.safety.version import rules_version

#: Some file systems keep times to two seconds: a file younger than this may change and keep its time.
FRESH_NS = 2_500_000_000


class _Folder:
    """What the catalog says of one folder: mtime_ns and size by name; digests of files that were young when read."""

    __slots__ = ("stamps", "young")

    def __init__(self) -> None:
        self.stamps: dict[str, tuple[int, int]] = {}
        self.young: dict[str, str] = {}


class Watch:
    """Watches one store's notes. Safe to share between threads."""

    def __init__(self, notes_dir: str, index_dir: str) -> None:
        self._notes_dir = notes_dir
        self._index_dir = index_dir
        self._lock = Lock()
        self._found: Generation | None = None
        self._catalog: Catalog | None = None
        self._version: tuple[int, ...] | None = None
        self._known: dict[str, _Folder] = {}
        self._times: dict[str, int] = {}

    def changed(self) -> bool:
        """Whether any file is new, gone or changed, by time and size; also where that cannot be told. Never raises."""
        with self._lock:
            try:
                self._learn()
                return self._look()
            except (OSError, IndexDamaged):
                return True

    def glance(self) -> bool:
        """Whether a folder is not what it was when :meth:`changed` last found nothing.

        A change within the clock's tick of that look is missed; the next look finds it.
        """
        return any(_folder_time(path) != time_ns for path, time_ns in self._times.items())

    def close(self) -> None:
        """Let go of the catalog; it is opened again when it is needed."""
        with self._lock:
            self._forget()

    def _forget(self) -> None:
        if self._catalog is not None:
            self._catalog.close()
        self._found, self._catalog, self._version, self._known = None, None, None, {}

    def _learn(self) -> None:
        """Read what the index says of the files, unless that is known. Raises :class:`IndexDamaged`."""
        found = generation.current(self._index_dir)
        if found == self._found and self._is_level():
            return
        self._forget()
        if found is not None:
            self._catalog = Catalog(found.catalog)
            if self._catalog.rules() != rules_version():  # what is indexed went through other rules
                raise IndexDamaged(f"{found.catalog} was made by other rules")
            version = self._catalog.version()  # before the facts: what is committed meanwhile is read again
            self._known = _by_folder(self._catalog.file_facts())
            self._found, self._version = found, version

    def _is_level(self) -> bool:
        try:
            return self._catalog is None or self._catalog.version() == self._version
        except IndexDamaged:
            return False

    def _look(self) -> bool:
        """Raises ``OSError`` for a file that goes away under our eyes."""
        times: dict[str, int] = {}
        seen: set[str] = set()
        hidden: list[str] = []
        pending = [(self._notes_dir, "")]
        while pending:
            path, key = pending.pop()
            time_ns = _folder_time(path)
            try:
                if not _as_known(path, key, self._known.get(key), pending, self._notes_dir):
                    return True
                seen.add(key)
            except FileNotFoundError:  # no notes yet, or a folder that went away meanwhile
                pass
            except OSError:  # its notes are out of sight, not gone
                hidden.append(key)
                continue
            times[path] = time_ns
        if hidden and self._found is None:
            return True
        if any(key not in seen and not key.startswith(tuple(hidden)) for key in self._known):
            return True
        self._times = times
        return False


def _as_known(path: str, key: str, known: _Folder | None, below: list[tuple[str, str]], root: str) -> bool:
    """Whether one folder holds the files that are known of it and no others; its folders are added to ``below``.

    Raises ``OSError`` where it cannot be read.
    """
    stamps: Mapping[str, tuple[int, int]] = known.stamps if known is not None else {}
    count = 0
    with os.scandir(path) as entries:
        for entry in entries:
            name = entry.name
            if name.startswith("."):
                continue
            if name.endswith(".md") and entry.is_file() and (not entry.is_symlink() or stays_below(entry.path, root)):
                try:
                    status = entry.stat()
                except OSError:  # gone since the folder was listed, or a link to nowhere
                    continue
                text = name if name.isascii() else as_text(name)
                stamp = stamps.get(text)
                if stamp is None or stamp[0] != status.st_mtime_ns or stamp[1] != status.st_size:
                    return False
                if known is not None and known.young and not _still(entry.path, text, stamp[0], known.young):
                    return False
                count += 1
            elif entry.is_dir(follow_symlinks=False):
                below.append((entry.path, f"{key}{as_text(name)}/"))
    return count == len(stamps)


def _still(path: str, name: str, mtime_ns: int, young: dict[str, str]) -> bool:
    """Whether a file that was young when it was read still holds what it held then; looked into until it is no more."""
    known = young.get(name)
    if known is None:
        return True
    now = time.time_ns()
    digest = digest_of(path)
    if digest == known and now - mtime_ns > FRESH_NS:
        del young[name]
    return digest in (known, "")


def _by_folder(facts: Mapping[str, tuple[int, int, str, bool]]) -> dict[str, _Folder]:
    folders: dict[str, _Folder] = {}
    for key, (mtime_ns, size, digest, fresh) in facts.items():
        cut = key.rfind("/") + 1
        folder = folders.setdefault(key[:cut], _Folder())
        name = key[cut:]
        folder.stamps[name] = (mtime_ns, size)
        if fresh:
            folder.young[name] = digest
    return folders


def _folder_time(path: str) -> int:
    """Changes when something in a folder is made, removed or renamed; 0 for one that is not there."""
    try:
        return os.stat(path).st_mtime_ns
    except OSError:
        return 0


def as_text(name: str) -> str:
    """A file's name or path as text that any encoding holds."""
    return os.fsencode(name).decode("utf-8", "backslashreplace")


def digest_of(path: str | os.PathLike[str]) -> str:
    """sha256 of a file, "" for one that cannot be read or is too large for a note. Raises ``FileNotFoundError``."""
    try:
        with open(path, "rb") as file:
            data = file.read(MAX_NOTE_BYTES + 1)
    except FileNotFoundError:
        raise
    except OSError:
        return ""
    return hashlib.sha256(data).hexdigest() if len(data) <= MAX_NOTE_BYTES else ""
