"""The walk of `chitta review`: each note whole, with what there is to know of it, and a key for what to do."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import typer

from chitta.cli import bookshelf, conflicts, forgetting, output, twins, upkeep, waiting
from chitta.cli.choice import choose
from chitta.cli.editor import run_editor
from chitta.cli.failure import Failure
from chitta.curation import promotion
from chitta.curation.duplicates import Twin
from chitta.curation.promotion import Waiting
from chitta.curation.proof import sessions_of
from chitta.notes.note import KNOWLEDGE_KINDS, Note
from chitta.notes.store import NoteStore
from chitta.recall.filters import contradicted
from chitta.settings import Settings

_SESSION_CHARS, _FACT_CHARS = 8, 120
_CHOICES = {
    "k": "keep",
    "e": "edit",
    "f": "forget for good",
    "s": "skip",
    "m": "merge",
    "r": "release from quarantine",
    "q": "stop",
}


class _Quit(Exception):
    """The person has had enough."""


def walk(settings: Settings, found: list[Waiting]) -> None:
    """Ask about each note. What was decided is written at once, and indexed at the end, however the walk ends."""
    done: Counter[str] = Counter()
    touched: list[Path] = []
    forgotten: list[str] = []
    try:
        for number, one in enumerate(found, start=1):
            item = _standing(settings, one.note)
            if item is None or promotion.as_waiting(item.note) is None:  # edited or gone meanwhile
                continue
            similar = twins.look(settings, item.note)
            _show(one, item, similar, f"{number} of {len(found)}")
            if one.state == promotion.CONFLICTING:
                show_both(settings, item.note)
            done[_decided(settings, item, similar, touched, forgotten)] += 1
    except (_Quit, typer.Abort, KeyboardInterrupt):
        output.tell("")
    finally:
        if forgotten:
            for problem in forgetting.finish(settings, forgotten):
                output.tell(f"chitta: {problem}")
        elif touched:
            upkeep.level_paths(settings, list(dict.fromkeys(touched)))
        left = len(found) - sum(count for word, count in done.items() if word != "skipped")
        words = [f"{count:,} {word}" for word, count in done.items()] or ["nothing done"]
        output.say(f"{', '.join(words)}; {left:,} still waiting")


def _decided(
    settings: Settings, item: bookshelf.Found, similar: list[Twin], touched: list[Path], forgotten: list[str]
) -> str:
    """What became of the note; asked again where it could not be done."""
    choices = dict(_CHOICES)
    if contradicted(item.note) and not item.note.quarantine:
        choices = {**conflicts.CHOICES, "s": "skip", "q": "stop"}
    if not similar:
        choices.pop("m", None)
    if not item.note.quarantine:
        choices.pop("r", None)
    while True:
        letter = choose(choices, "s" if promotion.merely_happened(item.note) else "")
        try:
            if letter == "q":
                raise _Quit
            if letter in conflicts.CHOICES:
                touched += conflicts.settle(settings, item, {"t": "this", "o": "other", "b": "both"}[letter])
                return "settled"
            if letter == "s":
                return "skipped"
            if letter == "m":
                into = _standing(settings, similar[0].note)
                if into is None:
                    raise Failure(f"{similar[0].note.id} is gone")
                if not _agreed(into.note, item.note):
                    continue
                touched += waiting.merge(settings, into, item)
                return "merged"
            touched.append(item.path)
            if letter == "f":
                waiting.forget(settings, item)
                forgotten.append(item.note.id)
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
        if given in KNOWLEDGE_KINDS or given == promotion.EPISODE:
            return given
        output.tell(f"kinds are {', '.join(KNOWLEDGE_KINDS)}")


def _show(one: Waiting, item: bookshelf.Found, similar: list[Twin], place: str) -> None:
    note = item.note
    output.say()
    output.say(f"{place}: {one.state}" + (f" ({', '.join(one.reasons)})" if one.reasons else ""), "bold")
    _print_note(note)
    output.wrapped(origin_of(note), "  ", "dim")
    if promotion.merely_happened(note):
        output.say("It tells what was done, which is seldom worth keeping: Enter skips it, f forgets it.", "yellow")
    for twin in similar:
        output.say(twins.sentence(twin).removeprefix("chitta: "), "yellow")


def show_both(settings: Settings, note: Note) -> None:
    """The texts of a note and of the one that it contradicts."""
    other = conflicts.other_of(settings, note)
    for name, one in (("this one", note), ("the other one", other.note if other is not None else None)):
        output.say(f"{name}: {output.harmless(one.id) if one is not None else 'gone'}", "bold")
        if one is not None:
            _print_note(one)


def origin_of(note: Note) -> str:
    """Where a note is from, its kind and place, and how often it was proved, in one line."""
    sessions = [output.one_line(name, _SESSION_CHARS) for name in sessions_of(note)]
    proofs = f"in {output.plural(note.proof_count, 'session')}" + (f" ({', '.join(sessions)})" if sessions else "")
    day = max(note.created, note.updated)[:10]
    facts = [note.source or "origin not said", day, note.kind, note.realm, proofs, note.id]
    return " · ".join(output.one_line(fact, _FACT_CHARS) for fact in facts if fact)


def _print_note(note: Note) -> None:
    """Title and text as people read them; a text that only repeats its title stands once."""
    title, text = output.harmless(note.title).strip(), output.harmless(note.text).strip()
    if title and title != text:
        output.wrapped(title, "  ", "bold")
    output.wrapped(text or title, "  ")
    if note.triggers:
        output.wrapped(f"comes up when a prompt says: {output.one_line(', '.join(note.triggers), _FACT_CHARS)}", "  ")


def _agreed(into: Note, note: Note) -> bool:
    """Show what a merge would give, and ask."""
    whole = waiting.merged(into, note)
    output.say("together:", "bold")
    _print_note(whole)
    output.wrapped(origin_of(whole), "  ", "dim")
    return typer.confirm("merge so", default=False, err=True)


def _standing(settings: Settings, note: Note) -> bookshelf.Found | None:
    with bookshelf.opened(settings) as snapshot:
        found = bookshelf.Shelf(settings, snapshot).locate(note)
    return None if found is None else waiting.judged(found)
