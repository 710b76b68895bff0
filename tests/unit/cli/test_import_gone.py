"""Rules that are no longer in their files, that come back, and that two files say."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from chitta.cli import import_gone
from chitta.notes.note import Note
from chitta.notes.realms import realm_of

Run = Callable[..., Any]

RULES = [
    "Always run the linter before you push to main.",
    "Keep functions below forty lines of code.",
    "Write a test for every bug that you fix.",
    "Put secrets into the vault and nowhere else.",
    "Ask the owner of a table before you change its columns.",
]


def rules(*lines: str) -> str:
    return "# Rules\n\n" + "".join(f"- {line}\n" for line in lines)


@pytest.fixture
def repository(folder: Path) -> Path:
    (folder / ".git" / "objects").mkdir(parents=True)
    (folder / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
    (folder / "CLAUDE.md").write_text(rules(*RULES))
    return folder


def lines(chitta: Run, *words: str) -> dict[str, dict[str, str]]:
    """Lines of the import by their outcomes; each outcome once."""
    return {line["outcome"]: line for line in chitta("import", *words, "--json").value["notes"]}


def test_an_edited_rule_takes_the_place_of_the_old_one(chitta: Run, repository: Path) -> None:
    assert chitta("import", ".").code == 0
    edited = "Run functions through the formatter, and keep functions below fifty lines of code."
    (repository / "CLAUDE.md").write_text(rules(RULES[0], edited, *RULES[2:]))
    done = lines(chitta, ".")
    assert set(done) == {"unchanged", "added", "replaced"}
    old = chitta("show", done["replaced"]["id"], "--json").value
    assert old["superseded_by"] == done["added"]["id"]
    assert set(lines(chitta, ".")) == {"unchanged"}


def test_a_rule_that_went_is_retired_and_comes_back_with_its_source(chitta: Run, repository: Path) -> None:
    chitta("import", ".")
    (repository / "CLAUDE.md").write_text(rules(*RULES[:4]))
    assert chitta("import", ".", "--dry-run", "--json").value["retired"] == 1
    kept = lines(chitta, ".", "--keep-gone")
    assert set(kept) == {"unchanged", "gone"}
    gone = lines(chitta, ".")["retired"]["id"]
    assert [note["id"] for note in chitta("archive", "--list", "--json").value] == [gone]
    assert set(lines(chitta, ".")) == {"unchanged"}
    (repository / "CLAUDE.md").write_text(rules(*RULES))
    back = lines(chitta, ".")
    assert back["updated"]["id"] == gone and "its source has it again" in back["updated"]["remark"]
    assert chitta("archive", "--list").code == 1
    assert set(lines(chitta, ".")) == {"unchanged"}


def test_what_a_person_brought_back_or_edited_is_only_named(chitta: Run, repository: Path) -> None:
    chitta("import", ".")
    (repository / "CLAUDE.md").write_text(rules(*RULES[:4]))
    gone = lines(chitta, ".")["retired"]["id"]
    assert chitta("archive", "--restore", gone).code == 0
    assert lines(chitta, ".")["gone"]["id"] == gone


def test_a_rule_that_was_merged_is_only_named_when_another_follows_it(chitta: Run, repository: Path) -> None:
    chitta("import", ".")
    found = chitta("list", "--all-realms", "--json").value
    rule = next(note["id"] for note in found if "forty lines" in note["text"])
    chitta("remember", "Dana counts them each month.", "--id", "dana")
    assert chitta("merge", rule, "dana").code == 0
    (repository / "CLAUDE.md").write_text(rules(RULES[0], RULES[1].replace("forty", "fifty"), *RULES[2:]))
    assert lines(chitta, ".")["gone"]["id"] == rule
    assert not chitta("show", rule, "--json").value["superseded_by"]


def test_the_sources_of_a_merged_note_are_no_file_that_is_gone(repository: Path) -> None:
    assert import_gone.is_away("docs/AGENTS.md", repository, realm_of(str(repository)))
    assert not import_gone.is_away("notes.md; docs/AGENTS.md", repository, realm_of(str(repository)))


def test_a_file_of_instructions_that_is_gone_retires_its_notes(chitta: Run, repository: Path) -> None:
    (repository / "docs").mkdir()
    (repository / "docs" / "AGENTS.md").write_text("# Deploying\n\nWe deploy with make ship and never by hand.\n")
    chitta("import", ".")
    (repository / "docs" / "AGENTS.md").unlink()
    (repository / "other").mkdir()
    (repository / "other" / "notes.md").write_text("Something else.\n")
    assert set(lines(chitta, "other")) == {"added"}  # it did not lie there
    assert lines(chitta, ".")["retired"]["where"] == "docs/AGENTS.md"


def test_a_file_that_moved_takes_its_notes_along(chitta: Run, repository: Path) -> None:
    chitta("import", ".")
    (repository / "app").mkdir()
    (repository / "CLAUDE.md").rename(repository / "app" / "CLAUDE.md")
    outcomes = [line["outcome"] for line in chitta("import", ".", "--json").value["notes"]]
    assert outcomes == ["added"] * 5 + ["replaced"] * 5


@pytest.mark.parametrize("way", ["together", "later", "by a link", "by a link alone"])
def test_a_copy_of_a_rule_gives_no_second_note(chitta: Run, repository: Path, way: str) -> None:
    copy = repository / "AGENTS.md"
    if way.startswith("by a link"):
        copy.symlink_to("CLAUDE.md")
    else:
        copy.write_text(rules(*(f"{rule} " for rule in RULES)).replace("# Rules", "# Rules for agents"))
    if way == "by a link alone":
        assert chitta("import", "CLAUDE.md").code == 0
        assert set(lines(chitta, "AGENTS.md")) == {"unchanged"}
        return
    if way == "later":
        chitta("import", "CLAUDE.md")
        ran = chitta("import", "AGENTS.md")
        assert ran.code == 0 and ran.out.count("says the same as CLAUDE.md") == 5
        return
    ran = chitta("import", "CLAUDE.md", "AGENTS.md") if way == "by a link" else chitta("import", ".")
    assert ran.code == 0 and "5 added" in ran.out
    if way == "together":
        assert ran.out.count("says the same as CLAUDE.md:") == 5


def test_what_instructions_import_is_not_read_again_as_markdown(chitta: Run, repository: Path) -> None:
    (repository / "docs").mkdir()
    (repository / "docs" / "extra.md").write_text("# Extra\n\nUse the blue button for deploying.\n")
    (repository / "docs" / "more.md").write_text("# More\n\nSomething that is no instruction.\n")
    (repository / "CLAUDE.md").write_text("# One\n\nRead @docs/extra.md before you begin with anything.\n")
    value = chitta("import", ".", "--json").value
    assert (value["added"], value["skipped"]) == (3, 1)
    (skipped,) = [line for line in value["notes"] if line["outcome"] == "skipped"]
    assert skipped["where"] == "docs/extra.md" and "instructions that import it" in skipped["why"]


def test_pairs_take_each_rule_once_and_nothing_that_is_not_alike() -> None:
    def rule(name: str, text: str, place: str = "A") -> Note:
        return Note(name, text=text, source="CLAUDE.md", extra=(("section", place),))

    gone = [rule("a", "Use tabs for indentation."), rule("b", "Deploy on Mondays only."), rule("c", "Moved as it is.")]
    came = [rule("x", "Use spaces for indentation."), rule("y", "Zebra."), rule("z", "Moved as it is.", "B")]
    assert [(old.id, new.id) for old, new in import_gone.pairs(gone, came)] == [("c", "z"), ("a", "x")]
    assert list(import_gone.pairs([], came)) == []
