from __future__ import annotations

from datetime import date
from typing import Any

import pytest

from chitta.curation.decay import archived, archived_on, fading, is_archived, restored, used_ids
from chitta.notes.note import Note
from chitta.recall.filters import is_retired

TODAY = date(2025, 3, 1)
OLD = Note("a", kind="operational", authority="captured", created="2025-01-01", extra=(("captured", "fix"),))


def faded(note: Note, *used: str, days: int = 30) -> bool:
    return fading([note], used, TODAY, days) == [note]


def test_what_was_captured_and_never_needed_fades_with_age() -> None:
    assert faded(OLD) and faded(OLD._replace(kind="episode"))
    assert faded(OLD, days=59) and not faded(OLD, days=60)
    assert not faded(OLD._replace(updated="2025-02-20"))


@pytest.mark.parametrize(
    "note",
    [
        OLD._replace(kind="bug-fix"),
        OLD._replace(proof_count=3),
        OLD._replace(extra=(*OLD.extra, ("pinned", True))),
        OLD._replace(authority="advisory", extra=()),
        OLD._replace(created="some day"),
        OLD._replace(superseded_by="b"),
        archived(OLD, "2025-02-01"),
    ],
)
def test_these_stay(note: Note) -> None:
    assert not faded(note)


def test_what_was_shown_or_returned_stays() -> None:
    lines: list[dict[str, Any]] = [{"admitted": [{"id": "a"}, 3]}, {"ids": ["b"]}, {"admitted": "x", "ids": 4}, {}]
    assert used_ids(lines) == {"a", "b"}
    assert not faded(OLD, *used_ids(lines)) and faded(OLD._replace(id="c"), *used_ids(lines))


def test_imported_notes_of_these_kinds_fade_too() -> None:
    assert faded(OLD._replace(authority="advisory", extra=(("imported", "x y"),)))


@pytest.mark.parametrize("extra", [OLD.extra, (*OLD.extra, ("status", "indexed"))])
def test_the_archive_retires_and_gives_back_what_it_took(extra: tuple[tuple[str, object], ...]) -> None:
    note = OLD._replace(extra=extra)
    away = archived(note, "2025-03-01")
    assert is_archived(away) and is_retired(away) and archived_on(away) == "2025-03-01"
    assert archived(away, "2025-04-01") == away
    back = restored(away, "2025-05-01")
    assert not is_retired(back) and back == note._replace(updated="2025-05-01")
    assert restored(note, "2025-05-01") == note
    assert not fading([back], (), date(2025, 5, 20), 30), "its age counts anew"
