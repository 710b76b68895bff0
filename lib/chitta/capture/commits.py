"""A commit that a tool call made: its subject and short hash, as git printed them."""

from __future__ import annotations

import re
from typing import NamedTuple

from chitta.capture.draft import COMMIT, Draft, whole_words
from chitta.capture.events import RESULT, SHELL, Event
from chitta.capture.own_block import cut

#: `[main 5a7bf9c] Subject`, `[main (root-commit) 5a7bf9c] Subject`, `[detached HEAD 5a7bf9c] Subject`.
_PRINTED = re.compile(r"^\[([^\]\n]{1,200}) ([0-9a-f]{7,40})\] ([^\n]{1,300})$", re.MULTILINE)
#: `git log --oneline` after a quiet commit.
_LOGGED = re.compile(r"^([0-9a-f]{7,40})(?: \([^)\n]{1,200}\))? ([^\n]{1,300})$", re.MULTILINE)
_RUNS = re.compile(
    r"(?:^|[;&|(]\s{0,4}|\s)git(?:\s{1,3}-[cC]\s{1,3}\S{1,200}|\s{1,3}--?[a-z][\w=./-]{0,100}){0,6}\s{1,3}commit\b"
)
_FIXES = re.compile(r"(?:fix|bugfix|hotfix)(?:\([^)]{1,40}\))?!?:?\s|fixes\s|fixed\s", re.IGNORECASE)
#: Subjects that say nothing, and commits that are not the person's work.
_EMPTY = re.compile(
    r"(?:wip|fixup!|squash!|amend!|tmp|temp|update|updates|initial commit|merge\b.*|first|checkpoint)$", re.IGNORECASE
)


class Commit(NamedTuple):
    subject: str
    sha: str

    @property
    def fixes(self) -> bool:
        """Whether the subject says that something was fixed."""
        return _FIXES.match(self.subject) is not None


def commit_of(event: Event) -> Commit | None:
    """The commit that a shell's result shows, the last where there are several; None where it shows none."""
    if event.kind != RESULT or event.tool != SHELL or event.ok is False or not _RUNS.search(event.command):
        return None
    text = cut(event.text)
    printed = _PRINTED.findall(text)
    if printed:
        _, sha, subject = printed[-1]
    else:
        logged = _LOGGED.search(text) if "--oneline" in event.command else None
        if logged is None:
            return None
        sha, subject = logged.groups()
    subject = whole_words(subject, 200)
    if len(subject.split()) < 2 or _EMPTY.match(subject):
        return None
    return Commit(subject, sha[:12])


def draft_of(commit: Commit) -> Draft:
    return Draft(COMMIT, f"Commit: {commit.subject}", f"{commit.sha} {commit.subject}", commit.subject)


def line_of(commit: Commit) -> str:
    """What a fix's note says of the commit that holds it."""
    return f"Commit: {commit.sha} {commit.subject}"
