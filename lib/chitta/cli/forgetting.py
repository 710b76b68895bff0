"""Taking a note out for good: its file, its older versions, the index that still holds its words, and the logs.

An index does not give up the words of a note that is dropped from it: segments and free pages keep them until
something else needs the room. So a new generation is made, with the vectors of all other notes as they are, and the
old one is removed at once. Logs name a note by its id, which is made of its title: there a name of the same length
takes its place, written over it, so that lines that hooks add meanwhile are safe.
"""

from __future__ import annotations

import os
import secrets
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path

from chitta.cli import bookshelf, replaced, upkeep
from chitta.cli.failure import Failure
from chitta.curation.supersede import VERSION_OF
from chitta.settings import Settings
from chitta.wire import codec

#: Bytes of a file of the state folder that are looked through at once.
_MOST_BYTES = 64 << 20
#: How the name begins that stands in the logs where a forgotten note's stood.
FORGOTTEN = "forgotten-"


def with_versions(settings: Settings, found: Sequence[bookshelf.Found]) -> list[bookshelf.Found]:
    """These notes, and after each the older versions that were kept under its id when a changed source came in."""
    every: dict[Path, bookshelf.Found] = {}
    with bookshelf.opened(settings) as snapshot:
        shelf = bookshelf.Shelf(settings, snapshot)
        for item in found:
            every.setdefault(item.path, item)
            fragment = codec.dumps([VERSION_OF, item.note.id]).decode()
            for note in snapshot.catalog.holding([fragment]) if snapshot is not None else ():
                older = shelf.locate(note) if note.realm == item.note.realm else None
                if older is not None:
                    every.setdefault(older.path, older)
    return list(every.values())


def finish(settings: Settings, ids: Collection[str]) -> list[str]:
    """After the files are gone: the index without their words, the logs without their ids; what is left to say, also of
    the notes that they had replaced.

    Raises :class:`Failure` where the index cannot be made without them: what it holds can still be shown.
    """
    try:
        problems = replaced.left_behind(settings, ids)
    except Exception as problem:  # the index is made anew all the same
        problems = [f"which notes these had replaced cannot be told: {problem}"]
    problems += [f"{path}: {problem}" for path, problem in unname(settings.state_dir, ids)]
    try:
        problems += upkeep.level(settings, full=True).problems
    except Exception as problem:
        files = "file is" if len(ids) == 1 else "files are"
        raise Failure(
            f"the {files} gone, but the index still holds {', '.join(ids)} and may show it: {problem}",
            "`chitta doctor` says what is wrong; then `chitta reindex --full` takes it out of the index",
        ) from problem
    problems += _swept(settings)
    if os.path.isdir(os.path.join(settings.notes_dir, ".git")):
        problems.append(
            "the history of your synchronised notes (.git in the notes folder, and where it was sent) still has what"
            " was forgotten; only rewriting that history removes it"
        )
    return problems


def _swept(settings: Settings) -> list[str]:
    from chitta.index import IndexFault, generation
    from chitta.index.lock import held

    try:
        with held(settings.index_dir):
            generation.sweep(settings.index_dir)
    except IndexFault as problem:
        return [f"an older index with the forgotten words is removed with the next change of a note: {problem}"]
    return []


def unname(state_dir: str, ids: Collection[str]) -> list[tuple[str, OSError]]:
    """Write over these ids in every file below ``state_dir``; the files where that failed."""
    marks = [b'"%s"' % form for name in ids for form in _forms(name)]
    failed: list[tuple[str, OSError]] = []
    if not marks:
        return failed
    new = {mark: _other(mark) for mark in marks}
    for path in _files(state_dir):
        try:
            _overwrite(path, new)
        except OSError as problem:
            failed.append((path, problem))
    return failed


def _forms(name: str) -> set[bytes]:
    """The id as JSON writes it: with its letters, or escaped."""
    import json

    return {codec.dumps(name)[1:-1], json.dumps(name).encode()[1:-1]}


def _other(mark: bytes) -> bytes:
    """A quoted name as long as ``mark`` that says nothing, and is another one each time."""
    room = len(mark) - 2
    word = FORGOTTEN.encode() if room >= 18 else b""
    other = mark
    while other == mark:
        other = b'"' + (word + secrets.token_hex(room).encode())[:room] + b'"'
    return other


def _files(folder: str) -> Iterator[str]:
    for place, _, names in os.walk(folder):
        yield from (os.path.join(place, name) for name in sorted(names))


def _overwrite(path: str, new: dict[bytes, bytes]) -> None:
    file = os.open(path, os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK)
    try:
        data = os.pread(file, _MOST_BYTES, 0)
        for mark, other in new.items():
            at = data.find(mark)
            while at >= 0:
                if data[at + len(mark) : at + len(mark) + 1] != b":":  # a key of the line may be spelled like an id
                    os.pwrite(file, other, at)
                at = data.find(mark, at + len(mark))
    finally:
        os.close(file)
