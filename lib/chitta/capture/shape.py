"""The shape of a shell command: which program it runs, on what, and whether another is the same one mended."""

from __future__ import annotations

import re
import shlex
from typing import NamedTuple

#: Programs that only look: that one of them fails and later passes teaches nothing, and nothing is changed by them.
LOOKERS = frozenset(
    "ls cat head tail less more grep egrep fgrep rg ag find fd test [ [[ echo printf pwd which type command whereis "
    "diff cmp wc file stat du df ps pgrep env printenv date sleep true false tree jq sort uniq cut awk nl readlink "
    "realpath basename dirname id whoami hostname uname history man help sed kill pkill wait".split()
)
#: Words before a program that are not it.
_WRAPPERS = frozenset("sudo time nohup command exec env nice stdbuf caffeinate npx bunx pipx uvx".split())
_WRAPPED_BY_TWO = (
    ("uv", "run"),
    ("poetry", "run"),
    ("pdm", "run"),
    ("bundle", "exec"),
    ("pnpm", "exec"),
    ("hatch", "run"),
)
#: Programs whose first plain word is a command of theirs.
_WITH_COMMANDS = frozenset(
    "git gh npm pnpm yarn bun cargo go docker docker-compose podman kubectl helm terraform tofu pip pip3 uv poetry pdm "
    "conda brew apt apt-get make just mix rake rails bundle gem composer dotnet gradle gradlew mvn "
    "systemctl aws gcloud az alembic flask django-admin manage.py nix vercel fly heroku supabase prisma turbo nx "
    "expo rustup deno".split()
)
_INTERPRETERS = frozenset("python python3 python2 node ruby perl php bash sh zsh deno bun ts-node tsx".split())
#: What proves something only for the targets it was run on: a pass elsewhere mends nothing.
_JUDGES = frozenset(
    "pytest jest vitest mocha tox nox ruff mypy pyright eslint tsc rspec phpunit ctest bats shellcheck".split()
)
_JUDGE_COMMANDS = frozenset("test tests check lint build clippy vet typecheck verify validate".split())
#: Commands that look, of programs that also do: nothing has been changed by them.
_LOOKING = frozenset("status log diff show branch ls list ps logs get describe view info version help blame".split())
_ASSIGNMENT = re.compile(r"[A-Za-z_]\w{0,80}=")
_PLAIN = re.compile(r"[a-z][\w:.-]{0,40}")
#: One redirection or pipe at a command's end. One at a time: `2>&1` is of two forms, and many in one pattern are
#: tried in every combination.
_TRIMMED = re.compile(
    r"\s{0,8}(?:2>&1|&>\s?\S{1,200}|\d?>>?\s?\S{1,200}|\|\s{0,8}(?:tail|head|grep|cat|tee|less)\b[^|;&]{0,200})\Z"
)
_MOST_TRIMMED = 12
MAX_CHARS = 4_000
MAX_WORDS = 200


class Shape(NamedTuple):
    """``name``: program and command (`npm test`, `python3 seed.py`). ``words``: everything it is run with, sorted out
    of wrappers and pipes. ``masked``: a pipe or an `||` hides its exit code."""

    name: str
    words: tuple[str, ...]
    masked: bool
    plain: str

    @property
    def program(self) -> str:
        return self.name.partition(" ")[0]

    @property
    def looks(self) -> bool:
        """Whether it only looks at things."""
        verb = self.name.rpartition(" ")[2]
        return self.program in LOOKERS and not self.edits or (self.program in _WITH_COMMANDS and verb in _LOOKING)

    @property
    def edits(self) -> bool:
        return self.program == "sed" and any(word.startswith(("-i", "--in-place")) for word in self.words)

    @property
    def judges(self) -> bool:
        """Whether it says of its targets alone that they are right."""
        last = self.name.rpartition(" ")[2]
        return self.program in _JUDGES or last in _JUDGES or last in _JUDGE_COMMANDS or self.program in _INTERPRETERS

    @property
    def targets(self) -> frozenset[str]:
        return frozenset(word for word in self.words if not word.startswith("-"))


def shape_of(command: str) -> Shape | None:
    """The shape of the last command of a line that is not looking; None where there is none to tell."""
    if not command.strip() or "<<" in command or "\n" in command.strip():
        return None
    command = command[:MAX_CHARS].rstrip()
    plain = _trimmed(command)
    masked = plain != command or "||" in command or "|" in plain
    segments = [part.strip() for part in re.split(r"&&|;|\|\|", plain[:2_000])]
    shapes = [shape for shape in (_shape(part, masked) for part in segments) if shape is not None]
    telling = [shape for shape in shapes if not shape.looks]
    if len(telling) != 1:
        return None  # two programs: which of them failed is not said
    return telling[0]._replace(masked=masked or ";" in plain)


def _trimmed(command: str) -> str:
    """The command without the redirections and pipes at its end."""
    for _ in range(_MOST_TRIMMED):
        found = _TRIMMED.search(command, max(0, len(command) - 250))
        if found is None:
            break
        command = command[: found.start()].rstrip()
    return command


def _shape(segment: str, masked: bool) -> Shape | None:
    try:
        words = shlex.split(segment.split("|", 1)[0])[:MAX_WORDS]
    except ValueError:
        return None
    while words and (_ASSIGNMENT.match(words[0]) or words[0] in _WRAPPERS):
        words = words[1:]
        while words and words[0].startswith("-"):
            words = words[1:]
    if len(words) > 2 and tuple(words[:2]) in _WRAPPED_BY_TWO:
        words = words[2:]
    if len(words) > 2 and words[0] == "timeout":
        words = words[2:]
    if not words or words[0] in ("cd", "export", "source", ".", "set", "pushd", "popd", "mkdir", "unset"):
        return None
    program = words[0].rsplit("/", 1)[-1]
    rest = words[1:]
    name = program
    if program in _INTERPRETERS and rest[:1] == ["-m"] and len(rest) > 1:
        name, rest = rest[1], rest[2:]
    elif program in _INTERPRETERS:
        first = next((word for word in rest if not word.startswith("-")), "")
        if not first or "-c" in rest or "-e" in rest:
            return None  # a program of its own each time
        name = f"{program} {first.rsplit('/', 1)[-1]}"
    elif program in _WITH_COMMANDS:
        first = next((word for word in rest if not word.startswith("-")), "")
        second = rest[rest.index(first) + 1 :][:1] if first in ("run", "compose", "exec") else []
        verb = " ".join(word for word in (first, *second) if _PLAIN.fullmatch(word))
        name = f"{program} {verb}".strip()
    return Shape(name, tuple(rest), masked, segment.strip())


def mends(failed: Shape, passed: Shape) -> bool:
    """Whether a pass of one command speaks of the failure of another: the same command on the same things, or one
    word changed of many."""
    if failed.name != passed.name:
        return False
    if failed.words == passed.words:
        return True
    if failed.judges:
        return failed.targets == passed.targets or (bool(failed.targets) and failed.targets < passed.targets)
    before, after = set(failed.words), set(passed.words)
    if before <= after:
        return True
    return len(before & after) * 2 >= max(len(before), len(after)) or _alike(before - after, after - before)


def _alike(gone: set[str], new: set[str]) -> bool:
    """One word in place of another that begins the same: `psycopg2` and `psycopg2-binary`."""
    if len(gone) != 1 or len(new) != 1:
        return False
    (old,), (fresh,) = gone, new
    least = min(len(old), len(fresh), 4)
    return least >= 4 and old[:least] == fresh[:least]
