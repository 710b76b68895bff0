from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from chitta import daemon_client

Run = Callable[..., Any]


@pytest.fixture
def store(chitta: Run, own_home: Path) -> Run:
    chitta("remember", "First.", "--id", "steps-old", "--source", "runbook", "--tags", "deploy")
    folder = own_home / ".chitta" / "notes" / "global"
    (folder / "n.md").write_text(
        "---\nid: steps-new\ntitle: New steps\nsupersedes: [steps-old]\n---\nNew steps\n\nSecond.\n"
    )
    return chitta


def test_notes_are_whole_with_what_is_around_them(store: Run) -> None:
    ran = store("expand", "steps-old", "steps-new")
    assert ran.code == 0
    old, new = ran.out.split("\n\nNew steps\n")
    assert "tags deploy" in old and "source: runbook" in old and "replaced by: New steps · steps-new" in old
    assert "Second." in new and "replaces: First. · steps-old" in new and "New steps" not in new


def test_json_in_the_order_asked_and_each_once(store: Run) -> None:
    notes = store("expand", "steps-new", "steps-o", "steps-old", "--json").value["notes"]
    assert [note["id"] for note in notes] == ["steps-new", "steps-old"]
    assert notes[1]["around"]["replaced_by"]["id"] == "steps-new" and notes[1]["text"] == "First."


def test_an_unknown_id_is_said_after_those_that_are_known(store: Run) -> None:
    ran = store("expand", "nope", "steps-old")
    assert ran.code == 1 and "First." in ran.out and "there is no note 'nope'" in ran.err
    assert "2 of these ids are no notes" in store("expand", "nope", "neither").err
    assert "2 ids begin with" in store("expand", "steps").err
    assert store("expand").code == 2


def test_a_running_daemon_answers(store: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CHITTA_NO_DAEMON")
    asked: list[Any] = []

    def call(settings: Any, operation: str, body: Any = None, timeout: float = 0.0) -> Any:
        asked.append((operation, body))
        return {"notes": [{"id": "steps-old", "title": "from afar", "kind": "k", "realm": "global", "text": ""}]}

    monkeypatch.setattr(daemon_client, "call", call)
    assert store("expand", "steps-old").out.startswith("from afar\n")
    assert asked[-1] == ("expand", {"ids": ["steps-old"]})


def test_no_note_around_another_steers_the_terminal(store: Run, own_home: Path) -> None:
    file = own_home / ".chitta" / "notes" / "global" / "n.md"
    file.write_text(
        '---\nid: steps-new\ntitle: New\nsupersedes: [steps-old]\ncreated: "20\\e[31m"\n---\nSecond\u200b.\n'
    )
    ran = store("expand", "steps-old", "steps-new")
    assert ran.code == 0 and "steps-new" in ran.out and "\x1b" not in ran.out and "\u200b" not in ran.out
