"""What people's feedback makes of a note's standing: its confidence and its authority. Pure.

Down from two sessions and up from none lowers it, any up raises it. What comes out depends only on where the note
began and on the judgements that stand, so that a judgement that is taken back takes its effect back. Where the note
began is kept in its front matter: ``feedback: {confidence, authority, up, down, since, last}``.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

from chitta.feedback import DOWN, UP, Judgement
from chitta.notes.note import Note

KEY = "feedback"
DOUBTED, CAPTURED, ADVISORY = "doubted", "captured", "advisory"
#: Sessions that must have said down, what each then takes, and the confidence under which none takes more.
DOUBTING_SESSIONS, LOWERED_BY, FLOOR = 2, 0.15, 0.2
#: What each session that said up gives, and the confidence over which none gives more.
RAISED_BY, CEILING = 0.1, 0.95
_DIGITS = 3


class Standing(NamedTuple):
    confidence: float
    authority: str


def judged(note: Note, judgements: Iterable[Judgement]) -> Note:
    """The note as the judgements that stand (of all notes, or of this one) leave it; itself where they change nothing.

    Judgements of a time before a person edited confidence or authority by hand count no more.
    """
    base, since = _base(note)
    mine = [one for one in judgements if one.id == note.id and one.time > since]
    up, down = _sessions(mine, UP), _sessions(mine, DOWN)
    new = standing(base, up, down)
    plain = _without(note)
    if new == base and not since:
        return plain._replace(confidence=base.confidence, authority=base.authority)
    last = max((one.time for one in mine), default=since)
    memory = {**base._asdict(), "up": up, "down": down, "since": since, "last": last}
    changed = plain._replace(confidence=new.confidence, authority=new.authority)
    return changed._replace(extra=(*plain.extra, (KEY, memory)))


def standing(base: Standing, up: int, down: int) -> Standing:
    """Where a note stands that began at ``base``, by how many sessions said up and down.

    Two sessions' down and no up: 0.15 less for each, to 0.2, and ``doubted``. Up: 0.1 more for each, to 0.95, and
    ``advisory`` for what was captured or doubted. A note that began beyond a bound is not moved towards it.
    """
    if up:
        raised = max(base.confidence, min(CEILING, base.confidence + RAISED_BY * up))
        return Standing(round(raised, _DIGITS), ADVISORY if base.authority in (CAPTURED, DOUBTED) else base.authority)
    if down >= DOUBTING_SESSIONS:
        lowered = min(base.confidence, max(FLOOR, base.confidence - LOWERED_BY * down))
        return Standing(round(lowered, _DIGITS), DOUBTED)
    return base


def forgotten_opinion(note: Note) -> Note:
    """The note where it began, without a memory of feedback: for one that a person has looked at."""
    base, _ = _base(note)
    return _without(note)._replace(confidence=base.confidence, authority=base.authority)


def _base(note: Note) -> tuple[Standing, str]:
    """Where the note began, and the time from which judgements count."""
    now = Standing(note.confidence, note.authority)
    memory: Any = dict(note.extra).get(KEY)
    if not isinstance(memory, dict):
        return now, ""
    try:
        base = Standing(float(memory["confidence"]), str(memory["authority"]))
        up, down = int(memory["up"]), int(memory["down"])
    except (KeyError, TypeError, ValueError):
        return now, ""
    since = str(memory.get("since") or "")
    return (base, since) if standing(base, up, down) == now else (now, str(memory.get("last") or since))


def _sessions(judgements: Iterable[Judgement], verdict: str) -> int:
    """From how many sessions the verdict came; without a session each block is one."""
    return len({one.session or one.block for one in judgements if one.verdict == verdict})


def _without(note: Note) -> Note:
    return note._replace(extra=tuple((key, value) for key, value in note.extra if key != KEY))
