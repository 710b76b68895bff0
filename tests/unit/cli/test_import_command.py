from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Run = Callable[..., Any]


@pytest.fixture
def notes(folder: Path) -> Path:
    """A folder with two notes, one of which names id and realm."""
    place = folder / "docs"
    (place / "deep").mkdir(parents=True)
    (place / "deploy.md").write_text("# Deploying\n\nWe deploy with make ship.\n")
    (place / "deep" / "lint.md").write_text(
        "---\nid: lint-rules\nkind: convention\nrealm: project:example.org/a/b\n---\n\nLint before you push.\n"
    )
    return place


def stored(own_home: Path) -> list[Path]:
    return sorted((own_home / ".chitta" / "notes").rglob("*.md"))


def test_a_folder_is_imported_a_line_a_file(chitta: Run, notes: Path, own_home: Path) -> None:
    ran = chitta("import", "docs")
    assert ran.code == 0
    lines = ran.out.splitlines()
    assert [line.split()[:2] for line in lines[:2]] == [["added", "docs/deploy.md"], ["added", "docs/deep/lint.md"]]
    assert "2 added" in ran.out and "Findable now" in ran.out
    assert len(stored(own_home)) == 2


def test_importing_again_rewrites_nothing(chitta: Run, notes: Path, own_home: Path) -> None:
    chitta("import", "docs")
    before = {path: path.stat().st_mtime_ns for path in stored(own_home)}
    ran = chitta("import", "docs", "--json")
    assert ran.value["unchanged"] == 2 and ran.value["added"] == ran.value["updated"] == 0
    assert {path: path.stat().st_mtime_ns for path in stored(own_home)} == before


def test_a_changed_note_keeps_its_id_file_and_date(chitta: Run, notes: Path, own_home: Path) -> None:
    chitta("import", "docs")
    (files,) = [path for path in stored(own_home) if "make ship" in path.read_text()]
    created = [line for line in files.read_text().splitlines() if line.startswith("created: ")]
    (notes / "deploy.md").write_text("# Deploying\n\nWe deploy with make land.\n")
    ran = chitta("import", "docs", "--json")
    assert [line["outcome"] for line in ran.value["notes"]] == ["updated", "unchanged"]
    assert "make land" in files.read_text() and created[0] in files.read_text()
    assert chitta("recall", "land", "--strategy", "keyword").code == 0
    assert chitta("recall", "ship", "--strategy", "keyword").code == 1


def test_realms_the_note_s_own_wins_unless_one_is_given(chitta: Run, notes: Path) -> None:
    def realms(*options: str) -> list[str]:
        return [line["realm"] for line in chitta("import", "docs", "--dry-run", "--json", *options).value["notes"]]

    assert realms() == ["global", "project:example.org/a/b"]
    assert realms("--realm", "project:x.org/c") == ["project:x.org/c", "project:x.org/c"]
    assert realms("--global") == ["global", "global"]


