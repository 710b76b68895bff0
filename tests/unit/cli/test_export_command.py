from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from chitta.notes.imprint import without_imprint
from chitta.notes.note import Note
from chitta.notes.store import NoteStore

Run = Callable[..., Any]
NOTES = [
    Note("plain", title="Plain", text="A plain note.", created="2026-01-01", tags=("a", "b c")),
    Note("held", title="Held", text="Ignore all.", created="2026-01-02", quarantine=True),
    Note("old", title="Old", text="An old one.", created="2026-01-03", extra=(("status", "archived"),)),
    Note("theirs", title="Theirs", text="Elsewhere.", created="2026-01-04", realm="project:x.org/a/b"),
    Note("fix", kind="operational", title="Fix", text="Captured.", created="2026-01-05", authority="captured"),
]


def filled(home: Path) -> NoteStore:
    store = NoteStore(home / ".chitta" / "notes")
    for note in NOTES:
        store.write(note)
    return store


def in_store(home: Path) -> list[Note]:
    """The notes without what importing adds: the imprint, and as the source the file that a note came in by."""
    store = NoteStore(home / "notes")
    notes = [without_imprint(store.read(fact.path)) for fact in store.scan()]
    return [note._replace(source="") if note.source.endswith(f"{note.id}.md") else note for note in notes]


@pytest.mark.parametrize("target", ["all.jsonl", "all"])
def test_exported_and_imported_elsewhere_the_notes_are_the_same(
    chitta: Run, own_home: Path, folder: Path, monkeypatch: pytest.MonkeyPatch, target: str
) -> None:
    filled(own_home)
    assert chitta("export", target, "--all").code == 0
    monkeypatch.setenv("CHITTA_HOME", str(folder / "other"))
    assert chitta("import", target).code == 0
    assert in_store(folder / "other") == in_store(own_home / ".chitta")


def test_standard_output_holds_notes_and_nothing_else(chitta: Run, own_home: Path) -> None:
    filled(own_home)
    ran = chitta("export")
    assert [json.loads(line)["id"] for line in ran.out.splitlines()] == ["fix", "held", "old", "plain"]
    assert "exported 4 notes" in ran.err and "other realms hold 1 note" in ran.err
    kept = [json.loads(line) for line in chitta("export", "--without-captured", "--all").out.splitlines()]
    assert [note["id"] for note in kept] == ["held", "old", "plain", "theirs"]
    assert kept[0]["quarantine"] is True and kept[1]["status"] == "archived"


def test_kinds_and_realms(chitta: Run, own_home: Path) -> None:
    filled(own_home)
    assert len(chitta("export", "--kind", "operational", "--all").out.splitlines()) == 1
    assert '"theirs"' in chitta("export", "--realm", "project:x.org/a/b").out
    assert chitta("export", "--kind", "nonsense").code == 2
    assert chitta("export", "--realm", "project:x.org/none").code == 1


def test_the_store_is_no_place_for_an_export(chitta: Run, own_home: Path, folder: Path) -> None:
    filled(own_home)
    (folder / "link").symlink_to(own_home / ".chitta" / "notes")
    for target in (own_home / ".chitta", own_home / ".chitta/notes/new", own_home / ".chitta/x.jsonl", "link/x"):
        ran = chitta("export", str(target), "--all")
        assert ran.code == 2 and "in the store" in ran.err


def test_targets_that_mean_nothing_are_refused(chitta: Run, own_home: Path, folder: Path) -> None:
    filled(own_home)
    (folder / "file").write_text("x")
    for words in (["-", "--as", "markdown"], [".", "--as", "jsonl"], ["file"], ["x.jsonl", "--prune"], ["--as", "xml"]):
        assert chitta("export", *words).code == 2, words
    assert chitta("export", "--all", "--global").code == 2


def test_a_folder_is_brought_level(chitta: Run, own_home: Path, folder: Path) -> None:
    store = filled(own_home)
    chitta("export", "out", "--all")
    store.remove("plain")
    ran = chitta("export", "out", "--all")
    assert "0 written, 4 unchanged" in ran.err and "global/plain.md" in ran.err and "--prune" in ran.err
    assert chitta("export", "out", "--all", "--prune").code == 0
    assert not (folder / "out/global/plain.md").exists()


def test_what_no_export_wrote_is_not_replaced_unasked(chitta: Run, own_home: Path, folder: Path) -> None:
    filled(own_home)
    (folder / "data.jsonl").write_text('{"mine": 1}\n')
    (folder / "project").mkdir()
    (folder / "project/main.c").write_text("int main;")
    for target in ("data.jsonl", "project"):
        ran = chitta("export", target, "--all")
        assert ran.code == 2 and "--yes" in ran.err
    assert (folder / "data.jsonl").read_text() == '{"mine": 1}\n' and len(list((folder / "project").iterdir())) == 1
    for target in ("data.jsonl", "project"):
        assert chitta("export", target, "--all", "--yes").code == 0
    assert chitta("export", "data.jsonl", "--all").code == 0


def test_a_missing_folder_is_made_and_said(chitta: Run, own_home: Path, folder: Path) -> None:
    filled(own_home)
    ran = chitta("export", "no/such/x.jsonl", "--all")
    assert ran.code == 0 and "made the folder no/such" in ran.err and (folder / "no" / "such" / "x.jsonl").is_file()
    assert "made the folder" not in chitta("export", "no/such/x.jsonl", "--all").err
