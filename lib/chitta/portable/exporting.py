"""Notes out of the store: as JSONL, and as a folder of Markdown that can be exported to again and again."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from chitta.leftovers import is_half_written, sweep_folder
from chitta.notes.frontmatter import fields_of, format_note
from chitta.notes.note import Note
from chitta.notes.store import NoteStore
from chitta.portable.whole_files import lies_in, write_whole

#: The list of what an export wrote, in its folder: nothing else there is ever changed or removed.
LIST_NAME = ".chitta-export"
_MOST_LIST_BYTES = 64 << 20


class Wanted(NamedTuple):
    """Which notes: of one realm (None: all) and of these kinds (empty: all)."""

    realm: str | None = None
    kinds: tuple[str, ...] = ()
    captured: bool = True

    def takes(self, note: Note) -> bool:
        return (
            self.realm in (None, note.realm)
            and (not self.kinds or note.kind in self.kinds)
            and (self.captured or note.authority != "captured")
        )


class Stored(NamedTuple):
    """A note of the store and its file below the notes folder; ``note`` is None where it cannot be read."""

    note: Note | None
    below: str
    problem: str = ""


class Folder(NamedTuple):
    """What became of a folder that was exported to: files below it, by outcome.

    ``stale``: written by an earlier export, and none of this one's notes; ``kept``: not an export's
    file, and left as it is, so that the note of this name is not exported.
    """

    written: tuple[str, ...] = ()
    unchanged: tuple[str, ...] = ()
    stale: tuple[str, ...] = ()
    pruned: tuple[str, ...] = ()
    kept: tuple[str, ...] = ()


def stored(notes_dir: str | Path) -> Iterator[Stored]:
    """Every note of the store in a fixed order; what cannot be read comes with the reason. Raises ``OSError``."""
    store = NoteStore(notes_dir)
    for fact in store.scan():
        below = fact.path.relative_to(store.root).as_posix()
        try:
            yield Stored(store.read(fact.path), below)
        except OSError as problem:
            yield Stored(None, below, f"cannot be read: {problem.strerror or problem}")
        except ValueError as problem:
            yield Stored(None, below, str(problem))


def json_line(note: Note) -> str:
    """The note as one line of JSON, without a line break at its end: the keys as import reads them, ``text`` last.

    An unknown key that is called ``text`` is written as ``text_``.
    """
    fields = {("text_" if name == "text" else name): value for name, value in fields_of(note).items()}
    return json.dumps({**fields, "text": note.text}, ensure_ascii=False)


def write_jsonl(path: Path, notes: Iterable[Note]) -> int:
    """Write the notes to ``path``, a note a line, and say how many. Raises ``OSError``."""
    lines = [json_line(note) + "\n" for note in notes]
    write_whole(path, "".join(lines).encode())
    sweep_folder(str(path.parent))
    return len(lines)


def write_folder(target: Path, notes: Iterable[tuple[str, Note]], *, forbidden: Path, prune: bool = False) -> Folder:
    """Bring ``target`` level with ``notes``, given with their places below the store's folder.

    A file that is right already is not touched. Files of an earlier export that are none of these
    notes are removed with ``prune`` and otherwise named. Raises ``OSError``, and ``ValueError`` where
    a link would lead into ``forbidden``.
    """
    earlier = _listed(target)
    outcome: dict[str, list[str]] = {name: [] for name in Folder._fields}
    seen: set[str] = set()
    begun = _Begun(target, earlier)
    for below, note in notes:
        path = target / below
        if lies_in(path, forbidden):
            raise ValueError(f"{path} leads into the store")
        content = format_note(note).encode()
        there = _content(path)
        seen.add(below)
        if there == content:
            outcome["unchanged"].append(below)
        elif there is not None and below not in earlier:
            outcome["kept"].append(below)
        else:
            begun.add(below)
            write_whole(path, content)
            outcome["written"].append(below)
    for below in sorted(earlier - seen):
        path = target / below
        if path.is_file() and not lies_in(path, forbidden):
            outcome["pruned" if prune else "stale"].append(below)
            if prune:
                path.unlink()
    for folder in {target, *((target / below).parent for below in seen)}:
        sweep_folder(str(folder))
    ours = {*outcome["written"], *outcome["unchanged"], *outcome["stale"]}
    listing = "".join(f"{below}\n" for below in sorted(ours)).encode()
    if _content(target / LIST_NAME) != listing:
        write_whole(target / LIST_NAME, listing)
    return Folder(**{name: tuple(sorted(paths)) for name, paths in outcome.items()})


def is_export(path: Path) -> bool:
    """Whether a JSONL file is an earlier export: empty, or its first line a note as :func:`json_line` writes it."""
    try:
        with open(path, "rb") as file:
            first = file.readline(_MOST_LIST_BYTES)
        fields = json.loads(first) if first.strip() else {"id": "", "text": "", "realm": ""}
    except (OSError, ValueError, RecursionError):
        return False
    return isinstance(fields, dict) and {"id", "text", "realm"} <= fields.keys()


def not_exported(target: Path) -> str:
    """A name directly in the folder that is no export's, nor what one that was killed left; "" where there is none."""
    tops = {below.split("/")[0] for below in _listed(target)} | {LIST_NAME}
    names = sorted(os.listdir(target))
    return next((name for name in names if name not in tops and not is_half_written(name)), "")


class _Begun:
    """The list while an export is at work: a file is on it before it is written, so that an export which was killed
    knows its own files when it is begun again.
    """

    def __init__(self, target: Path, earlier: set[str]) -> None:
        self._path = target / LIST_NAME
        self._names = set(earlier)
        self._whole = False

    def add(self, below: str) -> None:
        if below in self._names:
            return
        if not self._whole:  # anew, since its last line may have been cut short
            write_whole(self._path, "".join(f"{name}\n" for name in sorted(self._names)).encode())
            self._whole = True
        with open(self._path, "ab") as file:
            file.write(f"{below}\n".encode())
        self._names.add(below)


def _listed(target: Path) -> set[str]:
    """What earlier exports wrote here. A line that could lead out of the folder is passed over."""
    content = _content(target / LIST_NAME)
    if content is None or len(content) > _MOST_LIST_BYTES:
        return set()
    lines = content.decode("utf-8", "replace").split("\n")
    return {
        line
        for line in lines
        if line.endswith(".md") and not line.startswith("/") and not any(part in ("..", "") for part in line.split("/"))
    }


def _content(path: Path) -> bytes | None:
    try:
        return path.read_bytes()
    except OSError:
        return None
