"""Identifiers and file names."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chitta.notes.ids import MAX_ID, file_name, hashed_file_name, make_id, valid_id

ANY_TEXT = st.text(alphabet=st.characters(exclude_categories=()))


def test_an_id_is_a_slug_and_six_digits() -> None:
    assert re.fullmatch(r"pin-the-cafe-s-node-version-[0-9a-f]{6}", make_id("Pin the Café's Node version!", "global"))


def test_realm_and_salt_tell_the_same_title_apart() -> None:
    ids = {make_id("Title", "a"), make_id("Title", "b"), make_id("Title", "a", salt="1")}
    assert len(ids) == 3
    assert make_id("Title", "a") == make_id("Title", "a")


@pytest.mark.parametrize("title", ["数据库迁移", "データベース", "데이터베이스", "🎉", ""])
def test_a_title_without_latin_letters_still_has_an_id(title: str) -> None:
    assert re.fullmatch(r"note-[0-9a-f]{12}", make_id(title, "global"))


@settings(deadline=None)
@given(ANY_TEXT, ANY_TEXT)
def test_every_made_id_is_a_plain_file_name(title: str, realm: str) -> None:
    made = make_id(title, realm)
    assert valid_id(made)
    assert file_name(made) == f"{made}.md"
    assert len(made) <= 50 + 7


@pytest.mark.parametrize("text", ["", "   ", "a\nb", "a\x00", "a\x7f", "a\u2028b", "\ud800", "x" * (MAX_ID + 1)])
def test_ids_that_are_none(text: str) -> None:
    assert not valid_id(text)


@pytest.mark.parametrize("text", ["a", "Ünï cödé", "日本", "a/b", "..", "x" * MAX_ID])
def test_ids_that_are_odd_but_fine(text: str) -> None:
    assert valid_id(text)


@pytest.mark.parametrize("text", ["Upper", "a/b", "..", ".hidden", "日本", "a b", "x" * 122, "a+b"])
def test_ids_that_are_no_file_name_get_one(text: str) -> None:
    name = file_name(text)
    assert name == hashed_file_name(text)
    assert re.fullmatch(r"[a-z0-9-]+\+[0-9a-f]{10}\.md", name)


def test_names_differ_where_only_the_case_of_the_ids_does() -> None:
    names = {file_name(text).lower() for text in ("readme", "README", "ReadMe")}
    assert len(names) == 3


@settings(deadline=None)
@given(ANY_TEXT.filter(valid_id), ANY_TEXT.filter(valid_id))
def test_two_ids_never_share_a_file(one: str, other: str) -> None:
    assert (file_name(one).lower() == file_name(other).lower()) == (one == other)
