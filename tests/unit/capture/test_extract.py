from __future__ import annotations

import json
from pathlib import Path

import pytest

from chitta.capture import transcript
from chitta.capture.events import AGENT, PERSON, RESULT, SHELL, TODOS, Event, Todo
from chitta.capture.extract import drafts, learnings
from chitta.notes.note import Note

DATA = Path(__file__).parent / "data"
BLOCK = "<chitta-notes>\n- [corr] never use var in JavaScript (preference, 2026-01-02, a-b)\n</chitta-notes>"


def of(name: str) -> list[Note]:
    events = transcript.read(DATA / f"{name}.jsonl")
    return learnings(events, realm="global", harness=name, session="s", day="2026-11-30")


@pytest.mark.parametrize("client", ["claude", "codex", "copilot"])
def test_the_same_fix_comes_of_every_clients_session(client: str) -> None:
    fix = next(note for note in of(client) if "fix" in note.tags)
    assert fix.title == "Fix for python3 test_cart.py: AssertionError: total"
    assert "\nCommit: " in fix.text
    assert fix.id == of("claude")[0].id


def test_all_of_claudes_session() -> None:
    assert [(note.tags[0], note.title) for note in of("claude")] == [
        ("fix", "Fix for python3 test_cart.py: AssertionError: total"),
        ("commit", "Commit: Add the cart"),
        ("correction", "Use pnpm instead of npm in this repo"),
    ]


def test_with_our_block_in_every_place_the_notes_are_the_same(tmp_path: Path) -> None:
    lines = []
    for line in (DATA / "claude.jsonl").read_text(encoding="utf-8").splitlines():
        entry = json.loads(line)
        content = entry.get("message", {}).get("content")
        if isinstance(content, str):
            entry["message"]["content"] = f"<system-reminder>\n{BLOCK}\n</system-reminder>\n{content}\n{BLOCK}"
        for block in content if isinstance(content, list) else []:
            for key in ("text", "content"):
                if isinstance(block.get(key), str):
                    block[key] = f"{block[key]}\n{BLOCK}"
        lines.append(json.dumps(entry))
    path = tmp_path / "t.jsonl"
    path.write_text("\n".join(lines), encoding="utf-8")
    found = learnings(transcript.read(path), realm="global", harness="claude", session="s", day="2026-11-30")
    assert found == of("claude")


def todos(*done: bool) -> Event:
    return Event(TODOS, todos=tuple(Todo(f"thing {place}", one) for place, one in enumerate(done)))


def test_a_finished_list_is_one_note_once() -> None:
    found = drafts([todos(False, False), todos(True, False), todos(True, True), todos(True, True)])
    assert [draft.title for draft in found] == ["Done: thing 0 (and 1 more)"]


def test_one_thing_alone_is_no_list() -> None:
    assert drafts([todos(True)]) == []


def test_a_correction_counts_after_the_agent_only() -> None:
    said = Event(PERSON, text="don't use moment, use date-fns")
    assert drafts([said]) == []
    assert len(drafts([Event(AGENT, text="I used moment."), said])) == 1


def commit(output: str, command: str = "git commit -am x", ok: bool | None = True) -> Event:
    return Event(RESULT, tool=SHELL, command=command, text=output, ok=ok)


@pytest.mark.parametrize(
    ("event", "title"),
    [
        (commit("[main 5a7bf9c] Add the cart page"), "Commit: Add the cart page"),
        (commit("[main (root-commit) 5a7bf9c] Add the cart page"), "Commit: Add the cart page"),
        (commit("5a7bf9c (HEAD) Add the cart", "git commit -qm x && git log --oneline -1"), "Commit: Add the cart"),
    ],
)
def test_a_commit(event: Event, title: str) -> None:
    assert [draft.title for draft in drafts([event])] == [title]


@pytest.mark.parametrize(
    "event",
    [
        commit("[main 5a7bf9c] wip"),
        commit("[main 5a7bf9c] Add the cart page", ok=False),
        commit("[main 5a7bf9c] Add the cart page", "git log"),
        commit("nothing to commit"),
    ],
)
def test_no_commit(event: Event) -> None:
    assert drafts([event]) == []
