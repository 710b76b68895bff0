"""Vectors for notes that have none, in steps that a kill loses at most one of.

The model runs without any lock on the index; only storing a step's vectors takes the write lock,
so a note remembered meanwhile does not wait for thousands of others. A second lock lets one
process at a time work through the whole list.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from chitta.index import IndexDamaged, IndexFault, generation
from chitta.index.catalog import Catalog, Model
from chitta.index.generation import Generation
from chitta.index.ledger import Ledger, NewVector, embedded_text, text_key
from chitta.index.lock import held
from chitta.index.vectors import read_rows

if TYPE_CHECKING:
    from chitta.models.protocol import Embedder

#: Notes embedded between two commits.
STEP = 256
#: Which notes wait, the newest first, is asked anew after a step, where that has taken so many times as long as the
#: question: of a million notes it takes 1.7 s. In between so many are known.
_LOOK_SHARE = 10
_LOOKED_AHEAD = 64 * STEP

Progress = Callable[[str, int, int], None]


def embed_pending(
    index_dir: str,
    embedder: Embedder,
    *,
    only: Sequence[str] | None = None,
    progress: Progress | None = None,
    wait: float,
    problems: list[str],
) -> int:
    """Embed notes that have no vector (``only`` these, or all), newest first; how many were stored.

    A model that fails is a problem, not an error: words find the notes meanwhile. So is another
    model's vectors when only some notes are asked for: they are not thrown away for a few. Raises
    :class:`chitta.index.IndexBusy` when another process is at it.
    """
    if only is not None:
        if only and _adopt(index_dir, embedder, wait, replace=False, problems=problems):
            return _embed(index_dir, embedder, set(only), progress, wait, problems)
        return 0
    with held(index_dir, "embed", wait):
        _adopt(index_dir, embedder, wait, replace=True, problems=problems)
        return _embed(index_dir, embedder, None, progress, wait, problems)


def _adopt(index_dir: str, embedder: Embedder, wait: float, *, replace: bool, problems: list[str]) -> bool:
    """Make the index the embedder's; with ``replace`` also when that forgets the vectors of another one."""
    model = Model(embedder.name, embedder.dim)
    current, had = _current(index_dir)
    if had == model:
        return True
    with held(index_dir, wait=wait):
        ledger = Ledger(current.catalog)
        try:
            if not replace and ledger.has_vectors():
                problems.append(f"vectors were made by {had.name}, not {model.name}: run `chitta reindex`")
                return False
            ledger.set_model(model)
            ledger.commit()
            return True
        finally:
            ledger.close()


def _embed(
    index_dir: str,
    embedder: Embedder,
    only: set[str] | None,
    progress: Progress | None,
    wait: float,
    problems: list[str],
) -> int:
    stored = 0
    tried: set[str] = set()
    waiting: list[str] = []
    left = 0
    look_again = 0.0
    while True:
        if not waiting or time.monotonic() >= look_again:
            began = time.monotonic()
            waiting, left = _waiting(index_dir, only, tried)
            look_again = time.monotonic() + _LOOK_SHARE * (time.monotonic() - began)
        if not waiting:
            return stored
        step, waiting = waiting[:STEP], waiting[STEP:]
        tried.update(step)
        total = stored + left
        try:
            asked, vectors = _vectors(index_dir, embedder, step, progress, stored, total)
        except IndexFault:
            raise
        except Exception as problem:  # whatever a model throws, the words are safe
            problems.append(f"{embedder.name} stopped: {problem}; {left} notes wait for their vectors")
            return stored
        if len(vectors) < asked:
            problems.append(f"{embedder.name} gave no vector for {asked - len(vectors)} notes")
        with held(index_dir, wait=wait):
            added = _store(index_dir, Model(embedder.name, embedder.dim), vectors)
        if added is None:
            problems.append("another process changed the embedding model; its vectors are kept")
            return stored
        stored += added
        left -= len(step)
        if progress is not None:
            progress("vectors", stored, max(total, stored))


