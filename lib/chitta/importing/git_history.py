"""What a repository's history explains: fixes, what was taken back and why, and breaking changes.

Git is run once, to list commits: without hooks, pager, file system monitor, signature check, network, or any
other program that the repository's configuration names. Addresses of people are left out.
"""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from chitta.importing.git_log import MAX_COMMITS, Commit, GitFailed, commits_of, is_repository
from chitta.importing.imported import Imported, checked, digest_of
from chitta.notes.ids import make_id
from chitta.notes.note import Note, one_line
from chitta.notes.realms import GLOBAL, realm_of

TITLE = "git history"
READS = "a repository's last 2,000 commits: fixes that say why, reverts, breaking changes"

_MAX_FILES = 20
#: A body with fewer letters and digits explains nothing ("Fixes #12", "as discussed").
_MIN_BODY = 30
_TRUST = 0.6
_LITTLE_TRUST = 0.4  # taken back, without a word why

_FIX = re.compile(r"(?:bug|hot)?fix(?:e[sd]|ing)?\b|bug\b", re.IGNORECASE)
_SCOPE = re.compile(r"\w+(?:\(([^()]{1,60})\))?!?:\s*")
_REVERTED = re.compile(r"This reverts (?:commits?|merge commit) ([0-9a-f]{7,64})\b")
_REVERT_SUBJECT = re.compile(
    r'(?:Revert|Reapply)\s+"(.*)"\s*(?:\(#\d+\))?$|revert(?:\([^()]*\))?!?:\s*(.*)', re.IGNORECASE
)
_BREAKING = re.compile(r"^BREAKING[ -]CHANGES?:\s*(.+?)(?=\n\s*\n|\Z)", re.MULTILINE | re.DOTALL)
_TRAILER = re.compile(
    r"^(?:(?:Signed-off|Co-authored|Reviewed|Acked|Tested|Reported|Suggested|Helped|Approved|Co-developed)-by|Change-Id"
    r"|Reviewed-on|PR-URL|Cc|Link|Closes|Fixes|Refs?|Resolves|See(?: also)?|git-svn-id)\s*:.*$"
    r"|^(?:Closes|Fixes|Fixed|Resolves|Refs?)\s+(?:[\w./-]*#\d+|https?://\S+)[\s,.]*$"
    r"|^\(cherry picked from commit [0-9a-f]+\)$",
    re.MULTILINE | re.IGNORECASE,
)
_REVERT_WORDS = re.compile(
    r"(?:This )?reverts (?:merge )?commits?\s+[0-9a-f]{7,64}(?:,?\s+(?:and\s+)?[0-9a-f]{7,64})*[.,;:]?[ \t]*"
    r"|reversing\s+changes\s+made\s+to\s+[0-9a-f]{7,64}[.,;:]?",
    re.IGNORECASE,
)
_ADDRESS = re.compile(r"\s*<?\b[\w.+-]+@[A-Za-z][\w-]*(?:\.[\w-]+)*\.[A-Za-z]{2,}\b>?")  # not lodash@4.17.21
_BOTS = re.compile(r"\[bot\]|\b(?:dependabot|renovate|greenkeeper|snyk|pre-commit-ci|github-actions)\b", re.IGNORECASE)
_UPDATES = re.compile(r"(?:build|chore|fix)\(deps[^()]*\)|bump \S+ from \S+ to ", re.IGNORECASE)
_BLANKS = re.compile(r"\n{3,}")


class _Read(NamedTuple):
    """The commits, newest first; which one took back which, and which that is standing it did so to."""

    commits: list[Commit]
    undone_by: dict[str, Commit]
    by_sha: dict[str, Commit]


def detect(path: Path) -> bool:
    """Whether the folder is the top of a repository."""
    return is_repository(path)


def default_paths() -> tuple[Path, ...]:
    """None: the repository is the one that is given."""
    return ()


def read(path: Path, *, realm: str) -> Iterator[Imported]:
    """Notes of the last :data:`MAX_COMMITS` commits, newest first, in the repository's own realm.

    ``realm`` is for a repository that has none. A fix that was taken back
    later is superseded by the commit that did so.
    Ids come from subject, author and time, so that they outlast a rebase. What was passed over is counted.
    """
    try:
        listed = list(commits_of(path))
    except GitFailed as problem:
        yield Imported(None, str(path), str(problem))
        return
    own = realm_of(os.path.abspath(path))
    own = realm if own == GLOBAL else own
    history = _reading(listed)
    seen: set[str] = set()
    passed: Counter[str] = Counter()
    for commit in history.commits:
        note = _note(commit, history, own, passed)
        if note is None:
            continue
        if note.id in seen:
            passed["picked twice"] += 1
            continue
        seen.add(note.id)
        place = f"{path}@{commit.short}"
        yield checked(note, place, digest_of(commit.sha, commit.author, commit.message), remarks=[])
    yield from _summary(path, passed, len(listed))


def _summary(path: Path, passed: Counter[str], count: int) -> Iterator[Imported]:
    sentences = {
        "without a body": (
            "1 fix commit says nothing more than its subject; passed over",
            "fix commits say nothing more than their subjects; passed over",
        ),
        "bot": ("1 commit of a bot; passed over", "commits of bots; passed over"),
        "picked twice": (
            "1 commit that is there twice (picked to another branch); passed over",
            "commits that are there twice (picked to another branch); passed over",
        ),
    }
    for why, (one, many) in sentences.items():
        if passed[why]:
            yield Imported(None, str(path), one if passed[why] == 1 else f"{passed[why]:,} {many}")
    if count >= MAX_COMMITS:
        yield Imported(None, str(path), f"commits before the last {MAX_COMMITS:,} were not read")


