"""Instructions for agents: which files, which sections, which kinds, and that ids hold while files change."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chitta.importing.imported import Imported
from chitta.importing.instructions import default_paths, detect, read
from chitta.notes.correction import match_triggers
from chitta.notes.note import Note

REALM = "project:github.com/acme/shop"
CLAUDE = """\
# CLAUDE.md

This file provides guidance to Claude Code (claude.ai/code) when working with code in this repository.

[![build](https://x/y.svg)](https://x)

## Commands

- `npm run build`: build the shop
- `npm test`: run the tests

## Rules

Please follow these:

- Never use npm, use pnpm.
- Always run the linter before you push to main.
- Keep functions below forty lines.
- Use tabs.
- Write a test for every bug that you fix.

### Testing

Run `pytest -q` first.

```sh
# all of them
pytest
```

## Later
"""


def imported(path: Path, realm: str = REALM) -> list[Imported]:
    return list(read(path, realm=realm))


def notes(path: Path) -> dict[str, Note]:
    return {item.note.title: item.note for item in imported(path) if item.note is not None}


def problems(path: Path) -> list[str]:
    return [item.problem for item in imported(path) if item.note is None]


@pytest.fixture
def project(tmp_path: Path) -> Path:
    place = tmp_path / "shop"
    (place / ".git").mkdir(parents=True)
    (place / "CLAUDE.md").write_text(CLAUDE)
    return place


def test_sections_and_rules_become_notes_of_three_kinds(project: Path) -> None:
    found = notes(project)
    assert {title: note.kind for title, note in found.items()} == {
        "Commands": "reference",
        "Rules": "preference",
        "pnpm, not npm": "correction",
        "Always run the linter before you push to main.": "preference",
        "Keep functions below forty lines.": "preference",
        "Write a test for every bug that you fix.": "preference",
        "Rules: Testing": "preference",
    }
    assert found["Rules"].text == "Please follow these:\n\n- Use tabs."
    assert "# all of them" in found["Rules: Testing"].text
    fires = found["pnpm, not npm"]
    assert (fires.wrong, fires.right) == ("npm", "pnpm") and "Never use npm, use pnpm." in fires.text
    assert match_triggers("run npm install", fires.triggers, fires.right) == "npm"
    assert all(note.source == "CLAUDE.md" and note.realm == REALM for note in found.values())
    assert dict(found["Rules: Testing"].extra)["section"] == "CLAUDE.md > Rules > Testing"


def test_what_is_no_memory_is_passed_over_with_its_reason(tmp_path: Path) -> None:
    (tmp_path / "AGENTS.md").write_text(
        "# Agents\n\n## Table of Contents\n- [A](#a)\n## Links\n- [A](#a)\n- [B](#b)\n"
        "## Badges\n[![x](y)](z) ![b](c)\n## Empty\n## Hidden\n<!-- todo -->\n## Real\nThe API speaks gRPC.\n"
    )
    assert list(notes(tmp_path)) == ["Real"]
    assert problems(tmp_path) == [
        "section 'Table of Contents' is a table of contents",
        "section 'Links' is a table of contents",
        "section 'Badges' has only badges and pictures",
        "section 'Empty' is empty",
        "section 'Hidden' has only comments",
    ]
    assert [item.source for item in imported(tmp_path) if item.note] == [f"{tmp_path}/AGENTS.md:13"]


def test_ids_hold_while_a_section_is_edited_moved_or_read_by_file(project: Path) -> None:
    before = notes(project)
    assert {note.id for note in notes(project / "CLAUDE.md").values()} == {note.id for note in before.values()}
    (project / "CLAUDE.md").write_text("Preface here.\n\n" + CLAUDE.replace("`pytest -q` first", "`pytest` always"))
    after = notes(project)
    assert after["Rules: Testing"].id == before["Rules: Testing"].id
    assert after["Rules: Testing"].text != before["Rules: Testing"].text
    assert {note.id for note in before.values()} <= {note.id for note in after.values()}
    moved = project.rename(project.parent / "moved")
    assert {note.id for note in notes(moved).values()} == {note.id for note in after.values()}


def test_only_what_changed_has_another_digest(project: Path) -> None:
    before = {item.note.id: item.digest for item in imported(project) if item.note}
    (project / "CLAUDE.md").write_text(CLAUDE.replace("build the shop", "build it all"))
    after = {item.note.id: item.digest for item in imported(project) if item.note}
    (changed,) = [name for name in before if before[name] != after[name]]
    assert changed.startswith("claude-commands-")


def test_equal_headings_and_items_are_notes_of_their_own(tmp_path: Path) -> None:
    (tmp_path / "CLAUDE.md").write_text("# A\nOne thing.\n# A\nAnother thing.\n")
    found = [item.note for item in imported(tmp_path) if item.note]
    assert len({note.id for note in found}) == 2


def test_every_usual_file_is_found_and_read(tmp_path: Path) -> None:
    rules = "Always check the types."
    for name in (
        *("CLAUDE.md", "CLAUDE.local.md", "AGENTS.md", "GEMINI.md", ".cursorrules", ".windsurfrules"),
        *(".cursor/rules/one.mdc", ".cursor/rules/deep/two.mdc", ".github/copilot-instructions.md"),
        *(".github/instructions/py.instructions.md", "packages/web/AGENTS.md"),
    ):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(rules)
        assert detect(tmp_path / name)
    for name in ("README.md", ".github/PULL_REQUEST_TEMPLATE.md", "node_modules/x/CLAUDE.md", ".git/AGENTS.md"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(rules)
    found = [item.note.source for item in imported(tmp_path) if item.note]
    assert sorted(found) == [
        ".cursor/rules/deep/two.mdc",
        ".cursor/rules/one.mdc",
        ".cursorrules",
        ".github/copilot-instructions.md",
        ".github/instructions/py.instructions.md",
        ".windsurfrules",
        *("AGENTS.md", "CLAUDE.local.md", "CLAUDE.md", "GEMINI.md", "packages/web/AGENTS.md"),
    ]
    assert detect(tmp_path) and detect(tmp_path / ".cursor") and not detect(tmp_path / "README.md")


def test_cursor_and_copilot_front_matter_says_for_which_files(tmp_path: Path) -> None:
    rules = tmp_path / ".cursor" / "rules"
    rules.mkdir(parents=True)
    (rules / "ts.mdc").write_text(
        "---\ndescription: TypeScript in this project\nglobs: **/*.ts,**/*.tsx\nalwaysApply: false\n---\n"
        "Types are written out at every border.\n"
    )
    (note,) = notes(tmp_path).values()
    assert note.title == "TypeScript in this project"
    assert note.text.startswith("For files: `**/*.ts`, `**/*.tsx`\n\nTypeScript in this project\n\nTypes are")
    assert dict(note.extra) == {"section": "", "globs": ["**/*.ts", "**/*.tsx"], "always_apply": False}
    (rules / "ts.mdc").rename(rules / "all.mdc").write_text('---\napplyTo: "**"\n---\nBe short.\n')
    (note,) = notes(tmp_path).values()
    assert note.text == "Be short." and dict(note.extra)["globs"] == ["**"]
    (rules / "all.mdc").write_text("---\nglobs: [a\nno colon\n---\nBe short.\n")
    (item,) = imported(tmp_path)
    assert "front matter could not be read" in item.remark and item.note and "Be short." in item.note.text


def test_imports_are_followed_inside_the_folder_only(tmp_path: Path) -> None:
    home = tmp_path / "repo"
    (home / "docs").mkdir(parents=True)
    (tmp_path / "secret.md").write_text("Nobody's business.")
    (home / "docs" / "style.md").write_text("# Style\nWe write British English. See @../CLAUDE.md and @more.md.\n")
    (home / "docs" / "more.md").write_text("More of it.\n")
    (home / "CLAUDE.md").write_text(
        "# All\nRead @docs/style.md, not `@docs/code.md`, ask @alice or a@b.md; @~/own.md, @../secret.md, @gone.md\n"
    )
    found = imported(home)
    assert [item.note.source for item in found if item.note] == ["CLAUDE.md", "docs/style.md", "docs/more.md"]
    assert found[0].remark == (
        "imports ~/own.md, which is outside of its folder: not followed; "
        "imports ../secret.md, which is outside of its folder: not followed; imports gone.md, which is not there"
    )
    (home / "docs" / "link.md").symlink_to(tmp_path / "secret.md")
    (home / "CLAUDE.md").write_text("@docs/link.md\n")
    (item,) = imported(home)
    assert item.note is None and "only imports other files" in item.problem and "outside of its folder" in item.problem


def test_imports_end_at_five_deep(tmp_path: Path) -> None:
    (tmp_path / "CLAUDE.md").write_text("Begin at @f1.md now.\n")
    for number in range(1, 9):
        (tmp_path / f"f{number}.md").write_text(f"File {number} goes on in @f{number + 1}.md there.\n")
    found = imported(tmp_path)
    assert [item.note.source for item in found if item.note] == ["CLAUDE.md", *(f"f{n}.md" for n in range(1, 6))]
    assert found[-1].remark == "imports f6.md more than 5 deep: not followed"


def test_a_link_to_another_file_is_read_once_and_one_that_leads_out_not_at_all(tmp_path: Path) -> None:
    home = tmp_path / "repo"
    home.mkdir()
    (tmp_path / "other.md").write_text("Elsewhere.")
    (home / "CLAUDE.md").write_text("Words to keep.")
    (home / "AGENTS.md").symlink_to("CLAUDE.md")
    (home / "GEMINI.md").symlink_to(tmp_path / "other.md")
    assert len(notes(home)) == 1
    assert problems(home) == [
        "is a link to CLAUDE.md, which is read by that name",
        "is a link that leads out of the folder; import what it points to instead",
    ]


def test_a_person_s_own_instructions_hold_everywhere(own_home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (own_home / ".claude").mkdir(exist_ok=True)
    (own_home / ".claude" / "CLAUDE.md").write_text("Answer briefly, please.")
    (item,) = imported(own_home / ".claude" / "CLAUDE.md")
    assert item.note is not None and (item.note.realm, item.note.source) == ("global", "~/.claude/CLAUDE.md")
    monkeypatch.chdir(own_home)
    assert default_paths()[0] == own_home / ".claude" / "CLAUDE.md"


def _headings(found: list[Imported]) -> str:
    return "\n".join(str(dict(item.note.extra)["section"]) for item in found if item.note)


@settings(deadline=None)
@given(st.text(max_size=300) | st.lists(st.sampled_from(CLAUDE.split("\n")), max_size=30).map("\n".join))
def test_any_text_is_read_and_every_line_of_it_is_in_a_note_or_named(
    tmp_path_factory: pytest.TempPathFactory, text: str
) -> None:
    folder = tmp_path_factory.mktemp("any")
    (folder / "AGENTS.md").write_text(text, encoding="utf-8", errors="replace")
    found = imported(folder)
    assert found == imported(folder)
    ids = [item.note.id for item in found if item.note]
    texts = "\n".join(item.note.text for item in found if item.note)
    wide = "\0" in text  # may be UTF-16, which has other lines
    if not text.startswith("---") and not wide and all(item.note for item in found):
        for line in (folder / "AGENTS.md").read_text(encoding="utf-8").split("\n"):
            bare = line.strip().removeprefix("- ")
            assert bare in texts or set(bare) <= set("=-") or bare.startswith("#") or bare in _headings(found)
    assert len(ids) == len(set(ids)) and all((item.note is None) == bool(item.problem) for item in found)


def test_a_short_section_of_corrections_gives_them_and_a_bare_heading_is_told(tmp_path: Path) -> None:
    file = tmp_path / "AGENTS.md"
    file.write_text(
        "# Agents\n\nUse pnpm for the frontend, never npm.\nUse `httpx`, not `requests`; we patch it in `src/http.py`\n"
    )
    items = [item for item in read(file, realm=REALM) if item.note is not None]
    assert [(item.note.wrong, item.note.right) for item in items if item.note] == [
        ("npm", "pnpm"),
        ("`requests`", "`httpx`"),
    ]
    assert [item.source.rpartition(":")[2] for item in items] == ["3", "4"]
    file.write_text("# Agents\n\nKeep handlers small. Answer briefly.\n\n# Release steps\n\nTag, then push.\n")
    titles = [item.note.title for item in read(file, realm=REALM) if item.note is not None]
    assert titles == ["Agents: keep handlers small", "Release steps"]
