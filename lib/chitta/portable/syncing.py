"""One store on several machines, through a git remote that holds the notes and nothing else.

Whatever is interrupted here leaves the notes readable and a state that the next run takes up again:
work is committed before anything is fetched, and a merge that was begun is finished from git's own record of it.
"""

from __future__ import annotations

import os
import random
import re
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import NamedTuple

from chitta.notes.note import Note
from chitta.notes.store import MAX_NOTE_BYTES, NoteStore
from chitta.portable.git import NETWORK_S, GitFault
from chitta.portable.note_files import merge_files, note_of
from chitta.portable.repository import ATTRIBUTE, REMOTE, Repository
from chitta.portable.whole_files import lies_in, write_whole

#: Times that a merge or a push is tried again when someone else was quicker.
_TRIES = 8
#: Seconds before the next try, at first and at most: they double, less up to a half by chance, so that two machines
#: that push at the same moment do not meet again.
_PAUSE_S, _LONGEST_PAUSE_S = 0.1, 2.0
_MACHINE = "Machine"
_LINK_MODES = ("120000", "160000")
_REJECTED = ("[rejected]", "fetch first", "non-fast-forward", "cannot lock ref", "failed to update ref")
#: What a remote says that was taking another push at the same moment: not its rules, only its timing.
_AT_ONCE = re.compile(
    r"cannot lock ref '[^']*': (?:is at [0-9a-f]+ but expected [0-9a-f]+|reference already exists"
    r"|unable to create '[^']*': file exists)|incorrect old value provided"
)

#: Suspicion of a note that comes in: the reasons, or none.
Suspect = Callable[[Note], tuple[str, ...]]


class Settled(NamedTuple):
    """A file that both sides had changed, and what became of it; ``beside`` is the second file, if there is one."""

    below: str
    beside: str
    remarks: tuple[str, ...]


class Report(NamedTuple):
    """What a sync did. Paths are below the notes folder; ``held`` are in quarantine now.

    ``sent`` counts commits, ``sent_notes`` the notes that they changed or removed. ``quarantined`` are notes that this
    machine had out of quarantine and another one put in. ``renamed`` is this machine's new name, where another one had
    its own.
    """

    committed: int = 0
    received: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    settled: tuple[Settled, ...] = ()
    held: tuple[str, ...] = ()
    sent: int = 0
    repaired: bool = False
    sent_notes: int = 0
    quarantined: tuple[str, ...] = ()
    renamed: str = ""


class Foreign(GitFault):
    """The remote holds something else than notes."""


def sync(repository: Repository, *, suspect: Suspect, any_remote: bool = False) -> Report:
    """Commit what changed here, take in what is new there, settle what both changed, and send the result.

    Without a remote it only commits. Raises :class:`GitFault` and ``OSError``; whatever was done until
    then stays, and the next call goes on from there.
    """
    repository.begin()
    try:
        settled = list(_finish_merge(repository))
        repaired = bool(settled)
        committed = commit(repository)
        start = repository.head()
        report = Report(committed, settled=tuple(settled), repaired=repaired)
        if not repository.setting(f"remote.{REMOTE}.url"):
            return report
        name = repository.name()
        for attempt in range(_TRIES):
            if attempt:
                pause = min(_PAUSE_S * 2 ** (attempt - 1), _LONGEST_PAUSE_S)
                time.sleep(pause * random.uniform(0.5, 1.0))
            settled += _take_in(repository, any_remote)
            received, removed = _difference(repository, start)
            quarantined = tuple(_quarantined_elsewhere(repository, start, received))
            held = _hold_suspects(repository, start, received, suspect)
            report = report._replace(
                received=received,
                removed=removed,
                settled=tuple(settled),
                held=(*report.held, *held),
                quarantined=quarantined,
                renamed=repository.name() if repository.name() != name else "",
            )
            outgoing = _outgoing(repository)
            sent = _push(repository)
            if sent is not None:
                repository.name_became_known()
                return report._replace(sent=sent, sent_notes=outgoing)
        raise GitFault("others kept sending to the remote at the same time", "run `chitta sync` again")
    finally:
        repository.end()


def commit(repository: Repository) -> int:
    """Commit everything that changed, or finish a merge; how many files the commit is about (0: there is none)."""
    changed = repository.changed()
    if not changed and not repository.merging():
        return 0
    git = repository.git
    git.text("add", "--all", "--", ".")
    words = f"{len(changed)} file{'' if len(changed) == 1 else 's'} changed on {repository.name()}"
    git.text(
        *repository.identity(),
        *("commit", "--quiet", "--allow-empty", "-m", words, "-m", f"{_MACHINE}: {repository.name()}"),
    )
    return len(changed)


# Taking in


