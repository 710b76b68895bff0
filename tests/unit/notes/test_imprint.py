"""What an imported note remembers: whether its source or the note itself has changed."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from chitta.notes.frontmatter import format_note, parse_note
from chitta.notes.imprint import KEY, Imprint, digest, imprint_of, imprinted, is_edited, without_imprint
from chitta.notes.note import Note

SOURCE = digest(b"source")


def stored(note: Note) -> Note:
    return parse_note(format_note(note), fallback_id="-", fallback_realm="global")


@given(st.text(max_size=200), st.text(max_size=60))
def test_a_note_as_it_was_written_is_not_edited(text: str, title: str) -> None:
    note = stored(imprinted(Note("one", title=title, text=text, extra=(("mine", 1),)), SOURCE))
    imprint = imprint_of(note)
    assert imprint is not None and imprint.source == SOURCE and not is_edited(note)


def test_any_field_that_was_changed_is_an_edit() -> None:
    note = stored(imprinted(Note("one", text="a"), SOURCE))
    for edited in (note._replace(text="b"), note._replace(tags=("x",)), note._replace(extra=(*note.extra, ("k", 1)))):
        assert is_edited(stored(edited))


def test_a_key_that_is_missing_or_not_ours_says_nothing() -> None:
    for value in (None, 3, "", "2025-06-05", "0123456789abcdef"):
        note = Note("one", extra=((KEY, value),))
        assert imprint_of(note) is None and not is_edited(note)
    assert imprint_of(Note("one")) is None


def test_another_imprint_takes_the_place_of_the_first() -> None:
    note = imprinted(imprinted(Note("one", text="a"), SOURCE), digest(b"other"))
    assert [key for key, _ in note.extra] == [KEY] and without_imprint(note) == Note("one", text="a")
    assert imprint_of(note) == Imprint(digest(b"other"), str(imprint_of(imprinted(Note("one", text="a"), SOURCE))[1]))  # type: ignore[index]
