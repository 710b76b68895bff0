"""One note out of several that say the same: nothing that any of them said is lost. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from chitta.curation.opinion import KEY as OPINION
from chitta.curation.proof import MOST_SESSIONS, sessions_of
from chitta.notes.imprint import KEY as IMPORTED
from chitta.notes.note import BOOKKEEPING_KINDS, Note

CAPTURED = "captured"
_FENCE = re.compile(r" {0,3}(```|~~~)")


def gathered(notes: Sequence[Note], day: str) -> tuple[Note, list[Note]]:
    """The one note, under the first one's id and title, and the others, superseded by it on ``day`` (ISO).

    Paragraphs that an earlier one has are not repeated; tags, triggers, sources and other keys are united; proofs are
    added up; it is as old as the oldest and as sure as the surest. A note in quarantine keeps the whole in it.
    Raises ``ValueError`` for fewer than two different notes.
    """
    every = list({(note.realm, note.id): note for note in notes}.values())
    if len(every) < 2:
        raise ValueError("a merge takes two notes or more")
    first, rest = every[0], every[1:]
    dates = sorted(note.created for note in every if note.created)
    known = next((note for note in every if note.kind not in BOOKKEEPING_KINDS), first)
    trusted = next((note for note in every if note.authority != CAPTURED), first)
    whole = first._replace(
        kind=known.kind,
        text=joined([note.text for note in every]),
        created=dates[0] if dates else "",
        updated=day,
        tags=_united(note.tags for note in every),
        triggers=_united(note.triggers for note in every),
        confidence=max(note.confidence for note in every),
        proof_count=sum(note.proof_count for note in every),
        supersedes=tuple(
            name
            for name in _united([*(note.supersedes for note in every), [note.id for note in rest]])
            if name != first.id
        ),
        source="; ".join(_united([note.source] for note in every)),
        quarantine=any(note.quarantine for note in every),
        authority=trusted.authority,
        wrong=next((note.wrong for note in every if note.wrong), ""),
        right=next((note.right for note in every if note.right), ""),
        extra=_extra(every, captured=trusted.authority == CAPTURED),
    )
    gone = [note._replace(superseded_by=first.id, valid_until=note.valid_until or day) for note in rest]
    return whole, gone


def joined(texts: Sequence[str]) -> str:
    """The texts one below the other, without the paragraphs that stand further up already."""
    parts, seen = [], set[str]()
    for text in texts:
        fresh = []
        for block in blocks(text):
            said = " ".join(block.split()).casefold()
            if said not in seen:
                fresh.append(block)
            seen.add(said)
        parts.append("\n\n".join(fresh))
    return "\n\n".join(part for part in parts if part)


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
    """Keys of all, the earlier note's value first; sessions together."""
    united: dict[str, object] = {}
    sessions: list[str] = []
    for note in notes:
        sessions += sessions_of(note)
        for key, value in note.extra:
            if key not in (CAPTURED, IMPORTED, OPINION) or (key == CAPTURED and captured):
                united.setdefault(key, value)
    if sessions:
        united["sessions"] = list(dict.fromkeys(sessions))[:MOST_SESSIONS]
    return tuple(united.items())
