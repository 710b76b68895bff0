"""What a working folder says of the work in it: project, branch, last commits. The query of a session's start.

Git is asked where it is there, briefly and without anything that could ask back, fetch, or run what
a repository's own configuration names. The branch is read from its file.
"""

from __future__ import annotations

import os
import re
import selectors
import signal
import subprocess
import time
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from typing import NamedTuple

from chitta.bounded_log import not_waiting
from chitta.notes.note import one_line, without_surrogates
from chitta.notes.realms import GLOBAL
from chitta.wire import codec

#: Commits, and records of the commit log, that are looked at; words taken of each (reflect).
COMMITS, WORDS = 5, 3
SHORTEST_WORD = 3
#: Branches that name no work of their own (reflect).
TRUNKS = frozenset({"main", "master"})
#: Words of a branch's name that are taken, characters of a word and of the query: a name can be any text.
BRANCH_WORDS = 8
MAX_WORD_CHARS = 60
#: Seconds for all that git is asked.
GIT_S = 1.5
#: Bytes of what git says; five subjects and an address are less, whatever is in them.
_MOST_GIT_BYTES = 256 * 1024
COMMIT_LOG = "commits.jsonl"
_COMMIT_LOG_BYTES = 64 * 1024
_SUBJECT_KEYS = ("subject", "message", "title")

_CONVENTIONAL = """
    build bump chore ci doc docs feat feature fix hotfix bugfix merge perf refactor release revert style test tests wip
"""
_FILLER = """
    about add added adding adds after all allow also and any are before but can change changed changes clean cleanup
    commit commits correct create created delete deleted does don drop enable ensure few fixed fixes fixing for from
    get has have implement implemented improve improved improvements initial into its make makes minor misc more move
    moved new not now off only origin out over per pull push remote remove removed removes rename renamed request
    requests set small some support than that the them then this tweak tweaks update updated updates updating use used
    uses using via was when will with without work branch main master
"""
DULL = frozenset(f"{_CONVENTIONAL} {_FILLER}".split())
#: Names of folders that any project may have.
PLACES = frozenset("app apps code home project projects repo repos src source temp tmp workspace workspaces".split())
_WORD = re.compile(r"[^\W_]+")
_SEPARATORS = re.compile(r"[/_\-\s]+")
_HASH = re.compile(r"[0-9a-f]{7,40}|\d+")
_REF = "ref: refs/heads/"


class Project(NamedTuple):
    """What names the work: ``name`` of the project, ``words`` of the query in order, ``tags`` those of commits."""

    name: str
    words: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()

    @property
    def query(self) -> str:
        return " ".join(self.words)

    def asked_of(self, realm: str) -> str:
        """The query as ``realm`` is asked it: of the project's own notes without its name, which tells nothing among
        them, nor do the parts of a name of several words. "" where no other word is left.
        """
        if realm == GLOBAL:
            return self.query
        own = {self.name.lower(), *_parts(self.name)}
        return " ".join(dict.fromkeys(rest for word in self.words if (rest := _without(word, own))))

    def telling(self, realm: str) -> str:
        """The words that tell one note of ``realm`` from another."""
        return " ".join(word for word in self.asked_of(realm).split() if word not in DULL and word not in PLACES)


def _parts(name: str) -> list[str]:
    return [part.lower() for part in _WORD.findall(name)]


def _without(word: str, own: Collection[str]) -> str:
    """A word without those of the project's name, ``tidewater.core`` of tidewater as ``core``; "" for nothing else."""
    if word in own:
        return ""
    parts = _parts(word)
    left = [part for part in parts if part not in own]
    return word if len(left) == len(parts) else " ".join(left)


def project(cwd: str, realm: str, state_dir: str) -> Project:
    """Look at a folder; never raises. ``realm`` names the project where git cannot."""
    end = time.monotonic() + GIT_S
    origin = _git(cwd, ("config", "--get", "remote.origin.url"), end)
    subjects = _git(cwd, ("log", f"-{COMMITS}", "--no-show-signature", "--format=%s"), end).splitlines()
    name = name_of(origin, realm, cwd)
    tags = commit_words(subjects)
    tags += [word for word in commit_words(logged_subjects(state_dir, realm)) if word not in tags]
    words = [name.lower(), *branch_words(branch(cwd)), *tags]
    return Project(name, tuple(dict.fromkeys(word for word in words if word)), tuple(tags))


def name_of(origin: str, realm: str, cwd: str) -> str:
    """The last part of the remote's address, without ``.git``; else that of the realm, else the folder's name."""
    address = origin.strip().rstrip("/")
    name = re.split(r"[/:\\]", address)[-1].removesuffix(".git") if address else ""
    if not name and "/" in realm:
        name = realm.rpartition("/")[2]
    return one_line(without_surrogates(name or os.path.basename(cwd.rstrip("/"))), MAX_WORD_CHARS)


def branch(cwd: str) -> str:
    """The branch's name; "" for a detached head or no repository."""
    try:
        head = _head(cwd)
    except (OSError, ValueError):
        return ""
    return without_surrogates(head[len(_REF) :].strip()) if head.startswith(_REF) else ""


