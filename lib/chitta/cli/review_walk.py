"""The walk of `chitta review`: each note whole, with what there is to know of it, and a key for what to do."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import typer

from chitta.cli import bookshelf, output, twins, upkeep, waiting
from chitta.cli.choice import choose
from chitta.cli.editor import run_editor
from chitta.cli.failure import Failure
from chitta.curation import promotion
from chitta.curation.duplicates import Twin
from chitta.curation.promotion import Waiting
from chitta.curation.proof import sessions_of
from chitta.notes.frontmatter import format_note
from chitta.notes.note import KNOWLEDGE_KINDS, Note
from chitta.notes.store import NoteStore
from chitta.settings import Settings

_SESSION_CHARS = 8


class _Quit(Exception):
    """The person has had enough."""


def walk(settings: Settings, found: list[Waiting]) -> None:
    """Ask about each note. What was decided is written at once, and indexed at the end, however the walk ends."""
    done: Counter[str] = Counter()
    touched: list[Path] = []
    try:
        for number, one in enumerate(found, start=1):
            item = _standing(settings, one.note)
            if item is None or promotion.as_waiting(item.note) is None:  # edited or gone meanwhile
                continue
            similar = twins.look(settings, item.note)
            _show(one, item, similar, f"{number} of {len(found)}")
            done[_decided(settings, item, similar, touched)] += 1
    except (_Quit, typer.Abort, KeyboardInterrupt):
        output.tell("")
    finally:
        if touched:
            upkeep.level_paths(settings, list(dict.fromkeys(touched)))
        left = len(found) - sum(count for word, count in done.items() if word != "skipped")
        words = [f"{count:,} {word}" for word, count in done.items()] or ["nothing done"]
        output.say(f"{', '.join(words)}; {left:,} still waiting")


def _decided(settings: Settings, item: bookshelf.Found, similar: list[Twin], touched: list[Path]) -> str:
    """What became of the note; asked again where it could not be done."""
    choices = {"k": "keep", "e": "edit", "m": "merge", "f": "forget", "r": "release", "s": "skip", "q": "quit"}
    if not similar:
        del choices["m"]
    if not item.note.quarantine:
        del choices["r"]
    while True:
        letter = choose(choices)
        try:
            if letter == "q":
                raise _Quit
            if letter == "s":
                return "skipped"
            if letter == "m":
                into = _standing(settings, similar[0].note)
                if into is None:
                    raise Failure(f"{similar[0].note.id} is gone")
                touched += waiting.merge(settings, into, item)
                return "merged"
            touched.append(item.path)
            if letter == "f":
                waiting.forget(settings, item)
                return "forgotten"
            if letter == "r":
                waiting.release(settings, item)
                return "released"
            if letter == "e":
                run_editor(item.path)
                item = bookshelf.Found(NoteStore(settings.notes_dir).read(item.path), item.path)
            waiting.keep(settings, item, _kind(promotion.suggested_kind(item.note)))
            return "kept"
        except (Failure, OSError, ValueError) as problem:
            output.tell(f"chitta: {problem}")


def _kind(suggested: str) -> str:
    while True:
        given = str(typer.prompt("as", default=suggested, err=True)).strip().lower()
        if given in KNOWLEDGE_KINDS:
            return given
        output.tell(f"kinds are {', '.join(KNOWLEDGE_KINDS)}")


def _show(one: Waiting, item: bookshelf.Found, similar: list[Twin], place: str) -> None:
    note = item.note
    output.say()
    output.say(f"{place}: {one.state}" + (f" ({', '.join(one.reasons)})" if one.reasons else ""), "bold")
    output.wrapped(output.harmless(format_note(note)).rstrip(), "  ")
    sessions = [output.one_line(name, _SESSION_CHARS) for name in sessions_of(note)]
    origin = note.source or "not said"
    facts: list[tuple[str, object]] = [("from", origin), ("proofs", _proofs(note.proof_count, sessions))]
    output.pairs(facts)
    for twin in similar:
        output.say(twins.sentence(twin).removeprefix("chitta: "), "yellow")


def _proofs(count: int, sessions: list[str]) -> str:
    return output.plural(count, "session") + (f" ({', '.join(sessions)})" if sessions else "")


def _standing(settings: Settings, note: Note) -> bookshelf.Found | None:
    with bookshelf.opened(settings) as snapshot:
        return bookshelf.Shelf(settings, snapshot).locate(note)