def _take_in(repository: Repository, any_remote: bool) -> list[Settled]:
    """Fetch, and merge what is new."""
    branch, upstream, git = repository.branch(), repository.upstream(), repository.git
    words = ("fetch", "--quiet", "--no-tags", REMOTE, f"+refs/heads/{branch}:{upstream}")
    try:
        git.text(*words, timeout=NETWORK_S)
    except GitFault as problem:
        if "couldn't find remote ref" in problem.words:  # nothing was ever sent
            return []
        raise
    _mind_name(repository, upstream)
    for _ in range(_TRIES):
        if git.succeeds("merge-base", "--is-ancestor", upstream, "HEAD"):
            return []
        related = git.succeeds("merge-base", upstream, "HEAD")
        if not related and not any_remote:
            _refuse_foreign(repository, upstream)
        forward = related and git.succeeds("merge-base", "--is-ancestor", "HEAD", upstream)
        how = ("--ff-only",) if forward else ("--no-ff", "--no-commit", "--allow-unrelated-histories")
        code, _, complaint = git.run((*repository.identity(), "merge", "--quiet", *how, upstream), NETWORK_S)
        if repository.merging():
            return _finish_merge(repository)
        if code == 0:
            return []
        if "would be overwritten" not in complaint:
            raise GitFault(f"the merge failed: {_first(complaint)}", "run `chitta sync` again", complaint)
        commit(repository)  # a note was written meanwhile
    raise GitFault("notes kept changing while they were merged", "run `chitta sync` again")


def _refuse_foreign(repository: Repository, upstream: str) -> None:
    code, out, _ = repository.git.run(("show", f"{upstream}:.gitattributes"), 10.0)
    if code != 0 or ATTRIBUTE.split(" -")[0] not in out.decode("utf-8", "replace"):
        raise Foreign(
            f"the remote {repository.setting(f'remote.{REMOTE}.url')} holds something else than notes of chitta",
            "give a remote of its own to the notes (`chitta sync init REMOTE`), or take it all the same with --yes",
        )


def _finish_merge(repository: Repository) -> list[Settled]:
    """Settle whatever both sides changed and commit the merge; nothing where none is under way."""
    if not repository.merging():
        return []
    theirs = repository.git.text("rev-parse", "MERGE_HEAD").split("\n")[0]
    settled = list(_settle(repository, _label(repository, theirs)))
    commit(repository)
    return settled


def _label(repository: Repository, commit_id: str) -> str:
    """The name of the machine that made the commit; ``other`` where a hand made it."""
    names = _names_in(repository, "-1", commit_id)
    return _free_name(names[-1], {repository.name()}) if names else "other"


def _names_in(repository: Repository, *which: str) -> list[str]:
    """Names of machines that these commits say, newest first."""
    words = repository.git.text("log", "--format=%B", *which)
    return re.findall(rf"^{_MACHINE}: ([a-z0-9-]{{1,32}})$", words, re.MULTILINE)


def _mind_name(repository: Repository, upstream: str) -> None:
    """Take another name where one was sent by another machine that is called as this one.

    Once something of this machine was sent, the name is its own: what comes in under it is older, or was renamed.
    """
    if repository.name_is_known():
        return
    new = _names_in(repository, upstream, *(("^HEAD",) if repository.head() else ()))
    if repository.name() in new:
        repository.set_name(_free_name(repository.name(), set(_names_in(repository, upstream))))


def _free_name(name: str, taken: set[str]) -> str:
    """The name, with a number where it is taken: ``desk-2``."""
    return next(one for one in (name, *(f"{name[:20]}-{number}" for number in range(2, 1000))) if one not in taken)


def _settle(repository: Repository, other: str) -> Iterable[Settled]:
    for below, stages in _unmerged(repository).items():
        base, ours, theirs = (_blob(repository, stages.get(number)) for number in (1, 2, 3))
        ours = _edited_meanwhile(repository, below, base, ours, theirs, other)
        merged = merge_files(base, ours, theirs, below, other, lambda place: _content(repository.root, place))
        if merged is None:
            repository.git.text("rm", "--quiet", "--cached", "--", below)
            continue
        for place, content in ((below, merged.content), *([merged.beside] if merged.beside else [])):
            _write(repository.root, place, content)
        repository.git.text("add", "--force", "--", below)
        yield Settled(below, merged.beside[0] if merged.beside else "", merged.remarks)


def _edited_meanwhile(
    repository: Repository, below: str, base: bytes | None, ours: bytes | None, theirs: bytes | None, other: str
) -> bytes | None:
    """Our side as the file has it, where a person went on editing since the merge began; else as git recorded it."""
    there = _content(repository.root, below)
    if there in (None, ours, theirs) or there is None or b"\n<<<<<<< " in there or there.startswith(b"<<<<<<< "):
        return ours
    done = merge_files(base, ours, theirs, below, other, lambda place: None)
    return ours if done is not None and done.content == there else there


