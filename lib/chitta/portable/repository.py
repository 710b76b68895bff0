"""The folder of notes as a git repository: what makes it one, and what state it is in."""

from __future__ import annotations

import os
import re
import shlex
import socket
import time
from pathlib import Path
from typing import NamedTuple

from chitta.portable.git import NETWORK_S, Git, GitFault
from chitta.portable.whole_files import write_whole

REMOTE = "origin"
BRANCH = "main"
#: The word by which a repository of notes is known to be one.
ATTRIBUTE = "*.md merge=chitta -text"
ATTRIBUTES = f"# Notes of chitta. Two edits of one note are merged by `chitta merge-notes`.\n{ATTRIBUTE}\n"
IGNORED = "# Files that begin with a dot are no notes: editors' and temporary ones.\n.*\n!.gitignore\n!.gitattributes\n"
DRIVER_WORDS = "merge-notes %O %A %B %P"
#: A lock of git that is older than any command may take was left by one that was killed.
_STALE_LOCK_S = 600.0
_LOCK_WAIT_S = 3.0
_MARK = "chitta-sync"
_OTHER_WORK = ("rebase-merge", "rebase-apply", "CHERRY_PICK_HEAD", "REVERT_HEAD", "BISECT_LOG")
_MACHINE_CHARS = 24
#: This repository's own settings: the machine's name in it, and that the remote knows that name as this machine's.
_NAME_SETTING, _KNOWN_SETTING = "chitta.machine", "chitta.known"


class Standing(NamedTuple):
    """How the repository stands, without asking the remote: ``ahead`` and ``behind`` are as of the last fetch."""

    branch: str
    remote: str
    changed: tuple[str, ...]
    ahead: int
    behind: int
    unfinished: bool


