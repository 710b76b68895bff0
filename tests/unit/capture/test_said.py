"""What stands in a note already is not captured out of it."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from chitta.capture import said
from chitta.capture.said import is_said
from chitta.curation.candidates import Candidates
from chitta.notes.note import Note
from chitta.settings import load

HELD = Note("held", title="Exports", text="Never run the *export* on the replica. Use the snapshot instead.")
NEW = Note("new", text="From now on, never run the export on the replica")


def found(monkeypatch: pytest.MonkeyPatch, notes: Sequence[Note], note: Note = NEW) -> bool:
    monkeypatch.setattr(said, "gather", lambda *asked, by_meaning: Candidates(tuple(notes)))
    return is_said(load({"CHITTA_HOME": "/nowhere"}), note)


def test_the_words_of_another_note_are_known(monkeypatch: pytest.MonkeyPatch) -> None:
    assert found(monkeypatch, [Note("x", text="other"), HELD])
    assert not found(monkeypatch, []) and not found(monkeypatch, [HELD], Note("n", text="never run the export on it"))


def test_a_note_that_does_not_hold_any_more_says_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    assert not found(monkeypatch, [HELD._replace(superseded_by="y"), HELD._replace(quarantine=True)])
    assert not found(monkeypatch, [HELD._replace(id=NEW.id)])


def test_without_an_index_nothing_is_known() -> None:
    assert not is_said(load({"CHITTA_HOME": "/nowhere"}), NEW)
