"""`chitta feedback`: a person says whether the notes that a prompt was given helped."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Annotated

import typer

from chitta import feedback
from chitta import settings as table
from chitta.cli import bookshelf, output, recall_history, standing
from chitta.cli.failure import Misuse, Nothing
from chitta.cli.forgetting import FORGOTTEN
from chitta.cli.realm_options import AsJson
from chitta.feedback import Judgement, Shown
from chitta.render.neutral import neutral
from chitta.settings import Settings

#: Lines of the recall log that are looked through: whoever judges a note still knows why.
LOG_LINES = 500
#: Stands for all notes of the last block that showed any.
LAST = "last"
_WORDS = {feedback.UP: "helped", feedback.DOWN: "did not help", feedback.WITHDRAWN: "is not judged any more"}
_STYLES = {feedback.UP: "green", feedback.DOWN: "yellow", feedback.WITHDRAWN: "dim"}
_TITLE_CHARS = 80
#: Ids shown of those that begin alike.
_NAMED = 10
_USAGE = "`chitta feedback ID up`, or `chitta feedback last down` for all notes of the last block"
_SEEING = "`chitta try PROMPT` shows what a prompt brings; `chitta status` shows the store"


def give(
    words: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="ID|last|up|down",
            help="Ids of shown notes, or how they begin (`last` or none: all of the last block); then the verdict.",
        ),
    ] = None,
    session: Annotated[str, typer.Option("--session", help="Only what this session was shown.")] = "",
    undo: Annotated[
        bool,
        typer.Option(
            "--undo", help="Take the last verdict on these notes back, and its effect; again: the one before."
        ),
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Say whether notes that a prompt was given helped: `up` if they did, `down` if not. It is kept beside the recall
    log, on this machine; of two words on the same note in the same block the later one holds. `down` in two sessions
    lowers a note's confidence and marks it as doubted, `up` raises it.

    Example: chitta feedback stripe-idempotency-key up
    """
    settings = table.load()
    given_words = words or []
    if not given_words and not undo:
        raise Misuse("there is no verdict", _USAGE)
    verdict = feedback.WITHDRAWN if undo else given_words[-1]
    names = list(dict.fromkeys(given_words if undo else given_words[:-1]))
    if not undo and verdict not in feedback.VERDICTS:
        raise Misuse(f"{verdict!r} says neither up nor down, which comes last", _USAGE)
    if LAST in names and len(names) > 1:
        raise Misuse(f"`{LAST}` stands for all notes of the last block, so it stands alone", _USAGE)
    blocks = shown_blocks(settings, session)
    if undo:
        chosen = _given_last(settings, blocks, names, session)
    elif not blocks:
        raise Nothing(f"session {session!r} was shown no notes" if session else "no notes were shown yet", _SEEING)
    else:
        chosen = blocks[-1] if names in ([], [LAST]) else _named(blocks, names)
    titles = _titles(settings, chosen)
    now = time.time()
    judgements = [feedback.judge(item, verdict, now) for item in chosen]
    feedback.record(settings.state_dir, judgements)
    changes = standing.apply(settings, [item.id for item in chosen])
    for change in changes:
        output.tell(change.sentence)
    if as_json:
        output.as_json(
            [
                {**given._asdict(), "shown": item.time, "title": titles.get(item.id, "")}
                for given, item in zip(judgements, chosen, strict=True)
            ]
        )
        return
    for given, item in zip(judgements, chosen, strict=True):
        output.say(_line(given, item, titles.get(item.id, "")))


def shown_blocks(settings: Settings, session: str = "") -> list[list[Shown]]:
    """The blocks in the log's last lines that showed something, oldest first; only a session's where one is named."""
    lines = recall_history.read_last(settings, LOG_LINES)
    blocks = [feedback.shown_in(line) for line in lines if not session or line.get("session") == session]
    known = [[item for item in block if not item.id.startswith(FORGOTTEN)] for block in blocks]
    return [block for block in known if block]


def _named(blocks: Sequence[Sequence[Shown]], names: Sequence[str]) -> list[Shown]:
    """The notes of these ids, each from the latest block that showed it. Raises ``Misuse`` and ``Nothing``."""
    latest = {item.id: item for block in blocks for item in block}
    found = [_find(latest, name, blocks[-1]) for name in names]
    return list({item.id: item for item in found}.values())


def _given_last(
    settings: Settings, blocks: Sequence[Sequence[Shown]], names: Sequence[str], session: str
) -> list[Shown]:
    """What the last verdict that still holds on each of these notes was given on; of the last block, each in it.

    Raises ``Misuse`` and ``Nothing``.
    """
    given = [one for one in feedback.read(settings.state_dir) if not session or one.session == session]
    shown = {(item.block, item.id): item for block in blocks for item in block}
    if names in ([], [LAST]):
        given = [one for one in given if blocks and one.block == blocks[-1][0].block]
    judged = {
        one.id: shown.get((one.block, one.id))
        or Shown(one.time, one.block, one.session, one.id, one.conf, one.maxrel, one.tag)
        for one in given
    }
    if names in ([], [LAST]):
        found = list(judged.values())
    else:
        found = [_find(judged, name, ()) for name in names if _begins(judged, name)]
    if not found:
        raise Nothing("nothing to undo", "no verdict on it holds any more" if names else _SEEING)
    return list({item.id: item for item in found}.values())


def _begins(known: dict[str, Shown], name: str) -> bool:
    return any(other.startswith(name) or _as_read(other).startswith(name) for other in known)


def _find(latest: dict[str, Shown], name: str, last: Sequence[Shown]) -> Shown:
    """The note of this id, in the log's spelling or the block's, else the only one whose id begins so."""
    if name in latest:
        return latest[name]
    begun = [item for item in latest.values() if _as_read(item.id) == name] or [
        item for item in latest.values() if name and (item.id.startswith(name) or _as_read(item.id).startswith(name))
    ]
    if len(begun) > 1:
        some = _listed(begun[:_NAMED]) + (f" and {len(begun) - _NAMED:,} more" if len(begun) > _NAMED else "")
        raise Misuse(f"{len(begun):,} shown notes begin with {name!r}", f"give more of the one you mean: {some}")
    if not begun:
        hint = f"the last block showed {_listed(last[:_NAMED])}; {_SEEING}"
        raise Nothing(f"no note {name!r} was shown in the last {LOG_LINES} prompts", hint)
    return begun[0]


def _as_read(name: str) -> str:
    """An id as the block spells it, which is what a person copies."""
    return output.one_line(neutral(name), len(name) + 8)


def _listed(items: Sequence[Shown]) -> str:
    return ", ".join(output.one_line(item.id, _TITLE_CHARS) for item in items)


def _titles(settings: Settings, items: Sequence[Shown]) -> dict[str, str]:
    """The notes' titles by id; none for a note that has been forgotten since."""
    with bookshelf.opened(settings) as snapshot:
        notes = snapshot.catalog.notes([item.id for item in items]) if snapshot is not None else {}
    return {name: note.title for name, note in notes.items()}


def _line(given: Judgement, item: Shown, title: str) -> str:
    name = output.one_line(title, _TITLE_CHARS) or output.one_line(item.id, _TITLE_CHARS)
    said = output.paint(_WORDS[given.verdict], _STYLES[given.verdict])
    return f"noted: {name} {said} (shown {output.one_line(item.time, 40)}, lane {output.one_line(item.tag, 40)})"
