"""What was learned, before it is a note."""

from __future__ import annotations

from typing import NamedTuple

FIX, CORRECTION, PREFERENCE, TODO, COMMIT = "fix", "correction", "preference", "todo", "commit"


class Draft(NamedTuple):
    """``what`` is one of the words above; ``key`` is what makes two drafts the same learning, whatever the session: as
    it was said, for only :mod:`chitta.capture.note` cleans it and then makes one form of it. A title may be long."""

    what: str
    title: str
    text: str
    key: str
    wrong: str = ""
    right: str = ""
    tags: tuple[str, ...] = ()


def whole_words(text: str, limit: int) -> str:
    """The text on one line of at most ``limit`` characters, cut between words: half a secret is known by no rule."""
    flat = " ".join(text.split())
    if len(flat) <= limit:
        return flat
    return flat[: limit - 1].rpartition(" ")[0].rstrip() + "…"
