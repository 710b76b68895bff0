"""Running git on the folder of notes: bounded, without hooks, pagers or questions, whatever a person has set."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Sequence
from pathlib import Path

#: Seconds that a git command may take on this machine, and over a network.
LOCAL_S = 60.0
NETWORK_S = 180.0
#: What every command is run with. Links in what comes in are plain files here, and its objects are checked.
_SETTINGS = (
    "core.hooksPath=/dev/null",
    "core.pager=cat",
    "core.quotePath=false",
    "core.autocrlf=false",
    "core.safecrlf=false",
    "core.symlinks=false",
    "core.fsmonitor=false",
    "core.askPass=",
    "core.excludesFile=/dev/null",
    "core.attributesFile=/dev/null",
    "commit.gpgSign=false",
    "merge.verifySignatures=false",
    "submodule.recurse=false",
    "fetch.recurseSubmodules=false",
    "transfer.fsckObjects=true",
    # Two edits of one note are settled in this process, after git has found them; a similar note is another note.
    "merge.chitta.driver=false",
    "merge.chitta.recursive=binary",
    "merge.renames=false",
    "merge.conflictStyle=merge",
)
#: Variables that would send git to another repository, or to a window that asks.
_UNSET = (
    *("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_OBJECT_DIRECTORY", "GIT_ALTERNATE_OBJECT_DIRECTORIES"),
    *("GIT_COMMON_DIR", "GIT_NAMESPACE", "GIT_PREFIX", "GIT_CONFIG_PARAMETERS", "GIT_CONFIG_COUNT", "GIT_CONFIG"),
    *("GIT_ASKPASS", "SSH_ASKPASS", "GIT_EDITOR", "GIT_EXTERNAL_DIFF", "GIT_TRACE"),
)
_SENTENCE_CHARS = 300
#: What git says where a remote cannot be reached, in its untranslated words.
_AWAY = (
    *("could not resolve host", "connection refused", "connection timed out", "network is unreachable"),
    *("could not read from remote repository", "unable to access", "does not appear to be a git repository"),
    *("repository not found", "no route to host", "connection reset", "unable to look up", "terminal prompts disabled"),
    *("permission denied", "authentication failed", "operation timed out", "took longer than"),
)


class GitFault(Exception):
    """A git command that failed: ``message`` and ``hint`` are for people, ``words`` what git said."""

    def __init__(self, message: str, hint: str = "", words: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint
        self.words = words


class Away(GitFault):
    """The remote cannot be reached, or lets this machine not in."""


class Git:
    """git in one folder, which is the top of its own repository."""

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        self.folder = Path(folder)

    def text(self, *words: str, timeout: float = LOCAL_S) -> str:
        """What the command prints, without the line break at its end. Raises :class:`GitFault`."""
        return self.data(*words, timeout=timeout).decode("utf-8", "replace").rstrip("\n")

    def data(self, *words: str, timeout: float = LOCAL_S, standard_input: bytes = b"") -> bytes:
        """What the command prints. Raises :class:`GitFault`."""
        code, out, complaint = self.run(words, timeout, standard_input)
        if code != 0:
            raise _fault(words, complaint)
        return out

    def succeeds(self, *words: str, timeout: float = LOCAL_S) -> bool:
        """Whether the command ends with 0."""
        return self.run(words, timeout)[0] == 0

    def paths(self, *words: str) -> list[str]:
        """Paths that a command with ``-z`` prints."""
        return [os.fsdecode(part) for part in self.data(*words).split(b"\0") if part]

    def run(self, words: Sequence[str], timeout: float, standard_input: bytes = b"") -> tuple[int, bytes, str]:
        """The exit code, what was printed, what was complained of. Raises :class:`GitFault` where there is no git."""
        command = ["git", "--no-pager"]
        for setting in _SETTINGS:
            command += ["-c", setting]
        try:
            process = subprocess.Popen(
                [*command, *words],
                cwd=self.folder,
                env=self._environment(),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                start_new_session=True,
                umask=0o077,
            )
        except FileNotFoundError:
            if not self.folder.is_dir():
                raise GitFault(f"there is no folder {self.folder}") from None
            raise GitFault("git is not installed, or not on PATH", "install git, then run the command again") from None
        except OSError as problem:
            raise GitFault(f"git cannot be run: {problem.strerror or problem}") from None
        try:
            out, complaint = process.communicate(standard_input, timeout)
        except BaseException as problem:
            _end(process)
            if isinstance(problem, subprocess.TimeoutExpired):
                words_of = f"git {words[0]} took longer than {timeout:g} s"
                kind = Away if timeout == NETWORK_S else GitFault
                raise kind(words_of, "run `chitta sync` again later", words_of) from None
            raise
        return process.returncode, out, complaint.decode("utf-8", "replace")

    def _environment(self) -> dict[str, str]:
        environment = {name: value for name, value in os.environ.items() if name not in _UNSET}
        ssh = environment.get("GIT_SSH_COMMAND") or self._ssh_command() or "ssh"
        return environment | {
            "GIT_TERMINAL_PROMPT": "0",
            "SSH_ASKPASS_REQUIRE": "never",
            "GIT_SSH_COMMAND": f"{ssh} -o BatchMode=yes -o ConnectTimeout=15",
            "GIT_CEILING_DIRECTORIES": str(self.folder.resolve().parent),
            "GIT_MERGE_AUTOEDIT": "no",
            "LC_ALL": "C",
        }

    def _ssh_command(self) -> str:
        """The person's own ``core.sshCommand``, which the variable would hide."""
        try:
            done = subprocess.run(
                ["git", "config", "core.sshCommand"], cwd=self.folder, capture_output=True, timeout=10, check=False
            )
        except (OSError, subprocess.TimeoutExpired):
            return ""
        return done.stdout.decode("utf-8", "replace").strip()


def _end(process: subprocess.Popen[bytes]) -> None:
    """End the command with all that it started: first politely, so that it takes its locks away."""
    for number, patience in ((signal.SIGTERM, 2.0), (signal.SIGKILL, 5.0)):
        try:
            os.killpg(process.pid, number)
        except ProcessLookupError:
            pass
        try:
            process.wait(patience)
            return
        except subprocess.TimeoutExpired:
            continue


def _fault(words: Sequence[str], complaint: str) -> GitFault:
    lines = [line.strip() for line in complaint.splitlines() if line.strip()]
    telling = [line for line in lines if line.startswith(("fatal:", "error:", "ssh:"))] or lines[-1:]
    said = " ".join(telling[0].split())[:_SENTENCE_CHARS] if telling else "no reason given"
    lowered = complaint.lower()
    if words[0] in ("fetch", "push", "ls-remote") and any(sign in lowered for sign in _AWAY):
        return Away(f"the remote cannot be reached: {said}", "check the connection and your access to it", complaint)
    return GitFault(f"git {words[0]} failed: {said}", words=complaint)
