"""`chitta hooks`: wire the harnesses that are here to this checkout, take that out again, and say how it stands."""

from __future__ import annotations

import difflib
import os
import shutil
from collections.abc import Sequence
from enum import Enum
from pathlib import Path
from typing import Annotated, Any

import typer

from chitta import settings as table
from chitta.cli import checkout, output
from chitta.cli.failure import Failure, Misuse, Unavailable
from chitta.cli.realm_options import AsJson
from chitta.wiring import files, harness
from chitta.wiring import status as wiring
from chitta.wiring.edit import Refused
from chitta.wiring.files import Change
from chitta.wiring.harness import Harness

app = typer.Typer(
    name="hooks",
    help="Wire Claude Code, Codex, Copilot CLI and Gemini CLI to this chitta, say how that stands, or take it out.\n\n"
    "Example: chitta hooks install claude",
    no_args_is_help=True,
    rich_markup_mode=None,
)

#: What a person has to do or know after a harness has been wired.
AFTERWARDS = {
    "claude": "Claude Code: sessions that are open take it up when they are started anew. An interactive session holds"
    " all hooks back until you have trusted the folder it runs in.",
    "codex": "Codex: type /hooks in Codex and approve these hooks, once. Until then it skips them, and `codex exec`"
    " does so without a word. When an entry changes (another checkout, another time limit) it asks again.",
    "copilot": "Copilot CLI: takes it up in the next session.",
    "gemini": "Gemini CLI: takes it up in the next session.",
}
_FOLDER_TRUST = "With --print, Copilot CLI runs a project's hooks in trusted folders only."
_OWN_PATH = "The entries hold this machine's path of the checkout; think before you commit {file}."


class Which(str, Enum):
    """A harness by name, or all of them."""

    claude = "claude"
    codex = "codex"
    copilot = "copilot"
    gemini = "gemini"
    all = "all"


class Where(str, Enum):
    """Whose file: the person's, or the project's in the current folder."""

    user = "user"
    project = "project"


Chosen = Annotated[Which, typer.Argument(metavar="HARNESS", help="claude, codex, copilot, gemini, or all.")]
Scope = Annotated[Where, typer.Option("--scope", help="Your own settings, or those of the project in this folder.")]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Only show what would change.")]


Capture = Annotated[
    bool, typer.Option("--capture", help="Also keep what sessions teach: fixes, corrections, finished todos, commits.")
]


@app.command()
def install(
    which: Chosen = Which.all, scope: Scope = Where.user, dry_run: DryRun = False, capture: Capture = False
) -> None:
    """Add chitta's hooks to a harness's settings. Everything else in them stays as it is, to the byte; a second time
    changes nothing; entries of an older checkout are brought up to date. `all` means the harnesses found here. With
    --capture, notes come from sessions too (docs/capture.md); to leave that off again, uninstall and install.

    Example: chitta hooks install claude --dry-run
    """
    root = str(checkout.hook().parent.parent)
    rows = _rows(which)
    if which is Which.all:
        rows = [row for row in rows if _is_here(row)]
        if not rows:
            raise Unavailable(
                "none of the harnesses is here", "name one to wire it all the same: chitta hooks install claude"
            )
    state = Path(table.load().state_dir)
    refusals = []
    for row in rows:
        file = _file(row, scope)
        try:
            change = files.plan_install(row, scope.value, file, root, state, capture)
            copy = None if dry_run else files.apply_install(change, state)
        except (Refused, OSError) as problem:
            refusals.append(_refused(row, file, problem))
            _show_by_hand(row, root, capture)
            continue
        _report(change, "wired" if change.needed else "was wired already", dry_run)
        if dry_run:
            continue
        if change.needed and copy is not None:
            output.tell(f"  as it was: {copy}")
        _tell_afterwards(row, scope, file)
        if capture and not row.capture:
            output.tell(f"  {row.title} tells hooks too little of its tools: nothing is captured there.")
        for sentence in _inspected(row, scope, Path(root)).problems:
            output.tell(f"chitta: {sentence}")
    _end(refusals)


@app.command()
def uninstall(which: Chosen = Which.all, scope: Scope = Where.user, dry_run: DryRun = False) -> None:
    """Take chitta's hooks out of a harness's settings. The file is then as it was before, to the byte; what you have
    edited meanwhile stays. Do this before you remove the checkout.

    Example: chitta hooks uninstall all
    """
    state = Path(table.load().state_dir)
    refusals = []
    for row in _rows(which):
        file = _file(row, scope)
        try:
            change = files.plan_uninstall(row, scope.value, file, state)
            if not dry_run:
                files.apply_uninstall(change, state)
        except (Refused, OSError) as problem:
            refusals.append(_refused(row, file, problem))
            continue
        _report(change, "not wired any more" if change.needed else "was not wired", dry_run)
    _end(refusals)


@app.command()
def status(which: Chosen = Which.all, scope: Scope = Where.user, as_json: AsJson = False) -> None:
    """Say for each harness whether it is here, what is wired, to which checkout, and what is wrong with it. Ends with
    1 where something is to be done; a harness that is not here counts only if it is named or wired.

    Example: chitta hooks status --json
    """
    root = checkout.hook().parent.parent
    rows = _rows(which)
    facts = [_facts(row, scope, root) for row in rows]
    for fact in facts:
        wanted = which is not Which.all or fact["here"] or fact["events"]
        fact["good"] = not fact["problems"] and (not fact["missing"] or not wanted)
    if as_json:
        output.as_json(facts)
    else:
        for row, fact in zip(rows, facts, strict=True):
            _show(row, fact, scope)
    raise typer.Exit(0 if all(fact["good"] for fact in facts) else 1)


