"""A note, as every room sees it, and the kinds a note can have.

Imported on the prompt path when the daemon is away: nothing but ``typing``.
"""

from __future__ import annotations

from typing import NamedTuple

#: Kinds that hold something worth knowing; the keyword lane looks at these alone.
KNOWLEDGE_KINDS: tuple[str, ...] = (
    "correction",
    "preference",
    "wisdom",
    "insight",
    "decision",
    "reference",
    "pattern",
    "bug-fix",
    "anti-pattern",
    "convention",
)

#: Kinds that record what happened rather than what was learned.
BOOKKEEPING_KINDS: tuple[str, ...] = ("operational", "episode", "prompt", "session")


class Note(NamedTuple):
    """One note. The fields are the keys of docs/note-format.md, with the same defaults.

    ``confidence`` is the author's trust in the note, 0 to 1 (not its relevance to anything).
    Dates are kept as written; those that YAML reads as dates are in ISO 8601 form.
    ``extra`` holds front-matter keys that chitta does not know, so that a rewrite keeps them;
    their values are str, int, float, bool, None, and lists and dicts of these.
    """

    id: str
    kind: str = "insight"
    realm: str = "global"
    title: str = ""
    text: str = ""
    created: str = ""
    updated: str = ""
    tags: tuple[str, ...] = ()
    confidence: float = 0.6
    proof_count: int = 1
    triggers: tuple[str, ...] = ()
    supersedes: tuple[str, ...] = ()
    superseded_by: str = ""
    valid_from: str = ""
    valid_until: str = ""
    source: str = ""
    visibility: str = "private"
    quarantine: bool = False
    authority: str = "advisory"
    extra: tuple[tuple[str, object], ...] = ()
    wrong: str = ""
    right: str = ""


def one_line(text: str, limit: int | None = None) -> str:
    """``text`` with every run of white space as one space, cut to ``limit`` characters."""
    return " ".join(text.split())[:limit].rstrip()


def without_surrogates(text: str) -> str:
    """``text`` with surrogate pairs joined and lone surrogates as U+FFFD, so that UTF-8 can hold it."""
    if text.isascii():
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
