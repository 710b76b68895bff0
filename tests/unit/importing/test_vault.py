"""Vaults of Obsidian and basic-memory: what a note says of others, and what is no note."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from chitta.importing.imported import Imported
from chitta.importing.vault import detect, read
from chitta.notes.links import entities_of, triplets_of
from chitta.notes.note import Note

REALM = "project:github.com/acme/shop"
BASIC = """---
title: Coffee Brewing Methods
type: note
tags: [coffee, brewing]
permalink: coffee/coffee-brewing-methods
---

# Coffee Brewing Methods

## Observations
- [decision] Pour over for guests #brewing (they like it clear)
- [decision] Water at 96 degrees #brewing/heat
- [ ] buy filters
- [site](https://example.org)

## Relations
- relates_to [[Coffee Bean Origins]]
- requires [[Grinding|grinding]] (first)
- requires [[Grinding]]

Also see [[Tea]] and ![[notes/Kettle#Care|kettle]] and ![[pour.png]] and [[#Relations]].
"""


@pytest.fixture
def vault(tmp_path: Path) -> Path:
    (tmp_path / "vault" / ".obsidian").mkdir(parents=True)
    return tmp_path / "vault"


def put(vault: Path, **files: str) -> None:
    for name, text in files.items():
        path = vault / f"{name.replace('__', '/')}.md"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def imported(vault: Path) -> list[Imported]:
    return list(read(vault, realm=REALM))


def notes(vault: Path) -> list[Note]:
    return [item.note for item in imported(vault) if item.note is not None]


def problems(vault: Path) -> dict[str, str]:
    return {os.path.relpath(item.source, vault): item.problem for item in imported(vault) if item.note is None}


def test_a_note_of_basic_memory_says_what_it_is_related_to(vault: Path) -> None:
    put(vault, coffee=BASIC)
    (note,) = notes(vault)
    extra = dict(note.extra)
    assert (note.title, note.kind, note.realm, note.source) == (
        "Coffee Brewing Methods",
        "decision",
        REALM,
        "coffee.md",
    )
    assert note.tags == ("coffee", "brewing", "brewing/heat")
    assert extra["relations"] == [
        {"type": "relates_to", "target": "Coffee Bean Origins"},
        {"type": "requires", "target": "Grinding"},
    ]
    assert extra["links"] == ["Tea", "notes/Kettle"]
    assert extra["permalink"] == "coffee/coffee-brewing-methods"
    assert "- [decision] Pour over for guests #brewing (they like it clear)" in note.text


def test_recall_finds_the_relations_by_the_names_of_the_notes(vault: Path) -> None:
    put(vault, coffee=BASIC, Tea="---\naliases: [Cha]\n---\nLeaves.")
    tea, coffee = sorted(notes(vault), key=lambda note: note.title, reverse=True)
    assert ("Coffee Brewing Methods", "requires", "Grinding") in triplets_of(coffee)
    assert {"note:tea", "note:kettle"} <= set(entities_of(coffee))
    assert {"note:tea", "note:cha"} <= set(entities_of(tea))


def test_tags_of_all_the_ways_to_write_them(vault: Path) -> None:
    text = "Text #three, `#code` (#four) #12 page#no\n```\n#fenced\n```\n%% #hidden %% #1a"
    put(vault, a=f"---\ntags: '#one two'\n---\n{text}", b="---\ntag: five, six\n---\n# Heading\nText")
    assert [note.tags for note in notes(vault)] == [("one", "two", "three", "four", "1a"), ("five", "six")]


def test_links_in_code_are_no_links(vault: Path) -> None:
    put(vault, a="`[[x]]` and\n```\n- causes [[y]]\n```\nwords")
    assert dict(notes(vault)[0].extra) == {}


def test_what_is_no_note_is_passed_over_with_a_reason(vault: Path) -> None:
    put(vault, note="Words.", Templates__daily="# {{date}}\nwords", x___templates__y="words", tpl__z="words",
        daily__2024_05_01="# 2024-05-01\n\n- [ ] \n---\n", **{".trash__old": "gone"})  # fmt: skip
    (vault / ".obsidian" / "templates.json").write_text('{"folder": "tpl"}')
    (vault / ".obsidian" / "plugin.md").write_text("words")
    (vault / "board.canvas").write_text("{}")
    (vault / "draw.excalidraw.md").write_text("words")
    (vault / "a.png").write_bytes(b"x")
    (vault / "b.pdf").write_bytes(b"x")
    assert [note.source for note in notes(vault)] == ["note.md"]
    assert problems(vault) == {
        ".trash": "is the trash; passed over",
        "Templates": "holds templates; passed over",
        "tpl": "holds templates; passed over",
        "x/_templates": "holds templates; passed over",
        "daily/2024_05_01.md": "has no words of its own; passed over",
        "board.canvas": "is a drawing; passed over",
        "draw.excalidraw.md": "is a drawing; passed over",
        ".": "2 files that are no notes were passed over",
    }


def test_a_daily_note_with_words_is_of_its_day(vault: Path) -> None:
    (vault / "2024-05-01.md").write_text("# 2024-05-01\nWe chose Redis.")
    assert notes(vault)[0].created == "2024-05-01"


def test_ids_come_from_the_path_and_stay(vault: Path) -> None:
    put(vault, a__n="one", b__n="one", c="---\nid: given\n---\nwords")
    before = imported(vault)
    assert imported(vault) == before
    assert len({note.id for note in notes(vault)}) == 3
    assert "given" in {note.id for note in notes(vault)}
    put(vault, a__n="two")
    moved = vault.rename(vault.parent / "moved")
    after = imported(moved)
    assert [item.note.id for item in after if item.note] == [item.note.id for item in before if item.note]
    changed = [one.digest != two.digest for one, two in zip(before, after, strict=True)]
    assert changed.count(True) == 1


@pytest.mark.parametrize("kind, ours", [("Decision", "decision"), ("bugfix", "bug-fix"), ("Person", "insight")])
def test_a_type_that_is_a_kind_is_the_kind(vault: Path, kind: str, ours: str) -> None:
    put(vault, a=f"---\ntype: {kind}\n---\nwords", b=f"---\nkind: reference\ntype: {kind}\n---\nwords")
    assert [note.kind for note in notes(vault)] == [ours, "reference"]


def test_broken_front_matter_is_text_with_a_remark(vault: Path) -> None:
    put(vault, a="---\ntags: [a\n---\nwords")
    (item,) = imported(vault)
    assert item.note is not None and item.remark.startswith("front matter could not be read")


def test_links_that_lead_out_of_the_vault_are_not_followed(vault: Path, tmp_path: Path) -> None:
    (tmp_path / "secret.md").write_text("secret words")
    (vault / "link.md").symlink_to(tmp_path / "secret.md")
    (vault / "loop").symlink_to(vault)
    assert notes(vault) == []
    assert list(problems(vault)) == ["link.md"]


def test_links_and_tags_are_bounded(vault: Path) -> None:
    many = " ".join(f"[[n{number}]] #t{number}" for number in range(500))
    put(vault, a=many + "\n" + "\n".join(f"- r{number} [[x]]" for number in range(500)))
    (note,) = notes(vault)
    extra = dict(note.extra)
    assert (len(note.tags), len(extra["links"]), len(extra["relations"])) == (40, 50, 50)  # type: ignore[arg-type]


def test_a_vault_is_known_by_its_settings_or_by_a_permalink(vault: Path, tmp_path: Path) -> None:
    assert detect(vault)
    for name, text, ours in (("basic", BASIC, True), ("plain", "# A\nwords [[b]]", False)):
        (tmp_path / name).mkdir()
        (tmp_path / name / "a.md").write_text(text)
        assert detect(tmp_path / name) is ours
    assert not detect(tmp_path / "gone")
    assert [item.problem for item in read(tmp_path / "gone", realm=REALM)] == ["is not there"]


@settings(max_examples=80, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.text(alphabet="[]|#^!-() ab\n`%:~/.\0\ud800") | st.binary().map(lambda data: data.decode("latin-1")))
def test_no_text_raises(vault: Path, text: str) -> None:
    (vault / "a.md").write_bytes(text.encode("utf-8", "surrogatepass"))
    first = imported(vault)
    assert imported(vault) == first
    assert len(first) == 1
