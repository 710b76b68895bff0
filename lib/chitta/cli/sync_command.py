"""`chitta sync`: the same notes on several machines, through a git remote of the person's own."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, NoReturn

import typer

from chitta import settings as table
from chitta.cli import checkout, output, upkeep
from chitta.cli.failure import Failure, Misuse, Unavailable
from chitta.cli.realm_options import AsJson
from chitta.folders import make_private
from chitta.notes.note import Note
from chitta.notes.store import MAX_NOTE_BYTES
from chitta.portable import syncing
from chitta.portable.git import Away, GitFault
from chitta.portable.note_files import merge_files
from chitta.portable.repository import Repository
from chitta.portable.whole_files import write_whole
from chitta.settings import Settings

app = typer.Typer(
    name="sync",
    help="Share your notes between your machines through a git remote. Nothing is sent anywhere but by this command,"
    " and only notes are: index and state stay here. Alone it commits what changed, takes in what is new there, merges"
    " what both changed, sends the result and indexes it.\n\nExample: chitta sync init git@example.org:me/notes.git",
    invoke_without_command=True,
    no_args_is_help=False,
    rich_markup_mode=None,
)

#: Seconds that a sync waits for another one.
LOCK_WAIT_S = 10.0
#: Notes named in each part of the report.
SHOWN = 10
Yes = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask: send notes that look to hold secrets, too.")]


@app.callback()
def sync(context: typer.Context, yes: Yes = False, as_json: AsJson = False) -> None:
    """Commit, take in, merge, send, index."""
    if context.invoked_subcommand is not None:
        return
    settings = table.load()
    repository = _made(settings)
    with _at_work(settings):
        repository.set_driver(_program())
        _mind_secrets(repository, yes=yes)
        report = syncing.sync(repository, suspect=_suspicion, any_remote=yes)
    changed = report.received or report.removed or report.settled or report.held
    levelled = upkeep.level(settings) if changed else None
    if as_json:
        output.as_json({**report._asdict(), "index": levelled._asdict() if levelled is not None else None})
        return
    _print(report, repository.setting("remote.origin.url"))
    if levelled is not None:
        output.say(levelled.findable[:1].upper() + levelled.findable[1:].replace("its", "their") + ".")
        for problem in levelled.problems:
            output.tell(f"chitta: {problem}")


@app.command("init")
def init(
    remote: Annotated[
        str, typer.Argument(metavar="[REMOTE]", help="The address of an empty repository of yours.")
    ] = "",
    name: Annotated[
        str, typer.Option("--name", help="What this machine is called in notes that others see; else its host's name.")
    ] = "",
    yes: Yes = False,
) -> None:
    """Make the folder of notes a git repository that knows how notes are merged, and name its remote. Nothing is sent
    yet; on a second machine, give the same remote.

    Example: chitta sync init git@example.org:me/notes.git
    """
    if remote.startswith("-") or "::" in remote:
        raise Misuse(f"{remote!r} is no address of a repository", "give a URL, host:path, or a folder")
    if remote and os.path.exists(os.path.expanduser(remote)):
        remote = os.path.abspath(os.path.expanduser(remote))
    settings = table.load()
    make_private(settings.notes_dir)
    repository = Repository(settings.notes_dir)
    with _at_work(settings):
        for step in repository.make(_program()):
            output.say(step)
        called = repository.set_name(name)
        if name and called != name:
            output.say(f"this machine is called {called} here")
        if remote:
            _mind_other_remote(repository, remote, yes=yes)
            if repository.set_remote(remote):
                output.say(f"named {output.harmless(remote)} the remote that `chitta sync` talks to")
            try:
                repository.take_branch_of_remote()
            finally:
                repository.track()
        _mind_secrets(repository, yes=yes)
        count = syncing.commit(repository)
    output.say(f"committed {output.plural(count, 'file')}" if count else "nothing new to commit")
    output.say()
    if repository.setting("remote.origin.url"):
        output.say("Nothing has been sent. `chitta sync` does it, now and whenever you type it.")
    else:
        output.say("Make an empty, private repository, then `chitta sync init ITS_ADDRESS`.")


@app.command("status")
def status(as_json: AsJson = False) -> None:
    """How this machine's notes stand to the remote as of the last sync. Asks nobody.

    Example: chitta sync status
    """
    settings = table.load()
    repository = _made(settings)
    with _explained():
        standing = repository.standing()
    if as_json:
        output.as_json(standing._asdict())
        return
    facts: list[tuple[str, object]] = [
        ("remote", standing.remote or "none: `chitta sync init REMOTE` names one"),
        ("branch", standing.branch),
        ("changed here", output.plural(len(standing.changed), "file") if standing.changed else "nothing"),
        ("to send", output.plural(standing.ahead, "commit") if standing.ahead else "nothing"),
        ("to take in", output.plural(standing.behind, "commit") if standing.behind else "nothing, as of the last sync"),
    ]
    output.pairs(facts)
    if standing.unfinished:
        output.say("The last sync was cut short; `chitta sync` finishes it.")


def _mind_other_remote(repository: Repository, remote: str, *, yes: bool) -> None:
    """Say which remote the new one takes the place of, and ask. Raises ``Failure`` and ``Misuse``."""
    old = repository.setting("remote.origin.url")
    if old in ("", remote):
        return
    output.tell(f"{output.harmless(remote)} replaces {output.harmless(old)}, which this machine talks to no more")
    if yes:
        return
    if not output.on_terminal(sys.stdin):
        raise Misuse("there is another remote already", "give --yes to replace it")
    if not typer.confirm("Replace it?", err=True):
        raise Failure("the remote stays as it was")


def merge_driver(
    base: Annotated[Path, typer.Argument(metavar="BASE")],
    ours: Annotated[Path, typer.Argument(metavar="OURS")],
    theirs: Annotated[Path, typer.Argument(metavar="THEIRS")],
    below: Annotated[str, typer.Argument(metavar="PATH")],
) -> None:
    """Git's merge driver for notes: the merged note goes to OURS, a second one next to PATH. Git runs it."""
    root = Path.cwd()

    def content_at(place: str) -> bytes | None:
        path = root / place
        return path.read_bytes() if path.is_file() else None

    merged = merge_files(base.read_bytes() or None, ours.read_bytes(), theirs.read_bytes(), below, "other", content_at)
    assert merged is not None
    ours.write_bytes(merged.content)
    if merged.beside is not None:
        place, content = merged.beside
        write_whole(root / place, content)
        output.tell(f"chitta: {below}: {merged.remarks[0]}; add {place} to the commit")


