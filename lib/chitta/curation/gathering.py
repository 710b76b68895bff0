"""One note out of several that say the same: nothing that any of them said is lost. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from chitta.curation.opinion import KEY as OPINION
from chitta.curation.proof import MOST_SESSIONS, sessions_of
from chitta.curation.supersede import VERSION_OF, current
from chitta.notes.imprint import KEY as IMPORTED
from chitta.notes.note import BOOKKEEPING_KINDS, Note
from chitta.recall.filters import CONFLICTS_WITH, contradicted

CAPTURED = "captured"
#: Between the sources of a merged note.
SEVERAL = "; "
#: Share of common words from which two paragraphs say the same, and words of one that may be a part of another.
ALIKE, LEAST_WORDS = 0.9, 3
#: Keys that tell of one note alone: of its import, its place in the archive, the note that it contradicts.
_OWN_KEYS = frozenset({IMPORTED, "status", "archived", "status_before", VERSION_OF, CONFLICTS_WITH})
_WORD = re.compile(r"\w+")
_FENCE = re.compile(r" {0,3}(```|~~~)")


def gathered(notes: Sequence[Note], day: str) -> tuple[Note, list[Note]]:
    """The one note, under the first one's id and title, and the others, superseded by it on ``day`` (ISO).

    Paragraphs that say the same (:func:`joined`) stand once, as the newer note has them; tags, triggers, sources and
    other keys are united; proofs are added up, each session and each note once (:func:`proofs`); it is as old as the
    oldest and as sure as the surest. A note in quarantine keeps the whole in it. Where one of the others had the first
    one's place, it has it no more. Where the first was imported, the whole counts as edited since: importing it again
    changes nothing.
    Raises ``ValueError`` for fewer than two different notes.
    """
    every = list({(note.realm, note.id): note for note in notes}.values())
    if len(every) < 2:
        raise ValueError("a merge takes two notes or more")
    first, rest = every[0], every[1:]
    dates = sorted(note.created for note in every if note.created)
    known = next((note for note in every if note.kind not in BOOKKEEPING_KINDS), first)
    trusted = next((note for note in every if note.authority != CAPTURED), first)
    whole = current(first)._replace(
        kind=known.kind,
        text=joined([note.text for note in every], [max(note.created, note.updated) for note in every]),
        created=dates[0] if dates else "",
        updated=day,
        tags=_united(note.tags for note in every),
        triggers=_united(note.triggers for note in every),
        confidence=max(note.confidence for note in every),
        proof_count=proofs(every),
        supersedes=tuple(
            name
            for name in _united([*(note.supersedes for note in every), [note.id for note in rest]])
            if name != first.id
        ),
        source=SEVERAL.join(_united([note.source] for note in every)),
        quarantine=any(note.quarantine for note in every),
        authority=trusted.authority,
        wrong=next((note.wrong for note in every if note.wrong), ""),
        right=next((note.right for note in every if note.right), ""),
        extra=_extra(every, captured=trusted.authority == CAPTURED),
    )
    gone = [
        note._replace(
            superseded_by=first.id,
            valid_until=note.valid_until or day,
            supersedes=tuple(name for name in note.supersedes if name != first.id),
        )
        for note in rest
    ]
    return whole, gone


def proofs(notes: Sequence[Note]) -> int:
    """How often what the notes say was learned: their sessions together, each once, and what they count beside them.

    A note that another of them has taken in before is counted there already.
    """
    held = {name for note in notes for name in note.supersedes if name != note.id}
    fresh = [note for note in notes if note.id not in held] or [max(notes, key=lambda note: note.proof_count)]
    sessions = {session for note in fresh for session in sessions_of(note)}
    beside = sum(max(note.proof_count - len(sessions_of(note)), 0) for note in fresh)
    return max(len(sessions) + beside, *(note.proof_count for note in notes))


def joined(texts: Sequence[str], dates: Sequence[str] = ()) -> str:
    """The texts one below the other, each paragraph once.

    Of two that are ≥ 0.9 alike in their words the newer text's stays (by ``dates``, ISO; the later given of one day),
    of two that hold one another the longer, in the earlier one's place. Fenced blocks are the same or are not.
    """
    kept: list[tuple[str, str]] = []
    for number, text in enumerate(texts):
        date = dates[number] if number < len(dates) else ""
        for block in blocks(text):
            place = next((at for at, (other, _) in enumerate(kept) if _alike(other, block)), -1)
            if place < 0:
                kept.append((block, date))
            elif _stays(block, date, *kept[place]):
                kept[place] = (block, date)
    return "\n\n".join(block for block, _ in kept)


def _alike(one: str, other: str) -> bool:
    """Whether two paragraphs say the same: in the same words, in nearly the same, or one as a part of the other."""
    if " ".join(one.split()).casefold() == " ".join(other.split()).casefold():
        return True
    first, second = words_in(one), words_in(other)
    if not first or not second or _FENCE.match(one) or _FENCE.match(other):
        return False
    least = min(len(first), len(second))
    if len(set(first) & set(second)) >= ALIKE * len({*first, *second}):
        return True
    return least >= LEAST_WORDS and (_within(first, second) or _within(second, first))


def _stays(block: str, date: str, other: str, other_date: str) -> bool:
    """Whether the paragraph takes the place of the other one, which it is like."""
    if " ".join(block.split()).casefold() == " ".join(other.split()).casefold():
        return False
    first, second = words_in(block), words_in(other)
    if len(set(first) & set(second)) >= ALIKE * len({*first, *second}):
        return date >= other_date
    return len(first) > len(second)


def words_in(text: str) -> list[str]:
    return _WORD.findall(text.casefold())


def _within(short: list[str], long: list[str]) -> bool:
    return f" {' '.join(short)} " in f" {' '.join(long)} "


def blocks(text: str) -> list[str]:
    """The paragraphs of a text; a fenced block is one, whatever blank lines it holds."""
    found: list[list[str]] = [[]]
    fence = ""
    for line in text.split("\n"):
        mark = _FENCE.match(line)
        if mark and fence in ("", mark.group(1)):
            fence = "" if fence else mark.group(1)
        if not line.strip() and not fence:
            found.append([])
        else:
            found[-1].append(line)
    return ["\n".join(lines) for lines in found if lines]


def _united(lists: Iterable[Iterable[str]]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(item for items in lists for item in items if item))


def _extra(notes: Sequence[Note], *, captured: bool) -> tuple[tuple[str, object], ...]:
    """Keys of all, the earlier note's value first; sessions together. What tells of one note's own file or place is the
    first one's, and two notes that contradicted each other do so no more.
    """
    united: dict[str, object] = {}
    sessions: list[str] = []
    for note in notes:
        sessions += sessions_of(note)
        for key, value in note.extra:
            own = key in _OWN_KEYS and note is not notes[0]
            if not own and key != OPINION and (key != CAPTURED or captured):
                united.setdefault(key, value)
    if sessions:
        united["sessions"] = list(dict.fromkeys(sessions))[:MOST_SESSIONS]
    if others := [name for name in contradicted(notes[0]) if name not in {note.id for note in notes}]:
        united[CONFLICTS_WITH] = others
    else:
        united.pop(CONFLICTS_WITH, None)
    return tuple(united.items())
