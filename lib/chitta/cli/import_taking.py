"""Taking in what the readers give: cleaned, into its realm, over what stands there already."""

from __future__ import annotations

import contextlib
import datetime
import os
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from chitta.cli import bookshelf, import_gone, writing
from chitta.cli.import_place import another_id, is_from, own_links, placed_anew
from chitta.curation.supersede import superseded
from chitta.importing.imported import SECTION_KEY, Imported
from chitta.importing.sources import Read
from chitta.notes.imprint import imprint_of, is_edited
from chitta.notes.note import Note
from chitta.notes.store import NoteStore
from chitta.safety import TRUSTED
from chitta.safety.cleaning import clean
from chitta.settings import Settings

SKIPPED = "skipped"
GONE = "gone"
RETIRED = "retired"
REPLACED = "replaced"
OUTCOMES = (writing.ADDED, writing.UPDATED, writing.UNCHANGED, writing.KEPT, SKIPPED, REPLACED, RETIRED, GONE)
#: How the reason begins for which a rule that another file of its folder says too is skipped.
SAME = "says the same as "
_KEPT_WORDS = "edited here and changed there (--overwrite takes the file's)"
#: The remark on a note whose date is its file's.
DATED = "dated by its file"


class Line(NamedTuple):
    """What became of one thing that was read. ``where`` is its file, with the line number where it has several;
    ``remark`` is what a person should know of a note that was taken.
    """

    where: str
    outcome: str
    id: str = ""
    realm: str = ""
    why: str = ""
    remark: str = ""


