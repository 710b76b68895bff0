"""One call of the capture hook, after the short path has found that it may have something to say.

It has two parts, since what makes a note clean takes most of a second: :func:`learned` looks at the payload and at what
the session is remembered by, :class:`Work` is then written by a process that nobody waits for.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from chitta import turn
from chitta.capture import armed, transcript, words
from chitta.capture.commands import Watch
from chitta.capture.commits import commit_of, draft_of, line_of
from chitta.capture.draft import FIX, Draft
from chitta.capture.events import AGENT, CALL, PERSON, RESULT, TODOS, Event, Todo
from chitta.capture.payload import events_of
from chitta.capture.todos import Lists
from chitta.capture.tools import Tasks
from chitta.capture.typed import words_of
from chitta.settings import Settings

#: Bytes of a transcript's end in which the agent's last doing is looked for.
_TAIL_BYTES = 256 * 1024
PROMPT_EVENTS = ("userpromptsubmit", "userpromptsubmitted", "beforeagent")


class Work(NamedTuple):
    """What one call has learned: drafts to keep, and fixes that now name their commit."""

    harness: str
    session: str
    cwd: str
    drafts: tuple[Draft, ...] = ()
    joined: tuple[Draft, ...] = ()


def learned(value: dict[str, Any], told: str, settings: Settings, *, now: float, cwd: str = "") -> Work:
    """What a payload teaches; what the session is remembered by is changed. ``now`` is seconds since the epoch, ``cwd``
    the folder where the payload names none. Raises ``OSError``."""
    harness = turn.harness_of(value, told)
    session = turn.session_of(value)
    work = Work(harness, session, turn.first_text(value, turn.CWD_KEYS) or cwd)
    event = turn.first_text(value, turn.EVENT_KEYS).casefold()
    if event in PROMPT_EVENTS or (not event and "prompt" in value):
        return work._replace(drafts=tuple(_said(value, harness)))
    # A subagent's tools are a session of their own here.
    name = f"{session}\0{turn.first_text(value, turn.SUBAGENT_KEYS)}"
    with armed.Held(settings.state_dir, name, now) as held:
        drafts, joined = _seen(value, harness, held.state)
    return work._replace(drafts=tuple(drafts), joined=tuple(joined))


def write(work: Work, settings: Settings, *, day: str) -> list[str]:
    """Keep what was learned; what came of each (:mod:`chitta.capture.keep`). Raises ``OSError`` and ``ValueError``."""
    from chitta.capture.keep import keep, renew
    from chitta.capture.note import note_of
    from chitta.capture.place import realm_for
    from chitta.capture.said import is_said
    from chitta.notes.store import NoteStore

    realm = realm_for(settings, work.cwd, work.session)
    store = NoteStore(settings.notes_dir)
    said = []
    for draft in (*work.drafts, *work.joined):
        note = note_of(draft, realm=realm, harness=work.harness, session=work.session, day=day)
        if note is not None and draft in work.joined:
            said.append(renew(store, note, state_dir=settings.state_dir))
        elif note is not None and not is_said(settings, note):
            said.append(keep(store, note, state_dir=settings.state_dir))
    return said


def _seen(value: dict[str, Any], harness: str, state: armed.State) -> tuple[list[Draft], list[Draft]]:
    """One tool's result, with what is remembered of those before: drafts to keep, and a fix joined by its commit."""
    watch, lists, tasks = Watch(state.get("watch")), Lists(str(state.get("list", ""))), Tasks(_tasks(state))
    fix = _fix(state.get("fix"))
    drafts: list[Draft] = []
    joined: list[Draft] = []
    for event in events_of(value, harness, tasks):
        draft = watch.take(event)
        if draft is None and event.kind == TODOS:
            draft = lists.take(event.todos)
        if draft is not None:
            drafts.append(draft)
            fix = draft if draft.what == FIX else fix
        commit = commit_of(event)
        if commit is not None and commit.fixes and fix is not None:
            joined.append(fix._replace(text=f"{fix.text}\n{line_of(commit)}"))
            fix = None
        elif commit is not None:
            drafts.append(draft_of(commit))
    known = {name: [task.text, task.done] for name, task in tasks.known.items()}
    kept = {"watch": watch.state(), "list": lists.last, "tasks": known, "fix": list(fix) if fix else None}
    state.clear()
    state.update({key: one for key, one in kept.items() if one})
    return drafts, joined


def _fix(kept: Any) -> Draft | None:
    """The last fix as it is remembered, or None."""
    if not isinstance(kept, list) or len(kept) != len(Draft._fields) or not isinstance(kept[-1], list):
        return None
    if not all(isinstance(part, str) for part in (*kept[:-1], *kept[-1])) or kept[0] != FIX:
        return None
    what, title, text, key, wrong, right, tags = kept
    return Draft(what, title, text, key, wrong, right, tuple(tags))


def _tasks(state: armed.State) -> dict[str, Todo]:
    known = state.get("tasks")
    return {
        str(name): Todo(str(task[0]), task[1] is True)
        for name, task in (known.items() if isinstance(known, dict) else ())
        if isinstance(task, list) and len(task) == 2
    }


def _said(value: dict[str, Any], harness: str) -> list[Draft]:
    """What a prompt says that lasts; nothing of a prompt that no person typed."""
    source = value.get("source")
    machine = isinstance(source, str) and source.strip().lower() not in ("", *turn.PERSON_SOURCES)
    if machine or turn.first_text(value, turn.SUBAGENT_KEYS):
        return []
    own = words_of(turn.first_text(value, turn.PROMPT_KEYS))
    if not own or not words.said(own, acted=True):
        return []
    return words.drafts(own, acted=_acted(turn.first_text(value, ("transcript_path", "transcriptPath")), harness, own))


def _acted(path: str, harness: str, prompt: str) -> bool:
    """Whether the agent did or said something since the prompt before this one."""
    found: list[Event] = []
    try:
        found = list(transcript.read(path, harness, last_bytes=_TAIL_BYTES)) if path else []
    except (OSError, ValueError):
        return False
    # The client writes the prompt itself down meanwhile, and what is done after it: neither came before it.
    mine = next((at for at in range(len(found) - 1, -1, -1) if found[at].kind == PERSON), -1)
    if mine >= 0 and found[mine].text == prompt:
        del found[mine:]
    acted = False
    for event in found:
        acted = event.kind in (AGENT, CALL, RESULT) or (acted and event.kind != PERSON)
    return acted
