"""`chitta doctor --secrets`: which notes hold secrets, of what kind; and taking them out. A secret is never printed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

import typer

from chitta.cli import forgetting, output, upkeep
from chitta.cli.failure import NOTHING
from chitta.notes.frontmatter import format_note
from chitta.notes.ids import file_name, make_id
from chitta.notes.note import Note
from chitta.notes.store import NoteStore
from chitta.settings import Settings


class Holding(NamedTuple):
    """A note that holds secrets: what it is without them, where it is, and their kinds.

    ``shown`` is its id, and ``place`` its file, with an ellipsis for a secret; ``former`` the id that spells one, else
    "": the note has another then.
    """

    note: Note
    path: Path
    kinds: tuple[str, ...]
    shown: str
    place: str
    former: str = ""
    misnamed: bool = False


def run(settings: Settings, *, redact: bool, as_json: bool) -> None:
    """Scan the store, say what was found, and rewrite the notes where ``redact``.

    Exit code 1 while a note holds a secret, or where one could not be read or rewritten.
    """
    store = NoteStore(settings.notes_dir)
    problems: list[str] = []
    realms: Counter[str] = Counter()
    found = list(scan(store, problems, realms))
    telling = list(_telling(realms))
    left, touched = [], list[Path]()
    for holding in found:
        try:
            if redact:
                touched += _rewritten(store, holding)
            else:
                left.append(holding)
        except (OSError, ValueError) as failure:
            problems.append(f"{holding.path}: {failure}")
            left.append(holding)
    renamed = {holding.former: holding.note.id for holding in found if holding.former and holding not in left}
    if redact and renamed:
        touched += _renamed_elsewhere(store, renamed)
        problems += forgetting.finish(settings, list(renamed))
    elif redact and found:
        problems += upkeep.level_paths(settings, touched).problems
    if as_json:
        rows = [_row(holding) for holding in found]
        named = [one._asdict() for one in telling]
        output.as_json({"notes": rows, "realms": named, "redacted": redact, "problems": problems})
    else:
        _say(found, redact=redact)
        for one in telling:
            _say_realm(one)
        for problem in problems:
            output.tell(f"chitta: {problem}")
    if left or problems or telling:
        raise typer.Exit(NOTHING)


class Telling(NamedTuple):
    """A realm whose name holds secrets: the name with an ellipsis for each, their kinds, and how many notes it has."""

    realm: str
    kinds: tuple[str, ...]
    notes: int


def scan(store: NoteStore, problems: list[str], realms: Counter[str] | None = None) -> Iterator[Holding]:
    """Every note that holds, or is named by, a secret or a private span; what cannot be read goes to ``problems``.

    ``realms`` takes how many notes each realm has.
    """
    from chitta.safety.cleaning import hidden_parts, without_secrets
    from chitta.safety.names import masked

    for fact in store.scan(on_error=lambda problem: problems.append(str(problem))):
        try:
            note = store.read(fact.path)
        except (OSError, ValueError) as problem:
            problems.append(f"{fact.path}: {problem}")
            continue
        if realms is not None:
            realms[note.realm] += 1
        clean, kinds = without_secrets(note)
        said = format_note(note._replace(id="", supersedes=()))
        hidden = hidden_parts(note, clean)
        own, file = masked(note.id, said, hidden), masked(Path(fact.path).stem, said, hidden)
        kinds += tuple(f"{kind} in its name" for kind in dict.fromkeys((*own.found, *file.found)))
        if clean == note and not kinds:
            continue
        if own.found:
            clean = clean._replace(id=make_id(clean.title or clean.text, clean.realm, salt=clean.text))
        place = str(Path(fact.path).with_stem(file.name)) if file.found else str(fact.path)
        misnamed = bool(own.found or file.found)
        former = note.id if own.found else ""
        yield Holding(clean, Path(fact.path), kinds or ("private span",), own.name, place, former, misnamed)


def _telling(realms: Mapping[str, int]) -> Iterator[Telling]:
    from chitta.safety.names import masked

    for realm, count in sorted(realms.items()):
        if (done := masked(realm)).found:
            yield Telling(done.name, done.found, count)


def _say_realm(one: Telling) -> None:
    """What nothing but a person can put right: the name may come from a repository's remote."""
    kinds = ", ".join(one.kinds)
    count = output.plural(one.notes, "note")
    output.say(f"the realm {output.harmless(one.realm)} ({count}) holds a secret in its name: {kinds}")
    output.tell(
        "hint: take it out of the repository's remote (`git remote set-url`), then give each note another `realm:`"
        " (`chitta edit ID`) and move its file out of that folder"
    )


def _rewritten(store: NoteStore, holding: Holding) -> list[Path]:
    """Write the note without its secrets, under another name where its own spells one; the files that changed."""
    if not holding.misnamed:
        return [store.write(holding.note, path=holding.path)]
    new = store.write(holding.note, path=holding.path.with_name(file_name(holding.note.id)))
    if new != holding.path:
        holding.path.unlink()
    return [new, holding.path]


def _renamed_elsewhere(store: NoteStore, renamed: Mapping[str, str]) -> list[Path]:
    """Let notes that name one of these ids name the new one; the files that changed."""
    touched = []
    for fact in store.scan():
        try:
            note = store.read(fact.path)
        except (OSError, ValueError):
            continue
        new = note._replace(
            supersedes=tuple(renamed.get(name, name) for name in note.supersedes),
            superseded_by=renamed.get(note.superseded_by, note.superseded_by),
        )
        if new != note:
            touched.append(store.write(new, path=Path(fact.path)))
    return touched


def _row(holding: Holding) -> dict[str, object]:
    row: dict[str, object] = {"id": holding.shown, "path": holding.place, "kinds": list(holding.kinds)}
    return row | ({"new_id": holding.note.id} if holding.former else {})


def _say(found: list[Holding], *, redact: bool) -> None:
    if not found:
        output.say("no note holds a secret that is known as one")
        return
    for holding in found:
        shown = output.paint(output.harmless(holding.shown), "bold")
        output.say(f"{shown}  {output.harmless(', '.join(holding.kinds))}")
        output.say(f"  {output.harmless(holding.place)}")
        if redact and holding.former:
            output.say(f"  renamed: {output.harmless(holding.shown)} → {output.harmless(holding.note.id)}")
    output.say()
    if redact:
        output.say(f"took them out of {output.plural(len(found), 'note')}; where one was real, revoke it all the same")
    else:
        output.say(f"{output.plural(len(found), 'note')}; `chitta doctor --secrets --redact` takes them out")