def branch_words(name: str) -> list[str]:
    """A branch's words in lower case, without what only says which sort of work it is; none of a trunk."""
    if name in TRUNKS:
        return []
    words = [word[:MAX_WORD_CHARS].lower() for word in _SEPARATORS.split(one_line(name, 400)) if word]
    return [word for word in words if word not in DULL][:BRANCH_WORDS]


def commit_words(subjects: Iterable[str]) -> list[str]:
    """Up to :data:`WORDS` telling words of commit subjects, the most frequent first, then in their order."""
    found: Counter[str] = Counter()
    for subject in subjects:
        words = [word.lower() for word in _WORD.findall(without_surrogates(subject[:400]))]
        found.update(word for word in words if _tells(word))
    ranked = sorted(found, key=lambda word: -found[word])  # stable: a Counter keeps the order of first sight
    return ranked[:WORDS]


def logged_subjects(state_dir: str, realm: str) -> list[str]:
    """Subjects of the last records of the commit log, newest first; those that name another realm do not count."""
    try:
        with open(os.path.join(state_dir, COMMIT_LOG), "rb", opener=not_waiting) as file:
            file.seek(0, os.SEEK_END)
            file.seek(max(0, file.tell() - _COMMIT_LOG_BYTES))
            lines = file.read(_COMMIT_LOG_BYTES).split(b"\n")
    except OSError:
        return []
    subjects: list[str] = []
    for line in reversed(lines):
        try:
            record = codec.loads(line) if line.strip() else None
        except ValueError:
            continue
        if isinstance(record, dict) and record.get("realm", realm) == realm:
            found = next((record[key] for key in _SUBJECT_KEYS if isinstance(record.get(key), str)), "")
            subjects += [found.partition("\n")[0]] if found.strip() else []
        if len(subjects) == COMMITS:
            break
    return subjects


def _tells(word: str) -> bool:
    return SHORTEST_WORD <= len(word) <= MAX_WORD_CHARS and word not in DULL and not _HASH.fullmatch(word)


# Git


def _git(cwd: str, arguments: Sequence[str], end: float) -> str:
    """What git says, or "" when it is not there, fails, or takes too long."""
    left = end - time.monotonic()
    if left <= 0 or not os.path.isabs(cwd) or not os.path.isdir(cwd):
        return ""
    command = ["git", "--no-pager", "-c", "log.showSignature=false", "-c", "core.fsmonitor=false", *arguments]
    try:
        process = subprocess.Popen(
            command,
            cwd=cwd,
            env=_environment(),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
    except (OSError, ValueError, subprocess.SubprocessError):
        return ""
    try:
        said = _said(process, end)
        code = process.wait(max(end - time.monotonic(), 0.0)) if said is not None else -1
    except (OSError, subprocess.TimeoutExpired):
        code = -1
    finally:
        _end(process)
    return said.decode("utf-8", "replace") if code == 0 and said is not None else ""


def _said(process: subprocess.Popen[bytes], end: float) -> bytes | None:
    """All of a process's output; None when it has not ended in time, or is more than git has reason to say."""
    assert process.stdout is not None
    said = bytearray()
    with selectors.DefaultSelector() as selector:
        selector.register(process.stdout, selectors.EVENT_READ)
        while len(said) <= _MOST_GIT_BYTES:
            if not selector.select(max(end - time.monotonic(), 0.0)):
                return None
            part = os.read(process.stdout.fileno(), _MOST_GIT_BYTES)
            if not part:
                return bytes(said)
            said += part
    return None


def _end(process: subprocess.Popen[bytes]) -> None:
    """Nothing of a git that was given up goes on, not what it has started either."""
    if process.stdout is not None:
        process.stdout.close()
    if process.returncode is None:
        try:
            os.killpg(process.pid, signal.SIGKILL)
        except OSError:
            pass
        process.wait()


def _environment() -> dict[str, str]:
    """No variable of git's own (a hook may run inside of git), no prompt, no lock, no fetch."""
    kept = {name: os.environ[name] for name in ("PATH", "HOME", "XDG_CONFIG_HOME") if name in os.environ}
    return {
        **kept,
        "LC_ALL": "C",
        "GIT_TERMINAL_PROMPT": "0",
        "GIT_OPTIONAL_LOCKS": "0",
        "GIT_NO_LAZY_FETCH": "1",
        "GIT_ASKPASS": "true",
        "GIT_SSH_COMMAND": "false",
    }


def _head(cwd: str) -> str:
    """The first line of the HEAD of the repository that holds ``cwd``. Raises ``OSError``."""
    folder = os.path.realpath(cwd)
    while True:
        entry = os.path.join(folder, ".git")
        if os.path.isfile(entry):  # a work tree beside its repository
            pointer = _first_line(entry)
            entry = os.path.join(folder, pointer.removeprefix("gitdir:").strip())
        if os.path.isfile(os.path.join(entry, "HEAD")):
            return _first_line(os.path.join(entry, "HEAD"))
        above = os.path.dirname(folder)
        if above == folder:
            return ""
        folder = above


def _first_line(path: str) -> str:
    with open(path, "rb") as file:
        return os.fsdecode(file.read(4096).partition(b"\n")[0])