def test_the_current_folder_s_realm_is_the_default(chitta: Run, notes: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CHITTA_REALM", "project:named.org/by/variable")
    value = chitta("import", "docs/deploy.md", "--json").value
    assert value["notes"][0]["realm"] == "project:named.org/by/variable"


def test_a_dry_run_writes_nothing_at_all(chitta: Run, notes: Path, own_home: Path) -> None:
    ran = chitta("import", "docs", "--dry-run")
    assert ran.code == 0 and "nothing was written" in ran.out
    assert not (own_home / ".chitta").exists()


def test_jsonl_is_summed_up_and_its_problems_are_named(chitta: Run, folder: Path) -> None:
    lines = [json.dumps({"id": f"n{n}", "text": f"note number {n}"}) for n in range(20)]
    lines += ["not json"] * 8
    (folder / "many.jsonl").write_text("\n".join(lines) + "\n")
    ran = chitta("import", "many.jsonl")
    assert ran.code == 0
    assert "many.jsonl: 20 added, 8 skipped" in ran.out
    assert ran.out.count("is not JSON") == 5 and "and 3 more" in ran.out and "many.jsonl:21" in ran.out
    verbose = chitta("import", "many.jsonl", "--verbose")
    assert verbose.out.count("is not JSON") == 8 and verbose.out.count("unchanged") >= 20


def test_one_id_in_two_files_is_not_silently_overwritten(chitta: Run, folder: Path) -> None:
    for name in ("a.md", "b.md"):
        (folder / name).write_text(f"---\nid: same\n---\n\nText of {name}.\n")
    ran = chitta("import", "a.md", "b.md")
    assert ran.code == 0 and "skipped" in ran.out and "same id as" in ran.out
    assert "Text of a.md." in chitta("show", "same").out


def test_one_id_in_two_realms_is_two_notes(chitta: Run, folder: Path, own_home: Path) -> None:
    for name in ("one", "two"):
        (folder / f"{name}.md").write_text(f"---\nid: overview\nrealm: project:{name}\n---\n\nText of {name}.\n")
    assert chitta("import", "one.md", "two.md", "--json").value["added"] == 2
    assert len(stored(own_home)) == 2


def test_when_nothing_can_be_read_it_fails_and_says_why(chitta: Run, folder: Path) -> None:
    (folder / "bad.jsonl").write_text("{}\n")
    ran = chitta("import", "bad.jsonl")
    assert ran.code == 1 and "has no text" in ran.out and ran.err.endswith("hint: the lines above say why\n")


def test_a_path_that_is_not_there_is_misuse_before_anything_is_done(chitta: Run, notes: Path, own_home: Path) -> None:
    ran = chitta("import", "docs", "nowhere.md")
    assert ran.code == 2 and "nowhere.md is not there" in ran.err
    assert stored(own_home) == []


def test_a_store_that_cannot_be_written_is_said_so(chitta: Run, notes: Path, own_home: Path) -> None:
    (own_home / ".chitta").write_text("a file")
    ran = chitta("import", "docs")
    assert ran.code == 1 and ran.err.startswith("chitta: ") and str(own_home / ".chitta") in ran.err


def test_names_with_escape_sequences_are_harmless(chitta: Run, folder: Path) -> None:
    (folder / "\x1b[31mred.md").write_text("text")
    assert "\x1b" not in chitta("import", str(folder)).out


def test_long_imports_say_how_far_they_are(chitta: Run, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("chitta.cli.progress.LINE_EVERY_SECONDS", 0.0)
    (folder / "some.jsonl").write_text("".join(json.dumps({"text": f"text {n}"}) + "\n" for n in range(3)))
    ran = chitta("import", "some.jsonl")
    assert "reading: 3" in ran.err and "indexing words: 3 of 3" in ran.err


def edited_by_hand(own_home: Path) -> Path:
    """The imported note on deploying, with a line of the person's own."""
    (path,) = [path for path in stored(own_home) if "make ship" in path.read_text()]
    path.write_text(path.read_text() + "\nMind the freeze.\n")
    return path


def outcomes(ran: Any) -> list[str]:
    return [line["outcome"] for line in ran.value["notes"]]


def test_a_hand_edit_survives_an_import_of_the_same_source(chitta: Run, notes: Path, own_home: Path) -> None:
    chitta("import", "docs")
    path = edited_by_hand(own_home)
    before = path.read_text()
    assert outcomes(chitta("import", "docs", "--json")) == ["unchanged", "unchanged"]
    assert path.read_text() == before


def test_edited_here_and_changed_there_is_kept_and_said(chitta: Run, notes: Path, own_home: Path) -> None:
    chitta("import", "docs")
    path = edited_by_hand(own_home)
    before = path.read_text()
    (notes / "deploy.md").write_text("# Deploying\n\nWe deploy with make land.\n")
    ran = chitta("import", "docs")
    assert ran.code == 0 and "edited here and changed there (--overwrite" in ran.out and "1 kept" in ran.out
    assert path.read_text() == before
    assert outcomes(chitta("import", "docs", "--overwrite", "--json")) == ["updated", "unchanged"]
    assert "make land" in path.read_text() and "freeze" not in path.read_text()
    assert outcomes(chitta("import", "docs", "--json")) == ["unchanged", "unchanged"]


def test_overwrite_takes_the_file_s_also_where_only_the_note_was_edited(
    chitta: Run, notes: Path, own_home: Path
) -> None:
    chitta("import", "docs")
    path = edited_by_hand(own_home)
    assert outcomes(chitta("import", "docs", "--overwrite", "--json")) == ["updated", "unchanged"]
    assert "freeze" not in path.read_text()


def test_a_note_without_the_key_is_updated_as_before(chitta: Run, notes: Path, own_home: Path) -> None:
    chitta("import", "docs")
    path = edited_by_hand(own_home)
    path.write_text("".join(line for line in path.read_text().splitlines(True) if not line.startswith("imported:")))
    assert outcomes(chitta("import", "docs", "--json")) == ["updated", "unchanged"]
    assert "freeze" not in path.read_text()


def test_paths_are_shown_as_they_were_given(chitta: Run, notes: Path) -> None:
    assert f"{notes / 'deploy.md'}  " in chitta("import", str(notes)).out
