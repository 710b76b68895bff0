from __future__ import annotations

import contextlib
import re
import stat
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from chitta import settings as table
from chitta.cli import bookshelf
from chitta.cli.notes_commands import first_line
from chitta.index import IndexDamaged
from chitta.notes.frontmatter import parse_note
from chitta.notes.note import Note
from chitta.notes.store import NoteStore
from chitta.settings import Settings

Run = Callable[..., Any]
GITHUB = "ghp_16C7e42F292c6912E7710c838347Ae178B4a"


def note_at(path: str) -> Note:
    return parse_note(Path(path).read_text(), fallback_id="-", fallback_realm="-")


def test_remember_writes_a_note_and_says_where(chitta: Run) -> None:
    ran = chitta("remember", "The staging database is reset every Sunday night.", "--tags", "staging, postgres,")
    assert ran.code == 0 and "added" in ran.out and "findable now" in ran.out
    (line,) = [line for line in ran.out.splitlines() if line.startswith("file")]
    note = note_at(line.split(maxsplit=1)[1])
    assert note.id in ran.out and note.realm == "global" and note.tags == ("staging", "postgres")
    assert note.title == "The staging database is reset every Sunday night." and note.created
    assert chitta("recall", "staging", "--strategy", "keyword").code == 0


def test_remember_takes_everything_it_is_told(chitta: Run) -> None:
    options = "--title T --kind decision --realm project:x.org/a --id my-id --source https://x.org/1 --json".split()
    facts = chitta("remember", "some", "loose", "words", *options).value
    note = note_at(facts["path"])
    assert (note.id, note.title, note.kind, note.realm, note.source) == (
        "my-id", "T", "decision", "project:x.org/a", "https://x.org/1"
    )  # fmt: skip
    assert note.text == "some loose words" and facts["outcome"] == "added"
    assert stat.S_IMODE(Path(facts["path"]).stat().st_mode) == 0o600


def test_remember_reads_standard_input(chitta: Run) -> None:
    facts = chitta("remember", "-", "--json", input="# Heading\r\n\r\nbody \U0001f600\n".encode()).value
    note = note_at(facts["path"])
    assert (note.title, note.text) == ("Heading", "# Heading\n\nbody \U0001f600")


def test_remembering_the_same_again_changes_nothing_and_another_text_is_another_note(chitta: Run) -> None:
    first = chitta("remember", "a fact", "--json").value
    again = chitta("remember", "a fact", "--json").value
    other = chitta("remember", "a fact", "and more", "--title", "a fact", "--json").value
    assert again["outcome"] == "unchanged" and again["id"] == first["id"] != other["id"]


def test_an_id_that_is_there_is_updated_in_place(chitta: Run) -> None:
    first = chitta("remember", "old words", "--id", "x", "--json").value
    second = chitta("remember", "new words", "--id", "x", "--json").value
    assert second["outcome"] == "updated" and second["path"] == first["path"]
    assert note_at(first["path"]).text == "new words"


@pytest.mark.parametrize(
    "words",
    [
        ["   "],
        ["text", "--kind", "gossip"],
        ["text", "--id", "x" * 201],
        ["text", "--realm", "../up"],
        ["text", "--realm", "project:a", "--global"],
        [],
    ],
)
def test_remember_refuses_what_means_nothing(chitta: Run, own_home: Path, words: list[str]) -> None:
    ran = chitta("remember", *words)
    assert ran.code == 2 and ran.out == "" and ran.err.startswith("chitta: ") and "\nhint: " in ran.err
    assert not (own_home / ".chitta" / "notes").exists()


def test_correct_keeps_a_correction_that_fires(chitta: Run) -> None:
    from chitta.notes.correction import match_triggers

    facts = chitta(
        "correct", "--wrong", "npm install", "--right", "pnpm install", "--why", "one lock file", "--json"
    ).value
    note = note_at(facts["path"])
    assert note.kind == "correction" and match_triggers("then run npm install", note.triggers)
    again = chitta("correct", "--wrong", "npm install", "--right", "yarn", "--json").value
    assert again["id"] == facts["id"] and again["outcome"] == "updated"


def test_correct_needs_both_sides(chitta: Run) -> None:
    assert chitta("correct", "--wrong", "x").code == 2
    assert chitta("correct", "--wrong", "x", "--right", " ").code == 2


def editor(folder: Path, body: str) -> str:
    """An editor that does ``body`` with the file in $1; its path holds a space."""
    path = folder / "my editor"
    path.write_text(f"#!/bin/sh\n{body}\n")
    path.chmod(0o755)
    return f'"{path}"'