def _unmerged(repository: Repository) -> dict[str, dict[int, str]]:
    """Object names by stage (1 base, 2 ours, 3 theirs) of each path that git could not merge; no links."""
    found: dict[str, dict[int, str]] = {}
    for entry in repository.git.data("ls-files", "--unmerged", "-z").split(b"\0"):
        if entry:
            facts, _, path = entry.partition(b"\t")
            mode, name, stage = facts.decode().split(" ")
            stages = found.setdefault(os.fsdecode(path), {})
            if mode not in _LINK_MODES:
                stages[int(stage)] = name
    return found


def _blob(repository: Repository, name: str | None) -> bytes | None:
    return None if name is None else repository.git.data("cat-file", "blob", name)


# What came


def _difference(repository: Repository, start: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Notes that differ from the commit ``start``, and those that are gone since."""
    words = ("diff", "--name-only", "-z", "--no-renames")
    gone = repository.git.paths(*words, "--diff-filter=D", start, "HEAD")
    there = repository.git.paths(*words, "--diff-filter=d", start, "HEAD")
    return tuple(filter(_is_note, there)), tuple(filter(_is_note, gone))


def _is_note(below: str) -> bool:
    return below.endswith(".md") and not any(part.startswith(".") for part in below.split("/"))


def _quarantined_elsewhere(repository: Repository, start: str, received: Iterable[str]) -> Iterable[str]:
    """Notes that came in with a quarantine which they did not have here."""
    for below in received:
        content = _content(repository.root, below)
        if content is None or len(content) > MAX_NOTE_BYTES or not note_of(content, below).quarantine:
            continue
        code, before, _ = repository.git.run(("show", f"{start}:{below}"), 10.0)
        if code == 0 and not note_of(before, below).quarantine:
            yield below


def _hold_suspects(repository: Repository, start: str, received: Iterable[str], suspect: Suspect) -> list[str]:
    """Put notes that came in and read like orders to a model into quarantine; their places.

    A note whose text was here before is left alone: a person may have released it.
    """
    store, held = NoteStore(repository.root), []
    for below in received:
        content = _content(repository.root, below)
        if content is None or len(content) > MAX_NOTE_BYTES:
            continue
        note = note_of(content, below)
        code, before, _ = repository.git.run(("show", f"{start}:{below}"), 10.0)
        if note.quarantine or (code == 0 and note_of(before, below).text == note.text):
            continue
        reasons = suspect(note)
        if reasons:
            extra = dict(note.extra) | {"suspected": list(reasons)}
            store.write(note._replace(quarantine=True, extra=tuple(extra.items())), path=repository.root / below)
            held.append(below)
    if held:
        commit(repository)
    return held


# Sending


def _outgoing(repository: Repository) -> int:
    """How many notes differ from what the remote has."""
    if known := repository.head(repository.upstream()):
        return sum(map(_is_note, repository.git.paths("diff", "--name-only", "-z", "--no-renames", known, "HEAD")))
    return sum(map(_is_note, repository.git.paths("ls-tree", "-r", "--name-only", "-z", "HEAD")))


def _push(repository: Repository) -> int | None:
    """Send what the remote does not have; how many commits, or None where it has got others meanwhile."""
    git, branch, upstream = repository.git, repository.branch(), repository.upstream()
    known = repository.head(upstream)
    ahead = repository.count(upstream, "HEAD") if known else int(git.text("rev-list", "--count", "HEAD"))
    if not ahead:
        return 0
    words = ("push", "--quiet", "--no-verify", REMOTE, f"HEAD:refs/heads/{branch}")
    try:
        git.text(*words, timeout=NETWORK_S)
    except GitFault as problem:
        lowered = problem.words.lower()
        if _AT_ONCE.search(lowered):
            return None
        if "remote rejected" not in lowered and any(sign in lowered for sign in _REJECTED):
            return None
        if "rejected" in lowered or "declined" in lowered:
            raise GitFault(
                f"the remote did not take the notes: {_first(problem.words)}",
                "everything is committed here; let this branch be pushed to, then run `chitta sync` again",
                problem.words,
            ) from None
        raise
    git.text("update-ref", upstream, "HEAD")
    return ahead


def _write(root: Path, below: str, content: bytes) -> None:
    path = root / below
    if not lies_in(path.parent, root):
        raise GitFault(f"{below} leads out of the notes", "take the link away, then run `chitta sync` again")
    if _content(root, below) != content:
        write_whole(path, content)


def _content(root: Path, below: str) -> bytes | None:
    try:
        return (root / below).read_bytes()
    except OSError:
        return None


def _first(complaint: str) -> str:
    lines = [" ".join(line.split()) for line in complaint.splitlines() if line.strip()]
    telling = [line for line in lines if "rejected" in line or line.startswith(("fatal:", "error:", "remote:"))]
    return (telling or lines or ["no reason given"])[0][:200]
