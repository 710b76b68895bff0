"""A draft as a note: of low confidence, of a bookkeeping kind, so that it waits for a person and enters no prompt.

Its id is made from what it says and its realm, not from the session, so that the same learning is the same note; and
from what it says when it is clean, since an id is a file's name and stands in logs.
"""

from __future__ import annotations

import re

from chitta.capture.draft import COMMIT, CORRECTION, FIX, PREFERENCE, TODO, Draft, whole_words
from chitta.capture.errors import signature
from chitta.capture.own_block import cut
from chitta.capture.words import LEAST_WORDS, spoken, telling
from chitta.notes.ids import make_id
from chitta.notes.note import Note, one_line

AUTHORITY = "captured"
#: How far each is trusted before a person has looked at it; what happened says less than what was said.
CONFIDENCE = {FIX: 0.3, CORRECTION: 0.3, PREFERENCE: 0.3, TODO: 0.2, COMMIT: 0.2}
KIND = {FIX: "operational", CORRECTION: "operational", PREFERENCE: "operational", TODO: "episode", COMMIT: "episode"}
MAX_SESSION_CHARS = 200
_MAX_KEY_CHARS, _TITLE_CHARS = 2_000, 140
_REDACTED = re.compile(r"\[redacted: [^\]\n]*\]")


def note_of(draft: Draft, *, realm: str, harness: str, session: str, day: str) -> Note | None:
    """The note, clean of private spans, chitta's own block and secrets; None where nothing is left to say: fewer than
    three telling words beside what was taken out.

    What looks like an instruction to a model is marked for quarantine. ``day`` is an ISO date.
    """
    title, text = cut(draft.title).strip(), cut(draft.text).strip()
    if not title or not text:
        return None
    session = session[:MAX_SESSION_CHARS]
    note = Note(
        id="captured",
        kind=KIND[draft.what],
        realm=realm,
        title=title,
        text=text,
        created=day,
        tags=tuple(dict.fromkeys((draft.what, *draft.tags))),
        confidence=CONFIDENCE[draft.what],
        source=f"captured: {harness} session {session[:8]}",
        authority=AUTHORITY,
        wrong=draft.wrong,
        right=draft.right,
        extra=(("captured", draft.what), ("session", session), ("sessions", [session] if session else [])),
    )
    note = _sides_of(_clean(note))
    said = _clean(Note(id="key", realm=realm, text=draft.key)).text
    key = one_line(_form(draft.what, said)[:_MAX_KEY_CHARS])
    if not note.title.strip() or not note.text.strip() or not key:
        return None
    taken = [left for left, whole in ((note.text, text), (said, draft.key)) if left != whole]
    if any(telling(_REDACTED.sub(" ", left)) < LEAST_WORDS for left in taken):
        return None
    # A correction said once with "no," before it and once without is one learning.
    salt = "words" if draft.what in (CORRECTION, PREFERENCE) else draft.what
    return note._replace(id=make_id(key, realm, salt=salt), title=whole_words(note.title, _TITLE_CHARS))


def _form(what: str, said: str) -> str:
    """The one form of what is the same learning; ``said`` is clean, for rules that know secrets need it as written."""
    if what in (CORRECTION, PREFERENCE):
        return spoken(said)
    if what == FIX:
        name, _, line = said.partition("\n")
        return f"{name} {signature(one_line(line))}"
    return said.lower()


def _sides_of(note: Note) -> Note:
    """The note with the sides of its correction that its clean text still has: alone they may not look like secrets."""
    text = note.text.casefold()
    wrong, right = (side if side.casefold() in text else "" for side in (note.wrong, note.right))
    return note._replace(wrong=wrong, right=right)


def _clean(note: Note) -> Note:
    from chitta.safety.cleaning import clean  # late: a hook that has nothing to write does without it

    return clean(note).note