def _made(settings: Settings) -> Repository:
    repository = Repository(settings.notes_dir)
    if not repository.exists():
        raise Misuse("the notes are in no git repository yet", "`chitta sync init REMOTE` begins")
    return repository


def _program() -> str:
    """The path of `chitta`, for git to run."""
    root = checkout.root()
    return str(root / "bin" / "chitta") if root is not None else shutil.which("chitta") or "chitta"


@contextmanager
def _at_work(settings: Settings) -> Iterator[None]:
    """One sync at a time, and git's faults in words."""
    import filelock

    make_private(settings.state_dir)
    lock = filelock.FileLock(os.path.join(settings.state_dir, "sync.lock"), timeout=LOCK_WAIT_S, mode=0o600)
    try:
        lock.acquire()
    except filelock.Timeout:
        raise Failure("another sync is at work", "wait for it to end") from None
    try:
        with _explained():
            yield
    finally:
        lock.release()


@contextmanager
def _explained() -> Iterator[None]:
    try:
        yield
    except GitFault as problem:
        _fail(problem)


def _fail(problem: GitFault) -> NoReturn:
    message, hint = output.harmless(problem.message), output.harmless(problem.hint)
    if isinstance(problem, Away):
        raise Unavailable(message, f"{hint}; your notes are committed here, and nothing was lost") from None
    raise Failure(message, hint or "nothing was lost; `chitta sync status` says how it stands") from None


def _suspicion(note: Note) -> tuple[str, ...]:
    from chitta.safety.cleaning import clean

    return tuple(clean(note).suspected)


def _mind_secrets(repository: Repository, *, yes: bool) -> None:
    """Say which changed notes look to hold secrets, and ask whether they may go. Raises ``Failure`` and ``Misuse``."""
    from chitta.safety.names import masked
    from chitta.safety.secrets import redact

    found = []
    for below in repository.changed():
        path = repository.root / below
        if below.endswith(".md") and path.is_file() and path.stat().st_size <= MAX_NOTE_BYTES:
            text = path.read_text(encoding="utf-8", errors="replace")
            secrets, named = redact(text).found, masked(path.stem, text)
            secrets += tuple(f"{kind} in its name" for kind in named.found)
            if secrets:
                shown = str(Path(below).with_stem(named.name)) if named.found else below
                found.append((shown, ", ".join(dict.fromkeys(secrets))))
    if not found:
        return
    output.tell(f"{output.plural(len(found), 'note')} to be sent may hold secrets:")
    for below, kinds in found:
        output.tell(f"  {output.harmless(below)}: {kinds}")
    if yes:
        return
    if not output.on_terminal(sys.stdin):
        raise Misuse(
            "notes that may hold secrets are not sent",
            "`chitta doctor --secrets --redact` takes them out; --yes sends them",
        )
    if not typer.confirm("Send them all the same?", err=True):
        raise Failure("nothing was committed or sent", "`chitta edit ID` opens a note")


def _print(report: syncing.Report, remote: str) -> None:
    if report.repaired:
        output.say("finished a merge that had been cut short")
    output.say(f"committed here: {output.plural(report.committed, 'file')}" if report.committed else "nothing new here")
    if not remote:
        output.say("There is no remote yet: `chitta sync init REMOTE` names one.")
        return
    _name("came in or changed", report.received)
    _name("gone", report.removed)
    for settled in report.settled[:SHOWN]:
        how = "; ".join(settled.remarks) or "both edits are in it"
        output.say(f"merged: {output.one_line(Path(settled.below).stem, 80)}: {output.harmless(how)}")
    if len(report.settled) > SHOWN:
        output.say(f"  and {len(report.settled) - SHOWN:,} more")
    if any(settled.beside for settled in report.settled):
        output.say("`chitta review` shows what contradicts another note, with both texts.")
    _name(
        "your own, put into quarantine on another machine (`chitta review --release ID` lets one out)",
        report.quarantined,
    )
    _name("in quarantine, for reading like orders to a model (`chitta review` shows them)", report.held)
    if report.renamed:
        output.say(
            f"another machine is called like this one, which is {report.renamed} from now on (`sync init --name`)"
        )
    sent = output.plural(report.sent_notes, "note") if report.sent_notes else "only what git keeps beside notes"
    output.say(f"sent: {sent}" if report.sent else "nothing to send")


def _name(what: str, files: tuple[str, ...]) -> None:
    """How many notes, and their ids, one a line."""
    if files:
        output.say(f"{what}: {output.plural(len(files), 'note')}")
        for below in files[:SHOWN]:
            output.say(f"  {output.harmless(Path(below).stem)}")
        if len(files) > SHOWN:
            output.say(f"  and {len(files) - SHOWN:,} more")
