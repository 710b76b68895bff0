"""Commands that write single notes: remember, correct, edit, forget."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated

import typer

from chitta import settings as table
from chitta.cli import bookshelf, forgetting, given_words, output, realm_near, recall_ids, twins, upkeep, writing
from chitta.cli.editor import run_editor
from chitta.cli.failure import Failure, Misuse, Nothing
from chitta.cli.list_commands import suspected
from chitta.cli.realm_options import AsJson, RealmOption, WriteGlobally, writing_realm
from chitta.curation.promotion import is_captured
from chitta.curation.refused import refuse
from chitta.curation.supersede import says_the_same
from chitta.notes.correction import make_correction, match_triggers
from chitta.notes.ids import make_id, valid_id
from chitta.notes.note import BOOKKEEPING_KINDS, KNOWLEDGE_KINDS, Note, one_line
from chitta.notes.ordinary import ordinary
from chitta.notes.store import NoteStore
from chitta.recall.filters import named
from chitta.settings import Settings

#: Longest title made from a note's first line.
TITLE_CHARS = 80
#: Longest text taken from standard input.
MAX_INPUT_BYTES = 4 << 20
#: Letters up to which a lone word is one that prompts are full of.
SHORT_WORD = 4


def remember(
    text: Annotated[
        list[str] | None, typer.Argument(metavar="TEXT", help="The note's text; `-` reads standard input.")
    ] = None,
    title: Annotated[str, typer.Option("--title", help="One line; the text's first line by default.")] = "",
    kind: Annotated[str, typer.Option("--kind", help=f"One of {', '.join(KNOWLEDGE_KINDS)}.")] = "insight",
    tags: Annotated[str, typer.Option("--tags", help="A comma list.")] = "",
    realm: RealmOption = "",
    everywhere: WriteGlobally = False,
    name: Annotated[str, typer.Option("--id", help="Its id; made from title and text by default.")] = "",
    source: Annotated[str, typer.Option("--source", help="Where it comes from.")] = "",
    supersedes: Annotated[
        list[str] | None, typer.Option("--supersedes", metavar="ID", help="The note it takes the place of; repeatable.")
    ] = None,
    as_is: Annotated[bool, typer.Option("--as-is", help="Keep what looks like a secret.")] = False,
    as_json: AsJson = False,
) -> None:
    """Keep a note for later prompts: in the realm of the current folder, or in all with --global. Prints the note's
    id and its Markdown file, which you may edit; remembering the same text again leaves it as it is. Where another
    note says the same, that is said, and on a terminal you are asked what to do.

    Example: chitta remember "The staging database is reset every Sunday night." --tags staging,postgres
    """
    settings = table.load()
    body = _given_text(text or [])
    if not as_is:
        body, title, tags, source = given_words.of_note(body, title, tags, source)
        given_words.refuse_telling(name)
    if kind not in KNOWLEDGE_KINDS + BOOKKEEPING_KINDS:
        raise Misuse(f"{kind!r} is no kind of note", f"kinds are {', '.join(KNOWLEDGE_KINDS + BOOKKEEPING_KINDS)}")
    if name and not valid_id(name):
        raise Misuse("that id is too long or not printable", "an id has at most 200 printable characters")
    place = writing_realm(settings, realm, everywhere)
    realm_near.remark(settings, realm)
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
    replaced = _replaced(settings, supersedes or [])
    standing = _standing(settings, note)
    # The id holds the text, so it is the same note: edited since, or not.
    if standing is not None and not name and not replaced:
        _report(settings, writing.Written(writing.UNCHANGED, standing.note, standing.path), as_json=as_json)
        if any(given and given != there for given, there in _asked(note, standing.note)):
            output.tell(f"chitta: its tags, kind and source stay as they are; `chitta edit {note.id}` changes them")
        return
    chosen = twins.decide(settings, note, passing=[found.note.id for found in replaced], ask=not as_json)
    touched: list[Path] = []
    with bookshelf.changing(settings):
        standing = _standing(settings, note)
        twin = bookshelf.again(settings, chosen.twin) if chosen.twin is not None else None
        replaced = [bookshelf.again(settings, found) for found in replaced]
        if chosen.action == twins.SUPERSEDE and twin is not None:
            replaced.append(twin)
        if chosen.action == twins.MERGE and twin is not None:
            done = twins.merge_into(settings, twin, note)
        elif replaced:
            done, touched = _superseding(settings, note, replaced, standing)
        else:
            done, touched = _written(settings, note, standing)
    if done.older:
        output.tell(f"chitta: what it said before is kept as {output.one_line(done.older, 200)}")
    _report(settings, done, chosen, touched, as_json=as_json)


def _replaced(settings: Settings, names: Sequence[str]) -> list[bookshelf.Found]:
    """The notes that a new one takes the place of. Raises :class:`Nothing`."""
    found = [bookshelf.find(settings, recall_ids.typed(name)) for name in dict.fromkeys(names)]
    return list({item.path: item for item in found}.values())


def _superseding(
    settings: Settings, note: Note, replaced: Sequence[bookshelf.Found], standing: bookshelf.Found | None = None
) -> tuple[writing.Written, list[Path]]:
    try:
        return twins.put_superseding(settings, note, replaced, standing)
    except ValueError as problem:
        raise Misuse(str(problem)) from None


def _asked(note: Note, there: Note) -> Iterator[tuple[object, object]]:
    """Pairs of what the command was given beside the text, and what the note holds; a default counts as nothing."""
    yield note.tags, there.tags
    yield note.source, there.source
    yield "" if note.kind == Note("").kind else note.kind, there.kind


def correct(
    wrong: Annotated[str, typer.Option("--wrong", help="What was done, as it would be said or typed again.")],
    right: Annotated[str, typer.Option("--right", help="What to do instead.")],
    why: Annotated[str, typer.Option("--why", help="The reason, in a sentence.")] = "",
    realm: RealmOption = "",
    everywhere: WriteGlobally = False,
    as_is: Annotated[bool, typer.Option("--as-is", help="Keep what looks like a secret.")] = False,
    as_json: AsJson = False,
) -> None:
    """Keep a correction. It comes up whenever a prompt orders the wrong form again, whatever else is recalled;
    correcting the same wrong form again rewrites it, and keeps what you added to it by hand.

    Example: chitta correct --wrong "npm install" --right "pnpm install" --why "the lock file is pnpm's"
    """
    settings = table.load()
    if not as_is:
        wrong, right, why = given_words.of_correction(wrong, right, why)
    try:
        heard = given_words.triggers_of(wrong)
        note = make_correction(wrong, right, why, writing_realm(settings, realm, everywhere), triggers=heard)
    except ValueError as problem:
        raise Misuse(str(problem), "give both --wrong and --right") from None
    realm_near.remark(settings, realm)
    standing = _standing(settings, note)
    chosen = twins.NOTHING_ALIKE if standing is not None else twins.decide(settings, note, ask=not as_json)
    touched: list[Path] = []
    with bookshelf.changing(settings):
        standing = _standing(settings, note)
        twin = bookshelf.again(settings, chosen.twin) if chosen.twin is not None else None
        if chosen.action == twins.MERGE and twin is not None:
            done = twins.merge_into(settings, twin, note)
        elif chosen.action == twins.SUPERSEDE and twin is not None:
            done, touched = _superseding(settings, note, [twin], standing)
        else:
            done = _corrected(settings, note, one_line(why), standing)
    _report(settings, done, chosen, touched, as_json=as_json)
    if standing is not None and done.outcome == writing.UPDATED:
        _tell_what_stayed(note, standing.note)
    for warning in _trigger_warnings(done.note.triggers):
        output.tell(f"chitta: {warning}")


def _corrected(settings: Settings, note: Note, why: str, standing: bookshelf.Found | None) -> writing.Written:
    try:
        return writing.correct(NoteStore(settings.notes_dir), note, why, standing)
    except ValueError as problem:
        raise Misuse(str(problem)) from None


def _tell_what_stayed(note: Note, old: Note) -> None:
    more = [trigger for trigger in old.triggers if trigger not in note.triggers]
    stayed = [f"the triggers {', '.join(more)}"] if more else []
    stayed += ["the text that was added by hand"] if writing.added_lines(old) else []
    if stayed:
        output.tell(f"chitta: kept {' and '.join(stayed)}")


def _trigger_warnings(triggers: Sequence[str]) -> Iterator[str]:
    """A sentence for each trigger that nearly never or nearly always fires."""
    for trigger in triggers:
        if match_triggers(trigger, (trigger,)) is None:
            yield f"{trigger!r} would hardly ever fire: it is too common a word; say more of what was done"
        elif ordinary(trigger):
            yield f"{trigger!r} fires only where it reads as code (`use {trigger}`); say more of what was done"
        elif trigger.isalpha() and len(trigger) <= SHORT_WORD:
            yield f"{trigger!r} fires in every prompt that has this word; say more of what was done"


def edit(name: Annotated[str, typer.Argument(metavar="ID", help="The note's id, or how it begins.")]) -> None:
    """Open a note in your editor ($VISUAL, else $EDITOR) and index it again afterwards.

    Example: EDITOR=vim chitta edit stripe-webhook-raw-body
    """
    settings = table.load()
    found = bookshelf.find(settings, name)
    before = found.path.read_bytes()
    run_editor(found.path)
    if not found.path.exists():
        raise Failure(f"{found.path} is gone", f"`chitta forget {found.note.id}` removes a note")
    if found.path.read_bytes() == before:
        output.say("unchanged")
        return
    after = NoteStore(settings.notes_dir).read(found.path)
    if after.id != found.note.id:
        output.tell(f"chitta: the note's id is now {after.id}; it was {found.note.id}")
    levelled = upkeep.level_paths(settings, [found.path])
    output.say(f"updated {after.id}: {levelled.findable}")


def forget(
    names: Annotated[list[str], typer.Argument(metavar="ID", help="Ids of notes, or how they begin.")],
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
) -> None:
    """Remove notes for good: the files and their older versions, their words and vectors in the index, their ids in the
    logs. What was captured from a session is refused as well, so that it is not captured again. Notes that they had
    replaced are named: `chitta archive --restore ID` brings one back.

    Example: chitta forget old-deploy-steps-1f2e3d --yes
    """
    settings = table.load()
    by_path: dict[Path, bookshelf.Found] = {}
    missing = []
    for name in dict.fromkeys(names):
        try:
            item = bookshelf.find(settings, name)
            by_path.setdefault(item.path, item)
        except Nothing as unknown:
            missing.append(unknown)
    found = forgetting.with_versions(settings, list(by_path.values()))
    if found and not yes:
        _ask(found)
    gone, stuck = list[str](), list[OSError]()
    for item in found:
        if is_captured(item.note):
            refuse(settings.state_dir, item.note.realm, item.note.id)
        try:
            item.path.unlink(missing_ok=True)
            gone.append(item.note.id)
        except OSError as problem:
            stuck.append(problem)
    problems = forgetting.finish(settings, gone) if gone else []
    for name in gone:
        output.say(f"forgot {output.one_line(name, 200)}")
    for words in problems:
        output.tell(f"chitta: {words}")
    if stuck:
        raise stuck[0]
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
        hint = "give it as an argument, or pipe it in with `-`"
        if not words and not output.on_terminal(sys.stdin):
            hint = "to read it from a pipe, write `-`: … | chitta remember -"
        raise Misuse("there is no text to remember", hint)
    return text


def _standing(settings: Settings, note: Note) -> bookshelf.Found | None:
    """The note that is in the store under this realm and id."""
    with bookshelf.opened(settings) as snapshot:
        return bookshelf.Shelf(settings, snapshot).locate(note)


def _written(settings: Settings, note: Note, standing: bookshelf.Found | None) -> tuple[writing.Written, list[Path]]:
    """The note, written over the standing one of its id, whose text stays as a version; and that one's file.

    What had the standing one's place has the version's from now on.
    """
    store = NoteStore(settings.notes_dir)
    try:
        if standing is None:
            return writing.put(store, note, standing), []
        if says_the_same(standing.note, note):
            given = writing.over(note, standing.note, standing.note.updated)[0]
            return writing.put(store, given, standing), _handed_on(settings, store, standing.note)
        touched = []
        done = writing.put(store, note, standing, dry_run=True)
        newer, older = writing.over(done.note, standing.note, done.note.updated)
        if older is not None:  # first: a crash between the two loses neither
            touched.append(store.write(older))
            touched += _handed_on(settings, store, standing.note, older)
        return done._replace(
            path=store.write(newer, path=standing.path), note=newer, older=older.id if older else ""
        ), touched
    except ValueError as problem:
        raise Misuse(str(problem)) from None


def _handed_on(settings: Settings, store: NoteStore, old: Note, version: Note | None = None) -> list[Path]:
    """Let the note that replaced the old text name its version, or nothing: the id stands for what is current now."""
    if not named(old.superseded_by):
        return []
    try:
        heir = bookshelf.find(settings, named(old.superseded_by))
    except Nothing:
        return []
    kept = [name for name in heir.note.supersedes if name != old.id]
    names = (*kept, version.id) if version is not None and len(kept) < len(heir.note.supersedes) else tuple(kept)
    return [store.write(heir.note._replace(supersedes=names), path=heir.path)] if names != heir.note.supersedes else []


def _report(
    settings: Settings,
    done: writing.Written,
    chosen: twins.Decision = twins.NOTHING_ALIKE,
    touched: Sequence[Path] = (),
    *,
    as_json: bool,
) -> None:
    """Index (``touched`` files too), and say where the note is, when it can be found, and what is like it."""
    assert done.path is not None
    note = done.note
    levelled = upkeep.level_paths(settings, [done.path, *touched])
    from chitta.safety.cleaning import clean

    cleaned = clean(note)
    reasons = cleaned.suspected if cleaned.note.quarantine else ()
    if as_json:
        facts = {"id": note.id, "realm": note.realm, "path": str(done.path), "outcome": done.outcome}
        found = {"findable": levelled.findable, "pending": levelled.pending, "similar": chosen.facts}
        output.as_json({**facts, **found, "suspected": list(reasons)})
        return
    outcome = "unchanged: already there:" if done.outcome == writing.UNCHANGED else done.outcome
    output.say(f"{output.paint(outcome, 'green')} {output.paint(output.harmless(note.id), 'bold')}")
    output.pairs([("realm", note.realm), ("file", done.path), ("", levelled.findable)])
    if reasons:
        output.tell(suspected(note.id, reasons))
    if not chosen.asked:
        twins.advise(settings, note, chosen.similar)


def _ask(found: list[bookshelf.Found]) -> None:
    """Ask a person whether to go on. Raises ``Misuse`` where there is none to ask."""
    if not output.on_terminal(sys.stdin):
        raise Misuse("this removes notes for good", "give --yes to do it without being asked")
    for item in found:
        output.tell(f"{item.note.id}  {output.one_line(item.note.title, 60)}  ({item.note.realm})")
    if not typer.confirm(f"Remove {output.plural(len(found), 'note')} for good?", err=True):
        raise Failure("nothing was removed")
