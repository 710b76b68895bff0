"""Commands that write single notes: remember, correct, edit, forget."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Annotated

import typer

from chitta import settings as table
from chitta.cli import bookshelf, output, upkeep, writing
from chitta.cli.failure import Failure, Misuse, Nothing
from chitta.cli.realm_options import AsJson, RealmOption, WriteGlobally, writing_realm
from chitta.notes.correction import make_correction
from chitta.notes.ids import make_id, valid_id
from chitta.notes.note import BOOKKEEPING_KINDS, KNOWLEDGE_KINDS, Note, one_line
from chitta.notes.store import NoteStore
from chitta.settings import Settings

#: Longest title made from a note's first line.
TITLE_CHARS = 80
#: Longest text taken from standard input.
MAX_INPUT_BYTES = 4 << 20


def remember(
    text: Annotated[list[str], typer.Argument(metavar="TEXT", help="The note's text; `-` reads standard input.")],
    title: Annotated[str, typer.Option("--title", help="One line; the text's first line by default.")] = "",
    kind: Annotated[str, typer.Option("--kind", help=f"One of {', '.join(KNOWLEDGE_KINDS)}.")] = "insight",
    tags: Annotated[str, typer.Option("--tags", help="A comma list.")] = "",
    realm: RealmOption = "",
    everywhere: WriteGlobally = False,
    name: Annotated[str, typer.Option("--id", help="Its id; made from title and text by default.")] = "",
    source: Annotated[str, typer.Option("--source", help="Where it comes from.")] = "",
    as_json: AsJson = False,
) -> None:
    """Keep a note for later prompts: in the realm of the current folder, or in all with --global. Prints the note's
    id and its Markdown file, which you may edit.

    Example: chitta remember "The staging database is reset every Sunday night." --tags staging,postgres
    """
    settings = table.load()
    body = _given_text(text)
    if kind not in KNOWLEDGE_KINDS + BOOKKEEPING_KINDS:
        raise Misuse(f"{kind!r} is no kind of note", f"kinds are {', '.join(KNOWLEDGE_KINDS + BOOKKEEPING_KINDS)}")
    if name and not valid_id(name):
        raise Misuse("that id is too long or not printable", "an id has at most 200 printable characters")
    place = writing_realm(settings, realm, everywhere)
    heading = one_line(title) or first_line(body)
    note = Note(
        id=name or make_id(heading, place, salt=body),
        kind=kind,
        realm=place,
        title=heading,
        text=body,
        tags=tuple(dict.fromkeys(tag.strip() for tag in tags.split(",") if tag.strip())),
        source=source,
    )
    _keep(settings, note, as_json=as_json)


def correct(
    wrong: Annotated[str, typer.Option("--wrong", help="What was done, as it would be said or typed again.")],
    right: Annotated[str, typer.Option("--right", help="What to do instead.")],
    why: Annotated[str, typer.Option("--why", help="The reason, in a sentence.")] = "",
    realm: RealmOption = "",
    everywhere: WriteGlobally = False,
    as_json: AsJson = False,
) -> None:
    """Keep a correction. It comes up whenever a prompt orders the wrong form again, whatever else is recalled;
    correcting the same wrong form again rewrites it.

    Example: chitta correct --wrong "npm install" --right "pnpm install" --why "the lock file is pnpm's"
    """
    settings = table.load()
    try:
        note = make_correction(wrong, right, why, writing_realm(settings, realm, everywhere))
    except ValueError as problem:
        raise Misuse(str(problem), "give both --wrong and --right") from None
    _keep(settings, note, as_json=as_json)


def edit(name: Annotated[str, typer.Argument(metavar="ID", help="The note's id.")]) -> None:
    """Open a note in your editor ($VISUAL, else $EDITOR) and index it again afterwards.

    Example: EDITOR=vim chitta edit stripe-webhook-raw-body
    """
    settings = table.load()
    found = bookshelf.find(settings, name)
    before = found.path.read_bytes()
    _run_editor(found.path)
    if not found.path.exists():
        raise Failure(f"{found.path} is gone", f"`chitta forget {name}` removes a note")
    if found.path.read_bytes() == before:
        output.say("unchanged")
        return
    after = NoteStore(settings.notes_dir).read(found.path)
    if after.id != found.note.id:
        output.tell(f"chitta: the note's id is now {after.id}; it was {found.note.id}")
    levelled = upkeep.level_paths(settings, [found.path])
    output.say(f"updated {after.id}: {levelled.findable}")


def _run_editor(path: Path) -> None:
    """Let the person edit the file. Raises ``Failure`` when no editor could, or it ended with an error."""
    try:
        command = shlex.split(os.environ.get("VISUAL") or os.environ.get("EDITOR") or "")
    except ValueError as problem:
        raise Failure(f"VISUAL or EDITOR cannot be read: {problem}", "mind its quotes") from None
    if not command:
        raise Failure("no editor is set", f"set EDITOR, or edit {path} by any means: it is indexed by itself")
    try:
        ended = subprocess.run([*command, str(path)], check=False).returncode
    except OSError as problem:
        raise Failure(f"{command[0]} cannot be run: {problem.strerror}", "set EDITOR to another program") from None
    if ended != 0:
        raise Failure(f"{command[0]} ended with {ended}", f"the note is in {path}")


def forget(
    names: Annotated[list[str], typer.Argument(metavar="ID", help="Ids of notes.")],
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
) -> None:
    """Remove notes for good: the files, their place in the index and their vectors.

    Example: chitta forget old-deploy-steps-1f2e3d --yes
    """
    settings = table.load()
    found, missing = [], []
    for name in dict.fromkeys(names):
        try:
            found.append(bookshelf.find(settings, name))
        except Nothing as unknown:
            missing.append(unknown)
    if found and not yes:
        _ask(found)
    for item in found:
        item.path.unlink(missing_ok=True)
        output.say(f"forgot {item.note.id}")
    if found:
        for problem in upkeep.level_paths(settings, [item.path for item in found]).problems:
            output.tell(f"chitta: {problem}")
    if missing:
        raise (
            missing[0]
            if len(missing) == 1
            else Nothing(f"{len(missing)} of these ids are no notes", missing[0].message)
        )


def first_line(text: str) -> str:
    """A title from a text: its first line without Markdown's marks, cut at a word."""
    line = one_line(next((line for line in text.split("\n") if line.strip("# \t")), "").lstrip("#-*> "))
    if len(line) <= TITLE_CHARS:
        return line
    return line[:TITLE_CHARS].rsplit(" ", 1)[0].rstrip(" ,;:") + "…"


