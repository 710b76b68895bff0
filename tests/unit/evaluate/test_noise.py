from __future__ import annotations

from chitta.evaluate.noise import captured_notes
from chitta.notes.frontmatter import format_note, parse_note
from chitta.notes.note import BOOKKEEPING_KINDS


def test_the_same_notes_for_the_same_seed() -> None:
    assert captured_notes(500, 7) == captured_notes(500, 7) != captured_notes(500, 8)


def test_each_is_a_note_of_its_own_as_capture_writes_them() -> None:
    notes = captured_notes(500, 7)
    assert len({note.id for note in notes}) == 500
    assert {dict(note.extra)["captured"] for note in notes} == {"fix", "correction", "preference", "todo", "commit"}
    for note in notes:
        assert note.kind in BOOKKEEPING_KINDS and note.confidence <= 0.3 and note.authority == "captured"
        assert parse_note(format_note(note), fallback_id="", fallback_realm="") == note
