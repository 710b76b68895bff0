"""What happens at writing where another note says the same already: it is named, and may be merged or replaced."""

from __future__ import annotations

import datetime
import sys
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from chitta.cli import bookshelf, output, recall_ids, writing
from chitta.cli.choice import choose, choose_number
from chitta.cli.failure import Failure
from chitta.curation.candidates import gather
from chitta.curation.duplicates import CONTRARY, SAME, Twin, twins
from chitta.curation.gathering import gathered
from chitta.curation.supersede import is_version, supersede
from chitta.notes.note import Note
from chitta.notes.store import NoteStore
from chitta.settings import Settings

#: Characters of an id that a hint has whole, and the least of one that it shortens.
_WHOLE_CHARS, _STUB_CHARS = 24, 12
KEEP, MERGE, SUPERSEDE = "keep", "merge", "supersede"
#: Twins that are named, and characters of their ids (an id may be given by its beginning).
_SHOWN = 9
_TITLE_CHARS, _ID_CHARS = 74, 32


class Decision(NamedTuple):
    """What to do with a new note, and the notes like it; ``twin`` is the one to merge into or to supersede."""

    action: str = KEEP
    similar: tuple[Twin, ...] = ()
    twin: bookshelf.Found | None = None
    asked: bool = False

    @property
    def facts(self) -> list[dict[str, Any]]:
        """The twins for JSON."""
        return [facts_of(twin) for twin in self.similar]


#: What there is to decide where no note is like the new one.
NOTHING_ALIKE = Decision()


def look(settings: Settings, note: Note, passing: Collection[str] = ()) -> list[Twin]:
    """Notes of the realm and of `global` that say what this one says, the likest first; ids in ``passing`` are not."""
    found = gather(settings, note)
    return [twin for twin in twins(note, found.notes, found.cosines) if twin.note.id not in passing]


def decide(settings: Settings, note: Note, *, passing: Collection[str] = (), ask: bool = True) -> Decision:
    """Name the twins on standard error and, where a person looks on, ask what to do. Raises ``Failure`` for cancel.

    Without a person, or without ``ask``, both are kept.
    """
    similar = tuple(look(settings, note, passing))
    if not similar:
        return NOTHING_ALIKE
    may_ask = ask and output.on_terminal(sys.stdin) and output.on_terminal(sys.stderr)
    with bookshelf.opened(settings) as snapshot:
        shelf = bookshelf.Shelf(settings, snapshot)
        placed = [(twin, shelf.locate(twin.note)) for twin in similar[:_SHOWN]]
    standing = [(twin, found) for twin, found in placed if found is not None]
    if not may_ask or not standing:
        for twin in similar[:_SHOWN]:
            output.tell(sentence(twin))
        if len(similar) > _SHOWN:
            output.tell(f"chitta: and {len(similar) - _SHOWN:,} more like these")
        return Decision(similar=similar)
    return _asked(similar, standing)


def _asked(similar: tuple[Twin, ...], standing: list[tuple[Twin, bookshelf.Found]]) -> Decision:
    """One question about all twins: what to do, and with which of several. Raises ``Failure`` for cancel."""
    several = len(standing) > 1
    for number, (twin, _) in enumerate(standing, start=1):
        line = sentence(twin)
        output.tell(line.replace("chitta:", f"{number:>6}:", 1) if several else line)
    output.tell("What about them?" if several else "What about it?")
    every, one = ("all", "one of them") if several else ("both", "it")
    choices = {"k": f"keep {every}", "m": f"merge into {one}", "s": f"supersede {one}", "c": "cancel"}
    letter = choose(choices)
    if letter == "c":
        raise Failure("nothing was kept")
    if letter == "k":
        return Decision(KEEP, similar, standing[0][1], asked=True)
    at = choose_number("which number", len(standing)) - 1 if several else 0
    return Decision({"m": MERGE, "s": SUPERSEDE}[letter], similar, standing[at][1], asked=True)


