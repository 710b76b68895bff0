"""reflect's learnings: what each field becomes, the sidecar, and what was forgotten."""

from __future__ import annotations

from pathlib import Path

import pytest

from chitta.importing.imported import Imported
from chitta.importing.reflect import default_paths, detect, read
from chitta.notes.links import triplets_of
from chitta.notes.note import Note

REALM = "project:github.com/acme/shop"
OWN_NOTES = Path(__file__).resolve().parents[4] / "shared" / "data" / "peer-golden" / "ainb" / "notes"
LEARNING = """\
---
type: learning
id: lrn-pool-exhaustion-1a2b3c
title: "Redis pool exhaustion under load"
created: "2026-02-03T10:00:00"
updated: 2026-02-10
scope: project
confidence: low
confidence_num: 0.85
learning_type: bug-fix
discovery_tokens: 4200
tags: [redis, pool]
symptoms:
  - "TimeoutError: no connection available"
key_insight: "Size the pool to the workers, not to the hosts."
problem: Requests time out at noon.
fix: Set max_connections to the number of workers.
category: infrastructure
superseded_by: null
forget_after: 90d
project: shop
provenance:
  source_tool: claude-code
  source_path: /tmp/t.jsonl
  proof_count: 3
causal_relations:
  - {source: pool, target: timeout, type: causes}
---
## Problem
Requests time out at noon.

## Solution
Bigger pool.
"""
SIDECAR = """\
document_id: lrn-pool-exhaustion-1a2b3c
relationships:
  - {source: redis pool, target: worker, type: depends_on, strength: 7}
  - {source: old, target: thing, type: uses, superseded_by: x}
  - {source: [a, b], target: [c], type: uses}
"""


def imported(path: Path, realm: str = REALM) -> list[Imported]:
    return list(read(path, realm=realm))


@pytest.fixture
def learnings(tmp_path: Path) -> Path:
    place = tmp_path / ".learnings" / "documents"
    place.mkdir(parents=True)
    (place / "redis.md").write_text(LEARNING)
    return place


def one(path: Path) -> Note:
    (item,) = imported(path)
    assert item.note is not None and item.remark == ""
    return item.note


def test_front_matter_is_mapped(learnings: Path) -> None:
    (learnings / "redis.entities.yaml").write_text(SIDECAR)
    note = one(learnings)
    assert note._replace(text="", extra=()) == Note(
        id="lrn-pool-exhaustion-1a2b3c",
        kind="bug-fix",
        realm=REALM,
        title="Redis pool exhaustion under load",
        created="2026-02-03T10:00:00",
        updated="2026-02-10",
        tags=("infrastructure", "redis", "pool"),
        confidence=0.85,
        proof_count=3,
        valid_until="2026-05-04",
        source="reflect: claude-code /tmp/t.jsonl",
    )
    assert note.text == (
        "Size the pool to the workers, not to the hosts.\n\n"
        "Symptoms: TimeoutError: no connection available\n\n"
        "Fix: Set max_connections to the number of workers.\n\n"
        "## Problem\nRequests time out at noon.\n\n## Solution\nBigger pool."
    )
    assert {(each.source, each.relation, each.target) for each in triplets_of(note)} == {
        ("pool", "causes", "timeout"),
        ("redis pool", "depends_on", "worker"),
    }


def test_a_changed_sidecar_is_a_changed_source(learnings: Path) -> None:
    (before,) = imported(learnings)
    (learnings / "redis.md.entities.yaml").write_text(SIDECAR)
    (after,) = imported(learnings)
    assert before.digest != after.digest
    (learnings / "redis.md.entities.yaml").write_text("a: &a [x\n")
    (broken,) = imported(learnings)
    assert broken.note is not None and "is no YAML: relations left out" in broken.remark


@pytest.mark.parametrize(("written", "trust"), [("0", 0.0), ("0.0", 0.0), ("high", 0.9), ("nonsense", 0.6)])
def test_trust_of_nothing_is_low(learnings: Path, written: str, trust: float) -> None:
    (learnings / "redis.md").write_text(f"---\ntitle: T\nkey_insight: k\nconfidence: {written}\n---\nBody.\n")
    assert one(learnings).confidence == trust


def test_a_correction_fires_when_its_rule_says_this_not_that(learnings: Path) -> None:
    (learnings / "redis.md").write_text(
        "---\ntitle: T\nlearning_type: correction\nrule: Use uv add instead of pip install.\n---\nBody.\n"
    )
    note = one(learnings)
    assert (note.kind, note.wrong, note.right, note.triggers) == (
        "correction",
        "pip install",
        "uv add",
        ("pip install",),
    )


@pytest.mark.parametrize(
    ("line", "realm"),
    [
        ("project: shop", REALM),
        ("project_id: github.com/acme/other", "project:github.com/acme/other"),
        ("project: project:x/y", "project:x/y"),
        ("scope: global", "global"),
    ],
)
def test_a_project_that_is_known_is_the_realm(learnings: Path, line: str, realm: str) -> None:
    (learnings / "redis.md").write_text(f"---\ntitle: T\nkey_insight: k\n{line}\n---\nBody.\n")
    assert one(learnings).realm == realm


def test_a_project_that_is_not_known_is_a_remark(learnings: Path) -> None:
    (learnings / "redis.md").write_text("---\ntitle: T\nproject: elsewhere\n---\nBody.\n")
    (item,) = imported(learnings)
    assert item.note is not None and item.note.realm == REALM
    assert item.remark == f"its project 'elsewhere' is no realm that is known here: taken into {REALM}"


def test_forgotten_and_archived_learnings_are_passed_over(learnings: Path) -> None:
    for name in (".forgotten/a.md", "archived/b.md", "c.md"):
        (learnings / name).parent.mkdir(exist_ok=True)
        (learnings / name).write_text("---\ntitle: T\nstatus: archived\n---\nBody.\n")
    told = {Path(item.source).name: item.problem for item in imported(learnings) if item.note is None}
    assert told == {
        "a.md": "was forgotten in reflect",
        "b.md": "is archived in reflect",
        "c.md": "is archived in reflect",
    }


def test_it_is_told_by_its_folder_its_keys_or_its_sidecar(learnings: Path, tmp_path: Path) -> None:
    assert detect(learnings) and detect(learnings.parent) and detect(learnings / "redis.md")
    plain = tmp_path / "plain"
    plain.mkdir()
    (plain / "a.md").write_text("---\ntitle: T\ntags: [x]\n---\nBody.\n")
    assert not detect(plain) and not detect(plain / "a.md")
    (plain / "a.entities.yaml").write_text(SIDECAR)
    assert detect(plain)


def test_its_usual_place(own_home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("GLOBAL_LEARNINGS_PATH", raising=False)
    assert default_paths() == (own_home / ".learnings" / "documents",)
    monkeypatch.setenv("GLOBAL_LEARNINGS_PATH", str(own_home / "kb"))
    assert default_paths() == (own_home / "kb" / "documents",)


@pytest.mark.skipif(not OWN_NOTES.is_dir(), reason="reflect's own notes do not lie beside this checkout")
def test_reflect_s_own_notes_all_come_in() -> None:
    assert detect(OWN_NOTES)
    found = imported(OWN_NOTES, "global")
    assert len(found) == 20 and all(item.note is not None and item.remark == "" for item in found)
    note = next(item.note for item in found if item.note and item.note.id == "ex-01-tmux-socket-protection")
    assert note.tags[0] == "tooling" and note.confidence == 0.9 and note.created == "2026-03-01"
    assert imported(OWN_NOTES, "global") == found