def _rows(which: Which) -> Sequence[Harness]:
    return harness.TABLE if which is Which.all else [harness.BY_NAME[which.value]]


def _home() -> Path:
    return Path(os.path.expanduser("~"))


def _project() -> Path:
    """The top of the repository that the current folder lies in, else the folder."""
    here = Path.cwd()
    return next((folder for folder in (here, *here.parents) if (folder / ".git").exists()), here)


def _file(row: Harness, scope: Where) -> Path:
    # A working folder that has been removed shows as this one, too.
    if scope is Where.project and _project() == Path(os.sep):
        raise Misuse("there is no project here", "change to the project's folder first")
    return harness.file_of(row, scope.value, _home(), _project())


def _is_here(row: Harness) -> bool:
    """Whether the harness's program is on PATH, or its folder shows that it has run."""
    return shutil.which(row.program) is not None or _user_folder(row).is_dir()


def _user_folder(row: Harness) -> Path:
    named = os.environ.get(row.home_variable, "") if row.home_variable else ""
    return Path(named) if named else _home() / row.user_folder


def _inspected(row: Harness, scope: Where, root: Path) -> wiring.Wired:
    return wiring.inspect(row.name, scope.value, _home(), _project(), root)


def _facts(row: Harness, scope: Where, root: Path) -> dict[str, Any]:
    found = _inspected(row, scope, root)
    facts: dict[str, Any] = found._asdict()
    program = shutil.which(row.program)
    return {
        **facts,
        "file": str(found.file),
        "here": program is not None,
        "program": program or "",
        "checkouts": list(wiring.roots(row, found.file)),
    }


def _show(row: Harness, fact: dict[str, Any], scope: Where) -> None:
    good = output.paint("in order", "green") if fact["good"] and fact["events"] else "not wired"
    if not fact["good"]:
        good = output.paint("to be done", "red")
    output.say(f"{output.paint(row.title, 'bold')}: {good}")
    lines: list[tuple[str, object]] = [
        ("program", fact["program"] or f"{row.program} is not on PATH"),
        ("file", fact["file"] if fact["exists"] else f"{fact['file']} (not there)"),
    ]
    lines += [("wired", ", ".join(fact["events"]))] if fact["events"] else []
    lines += [("capture", ", ".join(fact["capture"]))] if fact["capture"] else []
    lines += [("missing", ", ".join(fact["missing"]))] if fact["events"] and fact["missing"] else []
    lines += [("checkout", path) for path in fact["checkouts"]]
    lines += [("problem", problem) for problem in fact["problems"]]
    if row.name == "codex" and fact["events"]:
        lines.append(("note", "Codex runs them once they are approved in its /hooks"))
    if not fact["good"]:
        lines.append(("do", _todo(row, fact, scope)))
    output.pairs(lines, "  ")


def _todo(row: Harness, fact: dict[str, Any], scope: Where) -> str:
    again = f"chitta hooks install {row.name}" + ("" if scope is Where.user else " --scope project")
    if wiring.DOUBLE in fact["problems"]:
        return f"chitta hooks uninstall {row.name} --scope project"
    return again if fact["missing"] or not fact["problems"] else f"{again}; what it does not mend is named above"


def _report(change: Change, words: str, dry_run: bool) -> None:
    if not dry_run:
        output.say(f"{change.row.title}: {words} ({change.file})")
    elif change.needed:
        output.say("".join(_diff(change)).rstrip("\n"))
    else:
        output.tell(f"{change.row.title}: nothing would change ({change.file})")


def _diff(change: Change) -> list[str]:
    """A unified diff of what would be written; a file that is not there is /dev/null."""
    old, new = (
        (data or b"").decode("utf-8", "replace").splitlines(keepends=True) for data in (change.before, change.after)
    )
    before, after = [str(change.file) if data is not None else "/dev/null" for data in (change.before, change.after)]
    lines = []
    for line in difflib.unified_diff(old, new, before, after):
        lines.append(output.harmless(line).rstrip("\n") + "\n")
        if not line.endswith("\n"):
            lines.append("\\ No newline at end of file\n")
    return lines


def _tell_afterwards(row: Harness, scope: Where, file: Path) -> None:
    output.tell(f"  {AFTERWARDS[row.name]}")
    if scope is Where.project:
        output.tell(f"  {_OWN_PATH.format(file=file)}")
        if row.name == "copilot":
            output.tell(f"  {_FOLDER_TRUST}")


def _refused(row: Harness, file: Path, problem: Exception) -> str:
    reason = (problem.strerror or str(problem)) if isinstance(problem, OSError) else str(problem)
    return f"{row.title}: {file} was left alone: {reason}"


def _show_by_hand(row: Harness, root: str, capture: bool) -> None:
    output.tell(f"For {row.title}, this is what to add by hand:")
    output.as_json(harness.document(row, root, capture))


def _end(refusals: list[str]) -> None:
    """Leave with the first refusal as the failure; the others are told before it."""
    for refusal in refusals[1:]:
        output.tell(f"chitta: {refusal}")
    if refusals:
        raise Failure(refusals[0], "mend the file, or change it by hand (docs/harnesses.md), then run this again")
