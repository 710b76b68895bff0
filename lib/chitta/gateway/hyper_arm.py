"""The hyperdimensional arm: notes and prompts as bundles of words bound to their roles."""

from __future__ import annotations

from typing import TYPE_CHECKING

from chitta.index.terms import analyse, terms_of
from chitta.recall.fuse import Ranking
from chitta.recall.hyperdimensional import HyperIndex

if TYPE_CHECKING:
    from chitta.gateway.readings import Readings
    from chitta.notes.note import Note

#: Notes of a realm that are bundled: half a second for three thousand, once for each state of the index.
MOST_NOTES = 100_000
#: Words of a text in a bundle: each further one makes the others harder to hear.
_WORDS = 60


def resembling(readings: Readings, text: str, realm: str | None, limit: int) -> Ranking:
    """The ``limit`` notes whose bundle is most similar to the text's, of those above chance."""
    index = readings.hyper_index(realm, lambda: _index_of(readings.snapshot.catalog.page(realm, limit=MOST_NOTES)))
    return index.search(_fields_of_prompt(text), limit=limit)


def _index_of(notes: list[Note]) -> HyperIndex:
    return HyperIndex((note.id, _fields_of_note(note)) for note in notes)


def _fields_of_note(note: Note) -> dict[str, list[str]]:
    terms = terms_of(note.title, note.text[:4000])
    words = sorted(terms.whole.difference(terms.title))[:_WORDS]
    return {"kind": [note.kind], "tag": list(note.tags), "title_word": list(terms.title), "word": words}


def _fields_of_prompt(text: str) -> dict[str, list[str]]:
    terms = analyse(text)
    words = [*terms.words, *terms.exact][:_WORDS]
    return {"tag": words, "title_word": words, "word": words}
