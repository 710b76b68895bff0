"""Files of several folders outside of repositories that have one name, and notes that say less of their place."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from chitta.cli.import_place import another_id, is_from, placed_anew
from chitta.importing.imported import Imported
from chitta.notes.frontmatter import format_note, parse_note
from chitta.notes.imprint import imprinted, is_edited
from chitta.notes.note import Note

Run = Callable[..., Any]

SHOP = """\
# Rules

- Never use npm, use pnpm.
- Always run the linter before you push.
- Keep functions below forty lines.
- Write a test for every bug.
"""
OTHER = """\
# Other

- Use tabs.
- Never use `eval`, use `JSON.parse`.
- Run make lint before you push.
- Keep functions short.
"""


@pytest.fixture
def repository(folder: Path) -> Path:
    (folder / ".git" / "objects").mkdir(parents=True)
    (folder / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
    (folder / "CLAUDE.md").write_text(SHOP)
    return folder


@pytest.fixture
def two(tmp_path: Path) -> tuple[Path, Path]:
    """Two folders with a file of one name."""
    places = tmp_path / "one", tmp_path / "two"
    for place in places:
        place.mkdir()
        (place / "printer.md").write_text(f"# Printer\n\nIt stands in room {place.name}.\n")
    return places


def outcomes(chitta: Run, *words: object) -> list[str]:
    return [line["outcome"] for line in chitta("import", *map(str, words), "--json").value["notes"]]


def notes(chitta: Run) -> dict[str, dict[str, Any]]:
    return {note["id"]: note for note in chitta("list", "--all-realms", "--json").value}


def said_less(own_home: Path, whole: str, source: str) -> None:
    """Make notes what an older version wrote: with the path below the folder that was given."""
    for file in (own_home / ".chitta" / "notes").rglob("*.md"):
        note = parse_note(file.read_text(), fallback_id="", fallback_realm="")
        if note.source == whole:
            digest = str(dict(note.extra)["imported"]).split(" ")[0]
            file.write_text(format_note(imprinted(note._replace(source=source), digest)))


def test_instructions_of_another_folder_put_nothing_away(chitta: Run, repository: Path, tmp_path: Path) -> None:
    other, twin = tmp_path / "other" / "CLAUDE.md", tmp_path / "twin" / "CLAUDE.md"
    for file, text in ((other, OTHER), (twin, SHOP)):
        file.parent.mkdir()
        file.write_text(text)
    for path in ("CLAUDE.md", other, twin):
        assert set(outcomes(chitta, path)) == {"added"}
    for paths in (["CLAUDE.md"], [other], [twin], [other.parent], [twin.parent, "CLAUDE.md", other], ["."]):
        assert set(outcomes(chitta, *paths)) == {"unchanged"}
    twin.write_text(SHOP.replace("- Keep functions below forty lines.\n", ""))
    assert "retired" in outcomes(chitta, twin.parent)
    assert set(outcomes(chitta, "CLAUDE.md", other)) == {"unchanged"}
    other.unlink()
    assert set(outcomes(chitta, other.parent)) == {"retired"}
    assert set(outcomes(chitta, "CLAUDE.md")) == {"unchanged"}


def test_files_of_one_name_are_a_note_each_and_the_person_is_told(chitta: Run, two: tuple[Path, Path]) -> None:
    one, other = map(str, two)
    foretold = chitta("import", one, other, "--dry-run", "--json").value["notes"]
    done = chitta("import", one, other, "--json").value["notes"]
    assert foretold == done and [line["outcome"] for line in done] == ["added", "added"]
    first, second = (line["id"] for line in done)
    assert second == another_id(first, f"{two[1]}/printer.md") and first in done[1]["remark"]
    assert set(notes(chitta)) == {first, second}
    for paths in ((one, other), (other, one), (other,), (one,), (f"{other}/printer.md",)):
        assert set(outcomes(chitta, *paths)) == {"unchanged"}
    (two[1] / "printer.md").write_text("# Printer\n\nIt was sold.\n")
    assert outcomes(chitta, one, other) == ["unchanged", "updated"]
    assert "room one" in chitta("show", first, "--json").value["text"]
    assert "was sold" in chitta("show", second, "--json").value["text"]


def test_a_folder_that_moved_keeps_its_notes_and_a_copy_has_its_own(chitta: Run, two: tuple[Path, Path]) -> None:
    assert outcomes(chitta, two[0]) == ["added"]
    shutil.copytree(two[0], two[0].with_name("copy"))
    assert outcomes(chitta, two[0].with_name("copy")) == ["added"]
    moved = two[0].rename(two[0].with_name("moved"))
    assert outcomes(chitta, moved) == ["unchanged"]
    assert outcomes(chitta, two[0].with_name("copy"), moved) == ["unchanged", "unchanged"]
    (moved / "printer.md").write_text("# Printer\n\nIt was sold.\n")
    assert outcomes(chitta, moved) == ["updated"]


def test_an_old_note_is_a_files_where_its_digest_says_so(chitta: Run, two: tuple[Path, Path], own_home: Path) -> None:
    chitta("import", str(two[0]))
    said_less(own_home, f"{two[0]}/printer.md", "printer.md")
    before = notes(chitta)
    (line,) = chitta("import", str(two[1]), "--json").value["notes"]
    assert line["outcome"] == "added" and line["id"] not in before
    assert outcomes(chitta, two[0]) == ["unchanged"]
    (two[0] / "printer.md").write_text("# Printer\n\nIt was sold.\n")
    assert outcomes(chitta, *two) == ["updated", "unchanged"]


def test_an_old_note_of_an_earlier_text_is_left_alone(chitta: Run, two: tuple[Path, Path], own_home: Path) -> None:
    (line,) = chitta("import", str(two[0]), "--json").value["notes"]
    said_less(own_home, f"{two[0]}/printer.md", "printer.md")
    before = chitta("show", line["id"], "--json").value
    (two[0] / "printer.md").write_text("# Printer\n\nIt was sold.\n")
    assert outcomes(chitta, two[0]) == ["added"]
    assert outcomes(chitta, two[0]) == ["unchanged"]
    assert chitta("show", line["id"], "--json").value == before


def test_a_file_is_the_same_by_whatever_folder_it_is_given(chitta: Run, repository: Path, tmp_path: Path) -> None:
    for place, text in (("a/deep", OTHER), ("b/deep", SHOP)):
        (tmp_path / place).mkdir(parents=True)
        (tmp_path / place / "CLAUDE.md").write_text(text)
        (tmp_path / place / "pool.md").write_text(f"# Pool\n\nThe pool of {place}.\n")
    assert set(outcomes(chitta, "CLAUDE.md", tmp_path / "b" / "deep", tmp_path / "a")) == {"added"}
    for paths in (["a/deep"], ["b/deep"], ["a", "b"], ["a/deep/CLAUDE.md", "b/deep/CLAUDE.md", "b/deep/pool.md"]):
        assert set(outcomes(chitta, *(tmp_path / path for path in paths))) == {"unchanged"}
    (tmp_path / "b" / "deep" / "pool.md").write_text("# Pool\n\nIt is closed.\n")
    assert outcomes(chitta, tmp_path / "b").count("updated") == 1
    assert set(outcomes(chitta, tmp_path / "b" / "deep")) == {"unchanged"}


def test_records_name_those_of_their_own_folder(chitta: Run, tmp_path: Path) -> None:
    places = [tmp_path / name for name in ("p", "q")]
    for place in places:
        records = place / "docs" / "adr"
        records.mkdir(parents=True)
        (records / "0001-one.md").write_text(
            f"# 1. One\n\n## Status\n\nSuperseded by [2](0002-two.md)\n\n## Decision\n\nOne of {place.name}.\n"
        )
        (records / "0002-two.md").write_text(
            f"# 2. Two\n\n## Status\n\nAccepted\n\nSupersedes [1](0001-one.md)\n\n## Decision\n\nTwo of {place.name}.\n"
        )
    done = chitta("import", *map(str, places), "--json").value["notes"]
    ids = [line["id"] for line in done]
    assert len(set(ids)) == 4
    for older, newer in (ids[:2], ids[2:]):
        assert chitta("show", older, "--json").value["superseded_by"] == newer
        assert chitta("show", newer, "--json").value["supersedes"] == [older]
    assert set(outcomes(chitta, *reversed(places))) == {"unchanged"}


def test_a_vault_has_notes_of_its_own(chitta: Run, tmp_path: Path) -> None:
    for name in ("v", "w"):
        (tmp_path / name / ".obsidian").mkdir(parents=True)
        (tmp_path / name / "Home.md").write_text(f"This is the home of {name}.\n")
    assert outcomes(chitta, tmp_path / "v", tmp_path / "w") == ["added", "added"]
    assert outcomes(chitta, tmp_path / "w", tmp_path / "v") == ["unchanged", "unchanged"]


def test_an_id_that_two_files_name_is_told_with_what_to_do(chitta: Run, two: tuple[Path, Path]) -> None:
    for place in two:
        (place / "printer.md").write_text(f"---\nid: printer\n---\n\nRoom {place.name}.\n")
    first, second = chitta("import", *map(str, two), "--json").value["notes"]
    assert (first["outcome"], second["outcome"]) == ("added", "skipped")
    assert "has the same id as" in second["why"] and "`id:`" in second["why"]


def test_a_note_stays_as_edited_when_its_path_is_added() -> None:
    item = Imported(None, "a.md", "", "0" * 16, place="~/n/a.md", whole="~/n/a.md", placed=True)
    read = Note("a", text="One.", source="a.md")
    standing = imprinted(read, "0" * 16)
    edited = standing._replace(text="Two.")
    for note, is_changed in ((standing, False), (edited, True)):
        placed = placed_anew(note, read, item)
        assert (placed.source, is_edited(placed)) == ("~/n/a.md", is_changed)
        assert placed_anew(placed, read, item) is placed
    by_hand = standing._replace(source="a talk")
    assert placed_anew(by_hand, read, item) is by_hand


def test_what_a_note_says_of_its_file_decides(tmp_path: Path) -> None:
    there = tmp_path / "a.md"
    there.write_text("x")
    item = Imported(None, "a.md", "", "0" * 16, place="~/n/a.md", whole="~/n/a.md", placed=True)
    read = Note("a", text="One.", source="a.md")

    def own(source: str, digest: str, item: Imported = item) -> bool:
        return is_from(imprinted(read._replace(source=source), digest), read, item, str(tmp_path))

    equal, other = "0" * 16, "1" * 16
    assert own("~/n/a.md", other) and own("b.md; ~/n/a.md", other)
    assert own("a.md", equal) and not own("a.md", other)
    assert not own(str(there), equal) and own(f"{tmp_path}/gone.md", equal) and not own(f"{tmp_path}/gone.md", other)
    assert own(str(there), other, item._replace(place="", whole=""))  # the note names its id itself
    firm = item._replace(whole="")  # in a repository
    assert own("a.md", other, firm) and own("~/n/a.md", other, firm) and not own(str(there), other, firm)
