"""Kinds of note as they are typed: those that no note could have are told before anything is searched."""

from __future__ import annotations

from collections.abc import Sequence

from chitta.cli import bookshelf, upkeep
from chitta.cli.failure import Misuse
from chitta.notes.note import BOOKKEEPING_KINDS, KNOWLEDGE_KINDS
from chitta.recall.filters import SESSION
from chitta.settings import Settings


def checked(settings: Settings, kinds: Sequence[str]) -> list[str]:
    """What a person should know of these kinds. Raises :class:`Misuse` for one that no note here could have.

    Other kinds than chitta's own are known where a note of the store has them.
    """
    answering = [kind for kind in dict.fromkeys(kinds) if kind != SESSION]
    if kinds and not answering:
        raise Misuse(
            f"--kind {SESSION}: that is bookkeeping, which is never an answer", f"`chitta list --kind {SESSION}`"
        )
    unknown = [kind for kind in answering if kind not in KNOWLEDGE_KINDS and kind not in BOOKKEEPING_KINDS]
    if unknown:
        upkeep.freshen(settings)
        with bookshelf.opened(settings) as snapshot:
            if snapshot is not None:
                unknown = [kind for kind in unknown if not snapshot.catalog.page(kind=kind, limit=1)]
            if snapshot is None or "catalog" in snapshot.damaged:
                unknown = []  # nothing is known of its kinds
    if unknown:
        kinds = ", ".join((*KNOWLEDGE_KINDS, *(kind for kind in BOOKKEEPING_KINDS if kind != SESSION)))
        raise Misuse(f"--kind: no note is of the kind {unknown[0]!r}", f"kinds are {kinds}")
    return [f"chitta: notes of the kind {SESSION} are bookkeeping, never an answer"] if SESSION in kinds else []