def _vectors(
    index_dir: str, embedder: Embedder, step: Sequence[str], progress: Progress | None, done: int, total: int
) -> tuple[int, list[NewVector]]:
    """How many of these notes there still are, and their vectors as they are to be stored, but those not finite."""
    import numpy as np

    catalog = Catalog(_current(index_dir)[0].catalog)
    try:
        notes = list(catalog.notes(step).values())
    finally:
        catalog.close()
    if not notes:
        return 0, []
    inner = None if progress is None else (lambda part, _: progress("vectors", done + part, total))
    matrix = np.asarray(embedder.embed_notes([embedded_text(note.title, note.text) for note in notes], inner))
    if matrix.shape != (len(notes), embedder.dim):
        raise ValueError(f"it gave vectors of shape {matrix.shape} for {len(notes)} notes of dimension {embedder.dim}")
    lengths = np.linalg.norm(matrix, axis=1)
    good = np.isfinite(lengths) & (lengths > 0)
    rows = (matrix / np.where(good, lengths, 1.0)[:, None]).astype("<f2")
    made = zip(notes, rows, good, strict=True)
    return len(notes), [NewVector(note.id, text_key(note), row.tobytes()) for note, row, fine in made if fine]


def _store(index_dir: str, model: Model, vectors: Sequence[NewVector]) -> int | None:
    """Store a step's vectors; None when the index meanwhile belongs to another model."""
    current = _current(index_dir)[0]
    ledger = Ledger(current.catalog)
    try:
        if ledger.model() != model:
            return None
        added = ledger.add_vectors(current.vectors, vectors)
        ledger.commit()
        return added
    finally:
        ledger.close()


def carry_vectors(old: Generation | None, ledger: Ledger, built: Generation, model: Model | None) -> int:
    """Copy vectors of the old generation for notes whose text is the same; how many.

    ``model`` None keeps the old generation's. Vectors of another model, and rows that are damaged,
    stay behind. An old generation that cannot be read gives none.
    """
    had, places = _held_vectors(old)
    ledger.set_model(model or had)
    if old is None or not had.name or ledger.model() != had:
        return 0
    wanted: dict[str, list[tuple[int, str, str]]] = {}
    for name, key in ledger.waiting():
        if key in places:
            file, row = places[key]
            wanted.setdefault(file, []).append((row, name, key))
    count = 0
    for file, notes in sorted(wanted.items()):
        rows = read_rows(os.path.join(old.vectors, file), had.dim, [row for row, _, _ in notes])
        found = zip(notes, rows, strict=True)
        carried = [NewVector(name, key, row) for (_, name, key), row in found if row is not None]
        count += ledger.add_vectors(built.vectors, carried)
    return count


def _held_vectors(old: Generation | None) -> tuple[Model, dict[str, tuple[str, int]]]:
    """The generation's model and the place of each vector by text key; nothing where it cannot be read."""
    if old is None:
        return Model(), {}
    try:
        catalog = Catalog(old.catalog, any_version=True)
    except IndexDamaged:
        return Model(), {}
    try:
        return catalog.model(), catalog.vector_places()
    except IndexDamaged:
        return Model(), {}
    finally:
        catalog.close()


def _waiting(index_dir: str, only: set[str] | None, tried: set[str]) -> tuple[list[str], int]:
    """The next notes without a vector, newest first, that were not ``tried``, and how many there are in all.

    What was tried and has its vector by now is taken out of ``tried``.
    """
    catalog = Catalog(_current(index_dir)[0].catalog)
    try:
        found = catalog.waiting(-1 if only is not None else _LOOKED_AHEAD + len(tried))
        tried.intersection_update(found)
        new = [name for name in found if name not in tried and (only is None or name in only)]
        return new, len(new) if only is not None else catalog.pending() - len(tried)
    finally:
        catalog.close()


def _current(index_dir: str) -> tuple[Generation, Model]:
    current = generation.current(index_dir)
    if current is None:
        raise IndexDamaged(f"there is no index in {index_dir}")
    catalog = Catalog(current.catalog)
    try:
        return current, catalog.model()
    finally:
        catalog.close()
