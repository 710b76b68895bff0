"""Bringing the index up to date with the notes.

A sync compares every note file with what the catalog knows of it, reads those that changed, and
commits in an order that leaves the index readable wherever the process may die: keywords first,
then the catalog that names them. Vectors follow in steps of their own
(:mod:`chitta.index.embedding`), so that new notes are found by their words at once.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, NamedTuple

from chitta.index import IndexBusy, IndexDamaged, generation
from chitta.index.catalog import Catalog, Model
from chitta.index.changes import Change, Counts, apply, file_changes, path_changes
from chitta.index.earlier import Earlier
from chitta.index.embedding import carry_vectors, embed_pending
from chitta.index.generation import Generation
from chitta.index.keyword import KeywordIndex, KeywordWriter
from chitta.index.ledger import Ledger
from chitta.index.lock import WAIT_SECONDS, held
from chitta.index.watch import Watch
from chitta.notes.store import NoteStore
from chitta.safety.version import rules_version
from chitta.settings import Settings

if TYPE_CHECKING:
    from chitta.models.protocol import Embedder

Progress = Callable[[str, int, int], None]


class SyncReport(NamedTuple):
    """What a sync did. ``pending`` notes wait for their vector; ``problems`` are sentences for people."""

    added: int = 0
    updated: int = 0
    removed: int = 0
    unchanged: int = 0
    embedded: int = 0
    pending: int = 0
    seconds: float = 0.0
    generation: int = 0
    problems: tuple[str, ...] = ()


def sync(
    settings: Settings,
    embedder: Embedder | None,
    *,
    full: bool = False,
    progress: Progress | None = None,
    wait: float = WAIT_SECONDS,
) -> SyncReport:
    """Bring the whole index up to date; ``full`` builds a new one and keeps only vectors that still hold.

    ``progress`` is called with a stage (``notes``, ``vectors``), how many are done and of how many.
    Raises :class:`chitta.index.IndexBusy` when another process writes for longer than ``wait``
    seconds, and :class:`chitta.index.IndexFault` when the index cannot be written.
    """
    return _run(settings, embedder, None, full=full, progress=progress, wait=wait)


def quick_sync_paths(
    settings: Settings,
    paths: Iterable[str | os.PathLike[str]],
    embedder: Embedder | None,
    *,
    wait: float = WAIT_SECONDS,
) -> SyncReport:
    """Bring the index up to date with these note files alone (written, changed or gone).

    Without an index, or with a damaged one, this is a :func:`sync`. Raises the same errors.
    """
    return _run(settings, embedder, [os.fspath(path) for path in paths], full=False, progress=None, wait=wait)


def needs_sync(settings: Settings) -> bool:
    """Whether the notes are other than the index says, by time and size of each file. Never raises."""
    watch = Watch(settings.notes_dir, settings.index_dir)
    try:
        return watch.changed()
    finally:
        watch.close()


def lacks_vectors(settings: Settings, embedder: Embedder) -> bool:
    """Whether any note has no vector of this model yet, also where that cannot be told. Never raises."""
    try:
        current = generation.current(settings.index_dir)
        if current is None:
            return True
        catalog = Catalog(current.catalog)
        try:
            return catalog.pending() > 0 or catalog.model() != Model(embedder.name, embedder.dim)
        finally:
            catalog.close()
    except IndexDamaged:
        return True


def standing(settings: Settings) -> SyncReport:
    """How the index stands, as the report of a sync that did nothing. Raises :class:`chitta.index.IndexFault`."""
    pending, number = _state(settings.index_dir)
    return SyncReport(pending=pending, generation=number)


def _run(
    settings: Settings,
    embedder: Embedder | None,
    paths: Sequence[str] | None,
    *,
    full: bool,
    progress: Progress | None,
    wait: float,
) -> SyncReport:
    started = time.monotonic()
    index_dir = settings.index_dir
    notes = NoteStore(settings.notes_dir)
    problems: list[str] = []
    with held(index_dir, wait=wait):
        generation.sweep(index_dir)
        found = None if full else _usable(index_dir, problems)
        counts = None
        if found is not None:
            try:
                counts = _update(notes, found, paths, problems, progress)
            except IndexDamaged as damage:
                problems.append(f"{damage}; the index was rebuilt")
        if counts is None:
            model = Model(embedder.name, embedder.dim) if embedder is not None else None
            counts = _rebuild(notes, index_dir, model, problems, progress)
    embedded = 0
    if embedder is not None:
        only = counts.touched if paths is not None else None
        try:
            embedded = embed_pending(index_dir, embedder, only=only, progress=progress, wait=wait, problems=problems)
        except IndexBusy as busy:
            problems.append(f"vectors wait: {busy}")
    pending, number = _state(index_dir)
    return SyncReport(
        added=counts.added,
        updated=counts.updated,
        removed=counts.removed,
        unchanged=counts.unchanged,
        embedded=embedded,
        pending=pending,
        seconds=round(time.monotonic() - started, 3),
        generation=number,
        problems=tuple(dict.fromkeys(problems)),
    )


def _usable(index_dir: str, problems: list[str]) -> Generation | None:
    """The current generation, when it can be updated in place."""
    current = generation.current(index_dir)
    if current is None:
        return None
    try:
        catalog = Catalog(current.catalog)
        try:
            if catalog.rules() != rules_version():
                return None
        finally:
            catalog.close()
        KeywordIndex.open(current.keyword)
    except IndexDamaged as damage:
        problems.append(f"{damage}; the index was rebuilt")
        return None
    return current


def _update(
    notes: NoteStore,
    current: Generation,
    paths: Sequence[str] | None,
    problems: list[str],
    progress: Progress | None,
) -> Counts | None:
    """Changes made inside the current generation; None when it turns out not to fit together."""
    ledger = Ledger(current.catalog)
    try:
        lost = ledger.tidy_vectors(current.vectors, thorough=paths is None)
        if lost:
            problems.append(f"{lost} vectors were missing or damaged and are made again")
        changes = file_changes(notes, ledger, problems) if paths is None else path_changes(notes, ledger, paths)
        counts = _apply(notes, ledger, current, changes, problems, progress)
        counts.unchanged = ledger.count() - counts.added - counts.updated
        whole = ledger.count()
    finally:
        ledger.close()
    if KeywordIndex.open(current.keyword).count == whole:
        return counts
    problems.append("keywords and catalog did not hold the same notes; the index was rebuilt")
    return None


def _rebuild(
    notes: NoteStore, index_dir: str, model: Model | None, problems: list[str], progress: Progress | None
) -> Counts:
    """A new generation from all notes, with the vectors and the cleaned notes of the old one that still hold."""
    old = generation.current(index_dir)
    built = generation.begin(index_dir)
    before = _digests(old)
    ledger = Ledger(built.catalog, create=True)
    earlier = Earlier(old)
    try:
        counts = _apply(notes, ledger, built, file_changes(notes, ledger, problems), problems, progress, earlier)
        carry_vectors(old, ledger, built, model)
        ledger.commit()
    finally:
        earlier.close()
        ledger.close()
    after = _digests(built)
    generation.finish(index_dir, built)
    counts.added = len(after.keys() - before.keys())
    counts.removed = len(before.keys() - after.keys())
    counts.unchanged = sum(1 for name, digest in after.items() if before.get(name) == digest)
    counts.updated = len(after) - counts.added - counts.unchanged
    return counts


def _apply(
    notes: NoteStore,
    ledger: Ledger,
    target: Generation,
    changes: Sequence[Change],
    problems: list[str],
    progress: Progress | None,
    earlier: Earlier | None = None,
) -> Counts:
    writer = KeywordWriter(target.keyword)
    try:
        counts = apply(notes, ledger, writer, changes, problems, progress, earlier)
    finally:
        writer.close()
    for realm, own_id in ledger.doubles():
        problems.append(f"{realm}: more than one file holds the note {own_id}; only the first is used")
    return counts


def _digests(of: Generation | None) -> dict[str, str]:
    """sha256 of each note's file by id; nothing where the catalog cannot be read."""
    if of is None:
        return {}
    try:
        catalog = Catalog(of.catalog, any_version=True)
    except IndexDamaged:
        return {}
    try:
        return catalog.digests()
    except IndexDamaged:
        return {}
    finally:
        catalog.close()


def _state(index_dir: str) -> tuple[int, int]:
    """Notes without a vector, and the number of the current generation."""
    current = generation.current(index_dir)
    if current is None:
        return 0, 0
    catalog = Catalog(current.catalog)
    try:
        return catalog.pending(), current.number
    finally:
        catalog.close()