def _given_text(words: list[str]) -> str:
    """The text from the command line, or from standard input for a lone ``-``."""
    if words == ["-"]:
        data = sys.stdin.buffer.read(MAX_INPUT_BYTES + 1)
        if len(data) > MAX_INPUT_BYTES:
            raise Misuse("the text is larger than 4 MB", "`chitta import` takes files; split this one")
        text = data.decode("utf-8-sig", "replace")
    else:
        text = " ".join(words)
    text = text.replace("\r\n", "\n").strip()
    if not text:
        raise Misuse("there is no text to remember", "give it as an argument, or pipe it in with `-`")
    return text


def _keep(settings: Settings, note: Note, *, as_json: bool) -> None:
    """Write, index, and say where the note is and when it can be found."""
    store = NoteStore(settings.notes_dir)
    with bookshelf.opened(settings) as snapshot:
        standing = bookshelf.Shelf(settings, snapshot).locate(note)
    try:
        done = writing.put(store, note, standing)
    except ValueError as problem:
        raise Misuse(str(problem)) from None
    assert done.path is not None
    levelled = upkeep.level_paths(settings, [done.path])
    if as_json:
        facts = {"id": note.id, "realm": note.realm, "path": str(done.path), "outcome": done.outcome}
        output.as_json({**facts, "findable": levelled.findable, "pending": levelled.pending})
        return
    output.say(f"{output.paint(done.outcome, 'green')} {output.paint(output.harmless(note.id), 'bold')}")
    output.pairs([("realm", note.realm), ("file", done.path), ("", levelled.findable)])


def _ask(found: list[bookshelf.Found]) -> None:
    """Ask a person whether to go on. Raises ``Misuse`` where there is none to ask."""
    if not output.on_terminal(sys.stdin):
        raise Misuse("this removes notes for good", "give --yes to do it without being asked")
    for item in found:
        output.tell(f"{item.note.id}  {output.one_line(item.note.title, 60)}  ({item.note.realm})")
    if not typer.confirm(f"Remove {output.plural(len(found), 'note')} for good?", err=True):
        raise Failure("nothing was removed")