def _reading(listed: list[Commit]) -> _Read:
    by_sha = {commit.sha: commit for commit in listed}
    shas = sorted(by_sha)
    undone_by: dict[str, Commit] = {}
    for commit in reversed(listed):  # the last one that took it back counts
        for sha in _REVERTED.findall(commit.message):
            whole = sha if sha in by_sha else next((each for each in shas if each.startswith(sha)), "")
            if whole and whole != commit.sha:
                undone_by[whole] = commit
    return _Read(listed, undone_by, by_sha)


def _stands(sha: str, history: _Read) -> bool:
    """Whether a commit is in force: nothing took it back, or what did was taken back itself."""
    stands = True
    for _ in range(len(history.commits)):
        later = history.undone_by.get(sha)
        if later is None:
            break
        stands, sha = not stands, later.sha
    return stands


def _note(commit: Commit, history: _Read, realm: str, passed: Counter[str]) -> Note | None:
    subject = _without_addresses(one_line(commit.message.partition("\n")[0], 200))
    body = _body(commit.message)
    taken_back = _REVERTED.search(commit.message)
    is_revert = taken_back is not None or _REVERT_SUBJECT.match(subject) is not None
    breaking = _BREAKING.search(commit.message)
    is_fix = _FIX.match(subject) is not None
    if not (is_revert or breaking or is_fix):
        return None
    if _BOTS.search(commit.author) or _UPDATES.match(subject):
        passed["bot"] += 1
        return None
    if is_revert:
        note = _revert(subject, body, taken_back.group(1) if taken_back else "", history)
    elif breaking:
        note = Note(
            id="",
            kind="decision",
            title=_plain(subject),
            text=_text(subject, body),
            tags=("breaking-change",),
            confidence=_TRUST,
        )
    elif _explains(body):
        note = Note(
            id="", kind="bug-fix", title=_plain(subject), text=_text(subject, body), tags=("fix",), confidence=_TRUST
        )
    else:
        passed["without a body"] += 1
        return None
    return _finished(note, commit, subject, history, realm)


def _finished(note: Note, commit: Commit, subject: str, history: _Read, realm: str) -> Note:
    scope = _SCOPE.match(subject)
    tags = (*note.tags, *((one_line(scope.group(1)),) if scope and scope.group(1) else ()))
    extra: list[tuple[str, object]] = [("commit", commit.sha)]
    if commit.files:
        extra.append(("files", list(commit.files[:_MAX_FILES])))
    superseded_by = ""
    if not _stands(commit.sha, history):
        later = history.undone_by[commit.sha]
        superseded_by = _id(later, realm)
    return note._replace(
        id=_id(commit, realm),
        realm=realm,
        created=commit.day,
        tags=tags,
        source=f"git {commit.short} {_author(commit)}".rstrip(),
        superseded_by=superseded_by,
        extra=tuple(extra),
    )


def _revert(subject: str, body: str, sha: str, history: _Read) -> Note:
    """What was tried and taken back, with the reason where one is given."""
    undone = history.by_sha.get(sha) or next(
        (each for each in history.commits if sha and each.sha.startswith(sha)), None
    )
    quoted = _REVERT_SUBJECT.match(subject)
    named = next((group for group in quoted.groups() if group), "") if quoted else ""
    if undone is not None:
        named = _without_addresses(one_line(undone.message.partition("\n")[0], 200))
    why = body if _explains(body) else ""
    again = _REVERT_SUBJECT.match(named) is not None
    lines = [f"{'Brought back' if again else 'Taken back'}: {named or subject}"]
    if undone is not None:
        lines[0] += f" (git {undone.short}, {undone.day})"
    if named and subject != f'Revert "{named}"':
        lines.append(f"By: {subject}")
    if why:
        lines.append(f"Why: {why}")
    return Note(
        id="",
        kind="anti-pattern" if why and not again else "insight",
        title=one_line(f"{'Brought back' if again else 'Taken back'}: {named or subject}", 200),
        text="\n\n".join(lines),
        tags=("revert",),
        confidence=_TRUST if why else _LITTLE_TRUST,
    )


def _id(commit: Commit, realm: str) -> str:
    subject = one_line(commit.message.partition("\n")[0], 200)
    return make_id(_plain(_without_addresses(subject)), realm, salt="\0".join((commit.author, commit.time, subject)))


def _plain(subject: str) -> str:
    """The subject without the type that it begins with."""
    return one_line(_SCOPE.sub("", subject, count=1) if _SCOPE.match(subject) else subject) or subject


def _text(subject: str, body: str) -> str:
    return f"{subject}\n\n{body}" if body else subject


def _body(message: str) -> str:
    """The message below its subject, without trailers, addresses and the line that says what is reverted."""
    body = message.partition("\n")[2]
    for pattern in (_TRAILER, _REVERT_WORDS):
        body = pattern.sub("", body)
    return _BLANKS.sub("\n\n", _without_addresses(body)).strip()


def _explains(body: str) -> bool:
    return sum(character.isalnum() for character in body) >= _MIN_BODY


def _author(commit: Commit) -> str:
    return _without_addresses(one_line(commit.author, 80)).strip() or one_line(commit.author.partition("@")[0], 80)


def _without_addresses(text: str) -> str:
    return _ADDRESS.sub("", text) if "@" in text else text
