"""What a command raises when it cannot go on, and the one place where that becomes words.

Everything ends as ``chitta: what went wrong`` and, where there is something to do,
``hint: what to do`` on standard error, with one of the exit codes below.
"""

from __future__ import annotations

import os
import sys
import traceback
from typing import Any

import typer
from typer.core import TyperGroup

from chitta.cli import output

OK = 0
NOTHING = 1
MISUSE = 2
BUSY = 75
UNAVAILABLE = 111
INTERRUPTED = 130


class Failure(Exception):
    """A command cannot go on: ``message`` and ``hint`` are sentences for people, ``code`` the exit code."""

    def __init__(self, message: str, hint: str = "", code: int = NOTHING) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint
        self.code = code


class Nothing(Failure):
    """Nothing was found: exit code 1."""


class Misuse(Failure):
    """The command was called in a way that means nothing: exit code 2, like typer's own errors."""

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message, hint, MISUSE)


class Unavailable(Failure):
    """Something the command depends on cannot be had: exit code 111."""

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message, hint, UNAVAILABLE)


class Busy(Failure):
    """Everything is in order, but not now: exit code 75, as mail programs say it."""

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message, hint, BUSY)


class Front(TyperGroup):
    """The command group, with the error handler around it."""

    def main(self, *args: Any, **extra: Any) -> Any:
        """Run the command line and leave with its exit code; no error gets past this.

        Whatever a command makes is for its owner alone.
        """
        os.umask(0o077)
        extra["standalone_mode"] = False
        try:
            outcome = super().main(*args, **extra)
            sys.stdout.flush()
        except BrokenPipeError:
            _forget_stdout()
            sys.exit(NOTHING)
        except (Exception, KeyboardInterrupt) as problem:
            sys.exit(report(problem))
        sys.exit(outcome if isinstance(outcome, int) else OK)


def report(problem: BaseException) -> int:
    """Say on standard error what went wrong; the exit code that goes with it."""
    if isinstance(problem, (KeyboardInterrupt, typer.Abort)):
        output.tell("\nchitta: stopped")
        return INTERRUPTED
    if type(problem).__name__ == "NoArgsIsHelpError":  # a group of commands by itself: typer gives its help as an error
        sys.stderr.write(output.harmless(str(getattr(problem, "message", ""))).rstrip() + "\n")
        return MISUSE
    failure = _as_failure(problem)
    output.tell(f"chitta: {failure.message}")
    if failure.hint:
        output.tell(f"hint: {failure.hint}")
    return failure.code


def _as_failure(problem: BaseException) -> Failure:
    if isinstance(problem, Failure):
        return problem
    wording = getattr(problem, "format_message", None)
    if wording is not None:
        return Misuse(_sentence(str(wording())), _usage_hint(problem))
    if isinstance(getattr(problem, "hint", None), str):  # the rooms below say what is away and what to do
        return Unavailable(" ".join(str(problem).split()), str(getattr(problem, "hint", "")))
    if isinstance(problem, OSError):
        return _from_system(problem)
    return _unexpected(problem)


def _sentence(text: str) -> str:
    """typer's wording in ours: no capital at the start, no full stop at the end, one line."""
    text = " ".join(text.split()).removesuffix(".")
    return text[:1].lower() + text[1:]


def _usage_hint(problem: BaseException) -> str:
    context = getattr(problem, "ctx", None)
    path = str(getattr(context, "command_path", "") or "chitta")
    return f"`{path} --help` shows how it is used"


def _from_system(problem: OSError) -> Failure:
    where = f"{problem.filename}: " if problem.filename else ""
    hint = ""
    if isinstance(problem, PermissionError):
        hint = "check who owns that path, or set CHITTA_HOME to a folder you may write to"
    elif problem.errno == 28:
        hint = "the disk is full; free some space and run the command again"
    return Failure(f"{where}{problem.strerror or problem}", hint)


def _unexpected(problem: BaseException) -> Failure:
    """A fault of the product: its trace goes to a file, so that a person is not shown a wall of it."""
    message = f"this should not have happened: {type(problem).__name__}: {problem}"
    try:
        from chitta import settings
        from chitta.folders import make_private

        path = os.path.join(settings.load().state_dir, "cli-fault.txt")
        make_private(os.path.dirname(path))
        with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w", errors="replace") as file:
            file.writelines(traceback.format_exception(problem))
    except OSError:
        return Failure(message, "`chitta doctor` checks the installation")
    return Failure(message, f"the details are in {path}; `chitta doctor` checks the installation")


def _forget_stdout() -> None:
    """Let the interpreter's own flush at exit go nowhere, since the reader has left."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def leave(number: int, frame: Any) -> None:
    """Handles a signal by ending as an error would, so that a polite kill cleans up as well."""
    sys.exit(128 + number)
