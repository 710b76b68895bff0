"""Taking in what the readers give: cleaned, into its realm, over what stands there already."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from chitta.cli import bookshelf, writing
from chitta.importing.imported import SECTION_KEY, Imported
from chitta.importing.sources import Read
from chitta.notes.frontmatter import decode, parse_note
from chitta.notes.imprint import imprint_of
from chitta.notes.note import Note
from chitta.notes.realms import realm_folder
from chitta.notes.store import NoteStore
from chitta.safety.cleaning import TRUSTED, clean
from chitta.settings import Settings

SKIPPED = "skipped"
GONE = "gone"
OUTCOMES = (writing.ADDED, writing.UPDATED, writing.UNCHANGED, writing.KEPT, SKIPPED, GONE)
_KEPT_WORDS = "edited here and changed there (--overwrite takes the file's)"
_DATED = "dated by its file"


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
    ) -> None:
        self._store = NoteStore(settings.notes_dir)
        self._shelf = shelf
        self._realm = realm
        self._force = force
        self._overwrite = overwrite
        self._quarantine = quarantine
        self._dry_run = dry_run
        self._supersede = supersede
        self._seen: dict[tuple[str, str], str] = {}
        self._files: set[tuple[str, str]] = set()

    def lines(self, path: Path, read: Read) -> Iterator[Line]:
        """Import one path; never raises for what a file holds. Raises ``OSError`` when the store cannot be written."""
        for item in read(path, realm=self._realm):
            yield self._take(item)

    def gone(self) -> Iterator[Line]:
        """A line for each note whose section is no longer in the file that was read; nothing is removed."""
        for realm, label in sorted(self._files):
            for note in self._sections(realm, label):
                if (realm, note.id) not in self._seen:
                    why = f"no longer has what this note is from; `chitta forget {note.id}` removes the note"
                    yield Line(label, GONE, note.id, realm, why)

    def _take(self, item: Imported) -> Line:
        if item.note is None:
            return Line(item.source, SKIPPED, why=item.problem)
        note = item.note._replace(realm=self._realm) if self._force else item.note
        first = self._seen.setdefault((note.realm, note.id), item.source)
        if first != item.source:
            return Line(item.source, SKIPPED, note.id, note.realm, f"has the same id as {first}")
        if SECTION_KEY in dict(note.extra):
            self._files.add((note.realm, note.source))
        standing = self._shelf.locate(note)
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

    def _put(self, note: Note, standing: bookshelf.Found | None, item: Imported, remarks: list[str]) -> Line:
        if self._quarantine or (standing is not None and standing.note.quarantine):
            note = note._replace(quarantine=True)
        if not note.created and item.file_day:
            if standing is None:
                remarks.append(_DATED)
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
        kept = done.outcome == writing.KEPT
        told = "" if done.outcome == writing.UNCHANGED else "; ".join(remarks)
        return Line(item.source, done.outcome, note.id, note.realm, _KEPT_WORDS if kept else "", told)

    def _sections(self, realm: str, label: str) -> Iterator[Note]:
        """Notes of the realm that were imported from sections of this file; other files are hardly read."""
        folder = Path(self._store.root, realm_folder(realm))
        for path in sorted(folder.glob("*.md")):
            try:
                data = path.read_bytes()
            except OSError:
                continue
            if f"\n{SECTION_KEY}:".encode() not in data:
                continue
            note = parse_note(decode(data), fallback_id="", fallback_realm=realm)
            if note.source == label and note.realm == realm and note.id and imprint_of(note) is not None:
                yield note