class Importer:
    """Takes in what readers give: one :class:`Line` each. ``realm`` is for notes that name none; with ``force``
    for all. ``quarantine`` keeps what is brought out of prompts until it was looked through.
    """

    def __init__(
        self,
        settings: Settings,
        shelf: bookshelf.Shelf,
        realm: str,
        *,
        force: bool,
        overwrite: bool,
        quarantine: bool,
        dry_run: bool,
        supersede: bool = False,
        keep_gone: bool = False,
    ) -> None:
        self._settings = settings
        self._store = NoteStore(settings.notes_dir)
        self._shelf = shelf
        self._realm = realm
        self._force = force
        self._overwrite = overwrite
        self._quarantine = quarantine
        self._dry_run = dry_run
        self._supersede = supersede
        self._seen: dict[tuple[str, str], str] = {}
        self._places: dict[tuple[str, str], str] = {}
        self._keep_gone = keep_gone
        self._files: set[tuple[str, str]] = set()
        self._folders: list[Path] = []
        self._sections: dict[str, dict[str, list[bookshelf.Found]]] = {}
        self._said: dict[tuple[str, str, str], str] = {}
        self._came: list[bookshelf.Found] = []
        self._instructions: set[str] = set()

    def lines(self, path: Path, read: Read) -> Iterator[Line]:
        """Import one path; never raises for what a file holds. Raises ``OSError`` when the store cannot be written."""
        if path.is_dir():
            self._folders.append(path)
        for item in read(path, realm=self._realm):
            with contextlib.nullcontext() if self._dry_run else bookshelf.changing(self._settings):
                line = self._take(item)
            yield line

    def gone(self) -> Iterator[Line]:
        """A line for each note whose section is no longer in the file that was read, or whose file of instructions is
        no longer in the folder: replaced by the new rule that stands for it, else put into the archive. One that a
        person edited, or took out of the archive, is only named.
        """
        gone = list(self._no_longer_there())
        came = {item.note.id: item for item in self._came}
        follows = {}
        if self._supersede and not self._keep_gone:
            follows = {
                (old.realm, old.id): came[new.id]
                for old, new in import_gone.pairs(
                    [item.note for item in gone if not is_edited(item.note)], [item.note for item in self._came]
                )
            }
        today = datetime.date.today().isoformat()
        for item in gone:
            yield self._put_away(item, follows.get((item.note.realm, item.note.id)), today)

    def _no_longer_there(self) -> Iterator[bookshelf.Found]:
        for realm in sorted({realm for realm, _ in self._files} | ({self._realm} if self._folders else set())):
            for label, items in sorted(self._sections_of(realm).items()):
                read = (realm, label) in self._files
                if not read and not any(import_gone.is_away(label, folder, realm) for folder in self._folders):
                    continue
                for item in items:
                    if (realm, item.note.id) not in self._seen and import_gone.stands(item.note):
                        yield item

    def _put_away(self, item: bookshelf.Found, follower: bookshelf.Found | None, today: str) -> Line:
        note, path = item
        if follower is not None:
            older, newer = superseded(note, follower.note, today)
            if not self._dry_run:
                self._store.write(import_gone.again(note, older), path=path)
                self._store.write(import_gone.again(follower.note, newer), path=follower.path)
            return Line(note.source, REPLACED, note.id, note.realm, f"{note.id} is replaced by {newer.id}")
        why = f"no longer has what {note.id} is from; "
        if self._keep_gone or is_edited(note) or import_gone.GONE_KEY in dict(note.extra):
            return Line(note.source, GONE, note.id, note.realm, f"{why}`chitta forget {note.id}` removes the note")
        if not self._dry_run:
            self._store.write(import_gone.retired(note, today), path=path)
        return Line(
            note.source, RETIRED, note.id, note.realm, f"{why}`chitta archive --restore {note.id}` brings it back"
        )

    def _take(self, item: Imported) -> Line:
        if item.note is None:
            return Line(item.source, SKIPPED, why=item.problem)
        note = item.note._replace(realm=self._realm) if self._force else item.note
        made = note.id
        note, standing = self._known(note, item)
        note = own_links(note, item, self._shelf.locate)
        if standing is None and note.id != made:
            told = f"as far as can be told {made} is from another file, so this is {note.id}"
            item = item._replace(remark="; ".join(each for each in (item.remark, told) if each))
        if SECTION_KEY in dict(note.extra):
            if same := self._same_elsewhere(note, item, standing):
                return Line(item.source, SKIPPED, note.id, note.realm, f"{SAME}{same}")
        elif os.path.realpath(item.source) in self._instructions:
            return Line(item.source, SKIPPED, note.id, note.realm, "was read with the instructions that import it")
        first = self._seen.setdefault((note.realm, note.id), item.source)
        if first != item.source:
            why = f"has the same id as {first}" + ("" if item.place else "; another `id:` in one of them keeps both")
            return Line(item.source, SKIPPED, note.id, note.realm, why)
        self._places[note.realm, note.id] = item.place
        if SECTION_KEY in dict(note.extra):
            self._files.add((note.realm, note.source))
        if standing is not None and import_gone.was_retired(standing.note):
            standing = self._returned(standing)
            return self._put_back(note, standing, item)
        if standing is not None and not self._overwrite and _is_unchanged(standing.note, item):
            return Line(item.source, writing.UNCHANGED, note.id, note.realm)
        return self._cleaned(note, standing, item)

    def _cleaned(self, note: Note, standing: bookshelf.Found | None, item: Imported) -> Line:
        if item.placed and standing is not None and not item.whole:
            note = note._replace(source=standing.note.source)
        # Whoever wrote a file cannot vouch for it: only what a person has let in here stays trusted.
        note = note._replace(extra=tuple((key, value) for key, value in note.extra if key != TRUSTED))
        if standing is not None and dict(standing.note.extra).get(TRUSTED) is True:  # a person has let it in for good
            note = note._replace(extra=(*note.extra, (TRUSTED, True)))
        cleaned = clean(note)
        remarks = [item.remark] if item.remark else []
        if cleaned.secrets:
            remarks.append(f"redacted: {', '.join(dict.fromkeys(cleaned.secrets))}")
        if cleaned.suspected and cleaned.note.quarantine:
            remarks.append(f"in quarantine, it may be meant to steer an agent: {', '.join(cleaned.suspected)}")
        if not cleaned.note.text.strip() and note.text.strip():
            return Line(item.source, SKIPPED, note.id, note.realm, "holds only what is marked as private")
        return self._put(cleaned.note, standing, item, remarks)

    def _put_back(self, note: Note, standing: bookshelf.Found, item: Imported) -> Line:
        """Take a note whose source has it again; an import had put it away."""
        line = self._cleaned(note, standing, item)
        if line.outcome != writing.UNCHANGED:
            return line
        return line._replace(outcome=writing.UPDATED, remark="its source has it again: out of the archive")

    def _returned(self, standing: bookshelf.Found) -> bookshelf.Found:
        back = import_gone.returned(standing.note, datetime.date.today().isoformat())
        if not self._dry_run:
            self._store.write(back, path=standing.path)
        return bookshelf.Found(back, standing.path)

    def _known(self, note: Note, item: Imported) -> tuple[Note, bookshelf.Found | None]:
        """The note and the one that stands for it, which an older rule may have given another id: it keeps that.
        Where the note of its id is from another source, it has another id.
        """
        free: list[Note] = []
        whole = note._replace(source=item.whole or note.source)
        for name in (note.id, another_id(note.id, item.place)) if item.place else (note.id,):
            named, read = whole._replace(id=name), self._places.get((note.realm, name), "")
            standing = self._shelf.locate(named)
            if item.place and read and read != item.place:
                continue
            if standing is None:
                free.append(named)
            elif is_from(standing.note, note, item, os.getcwd()):
                return named, self._placed(standing, note, item)
        given, note = note, (free or [whole])[0]
        older = [(name, source) for before, source in item.older for name in (before, another_id(before, item.place))]
        for before, source in older:
            found = self._shelf.locate(note._replace(id=before))
            imprint = imprint_of(found.note) if found is not None else None
            if found is None or imprint is None or self._seen.get((note.realm, before), item.source) != item.source:
                continue
            if not is_from(found.note, given, item, os.getcwd()):
                continue
            held = found.note.source
            if imprint.source == item.digest or (held and held in (source, item.place)):
                return note._replace(id=before), found
        return note, None

    def _placed(self, standing: bookshelf.Found, note: Note, item: Imported) -> bookshelf.Found:
        """The standing note with the whole path of its file, where it said less, or where the file lay before."""
        placed = placed_anew(standing.note, note, item)
        if placed is not standing.note and not self._dry_run:
            self._store.write(placed, path=standing.path)
        return bookshelf.Found(placed, standing.path)

    def _put(self, note: Note, standing: bookshelf.Found | None, item: Imported, remarks: list[str]) -> Line:
        if self._quarantine or (standing is not None and standing.note.quarantine):
            note = note._replace(quarantine=True)
        if not note.created and item.file_day:
            if standing is None:
                remarks.append(DATED)
            note = note._replace(created=standing.note.created if standing is not None else item.file_day)
        try:
            done = writing.take_in(
                self._store,
                note,
                item.digest,
                standing,
                overwrite=self._overwrite,
                dry_run=self._dry_run,
                supersede=self._supersede,
            )
        except ValueError as problem:
            return Line(item.source, SKIPPED, note.id, note.realm, str(problem))
        if done.outcome == writing.ADDED and SECTION_KEY in dict(note.extra):
            self._came.append(bookshelf.Found(done.note, done.path or self._store.root))
        if done.older:
            remarks.append(f"its earlier text is kept as {done.older}")
        kept = done.outcome == writing.KEPT
        told = "" if done.outcome == writing.UNCHANGED else "; ".join(remarks)
        return Line(item.source, done.outcome, note.id, note.realm, _KEPT_WORDS if kept else "", told)

    def _sections_of(self, realm: str) -> dict[str, list[bookshelf.Found]]:
        """Notes of the realm from sections of files, as they stood when one was first asked for."""
        if realm not in self._sections:
            self._sections[realm] = import_gone.sections(self._store.root, realm)
        return self._sections[realm]

    def _same_elsewhere(self, note: Note, item: Imported, standing: bookshelf.Found | None) -> str:
        """Where another file of the folder says the same rule, in this import or in the store; "" for nowhere."""
        given = item.source.rpartition(":")[0]
        file = os.path.realpath(given)
        self._instructions.add(file)
        text = import_gone.said(note.text)
        first = self._said.setdefault((note.realm, os.path.dirname(file), text), item.source)
        if first.rpartition(":")[0] != given:
            return first
        if standing is not None:
            return ""
        for label, others in self._sections_of(note.realm).items():
            if label == note.source or os.path.dirname(label) != os.path.dirname(note.source):
                continue
            if not os.path.exists(os.path.join(os.path.dirname(file), os.path.basename(label))):
                continue
            if any(import_gone.said(other.note.text) == text and import_gone.stands(other.note) for other in others):
                return label
        return ""


def _is_unchanged(standing: Note, item: Imported) -> bool:
    """Whether the source is as it was when the note was last taken from it: then nothing needs to be looked at."""
    imprint = imprint_of(standing)
    return bool(item.digest) and imprint is not None and imprint.source == item.digest