def test_edit_indexes_what_the_editor_changed(chitta: Run, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    chitta("remember", "old words", "--id", "x")
    monkeypatch.setenv("EDITOR", "false")
    monkeypatch.setenv("VISUAL", editor(folder, 'echo brandnew >>"$1"'))
    ran = chitta("edit", "x")
    assert ran.code == 0 and "updated x" in ran.out
    assert chitta("recall", "brandnew", "--strategy", "keyword").code == 0


def test_edit_that_changes_nothing_says_so(chitta: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    chitta("remember", "words", "--id", "x")
    monkeypatch.setenv("EDITOR", "true")
    assert chitta("edit", "x").out == "unchanged\n"


@pytest.mark.parametrize("command", [None, "false", "/no/such/editor", "'unbalanced"])
def test_edit_without_an_editor_that_works_names_the_file(
    chitta: Run, monkeypatch: pytest.MonkeyPatch, command: str | None
) -> None:
    chitta("remember", "words", "--id", "x")
    for name in ("VISUAL", "EDITOR"):
        monkeypatch.delenv(name, raising=False)
    if command:
        monkeypatch.setenv("EDITOR", command)
    ran = chitta("edit", "x")
    assert ran.code == 1 and ran.err.startswith("chitta: ") and "\nhint: " in ran.err


def test_forget_removes_the_file_and_what_the_index_knows(chitta: Run) -> None:
    path = Path(chitta("remember", "ephemeral words", "--id", "x", "--json").value["path"])
    ran = chitta("forget", "x", "--yes")
    assert (ran.code, ran.out) == (0, "forgot x\n")
    assert not path.exists()
    assert chitta("recall", "ephemeral", "--strategy", "keyword").code == 1
    assert chitta("list").code == 1


def test_forget_asks_where_there_is_nobody_to_ask_it_refuses(chitta: Run) -> None:
    chitta("remember", "words", "--id", "x")
    ran = chitta("forget", "x")
    assert ran.code == 2 and "--yes" in ran.err
    assert chitta("show", "x").code == 0


def test_forget_takes_no_for_an_answer(chitta: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    chitta("remember", "words", "--id", "x")
    monkeypatch.setattr("chitta.cli.output.on_terminal", lambda stream=None: stream is not None)
    assert chitta("forget", "x", input="n\n").code == 1
    assert chitta("show", "x").code == 0
    assert chitta("forget", "x", input="y\n").code == 0


def test_forget_does_what_it_can_and_names_what_is_not_there(chitta: Run) -> None:
    chitta("remember", "words", "--id", "xylophone")
    ran = chitta("forget", "xylophone", "xylofon", "--yes")
    assert ran.code == 1 and ran.out == "forgot xylophone\n" and "'xylofon'" in ran.err


def test_titles_from_first_lines() -> None:
    assert first_line("\n## A heading\n\ntext") == "A heading"
    assert first_line("- an item") == "an item"
    long = first_line("word " * 40)
    assert len(long) <= 81 and long.endswith("word…")


def test_a_note_in_another_script_gets_an_id(chitta: Run) -> None:
    facts = chitta("remember", "数据库每周日重置。", "--json").value
    assert facts["id"].startswith("note-")
    assert chitta("recall", "数据库", "--strategy", "keyword").code == 0


def edit_by_hand(path: str, old: str, new: str) -> str:
    file = Path(path)
    assert old in file.read_text()
    file.write_text(file.read_text().replace(old, new))
    return file.read_text()


def test_remembering_again_leaves_what_was_edited_by_hand(chitta: Run) -> None:
    path = chitta("remember", "a fact", "--json").value["path"]
    edited = edit_by_hand(path, "\na fact\n", "\na fact, and what I learned since\n")
    ran = chitta("remember", "a fact", "--tags", "new")
    assert ran.out.startswith("unchanged: already there: a-fact") and "chitta edit" in ran.err
    assert Path(path).read_text() == edited


def version_of(chitta: Run, name: str, err: str) -> Any:
    found = re.search(rf"is kept as ({name}\.[0-9a-f]{{8}})", err)
    assert found is not None
    return chitta("show", found[1], "--json").value


def test_what_an_id_said_before_is_kept_as_a_version(chitta: Run) -> None:
    chitta("remember", "old words", "--id", "x", "--tags", "early")
    ran = chitta("remember", "new words", "--id", "x")
    assert ran.out.startswith("updated x")
    older = version_of(chitta, "x", ran.err)
    assert (older["text"], older["tags"], older["superseded_by"]) == ("old words", ["early"], "x")
    assert chitta("show", "x", "--json").value["text"] == "new words"
    assert chitta("remember", "new words", "--id", "x").out.startswith("unchanged")


def test_what_an_id_said_before_is_kept_where_it_replaces_another(chitta: Run) -> None:
    chitta("remember", "old words", "--id", "x")
    chitta("remember", "something else", "--id", "y")
    ran = chitta("remember", "new words", "--id", "x", "--supersedes", "y")
    assert ran.out.startswith("updated x")
    older = version_of(chitta, "x", ran.err)
    assert (older["text"], older["superseded_by"]) == ("old words", "x")
    assert chitta("show", "x", "--json").value["supersedes"] == [older["id"], "y"]
    assert chitta("show", "y", "--json").value["superseded_by"] == "x"


@pytest.mark.parametrize("text", ["the gasket is red", "the gasket is green"])
def test_notes_that_replace_each_other_in_turn_are_not_both_gone(chitta: Run, text: str) -> None:
    chitta("remember", "the gasket is red", "--id", "a")
    chitta("remember", "the gasket is blue", "--id", "b", "--supersedes", "a")
    chitta("remember", text, "--id", "a", "--supersedes", "b")
    rows = chitta("recall", "gasket", "--strategy", "keyword", "--json").value["rows"]
    assert [(row["id"], row["text"]) for row in rows] == [("a", text)]


def test_a_new_text_in_the_place_of_a_replaced_one_is_current(chitta: Run) -> None:
    chitta("remember", "the gasket is red", "--id", "a")
    chitta("remember", "the gasket is blue", "--id", "b", "--supersedes", "a")
    older = version_of(chitta, "a", chitta("remember", "the gasket is round", "--id", "a").err)
    assert older["superseded_by"] == "b" and chitta("show", "b", "--json").value["supersedes"] == [older["id"]]
    rows = chitta("recall", "gasket", "--strategy", "keyword", "--json").value["rows"]
    assert {row["id"] for row in rows} == {"a", "b"}


def test_correcting_the_same_again_leaves_it_and_another_right_keeps_what_was_added(chitta: Run) -> None:
    words = ["correct", "--wrong", "npm install", "--right", "pnpm add", "--why", "one lock file"]
    path = chitta(*words, "--json").value["path"]
    edit_by_hand(path, "triggers: [npm install]", "triggers: [npm install, npm i]\ntags: [js]")
    edited = edit_by_hand(path, "Why: one lock file", "Why: one lock file\n\nSee the wiki.")
    assert chitta(*words).out.startswith("unchanged: already there") and Path(path).read_text() == edited
    assert chitta(*words[:5]).out.startswith("unchanged") and Path(path).read_text() == edited
    ran = chitta("correct", "--wrong", "npm install", "--right", "yarn add", "--why", "policy")
    note = note_at(path)
    assert ran.out.startswith("updated") and "kept the triggers npm i and the text" in ran.err
    assert note.right == "yarn add" and note.triggers == ("npm install", "npm i") and note.tags == ("js",)
    assert "Why: policy" in note.text and "See the wiki." in note.text and "lock file" not in note.text


@pytest.mark.parametrize(
    ("wrong", "warning"),
    [("the", "hardly ever"), ("var", "reads as code"), ("npm", "every prompt"), ("npm install", ""), ("db:seed", "")],
)
def test_a_trigger_that_fires_never_or_always_is_warned_about(chitta: Run, wrong: str, warning: str) -> None:
    err = chitta("correct", "--wrong", wrong, "--right", "something else").err
    assert warning in err if warning else err == ""


def test_a_pipe_without_a_dash_is_told_of_the_dash(chitta: Run) -> None:
    ran = chitta("remember", input="words\n")
    assert ran.code == 2 and "chitta remember -" in ran.err


def test_forget_by_the_beginning_of_an_id_says_which(chitta: Run) -> None:
    for name in ("stripe-one", "stripe-two", "celery-three"):
        chitta("remember", f"words of {name}", "--id", name)
    ran = chitta("forget", "stripe", "--yes")
    assert (ran.code, ran.out) == (1, "") and "stripe-one, stripe-two" in ran.err
    assert chitta("forget", "cel", "celery", "--yes").out == "forgot celery-three\n"


def meanwhile(monkeypatch: pytest.MonkeyPatch, change: Callable[[NoteStore], object]) -> None:
    """Another command writes just before this one has its turn."""
    turn = bookshelf.changing

    @contextlib.contextmanager
    def changed(settings: Settings) -> Iterator[None]:
        change(NoteStore(settings.notes_dir))
        with turn(settings):
            yield

    monkeypatch.setattr(bookshelf, "changing", changed)


def texts() -> str:
    return "\n".join(path.read_text() for path in Path(table.load().notes_dir).rglob("*.md"))


def test_fault_57_what_another_command_wrote_meanwhile_is_kept(chitta: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    chitta("remember", "base text", "--id", "shared", "--global")
    meanwhile(monkeypatch, lambda store: store.write(Note("shared", title="other text", text="other text")))
    assert chitta("remember", "newest text", "--id", "shared", "--global").code == 0
    assert "newest text" in texts() and "other text" in texts()


def test_fault_57_a_correction_keeps_what_was_added_meanwhile(chitta: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    first = chitta("correct", "--wrong", "npm install", "--right", "pnpm add", "--global", "--json").value

    def add(store: NoteStore) -> None:
        path = Path(first["path"])
        note = store.read(path)
        store.write(note._replace(text=f"{note.text}\nadded by hand"), path=path)

    meanwhile(monkeypatch, add)
    assert chitta("correct", "--wrong", "npm install", "--right", "pnpm install", "--global").code == 0
    assert "added by hand" in texts() and "pnpm install" in texts()


def test_fault_57_a_note_that_went_meanwhile_is_not_written_back(chitta: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    chitta("remember", "base text", "--id", "old", "--global")
    meanwhile(monkeypatch, lambda store: store.remove("old"))
    ran = chitta("remember", "a newer one", "--supersedes", "old", "--global")
    assert ran.code == 1 and "removed or renamed meanwhile" in ran.err and texts() == ""


def test_fault_57_commands_at_once_lose_no_text(chitta: Run) -> None:
    chitta("remember", "text number zero", "--id", "shared", "--global")
    words = [sys.executable, "-m", "chitta.cli", "remember", "--id", "shared", "--global"]
    at_once = [
        subprocess.Popen([*words, f"text number {n}"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        for n in ("one", "two", "three")
    ]
    assert [process.wait() for process in at_once] == [0, 0, 0]
    assert all(f"text number {n}" in texts() for n in ("zero", "one", "two", "three"))


def test_fault_38_a_correction_has_neither_secrets_nor_private_spans(chitta: Run) -> None:
    ran = chitta(
        *("correct", "--wrong", "npm install from <private>aurora</private> registry", "--right", "pnpm add"),
        *("--why", "client is <private>acme</private>", "--global"),
    )
    assert ran.code == 0 and "marked as private" in ran.err
    ran = chitta("correct", "--wrong", f"curl -H token:{GITHUB}", "--right", f"gh auth, not {GITHUB}", "--global")
    assert ran.code == 0 and "github-pat" in ran.err
    everything = "".join(
        f"{path} {path.read_bytes().decode('latin-1')}" for path in Path(table.load().home).rglob("*") if path.is_file()
    ).lower()
    assert not [word for word in ("aurora", "acme", GITHUB.lower()) if word in everything]
    (path,) = Path(table.load().notes_dir).rglob("curl*.md")
    assert note_at(str(path)).triggers == ("curl -H token:",)


def test_a_correction_that_is_all_private_is_none(chitta: Run) -> None:
    ran = chitta("correct", "--wrong", "<private>all of it</private>", "--right", "x", "--global")
    assert ran.code == 2 and "--wrong is private" in ran.err


def test_fault_38_no_id_and_no_realm_of_a_secret(chitta: Run) -> None:
    for words in (["--id", GITHUB], ["--id", "<private>x</private>"], ["--realm", f"proj-{GITHUB}"]):
        ran = chitta("remember", "plain words", *words)
        assert ran.code == 2 and GITHUB not in ran.err
    assert chitta("correct", "--wrong", "foo bar", "--right", "baz", "--realm", f"proj-{GITHUB}").code == 2
    assert not Path(table.load().notes_dir).exists()


def test_forget_says_what_the_index_still_holds(chitta: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    chitta("remember", "a harmless note", "--id", "gone", "--global")

    def broken(*_: object, **__: object) -> None:
        raise IndexDamaged("the index is damaged")

    monkeypatch.setattr("chitta.cli.upkeep.level", broken)
    ran = chitta("forget", "gone", "--yes")
    assert ran.code == 1 and "forgot" not in ran.out
    assert "index still holds gone" in ran.err and "the index is damaged" in ran.err and "hint:" in ran.err


def test_forget_goes_on_after_a_file_that_stays(chitta: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("one", "two"):
        chitta("remember", f"text of {name}", "--id", name, "--global")
    unlink = Path.unlink

    def refuse(path: Path, missing_ok: bool = False) -> None:
        if path.name == "one.md":
            raise PermissionError(1, "Operation not permitted", str(path))
        unlink(path, missing_ok=missing_ok)

    monkeypatch.setattr(Path, "unlink", refuse)
    ran = chitta("forget", "one", "two", "--yes")
    assert ran.code == 1 and ran.out == "forgot two\n" and "one.md" in ran.err
    assert chitta("show", "two").code == 1
