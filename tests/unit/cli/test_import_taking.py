"""What importing takes for the same note, what it keeps of an older one, and what it says of the rest."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import filelock
import pytest

from chitta.cli import import_run, import_taking
from chitta.importing import imported
from chitta.notes.ids import make_id

Run = Callable[..., Any]


@pytest.fixture
def notes(folder: Path) -> Path:
    """A folder with two notes, neither of which names an id."""
    place = folder / "docs"
    (place / "deep").mkdir(parents=True)
    (place / "deploy.md").write_text("# Deploying\n\nWe deploy with make ship.\n")
    (place / "deep" / "lint.md").write_text("Lint before you push.\n")
    return place


def stored(own_home: Path) -> list[Path]:
    return sorted((own_home / ".chitta" / "notes").rglob("*.md"))


@pytest.fixture
def repository(notes: Path, folder: Path) -> Path:
    """The folder as a repository, with its notes in docs."""
    (folder / ".git" / "objects").mkdir(parents=True)
    (folder / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
    return folder


def test_a_file_of_a_repository_has_one_id_by_whatever_path(chitta: Run, repository: Path) -> None:
    def ids(path: str) -> list[str]:
        return [line["id"] for line in chitta("import", path, "--dry-run", "--json").value["notes"]]

    assert set(ids("docs/deploy.md")) < set(ids("docs")) == set(ids(".")) == set(ids(".."))
    assert chitta("import", "docs").code == 0
    assert chitta("import", ".", "--json").value["unchanged"] == 2


def test_a_note_whose_id_an_older_rule_made_is_the_same_note(chitta: Run, notes: Path, own_home: Path) -> None:
    chitta("import", "docs/deploy.md", "--realm", "project:x.org/c")  # outside of a repository: as it always was
    (file,) = stored(own_home)
    assert make_id("deploy", "project:x.org/c", salt="deploy.md") in file.read_text()
    (notes.parent / ".git" / "objects").mkdir(parents=True)
    (notes.parent / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
    imported._repository.cache_clear()
    again = chitta("import", ".", "--realm", "project:x.org/c", "--json").value
    assert (again["unchanged"], again["updated"]) == (1, 0)
    (notes / "deploy.md").write_text("# Deploying\n\nWe deploy with make land.\n")
    changed = chitta("import", "docs/deploy.md", "--realm", "project:x.org/c", "--json").value
    assert (changed["updated"], changed["added"]) == (1, 0)


def test_the_two_forms_of_an_export_settle(chitta: Run, notes: Path, folder: Path, own_home: Path) -> None:
    (notes / "bare.md").write_text("---\nid: bare\ncreated: 2024-01-01\n---\n\nWords of no source.\n")
    chitta("import", "docs/bare.md")
    (file,) = stored(own_home)
    file.write_text(
        "".join(line for line in file.read_text().splitlines(True) if not line.startswith(("source:", "imported:")))
    )
    chitta("export", "out", "--all")
    chitta("export", "out.jsonl", "--all")
    for form in ("out", "out.jsonl", "out", "out.jsonl"):
        value = chitta("import", form, "--json").value
        assert (value["updated"], value["added"], value["unchanged"]) == (0, 0, 1)
    file.unlink()
    chitta("reindex")
    outcomes = [chitta("import", form, "--json").value for form in ("out.jsonl", "out", "out.jsonl", "out")]
    assert [(each["added"], each["updated"]) for each in outcomes] == [(1, 0), (0, 0), (0, 0), (0, 0)]


def test_what_is_kept_of_an_updated_note_is_named(chitta: Run, notes: Path, own_home: Path) -> None:
    chitta("import", "docs/deploy.md")
    (notes / "deploy.md").write_text("# Deploying\n\nWe deploy with make land.\n")
    foretold, said = chitta("import", "docs/deploy.md", "--dry-run").out, chitta("import", "docs/deploy.md").out
    kept = said.partition("(its earlier text is kept as ")[2].partition(")")[0]
    assert f"(its earlier text is kept as {kept})" in foretold
    assert any(f"id: {kept}\n" in file.read_text() for file in stored(own_home))
    (notes / "deploy.md").write_text("# Deploying\n\nWe deploy with make it.\n")
    assert "earlier text" not in chitta("import", "docs/deploy.md", "--no-supersede").out


def test_other_files_are_counted_and_notes_from_elsewhere_are_said(
    chitta: Run, repository: Path, notes: Path, tmp_path: Path
) -> None:
    for name in ("a.txt", "b.txt", "deep/c.png"):
        (notes / name).write_text("x")
    said = chitta("import", "docs").out
    assert "3 other files were passed over: .txt 2, .png 1" in said and "outside" not in said
    (tmp_path / "elsewhere.md").write_text("Words.\n")
    said = chitta("import", str(tmp_path / "elsewhere.md")).out.splitlines()
    assert "1 note came from outside this repository" in said[-1] and "--global" in said[-1]
    assert "outside" not in chitta("import", str(tmp_path / "elsewhere.md"), "--global").out


def test_what_a_killed_import_left_goes_with_the_next_one(chitta: Run, notes: Path, own_home: Path) -> None:
    assert chitta("import", "docs").code == 0
    folder = stored(own_home)[0].parent
    old, young = folder / ".abcd1234.tmp", folder / ".efgh5678.tmp"
    for file in (old, young):
        file.write_text("half")
    os.utime(old, (0, 0))
    (notes / "deploy.md").write_text("# Deploying\n\nWe deploy with make land.\n")
    assert chitta("import", "docs").code == 0
    assert not old.exists() and young.exists()  # somebody may still be writing the young one


def test_a_second_import_waits_for_the_first(
    chitta: Run, notes: Path, own_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    chitta("import", "docs/deploy.md")
    monkeypatch.setattr(import_run, "LOCK_WAIT_S", 0.05)
    with filelock.FileLock(own_home / ".chitta" / "state" / "import.lock"):
        ran = chitta("import", "docs")
        assert ran.code == 1 and "waiting for it" in ran.err and "still at work" in ran.err
        assert chitta("import", "docs", "--dry-run").code == 0
    assert chitta("import", "docs", "--json").value["added"] == 1


def test_an_unchanged_source_is_not_cleaned_again(chitta: Run, notes: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    chitta("import", "docs")

    def refuse(note: object) -> None:
        raise AssertionError("looked through again")

    monkeypatch.setattr(import_taking, "clean", refuse)
    assert chitta("import", "docs", "--json").value["unchanged"] == 2


def test_names_of_files_are_told_on_one_line_without_control_characters(chitta: Run, notes: Path) -> None:
    (notes / "a\n\x1b[2Jb\tc.md").write_text("Words.\n")
    ran = chitta("import", "docs")
    assert "docs/a [2Jb c.md" in ran.out and "\x1b[2J" not in ran.out


@pytest.mark.parametrize("change", ["merge", "remember"])
def test_a_note_that_was_merged_or_written_anew_counts_as_edited(
    chitta: Run, notes: Path, own_home: Path, change: str
) -> None:
    (line,) = chitta("import", "docs/deploy.md", "--json").value["notes"]
    chitta("remember", "Dana reviews every deploy on the next day.", "--id", "dana")
    if change == "merge":
        assert chitta("merge", line["id"], "dana").code == 0
    else:
        assert chitta("remember", "Dana reviews every deploy.", "--id", line["id"]).code == 0
    before = chitta("show", line["id"], "--json").value
    assert "Dana reviews" in before["text"]
    assert chitta("import", "docs/deploy.md", "--json").value["unchanged"] == 1
    (notes / "deploy.md").write_text("# Deploying\n\nWe deploy with make land.\n")
    assert chitta("import", "docs/deploy.md", "--json").value["kept"] == 1
    assert chitta("show", line["id"], "--json").value == before
    assert chitta("import", "docs/deploy.md", "--overwrite", "--json").value["updated"] == 1
    assert "make land" in chitta("show", line["id"], "--json").value["text"]
    assert any("Dana reviews" in path.read_text() for path in stored(own_home) if line["id"] + "." in path.name)