class Repository:
    """The repository at the folder of notes. Raises :class:`GitFault` wherever git does."""

    def __init__(self, notes_dir: str | os.PathLike[str]) -> None:
        self.root = Path(notes_dir)
        self.git = Git(notes_dir)

    def exists(self) -> bool:
        return (self.root / ".git").exists()

    def make(self, driver: str) -> list[str]:
        """Make the repository, or bring one up to date that is there; a sentence for every step taken.

        ``driver`` is the path of the program `chitta`.
        """
        steps = []
        if not self.exists():
            self.root.mkdir(parents=True, exist_ok=True)
            self.git.text("init", "--quiet")
            self.git.text("symbolic-ref", "HEAD", f"refs/heads/{BRANCH}")
            steps.append(f"made {self.root} a git repository: notes alone; index and state stay on this machine")
        for name, content, what in (
            (".gitattributes", ATTRIBUTES, "that two edits of one note are merged as notes, not as lines"),
            (".gitignore", IGNORED, "that temporary files stay here"),
        ):
            if self._add_to(name, content):
                steps.append(f"wrote {name}, which says {what}")
        if self.set_driver(driver):
            steps.append("told this repository how notes are merged, for a `git pull` by hand as well")
        return steps

    def set_driver(self, driver: str) -> bool:
        """Let git know the merge driver, in this repository's own settings; True where that was a change."""
        command = f"{shlex.quote(driver)} {DRIVER_WORDS}"
        wanted = {"merge.chitta.name": "notes of chitta", "merge.chitta.driver": command}
        wanted["merge.chitta.recursive"] = "binary"  # an invented common beginning must hold no conflict marks
        changed = False
        for name, value in wanted.items():
            if self.setting(name, "--local") != value:  # what git is run with here is above the file's
                self.git.text("config", "--local", name, value)
                changed = True
        # Attributes that come in could say otherwise; these are above them.
        own = Path(self.path("info/attributes"))
        if not own.is_file() or ATTRIBUTE not in own.read_text(errors="replace"):
            write_whole(own, f"{ATTRIBUTE}\n".encode())
            changed = True
        return changed

    def set_remote(self, address: str) -> bool:
        """Name the remote; True where it was another one, or none."""
        if self.setting(f"remote.{REMOTE}.url") == address:
            return False
        word = "set-url" if self.setting(f"remote.{REMOTE}.url") else "add"
        self.git.text("remote", word, "--", REMOTE, address)
        return True

    def take_branch_of_remote(self) -> str:
        """The branch; where nothing is committed here yet, that which the remote shows first. Asks the remote."""
        if not self.head():
            for line in self.git.text("ls-remote", "--symref", REMOTE, "HEAD", timeout=NETWORK_S).splitlines():
                found = re.fullmatch(r"ref: refs/heads/(\S+)\s+HEAD", line)
                if found:
                    self.git.text("symbolic-ref", "HEAD", f"refs/heads/{found.group(1)}")
        return self.branch()

    def track(self) -> None:
        """Let a `git pull` by hand know what to pull."""
        branch = self.branch()
        self.git.text("config", "--local", f"branch.{branch}.remote", REMOTE)
        self.git.text("config", "--local", f"branch.{branch}.merge", f"refs/heads/{branch}")

    def _add_to(self, name: str, content: str) -> bool:
        path = self.root / name
        there = path.read_text(errors="replace") if path.is_file() else ""
        missing = [line for line in content.splitlines() if line not in there.splitlines()]
        if not missing:
            return False
        if there and not there.endswith("\n"):
            there += "\n"
        write_whole(path, (there + "".join(f"{line}\n" for line in missing)).encode())
        return True

    # What is where

    def setting(self, name: str, *where: str) -> str:
        code, out, _ = self.git.run(("config", *where, "--get", name), 10.0)
        return out.decode("utf-8", "replace").strip() if code == 0 else ""

    def identity(self) -> tuple[str, ...]:
        """Options that name an author where git knows none."""
        if self.setting("user.email") or os.environ.get("GIT_AUTHOR_EMAIL"):
            return ()
        return "-c", "user.name=chitta", "-c", f"user.email=chitta@{self.name()}"

    def name(self) -> str:
        """What this machine is called in the notes that it adds beside others: as chosen, else its host's name."""
        return self.setting(_NAME_SETTING, "--local") or machine()

    def set_name(self, name: str = "") -> str:
        """Keep the name, made a slug; "" keeps the one there is. The name."""
        new = slug(name) if name else self.name()
        if self.setting(_NAME_SETTING, "--local") != new:
            self.git.text("config", "--local", _NAME_SETTING, new)
            self.git.run(("config", "--local", "--unset", _KNOWN_SETTING), 10.0)
        return new

    def name_is_known(self) -> bool:
        """Whether something was sent under this name, which is then this machine's for good."""
        return self.setting(_KNOWN_SETTING, "--local") == self.name()

    def name_became_known(self) -> None:
        if not self.name_is_known():
            self.set_name()
            self.git.text("config", "--local", _KNOWN_SETTING, self.name())

    def path(self, name: str) -> str:
        """Where git keeps something of this name."""
        return os.path.join(self.root, self.git.text("rev-parse", "--git-path", name))

    def branch(self) -> str:
        """The branch. Raises :class:`GitFault` where another commit than a branch's is looked at."""
        code, out, _ = self.git.run(("symbolic-ref", "--quiet", "--short", "HEAD"), 10.0)
        if code != 0:
            raise GitFault(f"{self.root} is on no branch", f"run `git switch {BRANCH}` there, then `chitta sync`")
        return out.decode().strip()

    def head(self, name: str = "HEAD") -> str:
        """The commit, or "" where there is none."""
        code, out, _ = self.git.run(("rev-parse", "--verify", "--quiet", f"{name}^{{commit}}"), 10.0)
        return out.decode().strip() if code == 0 else ""

    def upstream(self) -> str:
        return f"refs/remotes/{REMOTE}/{self.branch()}"

    def changed(self) -> list[str]:
        """Paths that differ from the last commit: new, edited and deleted ones."""
        entries = self.git.data("status", "--porcelain", "-z", "--untracked-files=all", "--no-renames").split(b"\0")
        return sorted(os.fsdecode(entry[3:]) for entry in entries if entry)

    def merging(self) -> bool:
        return os.path.exists(self.path("MERGE_HEAD"))

    def count(self, one: str, other: str) -> int:
        """Commits of ``other`` that ``one`` does not have."""
        return int(self.git.text("rev-list", "--count", f"{one}..{other}") if one else "0")

    def standing(self) -> Standing:
        head, upstream = self.head(), self.head(self.upstream())
        return Standing(
            self.branch(),
            self.setting(f"remote.{REMOTE}.url"),
            tuple(self.changed()),
            self.count(upstream, head) if upstream and head else 0,
            self.count(head, upstream) if upstream and head else 0,
            self.merging() or os.path.exists(self.path(_MARK)),
        )

    # After something was cut short

    def begin(self) -> None:
        """Look whether work can begin, take away what a killed run left, and leave a mark until :meth:`end`."""
        for name in _OTHER_WORK:
            if os.path.exists(self.path(name)):
                raise GitFault(
                    f"something else is under way in {self.root}: {name}",
                    "finish or abort it there with git, then run `chitta sync` again",
                )
        self.branch()
        mark = Path(self.path(_MARK))
        self._unlock(mark.exists())
        write_whole(mark, b"at work\n")

    def end(self) -> None:
        Path(self.path(_MARK)).unlink(missing_ok=True)

    def _unlock(self, cut_short: bool) -> None:
        lock = Path(self.path("index.lock"))
        until = time.monotonic() + _LOCK_WAIT_S
        while lock.exists() and time.monotonic() < until:
            time.sleep(0.1)
        try:
            age = time.time() - lock.stat().st_mtime
        except FileNotFoundError:
            return
        if not cut_short and age < _STALE_LOCK_S:
            raise GitFault("another git is at work on the notes", f"wait for it; if there is none, remove {lock}")
        lock.unlink(missing_ok=True)


def machine() -> str:
    """A short name of this machine, for the notes that it adds beside others."""
    return slug(socket.gethostname().split(".")[0])


def slug(name: str) -> str:
    """At most 24 lower-case letters, digits and hyphens."""
    return re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")[:_MACHINE_CHARS].strip("-") or "machine"
