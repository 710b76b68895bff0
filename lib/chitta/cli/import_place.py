"""Whether a note that stands in the store is from the file that is being imported, or from another of that name.

Outside of a repository the readers make ids from the path below the folder that was given, which files of several
folders have; so the store keeps the whole path as the source. Notes that an older version took say only the path
below: of these an equal digest alone tells whose they are.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable

from chitta.cli.bookshelf import Found
from chitta.curation.gathering import SEVERAL
from chitta.importing.decisions import LABEL
from chitta.importing.imported import SECTION_KEY, Imported, digest_of
from chitta.notes.ids import MAX_ID
from chitta.notes.imprint import imprint_of, imprinted, is_edited
from chitta.notes.note import Note
from chitta.notes.realms import realm_of, work_tree

_DIGITS = 8
# A source that is a whole path, with what readers put before it and a licence after it.
_WHOLE = re.compile(rf"(?:{LABEL}|reflect )?((?:~/|/).+?)(?: \([^()]*\))?")


def another_id(note_id: str, place: str) -> str:
    """The id of a note from the file ``place`` where the one it would have is a note of another source. Notes from
    one folder get the same ending, so that one can name the other.
    """
    return f"{note_id[: MAX_ID - _DIGITS - 1]}-{digest_of(os.path.dirname(place))[:_DIGITS]}"


def is_from(standing: Note, note: Note, item: Imported, here: str) -> bool:
    """Whether the note that stands under an id made for ``note`` is from the same file.

    ``note`` has its source as its reader gave it. ``here`` is the folder (absolute) in which the command runs.
    """
    held = standing.source
    if not item.place or {item.place, item.whole} & {held, *held.split(SEVERAL)}:
        return True
    imprint = imprint_of(standing)
    same = imprint is not None and imprint.source == item.digest
    file = _WHOLE.fullmatch(held)
    if file is not None and held != note.source:
        moved = SEVERAL not in held and not os.path.lexists(os.path.expanduser(file[1]))
        return same and moved
    if not item.whole or (not held and is_edited(standing)):  # what was written anew here says no source
        return True
    return same and not (SECTION_KEY in dict(note.extra) and _is_of_repository(held, note.realm, here))


def placed_anew(standing: Note, note: Note, item: Imported) -> Note:
    """The note of this file with its whole path, where it said less or where the file lay before; else itself.

    It counts as edited as little as before.
    """
    held = standing.source
    if not item.whole or held == item.whole or item.whole == note.source or SEVERAL in held:
        return standing
    if held != note.source and _WHOLE.fullmatch(held) is None:
        return standing
    placed, imprint = standing._replace(source=item.whole), imprint_of(standing)
    return placed if imprint is None or is_edited(standing) else imprinted(placed, imprint.source)


def own_links(note: Note, item: Imported, locate: Callable[[Note], Found | None]) -> Note:
    """A decision record with the ids of its own folder's records, where those it names are another folder's."""
    if not item.whole.startswith(LABEL):
        return note

    def own(other: str) -> str:
        found = locate(note._replace(id=other))
        file = _WHOLE.fullmatch(found.note.source) if found is not None else None
        elsewhere = file is not None and os.path.dirname(file[1]) != os.path.dirname(item.place)
        return another_id(other, item.place) if elsewhere else other

    newer = own(note.superseded_by) if note.superseded_by else ""
    return note._replace(supersedes=tuple(map(own, note.supersedes)), superseded_by=newer)


def _is_of_repository(name: str, realm: str, here: str) -> bool:
    """Whether the repository of ``here`` has a file of that name: two files may say one rule in the same words."""
    top = work_tree(here)
    return bool(top) and realm_of(top) == realm and os.path.lexists(os.path.join(top, name))
