"""Golden sets: what a folder's files say, and which notes they are about."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from chitta.evaluate.dataset import BadDataset
from chitta.evaluate.golden import (
    ANSWERABLE,
    FIRE,
    OFF_DOMAIN,
    QUIET,
    TWO_TURN,
    UNANSWERABLE,
    Case,
    expected_ids,
    notes_for,
    read_golden,
    read_notes,
)


def test_every_part_of_a_folder(golden_folder: Path) -> None:
    golden = read_golden(golden_folder)
    assert golden.name == "golden"
    assert [(case.id, case.part) for case in golden.cases] == [
        *((name, ANSWERABLE) for name in ("a1", "a2", "a3")),
        *((name, UNANSWERABLE) for name in ("u1", "u2")),
        ("t1", TWO_TURN),
        ("o1", OFF_DOMAIN),
        ("c1f", FIRE),
        ("c1q", QUIET),
    ]
    assert golden.of(ANSWERABLE)[1] == Case(
        "a2",
        ANSWERABLE,
        "words",
        ("add an index on the orders table in postgres without blocking writes",),
        frozenset({"postgres-concurrently"}),
        frozenset({"redis-eviction"}),
    )
    (two_turn,) = golden.of(TWO_TURN)
    assert len(two_turn.turns) == 2 and two_turn.gold == {"nginx-upload-limit"}
    (off_domain,) = golden.of(OFF_DOMAIN)
    assert (off_domain.turns, off_domain.kind) == (("how long do I boil an egg?",), "kitchen")


def test_a_correction_is_a_note_and_two_cases_of_it(golden_folder: Path) -> None:
    golden = read_golden(golden_folder)
    (note,) = golden.corrections
    assert (note.id, note.kind, note.realm, note.text) == (
        "use-pnpm",
        "correction",
        "global",
        "Use pnpm in this repository.",
    )
    assert (note.triggers, note.wrong, note.right) == (("npm install",), "npm install", "pnpm add")
    assert [case.gold for case in golden.of(FIRE, QUIET)] == [{"use-pnpm"}] * 2


def test_parts_that_are_not_there_have_no_cases(golden_folder: Path, tmp_path: Path) -> None:
    shutil.copy(golden_folder / "unanswerable.jsonl", tmp_path)
    golden = read_golden(tmp_path)
    assert {case.part for case in golden.cases} == {UNANSWERABLE} and golden.corrections == ()


def test_a_folder_without_a_case_is_no_golden_set(tmp_path: Path) -> None:
    with pytest.raises(BadDataset, match="has none of answerable"):
        read_golden(tmp_path)


def test_a_line_that_is_no_case_is_named(tmp_path: Path) -> None:
    path = tmp_path / "answerable.jsonl"
    path.write_text('{"id": "a", "prompt": "x", "gold": {"n": 1}}\nnot json\n')
    with pytest.raises(BadDataset, match=r"answerable.jsonl:2 is not JSON"):
        read_golden(tmp_path)
    path.write_text('{"id": "a", "prompt": "x", "gold": ["n"]}\n\n{"id": "b", "gold": {"n": 1}}\n')
    with pytest.raises(BadDataset, match=r"answerable.jsonl, object 2 has no prompt"):
        read_golden(tmp_path)


NOTE = '"note": {"id": "n", "text": "Use pnpm.", "trigger": "npm install", "right_way": "pnpm add"}'


@pytest.mark.parametrize(
    ("part", "line", "said"),
    [
        ("answerable", '{"prompt": "x"}', "an answerable prompt has gold notes"),
        ("answerable", '{"prompt": "x", "gold": {"n": 0}}', "an answerable prompt has gold notes"),
        ("answerable", '{"prompt": "x", "gold": "n"}', "`gold` is an object of ids and grades, or a list of ids"),
        ("answerable", '{"prompt": "x", "gold": [1]}', "`gold` is an object of ids and grades, or a list of ids"),
        ("answerable", '{"prompt": "x", "gold": {"n": "2"}}', "`gold` has a grade that is no number"),
        ("answerable", '{"prompt": "x", "gold": ["n"], "maybe": 1}', "`maybe` is an object"),
        ("answerable", '{"prompt": " ", "gold": ["n"]}', "has no prompt"),
        ("unanswerable", '{"prompt": "x", "kind": 3}', "`kind` is a word"),
        ("unanswerable", '{"prompt": 5}', "has no prompt"),
        ("twoturn", '{"gold": ["n"]}', "`turns` is a list of two prompts or more"),
        ("twoturn", '{"turns": ["x"], "gold": ["n"]}', "`turns` is a list of two prompts or more"),
        ("twoturn", '{"turns": ["x", 2], "gold": ["n"]}', "`turns` is a list of two prompts or more"),
        ("off_domain", '{"id": "o"}', "has no prompt"),
        ("corrections", '{"id": "c"}', "`note` is an object"),
        ("corrections", '{"note": {"id": "n", "text": "x"}}', "the note of a correction has `id`"),
        ("corrections", f'{{{NOTE}, "fire": "x"}}', "`fire` is an object"),
        ("corrections", f'{{{NOTE}, "fire": {{"prompt": "x"}}}}', "`quiet` is an object"),
        ("corrections", f'{{{NOTE}, "fire": {{}}}}', "has no prompt"),
    ],
)
def test_a_case_that_cannot_be_scored_is_named(tmp_path: Path, part: str, line: str, said: str) -> None:
    (tmp_path / f"{part}.jsonl").write_text(line + "\n")
    with pytest.raises(BadDataset) as raised:
        read_golden(tmp_path)
    assert str(raised.value).startswith(f"{tmp_path}/{part}.jsonl, object 1") and said in str(raised.value)


def test_notes_that_the_store_must_hold(golden_folder: Path) -> None:
    assert expected_ids(read_golden(golden_folder)) == [
        "nginx-upload-limit",
        "postgres-concurrently",
        "redis-eviction",
        "stripe-idempotency",
        "stripe-raw-body",
    ]


def test_the_off_domain_set_may_lie_beside_the_notes(tmp_path: Path) -> None:
    folder, notes = tmp_path / "golden", tmp_path / "notes.jsonl"
    folder.mkdir()
    (tmp_path / "queries_off_domain.jsonl").write_text('{"id": "o", "query": "eggs?", "origin": "kitchen"}\n')
    assert [case.id for case in read_golden(folder, notes).of(OFF_DOMAIN)] == ["o"]
    with pytest.raises(BadDataset):
        read_golden(folder)


# Which notes


def test_notes_that_are_given_come_first(golden_folder: Path, tmp_path: Path) -> None:
    assert notes_for(golden_folder, tmp_path) == tmp_path
    with pytest.raises(BadDataset, match="none is not there"):
        notes_for(golden_folder, tmp_path / "none")


def test_then_those_in_the_folder_then_those_of_one_folder_beside_it(tmp_path: Path) -> None:
    golden, beside = tmp_path / "golden", tmp_path / "set"
    golden.mkdir()
    beside.mkdir()
    assert notes_for(golden) is None
    (beside / "notes.jsonl").touch()
    assert notes_for(golden) == beside / "notes.jsonl"
    (golden / "notes").mkdir()
    assert notes_for(golden) == golden / "notes"
    (golden / "notes.jsonl").touch()
    assert notes_for(golden) == golden / "notes.jsonl"


def test_of_several_beside_it_none_is_guessed(tmp_path: Path) -> None:
    for name in ("golden", "one", "two"):
        (tmp_path / name).mkdir()
    for name in ("one", "two"):
        (tmp_path / name / "notes.jsonl").touch()
    with pytest.raises(BadDataset, match="several folders beside"):
        notes_for(tmp_path / "golden")


def test_notes_are_read_into_the_realm_for_all(tmp_path: Path) -> None:
    path = tmp_path / "notes.jsonl"
    path.write_text(json.dumps({"id": "a", "text": "words", "realm": "project:x"}) + "\n")
    assert [(note.id, note.realm) for note in read_notes(path)] == [("a", "global")]
    path.write_text('{"id": "a", "text": "words"}\n{"id": "b"}\n')
    with pytest.raises(BadDataset, match=r"notes.jsonl:2 has no text"):
        read_notes(path)
    folder = tmp_path / "folder"
    folder.mkdir()
    (folder / "note.md").write_text("---\nid: kept\nrealm: project:y\n---\n# Heading\n\nwords\n")
    assert [(note.id, note.realm) for note in read_notes(folder)] == [("kept", "global")]