def sentence(twin: Twin) -> str:
    """How the twin is like the note: its id, and its title on a line of its own; lines of 80 columns at most."""
    how = {SAME: "says the same", CONTRARY: "says the contrary"}.get(
        twin.how, f"says nearly the same ({twin.likeness:.0%} alike)"
    )
    title = output.one_line(twin.note.title, _TITLE_CHARS)
    return f"chitta: {output.one_line(twin.note.id, _ID_CHARS)} {how}" + (f":\n    {title}" if title else "")


def advise(settings: Settings, note: Note, similar: Sequence[Twin]) -> None:
    """Say how one note can be made of all, now that all are kept; ids are shortened to what still names one note."""
    if not similar:
        return
    alike = [twin.note.id for twin in similar[:_SHOWN] if twin.how != CONTRARY]
    every = [twin.note.id for twin in similar[:_SHOWN]]
    short = _short(settings, [*every, note.id])
    if alike:
        words = " ".join(short[name] for name in (*alike, note.id))
        _hint(f"`chitta merge {words}`", "makes them one note")
    words = " ".join(short[name] for name in (*every, note.id))
    _hint(f"`chitta merge {words} --replace`", f"lets the new one replace {'it' if len(every) == 1 else 'them'}")


def _short(settings: Settings, names: Sequence[str]) -> dict[str, str]:
    """Ids as a command takes them: whole where they are short, else as much as names one note, a dozen at least."""
    least = recall_ids.least(settings)(names) if any(len(name) > _WHOLE_CHARS for name in names) else {}
    return {
        name: name if len(name) <= _WHOLE_CHARS else name[: max(least.get(name, len(name)), _STUB_CHARS)]
        for name in names
    }


def _hint(command: str, does: str) -> None:
    """A hint on one line of 80 columns, or with the command broken between its words as a shell takes it."""
    line = f"hint: {command} {does}"
    if len(line) <= output.PLAIN_WIDTH:
        output.tell(line)
        return
    output.tell(f"hint: this {does}:")
    pieces = output.pieces_of(command.strip("`"), output.PLAIN_WIDTH - 6)
    output.tell(" \\\n".join(f"    {piece}" for piece in pieces))


def merge_into(settings: Settings, standing: bookshelf.Found, note: Note) -> writing.Written:
    """The standing note with what the new one adds; the new one gets no file of its own."""
    today = datetime.date.today().isoformat()
    whole, _ = gathered([standing.note, note._replace(created=note.created or today)], today)
    whole = whole._replace(supersedes=tuple(name for name in whole.supersedes if name != note.id))
    NoteStore(settings.notes_dir).write(whole, path=standing.path)
    return writing.Written(writing.UPDATED, whole, standing.path)


def put_superseding(
    settings: Settings, note: Note, replaced: Sequence[bookshelf.Found], standing: bookshelf.Found | None = None
) -> tuple[writing.Written, list[Path]]:
    """Write the note in the place of these; also gives the files of the replaced ones, to be indexed.

    What ``standing`` (the note of the same id) said before stays as a note of its own.
    """
    store = NoteStore(settings.notes_dir)
    today = datetime.date.today().isoformat()
    touched: list[Path] = []
    newer = note._replace(created=note.created or today)
    version = ""
    if standing is not None and standing.path not in {found.path for found in replaced}:
        newer, older = writing.over(newer, standing.note, today)
        if older is not None:  # first: a crash between the two loses neither
            touched.append(store.write(older))
            version = older.id
    for found in replaced:
        older, newer = supersede(store, found, newer, today)
        version = version or (older.id if is_version(older, newer) else "")
        touched.append(store.find(older.id, older.realm) or found.path)
        output.tell(f"chitta: {output.one_line(newer.id, 80)} replaces {output.one_line(older.id, 80)}, which is kept")
    path = store.find(newer.id, newer.realm)
    outcome = writing.UPDATED if standing is not None else writing.ADDED
    return writing.Written(outcome, newer, path, version), touched


def facts_of(twin: Twin) -> dict[str, Any]:
    note = twin.note
    return {"id": note.id, "title": note.title, "realm": note.realm, "how": twin.how, "likeness": twin.likeness}
