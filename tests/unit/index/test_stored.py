"""The stored form of a note: nothing is lost, and another version's form is still read."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chitta.index.stored import pack, pack_terms, unpack, unpack_terms
from chitta.index.terms import terms_of
from chitta.notes.note import Note
from chitta.wire.codec import dumps, loads

texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
notes = st.builds(
    Note,
    id=texts.filter(bool),
    kind=texts,
    realm=texts,
    title=texts,
    text=texts,
    created=texts,
    tags=st.lists(texts, max_size=3).map(tuple),
    confidence=st.floats(0, 1),
    proof_count=st.integers(0, 1000),
    triggers=st.lists(texts, max_size=3).map(tuple),
    quarantine=st.booleans(),
    extra=st.lists(st.tuples(texts, st.integers(0, 9) | texts), max_size=2).map(tuple),
)


@given(notes)
def test_a_note_comes_back_as_it_was(note: Note) -> None:
    assert unpack(pack(note)) == note


def test_defaults_take_no_room() -> None:
    assert loads(pack(Note(id="a"))) == {"id": "a"}


def test_keys_and_types_of_another_version_are_passed_over() -> None:
    packed = dumps({"id": "a", "colour": "red", "confidence": 1, "tags": "no list", "proof_count": True})
    assert unpack(packed) == Note(id="a", confidence=1.0)


@pytest.mark.parametrize("raw", [b"", b"[]", b"{}", b'{"id":""}', b'{"id":1}', b"\xff\xfe"])
def test_what_is_no_stored_note_is_refused(raw: bytes) -> None:
    with pytest.raises(ValueError):
        unpack(raw)


@given(texts, texts)
def test_terms_come_back_as_they_were(title: str, text: str) -> None:
    terms = terms_of(title, text)
    assert unpack_terms(pack_terms(terms)) == terms


@pytest.mark.parametrize("raw", ["", "git rebase"])
def test_what_is_no_stored_terms_is_refused(raw: str) -> None:
    with pytest.raises(ValueError):
        unpack_terms(raw)
