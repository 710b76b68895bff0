from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from chitta import recall_log, searches
from chitta import settings as table
from chitta.notes.note import Note
from chitta.notes.store import NoteStore

Run = Callable[..., Any]


def keep(*notes: Note) -> None:
    for note in notes:
        NoteStore(table.load().notes_dir).write(note)


def captured(name: str, **fields: Any) -> Note:
    note = Note(name, kind="operational", title=name, text=f"{name} said", authority="captured", created="2025-01-01")
    return note._replace(**fields)


@pytest.fixture
def notes(chitta: Run) -> None:
    keep(captured("faded"), captured("proved", proof_count=3), captured("pinned", extra=(("pinned", True),)))
    keep(captured("shown"), captured("found"), captured("own", authority="advisory"))
    settings = table.load()
    recall_log.append(settings.state_dir, {"block": "b", "admitted": [{"id": "shown", "tag": "kw", "conf": None}]})
    searches.note(settings, "found said", "global", ["found"], time.time())


def ids(ran: Any, key: str = "archived") -> list[str]:
    return [note["id"] for note in ran.value[key]]


@pytest.mark.usefixtures("notes")
def test_what_faded_leaves_every_answer_and_comes_back(chitta: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CHITTA_GAP_LOG", "0")  # else this test's own questions keep the note
    dry = chitta("archive", "--dry-run", "--json")
    assert ids(dry) == ["faded"] and chitta("archive", "--dry-run").out == "would archive faded  faded\n"
    asked = ("recall", "faded", "--strategy", "keyword", "--json")
    assert [row["id"] for row in chitta(*asked).value["rows"]] == ["faded"]
    ran = chitta("archive")
    assert ran.out == "archived faded  faded\n" and "--restore" in ran.err
    assert chitta(*asked).value["rows"] == []
    assert [note["id"] for note in chitta("archive", "--list", "--json").value] == ["faded"]
    assert "faded" in chitta("archive", "--list").out
    assert ids(chitta("archive", "--json")) == []
    assert chitta("archive", "--restore", "faded").out == "restored faded  faded\n"
    assert [row["id"] for row in chitta(*asked).value["rows"]] == ["faded"]
    assert chitta("archive", "--list").code == 1
    assert "nothing has faded" in chitta("archive").out, "its age counts anew"


@pytest.mark.usefixtures("notes")
def test_a_day_more_or_less_is_chosen(chitta: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    keep(captured("young", created=time.strftime("%Y-%m-%d", time.localtime(time.time() - 5 * 86400))))
    assert ids(chitta("archive", "--older-than", "3", "--dry-run", "--json")) == ["faded", "young"]
    monkeypatch.setenv("CHITTA_DECAY_DAYS", "2")
    assert ids(chitta("archive", "--dry-run", "--json")) == ["faded", "young"]


@pytest.mark.usefixtures("notes")
def test_any_note_can_be_put_away_by_its_id(chitta: Run) -> None:
    assert ids(chitta("archive", "own", "pinned", "--json")) == ["own", "pinned"]
    assert chitta("archive", "own").code == 1
    assert ids(chitta("archive", "--restore", "own", "--json"), "restored") == ["own"]
    assert chitta("archive", "--restore", "own").code == 1


def test_what_cannot_be_meant(chitta: Run) -> None:
    assert chitta("archive", "--restore").code == 2
    assert chitta("archive", "x", "--older-than", "3").code == 2
    assert chitta("archive", "nobody").code == 1
    assert chitta("archive").code == 0 and not Path(table.load().notes_dir).exists()
