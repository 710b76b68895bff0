"""Whether what was captured stands in a note already: then it was read out of that one, or is known anyhow."""

from __future__ import annotations

from chitta.capture.words import spoken
from chitta.curation.candidates import gather
from chitta.notes.note import Note
from chitta.recall.filters import is_retired
from chitta.settings import Settings

_LASTING = "from now on "


def is_said(settings: Settings, note: Note) -> bool:
    """Whether another note of the realm, or of `global`, holds the note's words, signs and capitals aside.

    Not one of the same id, which is proved; nor one that is replaced or in quarantine. Only the notes that are most
    like it are looked at, by the index as it is; where there is none, nothing is said.
    """
    words = _plain(note.text).removeprefix(_LASTING)
    if not words:
        return False
    try:
        found = gather(settings, note, by_meaning=False).notes
    except Exception:  # whatever ails the index costs no note
        return False
    return any(
        f" {words} " in f" {_plain(one.title)} | {_plain(one.text)} "
        for one in found
        if one.id != note.id and not one.quarantine and not is_retired(one)
    )


def _plain(text: str) -> str:
    """The words of a text without the points at their ends."""
    return " ".join(word.rstrip("./@#+-") for word in spoken(text).split())
