"""Questions about a time: named in words, or asked for by an option."""

from __future__ import annotations

from datetime import datetime

import pytest

from chitta.notes.note import Note

from .conftest import Opened
from .questions import asked, ids

# NOW of the questions is Monday 2026-06-01.
SEARCH = Note("search", title="Search index", text="The search index had to be built anew.", created="2026-05-27")
DEPLOY = Note("deploy", title="Deploy order", text="The deploy runs the migrations first.", created="2026-05-29")
OLD = Note("old", title="Search cache", text="The search cache is cold in the morning.", created="2025-01-10")
UNDATED = Note("undated", title="Search words", text="Search takes words.")


@pytest.mark.parametrize(
    "query", ["what did I note last week?", "notes from last week", "what did we decide last week"]
)
def test_a_question_of_a_time_alone_lists_what_was_written_then(opened: Opened, query: str) -> None:
    found = asked(opened(SEARCH, DEPLOY, OLD, UNDATED), query)
    assert ids(found) == ["deploy", "search"]
    assert "last week" in found.header.note and all("last week" in row.why for row in found.rows)


def test_nothing_written_then_is_said(opened: Opened) -> None:
    found = asked(opened(OLD, UNDATED), "what did I note last week?")
    assert not found.rows and found.header.note == "nothing was written last week"


def test_prompts_and_what_may_not_stay_are_not_listed(opened: Opened) -> None:
    notes = (
        SEARCH,
        DEPLOY._replace(id="asked", kind="prompt"),
        DEPLOY._replace(id="held", quarantine=True),
        DEPLOY._replace(id="gone", text="The deploy has no order.", superseded_by="search"),
    )
    found = asked(opened(*notes), "what did I note last week?")
    assert ids(found) == ["search"]
    assert found.dropped == {"quarantined": 1, "superseded": 1}


def test_the_words_of_the_time_do_not_count_against_a_note(opened: Opened) -> None:
    engine = opened(SEARCH, DEPLOY, OLD)
    plain = {row.id: row for row in asked(engine, "search index").rows}
    timed = {row.id: row for row in asked(engine, "search index last week").rows}
    assert timed["search"].coverage == plain["search"].coverage == 1.0
    assert timed["search"].conf == plain["search"].conf
    assert timed["search"].why == "written last week" and not timed["old"].why


def test_latest_notes_are_the_newest(opened: Opened) -> None:
    assert ids(asked(opened(SEARCH, DEPLOY, OLD), "latest notes"))[:2] == ["deploy", "search"]


# The pool was ten, and was replaced in November by one of twenty-five that held from December on.
TEN = Note("ten", title="Pool size", text="The pool size is ten.", created="2026-01-02")
MORE = Note(
    "more", title="Pool size now", text="The pool size is more.", created="2026-03-24", valid_from="2026-04-01",
    supersedes=("ten",),
)  # fmt: skip


@pytest.mark.parametrize(
    ("changes", "left"),
    [
        ({}, ["more"]),
        ({"as_of": datetime(2025, 12, 1)}, []),
        ({"as_of": datetime(2026, 2, 1)}, ["ten"]),
        ({"as_of": datetime(2026, 3, 26)}, ["ten"]),  # the other was known, and did not hold yet
        ({"as_of": datetime(2026, 5, 1)}, ["more"]),
        ({"known_as_of": datetime(2026, 2, 1)}, ["ten"]),
        ({"known_as_of": datetime(2026, 3, 26)}, ["more"]),
        ({"known_as_of": datetime(2026, 3, 26), "as_of": datetime(2026, 3, 26)}, []),
    ],
)
def test_each_option_alone_tells_how_it_was_then(opened: Opened, changes: dict[str, datetime], left: list[str]) -> None:
    assert ids(asked(opened(TEN, MORE), **changes)) == left  # type: ignore[arg-type]


def test_of_all_realms_ones_own_is_preferred(opened: Opened) -> None:
    twins = [SEARCH._replace(id=name, realm=f"project:{name}") for name in ("alpha", "omega")]
    engine = opened(*twins, COLLAPSE_DUPLICATES=0)
    for home in ("project:alpha", "project:omega"):
        assert asked(engine, "search index", home=home).rows[0].realm == home
