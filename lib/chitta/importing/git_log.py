"""The commits of a repository, listed by git, with nothing that the repository configures being run.

A repository that one did not make can name programs in its configuration (a monitor, a pager, a way to
reach a server, a filter to show files). Each that listing commits could start is switched off.
"""

from __future__ import annotations

import os
import re
import subprocess
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from chitta.notes.note import one_line, without_surrogates

MAX_COMMITS = 2_000
#: Seconds that git may take, bytes that it may say, and bytes of one message that are kept.
TIMEOUT = 60.0
MAX_BYTES = 64 * 1024 * 1024
MAX_MESSAGE_BYTES = 64 * 1024
MAX_FILES = 200

_CHUNK = 64 * 1024
_FIELDS = 6  # that end in NUL in each record: hash, short hash, author, time, mail address, message
_HARMLESS = (
    *("core.fsmonitor=false", "core.pager=cat", "core.hooksPath=/dev/null", "core.sshCommand=false"),
    *("core.askPass=", "core.quotePath=false", "credential.helper=", "diff.external=", "diff.renames=false"),
    *("log.showSignature=false", "log.mailmap=false", "gpg.program=false", "protocol.allow=never"),
    *("i18n.logOutputEncoding=UTF-8", "submodule.recurse=false", "maintenance.auto=false", "gc.auto=0"),
)
_FORMAT = "%H%x00%h%x00%an%x00%aI%x00%ae%x00%B%x00"
_BOT_ADDRESS = re.compile(rb"\[bot\]|\b(?:dependabot|renovate)\b", re.IGNORECASE)


class Commit(NamedTuple):
    """A commit that is no merge. ``time`` is the author's, ISO 8601 with its zone; ``files`` those it touched."""

    sha: str
    short: str
    author: str
    time: str
    message: str
    files: tuple[str, ...] = ()

    @property
    def day(self) -> str:
        """The ISO day, where the author was."""
        return self.time[:10]


class GitFailed(Exception):
    """Why the commits cannot be listed; the text is a sentence's end for people."""


def is_repository(path: Path) -> bool:
    """Whether the folder is the top of a work tree, or a bare repository; never raises."""
    try:
        if (path / ".git").exists():
            return True
        return (path / "HEAD").is_file() and (path / "objects").is_dir() and (path / "refs").is_dir()
    except OSError:
        return False


def commits_of(path: Path) -> Iterator[Commit]:
    """The last :data:`MAX_COMMITS` commits before HEAD, newest first, without merges; raises :class:`GitFailed`."""
    if not path.is_dir():
        raise GitFailed("is not a folder" if path.exists() else "is not there")
    settings = [word for each in _HARMLESS for word in ("-c", each)]
    command = ["git", "--no-pager", "--no-optional-locks", "--no-replace-objects", *settings, "log"]
    command += [f"-n{MAX_COMMITS}", "--no-merges", "--date-order", "--no-color", "--no-decorate", "--no-notes"]
    command += ["--no-show-signature", "--no-ext-diff", "--no-textconv", "--no-renames", "--ignore-submodules=all"]
    command += ["--name-only", f"--format=tformat:{_FORMAT}", "HEAD", "--"]
    try:
        process = subprocess.Popen(
            command,
            cwd=path,
            env=_environment(),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
    except FileNotFoundError:
        raise GitFailed("cannot be read: git is not installed") from None
    except OSError as problem:
        raise GitFailed(f"cannot be read: {problem.strerror or problem}") from None
    late = threading.Event()

    def stop() -> None:
        late.set()
        process.kill()

    timer = threading.Timer(TIMEOUT, stop)
    timer.daemon = True
    timer.start()
    said: list[bytes] = []
    listener = threading.Thread(target=lambda: said.append(_last_words(process)), daemon=True)
    listener.start()
    try:
        yield from _commits(process)
        code = process.wait()
        listener.join()
        if late.is_set():
            raise GitFailed(f"took git more than {TIMEOUT:.0f} s; the rest was not read")
        if code:
            raise GitFailed(_complaint(b"".join(said)))
    finally:
        timer.cancel()
        if process.poll() is None:
            process.kill()
        process.wait()
        listener.join()
        for pipe in (process.stdout, process.stderr):
            if pipe is not None:
                pipe.close()


def _environment() -> dict[str, str]:
    """The person's own, without what points git elsewhere or names a program; no network, no questions."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("GIT_", "SSH_"))}
    return kept | {
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_OPTIONAL_LOCKS": "0",
        "GIT_TERMINAL_PROMPT": "0",
        "GIT_NO_LAZY_FETCH": "1",
        "GIT_ALLOW_PROTOCOL": "",
        "GIT_PAGER": "cat",
        "LC_ALL": "C",
    }


def _commits(process: subprocess.Popen[bytes]) -> Iterator[Commit]:
    """Commits from git's words: six fields that end in NUL, then the names of files up to the next hash."""
    fields: list[bytes] = []
    for piece in _pieces(process):
        if len(fields) == _FIELDS:
            names, _, sha = piece.rpartition(b"\n")
            yield _commit(fields, names)
            fields = [sha]
        else:
            fields.append(piece)
    # After the last NUL come the last commit's files, then the end.


def _pieces(process: subprocess.Popen[bytes]) -> Iterator[bytes]:
    """What stands between NULs, and what stands after the last one; at most :data:`MAX_BYTES` in all."""
    assert process.stdout is not None
    held, total = b"", 0
    while chunk := process.stdout.read(_CHUNK):
        total += len(chunk)
        if total > MAX_BYTES:
            raise GitFailed(f"has messages of more than {MAX_BYTES >> 20} MiB; the rest was not read")
        *whole, held = (held + chunk).split(b"\0")
        yield from whole
    yield held + b"\n"


def _commit(fields: list[bytes], names: bytes) -> Commit:
    sha, short, author, time, address, message = fields
    files = [_text(name) for name in names.split(b"\n") if name.strip()][:MAX_FILES]
    # A bot is known by its address where its name does not say so; the address itself goes no further.
    bot = " [bot]" if _BOT_ADDRESS.search(address) and not _BOT_ADDRESS.search(author) else ""
    return Commit(
        sha=_text(sha).strip(),
        short=_text(short),
        author=_text(author) + bot,
        time=_text(time),
        message=_text(message[:MAX_MESSAGE_BYTES]).replace("\r\n", "\n").strip(),
        files=tuple(files),
    )


def _text(data: bytes) -> str:
    return without_surrogates(data.decode("utf-8", "replace"))


def _last_words(process: subprocess.Popen[bytes]) -> bytes:
    """The start of what git complains of; the rest is read and dropped, so that git does not wait."""
    assert process.stderr is not None
    start = process.stderr.read(4096)
    while process.stderr.read(_CHUNK):
        pass
    return start


def _complaint(words: bytes) -> str:
    text = _text(words)
    if "dubious ownership" in text:
        return "belongs to someone else; git reads it once it is named in safe.directory"
    if "not a git repository" in text:
        return "is not a git repository"
    if "unknown revision" in text or "bad revision" in text or "does not have any commits" in text:
        return "has no commits yet"
    return f"cannot be read by git: {one_line(text, 200) or 'no reason given'}"
