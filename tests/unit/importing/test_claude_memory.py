"""Claude Code's memory folders: types, realms of their slugs, and the index."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from chitta.importing.claude_memory import detect, read, realm_of_slug
from chitta.importing.imported import Imported
from chitta.notes.note import Note

REALM = "project:here"
FEEDBACK = """\
---
name: Package manager
description: pnpm in this repository
type: feedback
---
Use pnpm instead of npm.

**Why:** the lockfile is pnpm's.
"""


def slug_of(path: Path) -> str:
    return re.sub(r"[^A-Za-z0-9]", "-", str(path))


@pytest.fixture
def memory(tmp_path: Path) -> Path:
    """The memory of a repository that is there."""
    project = tmp_path / "my.shop"
    (project / ".git" / "objects").mkdir(parents=True)
    (project / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
    (project / ".git" / "config").write_text('[remote "origin"]\n\turl = git@github.com:acme/shop.git\n')
    place = tmp_path / "home" / ".claude" / "projects" / slug_of(project) / "memory"
    place.mkdir(parents=True)
    (place / "MEMORY.md").write_text("# Memory\n\n- [Package manager](feedback_pm.md) — pnpm\n")
    (place / "feedback_pm.md").write_text(FEEDBACK)
    return place


def imported(path: Path) -> list[Imported]:
    return list(read(path, realm=REALM))


def notes(path: Path) -> list[Note]:
    return [item.note for item in imported(path) if item.note is not None]


def test_feedback_that_says_this_not_that_is_a_correction_in_its_project_s_realm(memory: Path) -> None:
    (note,) = notes(memory)
    assert (note.kind, note.realm, note.title) == ("correction", "project:github.com/acme/shop", "Package manager")
    assert (note.wrong, note.right, note.triggers, note.tags) == ("npm", "pnpm", ("npm",), ("feedback",))
    assert note.text.endswith("pnpm in this repository\n\nUse pnpm instead of npm.\n\n**Why:** the lockfile is pnpm's.")
    assert note.source == f"Claude Code memory {memory.parent.name}/feedback_pm.md"
    (index,) = (item for item in imported(memory) if item.note is None)
    assert index.problem == "is only the index of the folder"


@pytest.mark.parametrize(
    ("kind", "expected"),
    [("user", "preference"), ("feedback", "preference"), ("project", "insight"), ("reference", "reference")],
)
def test_the_four_types(memory: Path, kind: str, expected: str) -> None:
    (memory / "feedback_pm.md").write_text(f"---\nname: It\nmetadata:\n  type: {kind}\n---\nGrafana is on port 3000.\n")
    (item,) = (item for item in imported(memory) if item.note)
    assert item.note is not None and item.note.kind == expected and item.remark == ""


def test_an_index_with_text_of_its_own_is_kept_section_by_section(memory: Path) -> None:
    (memory / "MEMORY.md").write_text(
        "# Memory\n\n- [P](feedback_pm.md) — pnpm\n\n## Database\nPostgres 16 in docker.\n"
    )
    (database,) = (note for note in notes(memory) if note.title == "Database")
    assert database.text == "Postgres 16 in docker." and database.source.endswith("/MEMORY.md")


def test_a_folder_of_projects_a_project_and_a_file_are_found(memory: Path) -> None:
    projects = memory.parent.parent
    (projects / "-gone-away" / "memory").mkdir(parents=True)
    (projects / "-gone-away" / "memory" / "a.md").write_text("Words.")
    for place in (projects, memory.parent, memory, memory / "feedback_pm.md"):
        assert detect(place), place
    assert not detect(memory.parent.parent.parent.parent)
    known, unknown = sorted(imported(projects), key=lambda item: item.source)[1:], imported(projects)[0]
    assert len(known) == 2
    assert unknown.note is not None and unknown.note.realm == REALM
    assert unknown.remark == f"no folder on this machine is -gone-away: taken into {REALM}"
    assert {note.id for note in notes(memory / "feedback_pm.md")} <= {note.id for note in notes(projects)}


def test_a_slug_that_two_folders_fit_is_not_guessed(tmp_path: Path) -> None:
    (tmp_path / "a-b").mkdir()
    assert realm_of_slug(slug_of(tmp_path / "a-b"), REALM) == ("global", "")
    (tmp_path / "a.b").mkdir()
    realm, remark = realm_of_slug(slug_of(tmp_path / "a-b"), REALM)
    assert realm == REALM and "more than one folder" in remark


def test_an_unknown_type_and_broken_front_matter_are_remarks(memory: Path) -> None:
    (memory / "feedback_pm.md").write_text("---\ntype: mood\n---\nWords.\n")
    (memory / "z.md").write_text("---\nname: [x\n---\nWords.\n")
    (memory / "empty.md").write_text("---\nname: x\n---\n")
    told = {Path(item.source).name: item.remark or item.problem for item in imported(memory)}
    assert told["feedback_pm.md"] == "type 'mood' is none of Claude Code's"
    assert told["z.md"].startswith("front matter could not be read; taken as text: line")
    assert told["empty.md"] == "is empty"
