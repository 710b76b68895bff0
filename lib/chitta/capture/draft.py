"""What was learned, before it is a note."""

from __future__ import annotations

from typing import NamedTuple

FIX, CORRECTION, PREFERENCE, TODO, COMMIT = "fix", "correction", "preference", "todo", "commit"


class Draft(NamedTuple):
    """``what`` is one of the words above; ``key`` is what makes two drafts the same learning, whatever the session."""

    what: str
    title: str
    text: str
    key: str
    wrong: str = ""
    right: str = ""
    tags: tuple[str, ...] = ()
