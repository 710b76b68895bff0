"""What a whole session has taught: its events to notes."""

from __future__ import annotations

from collections.abc import Iterable

from chitta.capture import words
from chitta.capture.commands import Watch
from chitta.capture.commits import commit_of, draft_of, line_of
from chitta.capture.draft import FIX, Draft
from chitta.capture.events import AGENT, CALL, PERSON, RESULT, TODOS, Event
from chitta.capture.note import note_of
from chitta.capture.todos import Lists
from chitta.notes.note import Note

#: Notes of one session; a session that gives more is not one to learn from.
MAX_NOTES = 40


def learnings(events: Iterable[Event], *, realm: str, harness: str, session: str, day: str) -> list[Note]:
    """The notes of a session, in the order in which they were learned, each id once. ``day`` is an ISO date."""
    notes: dict[str, Note] = {}
    for draft in drafts(events):
        note = note_of(draft, realm=realm, harness=harness, session=session, day=day)
        if note is not None:
            notes.setdefault(note.id, note)
        if len(notes) >= MAX_NOTES:
            break
    return list(notes.values())


def drafts(events: Iterable[Event]) -> list[Draft]:
    """What a session's events say, before anything is made clean."""
    watch, lists = Watch(), Lists()
    found: list[Draft] = []
    fix = -1  # the place of the fix that a commit may name
    acted = False
    for event in events:
        if event.kind == PERSON:
            found += words.drafts(event.text, acted=acted)
            acted = False
        elif event.kind in (AGENT, CALL, RESULT):
            acted = True
        draft = watch.take(event)
        if draft is None and event.kind == TODOS:
            draft = lists.take(event.todos)
        if draft is not None:
            found.append(draft)
            fix = len(found) - 1 if draft.what == FIX else fix
        commit = commit_of(event)
        if commit is not None and commit.fixes and fix >= 0:
            found[fix] = found[fix]._replace(text=f"{found[fix].text}\n{line_of(commit)}")
            fix = -1
        elif commit is not None:
            found.append(draft_of(commit))
    return found
