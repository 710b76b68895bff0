"""The table of sources: who reads a path, and that each source keeps to the contract."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from chitta.importing.sources import NAMES, named, refusal, source, sources_of


def names_of(path: Path) -> list[str]:
    return [each.name for each in sources_of(path)]


@pytest.mark.parametrize("name", NAMES)
def test_each_source_says_what_it_reads_and_where_it_lies(name: str, own_home: Path) -> None:
    found = source(name)
    assert found.name == name and found.title and found.reads and "\n" not in found.reads
    assert all(path.is_absolute() for path in found.default_paths())
    assert not found.detect(own_home / "nowhere.bin")


def test_names_are_found_as_people_write_them() -> None:
    assert named("Claude-Mem") == "claude_mem" and named("notion") == ""
    with pytest.raises(KeyError):
        source("notion")


def test_the_most_particular_form_wins(tmp_path: Path) -> None:
    def made(name: str, text: str) -> Path:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return path

    assert names_of(made("n/a.md", "Words.")) == names_of(tmp_path / "n") == ["markdown"]
    assert names_of(made("c/CLAUDE.md", "Words.")) == names_of(tmp_path / "c") == ["instructions"]
    assert names_of(made("p/.cursor/rules/a.mdc", "x")) == names_of(tmp_path / "p") == ["instructions"]
    made("p/README.md", "Words.")
    assert names_of(tmp_path / "p") == ["instructions", "markdown"]
    assert names_of(tmp_path / "p" / ".cursor") == ["instructions"]
    assert names_of(made("r/a.md", "---\nkey_insight: k\n---\n")) == names_of(tmp_path / "r") == ["reflect"]
    record = made("adr/0001-a.md", "# 1. A\n\n## Status\n\nAccepted\n\n## Decision\n\nA.\n")
    assert names_of(record) == names_of(tmp_path / "adr") == ["decisions"]
    made("w/docs/adr/0001-a.md", record.read_text())
    made("w/web/AGENTS.md", "Words.")
    assert names_of(tmp_path / "w") == ["instructions", "decisions"]
    made("w/README.md", "Words.")
    assert names_of(tmp_path / "w") == ["instructions", "decisions", "markdown"]
    read = [item.source for each in sources_of(tmp_path / "w") for item in each.read(tmp_path / "w", realm="global")]
    assert [Path(place).name.partition(":")[0] for place in read] == ["AGENTS.md", "0001-a.md", "README.md"]
    assert names_of(made("m/-x/memory/MEMORY.md", "# M").parent) == ["claude_memory"]
    assert names_of(made("v/.obsidian/app.json", "{}").parent.parent) == ["vault"]
    assert names_of(made("x.bin", "x")) == []


def test_json_lines_of_chitta_s_own_are_not_taken_for_another_program_s(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text(json.dumps({"id": "n", "text": "Words.", "created_at": "2025-01-01"}) + "\n")
    assert names_of(path) == ["jsonl"]
    path.write_text(json.dumps({"id": "n", "memory": "Words.", "user_id": "u"}) + "\n")
    assert names_of(path) == ["mem0"]
    path.write_text("not json\n")
    assert names_of(path) == ["jsonl"]


def test_a_repository_is_not_taken_for_its_history_unless_it_is_named(tmp_path: Path) -> None:
    (tmp_path / ".git" / "objects").mkdir(parents=True)
    (tmp_path / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
    (tmp_path / "README.md").write_text("Words.")
    assert names_of(tmp_path) == ["markdown"]


def test_archives_are_refused_where_text_is_read(tmp_path: Path) -> None:
    path = tmp_path / "a.zip"
    path.write_bytes(b"PK\x03\x04...")
    assert "is an archive (zip)" in refusal(path)
    assert "is an archive (zip)" in refusal(path, source("markdown"))
    assert refusal(path, source("mem0")) == refusal(tmp_path) == ""
