"""What of the candidates a question lets stay: replaced, quarantined, expired, of other kinds, of other times."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping
from datetime import datetime, timezone
from typing import TYPE_CHECKING

from chitta.gateway.question import Question
from chitta.recall import filters, validity
from chitta.recall.fuse import Ranking

if TYPE_CHECKING:
    from chitta.gateway.reading import Reading
    from chitta.index.snapshot import Snapshot
    from chitta.notes.note import Note


class Sieve:
    """One question's filters over one snapshot. ``with_superseded`` shows replaced notes whatever the question says."""

    def __init__(self, snapshot: Snapshot, question: Question, now: datetime, with_superseded: bool) -> None:
        self._snapshot = snapshot
        self._question = question
        #: The moment in the past that the question is about.
        self._then = question.as_of or question.known_as_of
        self._now = _in_utc(question.valid_at or self._then or now)
        self._with_superseded = with_superseded or question.include_superseded or self._then is not None

    def kept(
        self, ranking: Ranking, reading: Reading, told: Collection[str] | None = None
    ) -> tuple[Ranking, Counter[str]]:
        """What stays, in order, and how many went by cause; of those that went only ``told`` are counted.

        Meaning finds everything somewhat near: that such a note was left out says nothing.
        """
        dropped: Counter[str] = Counter()
        notes = reading.notes(name for name, _ in ranking)
        successors = self._successors(notes) if self._then is not None else {}
        if not self._with_superseded:
            left = {name for name, _ in filters.without_copies(ranking, notes)}
            dropped["superseded"] = sum(name not in left and (told is None or name in told) for name, _ in ranking)
            ranking = [item for item in ranking if item[0] in left]
        kept = []
        for name, score in ranking:
            cause = self._cause(notes[name], successors) if name in notes else "gone"
            if cause is None:
                kept.append((name, score))
            elif told is None or name in told:
                dropped[cause] += 1
        return kept, +dropped

    def _cause(self, note: Note, successors: Mapping[str, Note]) -> str | None:
        question = self._question
        return filters.drop_cause(
            note,
            now=self._now,
            kinds=question.kinds,
            min_confidence=question.min_confidence,
            include_quarantined=question.include_quarantined,
            include_superseded=self._with_superseded,
        ) or validity.keep(
            note,
            since=question.since,
            until=question.until,
            as_of=question.as_of,
            known_as_of=question.known_as_of,
            valid_at=question.valid_at,
            successors=successors,
        )

    def _successors(self, notes: Mapping[str, Note]) -> dict[str, Note]:
        """What first replaced each note, by the replaced id; notes in quarantine, or expired then, replace nothing."""
        catalog = self._snapshot.catalog
        newer = catalog.successors(list(notes))
        found = catalog.notes(list(dict.fromkeys(name for names in newer.values() for name in names)))
        stated = [
            found[name]._replace(supersedes=(*found[name].supersedes, old))  # under whichever of its names
            for old, names in newer.items()
            for name in names
            if name in found
        ]
        return validity.successors_of(
            note._replace(supersedes=()) if note.quarantine or filters.is_expired(note, self._now) else note
            for note in (*notes.values(), *stated)
        )


def _in_utc(moment: datetime) -> datetime:
    return moment.replace(tzinfo=timezone.utc) if moment.tzinfo is None else moment.astimezone(timezone.utc)
