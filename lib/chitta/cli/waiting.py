"""Notes that wait for a person, as the index knows them, and what is done with them."""

from __future__ import annotations

import datetime
from collections import Counter
from pathlib import Path

from chitta.cli import bookshelf
from chitta.cli.failure import Failure
from chitta.curation import gathering, promotion, refused
from chitta.curation.promotion import Waiting
from chitta.notes.note import Note
from chitta.notes.store import NoteStore
from chitta.safety import SUSPECTED
from chitta.settings import Settings

#: Pieces of the stored form by which the catalog finds them.
_FRAGMENTS = ('"authority":"captured"', '"authority":"doubted"', '"quarantine":true', '"conflicts_with"')


def all_waiting(settings: Settings, *, realm: str = "", proved_first: bool = False) -> list[Waiting]:
    """Every note that waits (see :func:`chitta.curation.promotion.waiting`), of one realm where it is named."""
    with bookshelf.opened(settings) as snapshot:
        notes = snapshot.catalog.holding(_FRAGMENTS) if snapshot is not None else []
    chosen = [note for note in notes if realm in ("", note.realm)]
    return promotion.waiting(chosen, proved_first=proved_first)


def counts(settings: Settings) -> dict[str, int]:
    """How many notes wait, by state; states of which there are none are left out."""
    return dict(sorted(Counter(one.state for one in all_waiting(settings)).items()))


def learned(settings: Settings) -> dict[str, int]:
    """How many notes of the store were ``captured``, how many of what was captured a person has ``reviewed`` (kept,
    edited, merged or refused), and how many transcripts were ``drained``."""
    from chitta.drain import ledger

    with bookshelf.opened(settings) as snapshot:
        notes = snapshot.catalog.holding(('"captured",',)) if snapshot is not None else []
    captured = [note for note in notes if dict(note.extra).get(promotion.CAPTURED)]
    refusals = len(refused.refused_keys(settings.state_dir))
    decided = sum(promotion.as_waiting(note) is None for note in captured)
    drained = {run.transcript for run in ledger.read(settings.state_dir) if run.outcome == ledger.DONE}
    return {"captured": len(captured) + refusals, "reviewed": decided + refusals, "drained": len(drained)}


def words_of(found: dict[str, int]) -> str:
    """The counts for people: ``2 captured, 1 quarantined``; "" for none."""
    return ", ".join(f"{count:,} {state}" for state, count in found.items())


def judged(item: bookshelf.Found) -> bookshelf.Found:
    """The note with the suspicion that the index has of it, where its file does not say so itself."""
    from chitta.safety.cleaning import clean

    cleaned = clean(item.note)
    if item.note.quarantine or not cleaned.note.quarantine:
        return item
    extra = dict(item.note.extra) | {SUSPECTED: list(cleaned.suspected)}
    return item._replace(note=item.note._replace(quarantine=True, extra=tuple(extra.items())))


def keep(settings: Settings, item: bookshelf.Found, kind: str = "") -> Note:
    """Keep the note as one's own, of this kind or the one that fits."""
    new = promotion.kept(judged(item).note, kind or promotion.suggested_kind(item.note), _today())
    with bookshelf.changing(settings):
        _refuse_changed(settings, item)
        NoteStore(settings.notes_dir).write(new, path=item.path)
    return new


def release(settings: Settings, item: bookshelf.Found) -> Note:
    """Take the note out of quarantine; it waits no more unless it was captured."""
    new = promotion.released(judged(item).note)
    with bookshelf.changing(settings):
        _refuse_changed(settings, item)
        NoteStore(settings.notes_dir).write(new, path=item.path)
    return new


def forget(settings: Settings, item: bookshelf.Found) -> None:
    """Remove the note for good, and keep it from being captured again."""
    refused.refuse(settings.state_dir, item.note.realm, item.note.id)
    item.path.unlink(missing_ok=True)


def merge(settings: Settings, into: bookshelf.Found, item: bookshelf.Found) -> list[Path]:
    """Join the note into another one; the files that were written."""
    store = NoteStore(settings.notes_dir)
    with bookshelf.changing(settings):
        _refuse_changed(settings, item)
        whole, gone = gathering.gathered([bookshelf.again(settings, into).note, item.note], _today())
        return [store.write(whole, path=into.path), store.write(gone[0], path=item.path)]


def merged(into: Note, note: Note) -> Note:
    """What :func:`merge` would make of two notes."""
    return gathering.gathered([into, note], _today())[0]


def _refuse_changed(settings: Settings, item: bookshelf.Found) -> None:
    """Raises :class:`Failure` where the note's file says something else than what the person was shown."""
    if judged(bookshelf.again(settings, item)).note != judged(item).note:
        raise Failure(f"the note {item.note.id} was changed meanwhile", "look at it again: nothing was done with it")


def _today() -> str:
    return datetime.date.today().isoformat()
