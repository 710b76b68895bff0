"""What may be shown as a session starts, in tiers: slots and a pointer, then skills, one sure note, or a full recall.

The order and the limits are reflect's. Tier 0 stands before whatever follows; of the others the first that
finds something is all.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import datetime, timedelta, timezone
from typing import TYPE_CHECKING, NamedTuple

from chitta.admission.verdict import Admitted
from chitta.gateway import clock
from chitta.gateway.question import Question
from chitta.notes.realms import GLOBAL
from chitta.recall import filters
from chitta.render.start_block import AGAIN, SKILL, SLOT
from chitta.session_hooks.asking import Asker, Found, relevant, supported
from chitta.session_hooks.project import Project
from chitta.settings import Settings
from chitta.wire.rows import MAX_TEXT_CHARS, Row

if TYPE_CHECKING:
    from chitta.index.snapshot import Snapshot
    from chitta.notes.note import Note

LIMIT = 3
MIN_OVERLAP = 0.2
#: The one note that is enough: of this confidence, and written this recently.
HIGH, FRESH_DAYS = 0.9, 30
MOST_SLOTS = 3
SLOT_KEY = "slot"
#: Characters of a slot's text: it must leave room for what follows.
SLOT_CHARS = 240
#: Slots that come first; the others by name.
_SLOT_ORDER = ("now", "next")
SKILL_KIND = "skill"
CONVENTION_KINDS = ("convention", "preference")
#: Notes of a realm that are looked through for slots and conventions.
_MOST_NOTES = 5_000


class Tiers(NamedTuple):
    """What was let in, best first, the pointer to conventions, and the answers it came from."""

    admitted: tuple[Admitted, ...] = ()
    pointer: str = ""
    found: tuple[Found, ...] = ()


def climb(settings: Settings, asker: Asker, project: Project, realm: str, seen: Collection[str]) -> Tiers:
    """Go through the tiers. ``seen`` are ids that the session's context holds already."""
    if not project.query:
        return Tiers()
    question = Question(project.query, realm=realm, tags=project.tags, min_overlap=MIN_OVERLAP, limit=LIMIT)
    own = project.asked_of(realm)
    found: list[Found] = []
    if settings.flag("CHITTA_TIERED_INJECT"):
        found.append(asker.ask(question._replace(kinds=(SKILL_KIND,)), own))
        skills = [row for row in _fresh_to(found[-1].rows, seen) if relevant(row)][:LIMIT]
        if skills:
            return Tiers(_let_in(skills, SKILL, "a skill that fits"), "", tuple(found))
    found.append(asker.ask(question._replace(min_confidence=HIGH, limit=1), own))
    sure = [row for row in _fresh_to(found[-1].rows, seen) if relevant(row) and is_recent(row, clock.now(settings))][:1]
    if sure:
        return Tiers(_let_in(sure, found[-1].tag, "sure, recent and relevant"), "", tuple(found))
    found.append(asker.ask(question, own))
    rows = [row for row in found[-1].rows if supported(row, project.telling(row.realm))][:LIMIT]
    return Tiers(_let_in(_fresh_to(rows, seen), found[-1].tag, "of this work"), "", tuple(found))


def standing(settings: Settings, realm: str, seen: Collection[str]) -> Tiers:
    """Tier 0: the slots of this realm and a pointer to what is agreed on, where the person has asked for them."""
    slots, tiered = settings.flag("CHITTA_SLOTS"), settings.flag("CHITTA_TIERED_INJECT")
    if not slots and not tiered:
        return Tiers()
    with _opened(settings) as snapshot:
        if snapshot is None:
            return Tiers()
        now = clock.now(settings)
        notes = [note for note in snapshot.catalog.page(realm, limit=_MOST_NOTES) if _may_stand(note, now)]
        others = snapshot.catalog.page(GLOBAL, limit=_MOST_NOTES) if tiered and realm != GLOBAL else []
        agreed = sum(note.kind in CONVENTION_KINDS for note in (*notes, *(n for n in others if _may_stand(n, now))))
    shown = [row for row in slot_rows(notes) if row.id not in seen] if slots else []
    return Tiers(_let_in(shown, SLOT, "a slot"), _pointer(agreed) if tiered else "")


def again(settings: Settings, shown: Sequence[str], realms: Collection[str]) -> Tiers:
    """After a compaction: of the notes that the session was shown the latest, where they still stand."""
    with _opened(settings) as snapshot:
        if snapshot is None:
            return Tiers()
        latest = list(reversed(shown))
        notes, now = snapshot.catalog.notes(latest), clock.now(settings)
        kept = [note for note in notes.values() if _may_stand(note, now) and note.realm in realms]
    return Tiers(_let_in([row_of(note) for note in kept[:LIMIT]], AGAIN, "shown before the compaction"))


def slot_rows(notes: Sequence[Note]) -> list[Row]:
    """The newest note of each slot, as rows; ``notes`` are newest first."""
    by_slot: dict[str, Note] = {}
    for note in notes:
        slot = str(dict(note.extra).get(SLOT_KEY) or "").strip().lower()
        if slot and filters.is_set(note, SLOT_KEY):
            by_slot.setdefault(slot, note)
    names = sorted(by_slot, key=lambda name: (_SLOT_ORDER.index(name) if name in _SLOT_ORDER else 9, name))
    return [
        row_of(by_slot[name])._replace(title=f"{name}: {by_slot[name].title}", text=by_slot[name].text[:SLOT_CHARS])
        for name in names[:MOST_SLOTS]
    ]


def row_of(note: Note) -> Row:
    """A note that nothing was measured of."""
    facts = {name: getattr(note, name) for name in Row._fields if name in note._fields}
    return Row(score=1.0, **{**facts, "text": note.text[:MAX_TEXT_CHARS]})


def is_recent(row: Row, now: datetime) -> bool:
    """Whether the row was written within :data:`FRESH_DAYS`; of unknown age, it was not."""
    written = filters.moment(row.created)
    now = now.astimezone(timezone.utc)
    return written is not None and now - timedelta(days=FRESH_DAYS) <= written <= now + timedelta(days=1)


def _pointer(agreed: int) -> str:
    if not agreed:
        return ""
    what = "1 convention or preference is" if agreed == 1 else f"{agreed:,} conventions and preferences are"
    return f"{what} on record: `chitta list --kind convention`, `chitta list --kind preference`."


def _may_stand(note: Note, now: datetime) -> bool:
    return filters.drop_cause(note, now=now) is None


def _fresh_to(rows: Sequence[Row], seen: Collection[str]) -> list[Row]:
    return [row for row in rows if row.id not in seen]


def _let_in(rows: Sequence[Row], tag: str, reason: str) -> tuple[Admitted, ...]:
    return tuple(Admitted(row, tag, reason) for row in rows)


class _opened:
    """The index, for as long as it is read; None where there is none or it is damaged."""

    def __init__(self, settings: Settings) -> None:
        self._folder = settings.index_dir
        self._snapshot: Snapshot | None = None

    def __enter__(self) -> Snapshot | None:
        from chitta.index import IndexFault
        from chitta.index.snapshot import open_snapshot

        try:
            self._snapshot = open_snapshot(self._folder)
        except (IndexFault, OSError):
            self._snapshot = None
        return self._snapshot

    def __exit__(self, *problem: object) -> None:
        if self._snapshot is not None:
            self._snapshot.close()


def notes_by_id(settings: Settings, ids: Sequence[str]) -> dict[str, Note]:
    """The whole notes of these ids, as far as the index has them."""
    with _opened(settings) as snapshot:
        return snapshot.catalog.notes(list(ids)) if snapshot is not None else {}
