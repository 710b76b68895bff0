from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from chitta import settings as table
from chitta.notes.note import Note
from chitta.notes.store import NoteStore

Run = Callable[..., Any]


@pytest.fixture
def three(chitta: Run) -> Run:
    chitta("remember", "first words", "--id", "one")
    chitta("remember", "second words", "--id", "two", "--kind", "decision")
    chitta("remember", "third words", "--id", "three", "--realm", "project:x.org/a")
    return chitta


def ids(ran: Any) -> list[str]:
    return sorted(note["id"] for note in ran.value)


def test_list_shows_this_realm_another_or_all(three: Run) -> None:
    assert ids(three("list", "--json")) == ["one", "two"]
    assert ids(three("list", "--json", "--realm", "project:x.org/a")) == ["three"]
    assert (
        ids(three("list", "--json", "--all-realms"))
        == ids(three("list", "--json", "--global"))
        == ["one", "three", "two"]
    )


def test_list_by_kind_and_page(three: Run) -> None:
    assert ids(three("list", "--json", "--kind", "decision")) == ["two"]
    pages = [ids(three("list", "--json", "--all-realms", "--limit", "2", "--offset", str(at))) for at in (0, 2)]
    assert [len(page) for page in pages] == [2, 1] and sorted(pages[0] + pages[1]) == ["one", "three", "two"]


def test_list_for_people_is_a_table(three: Run) -> None:
    lines = three("list", "--all-realms").out.splitlines()
    assert lines[0].split() == ["id", "kind", "date", "title", "realm"] and len(lines) == 4


def test_a_list_that_stops_says_so(three: Run) -> None:
    ran = three("list", "--all-realms", "--limit", "2")
    assert "2 of 3; `--limit 3` shows all" in ran.err
    assert (
        "shows all" not in three("list", "--all-realms").err + three("list", "--kind", "decision", "--limit", "1").err
    )


def test_lists_and_show_say_how_a_note_stands(chitta: Run) -> None:
    store = NoteStore(table.load().notes_dir)
    plain = Note("plain", text="plain words", created="2025-01-01")
    states = {
        "waiting": plain._replace(id="waiting", authority="captured"),
        "quarantined": plain._replace(id="quarantined", quarantine=True),
        "superseded": plain._replace(id="superseded", superseded_by="plain"),
        "archived": plain._replace(id="archived", extra=(("status", "archived"),)),
        "doubted": plain._replace(id="doubted", authority="doubted"),
    }
    for note in (plain, *states.values()):
        store.write(note)
    assert {note["id"]: note["state"] for note in chitta("list", "--json").value} == {
        "plain": "",
        **{name: name for name in states},
    }
    lines = chitta("list").out.splitlines()
    assert "state" in lines[0].split() and sum(line.split()[3] == "-" for line in lines[1:]) == 1
    for name in states:
        assert chitta("show", name).out.splitlines()[1].startswith("This note ")
        assert chitta("show", name, "--json").value["state"] == name
    assert "This note" not in chitta("show", "plain").out


def test_two_versions_of_a_note_are_both_in_conflict(chitta: Run) -> None:
    store = NoteStore(table.load().notes_dir)
    store.write(Note("pool", title="Pool size", text="The pool holds ten.", created="2025-01-01"))
    other = Note("pool-from-desk", title="Pool size", text="The pool holds forty.", created="2025-01-01")
    store.write(other._replace(extra=(("conflicts_with", ["pool"]),)))
    store.write(Note("plain", text="plain words"))
    stands = {"pool": "conflict", "pool-from-desk": "conflict", "plain": ""}
    assert {note["id"]: note["state"] for note in chitta("list", "--json").value} == stands
    assert {name: chitta("show", name, "--json").value["state"] for name in stands} == stands
    assert "This note and pool-from-desk say otherwise" in chitta("show", "pool").out
    assert "This note and pool say otherwise" in chitta("show", "pool-from-desk").out
    assert chitta("recall", "pool size", "--strategy", "keyword").out.count("in conflict") == 2
    store.write(other._replace(extra=(("conflicts_with", ["pool"]),), superseded_by="pool"))
    chitta("list")
    assert chitta("show", "pool", "--json").value["state"] == ""


def test_an_empty_list_says_where_there_are_notes(three: Run) -> None:
    ran = three("list", "--realm", "project:empty")
    assert ran.code == 1 and "no notes in project:empty" in ran.err and "3 notes" in ran.err


def test_an_empty_store_says_how_to_begin(chitta: Run) -> None:
    ran = chitta("list", "--json")
    assert (ran.code, ran.value) == (1, []) and "chitta remember" in ran.err


def test_a_note_written_by_hand_is_listed_at_once(three: Run, own_home: Path) -> None:
    (own_home / ".chitta" / "notes" / "global" / "by-hand.md").write_text("# By hand\n\ntext\n")
    assert "by-hand" in ids(three("list", "--json"))


def test_show_gives_the_whole_note(three: Run) -> None:
    ran = three("show", "two")
    assert ran.code == 0 and "kind: decision" in ran.out and "second words" in ran.out and ".md" in ran.out
    facts = three("show", "two", "--json").value
    assert facts["kind"] == "decision" and Path(facts["path"]).exists()


def test_show_of_no_note_names_what_is_like_it(three: Run) -> None:
    ran = three("show", "thrice")
    assert (ran.code, ran.out) == (1, "") and "did you mean three" in ran.err


def test_escape_sequences_in_a_note_do_not_reach_the_terminal(chitta: Run, folder: Path) -> None:
    (folder / "evil.md").write_bytes(b'---\nid: evil\ntitle: "a\\e[2Jb"\n---\n\nx\x1b]0;owned\x07y\n')
    chitta("import", "evil.md")
    assert "\x1b" not in chitta("show", "evil").out + chitta("list").out
