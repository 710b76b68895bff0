from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from chitta.cli import sync_command
from chitta.notes.note import Note
from chitta.notes.store import NoteStore
from chitta.portable.syncing import Report, Settled

Run = Callable[..., Any]
pytestmark = pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")


@pytest.fixture
def remote(folder: Path) -> str:
    subprocess.run(["git", "init", "--quiet", "--bare", folder / "remote.git"], check=True)
    return f"file://{folder}/remote.git"


@pytest.fixture
def on(chitta: Run, folder: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """A command on a machine: ``on("one", "sync")``."""

    def run(name: str, *words: str) -> Any:
        monkeypatch.setenv("CHITTA_HOME", str(folder / name))
        return chitta(*words)

    return run


def test_another_remote_is_not_taken_unasked(on: Run, remote: str, folder: Path) -> None:
    on("one", "sync", "init", remote)
    new = f"file://{folder}/new.git"
    subprocess.run(["git", "init", "--quiet", "--bare", folder / "new.git"], check=True)
    ran = on("one", "sync", "init", new)
    assert ran.code == 2 and f"{new} replaces {remote}" in ran.err
    assert remote in on("one", "sync", "status").out
    assert on("one", "sync", "init", new, "--yes").code == 0 and new in on("one", "sync", "status").out


def test_a_secret_in_a_name_is_not_sent_unasked(on: Run, remote: str, folder: Path) -> None:
    NoteStore(folder / "one" / "notes").write(Note("the-key-akiajsjc3ibofbcixgy4", text="It was taken out."))
    ran = on("one", "sync", "init", remote)
    assert ran.code == 2 and "in its name" in ran.err and "jsjc3" not in ran.err


def test_of_many_notes_ten_are_named(on: Run, remote: str, folder: Path) -> None:
    for number in range(12):
        NoteStore(folder / "one" / "notes").write(Note(f"n{number:02}", text=f"Text {number}."))
    on("one", "sync", "init", remote)
    assert "sent: 12 notes" in on("one", "sync").out
    on("other", "sync", "init", remote)
    out = on("other", "sync").out
    assert "  n09\n  and 2 more\n" in out and "n10" not in out


def test_a_quarantine_of_ones_own_note_is_said(on: Run, remote: str, folder: Path) -> None:
    on("one", "remember", "The pool holds ten.", "--id", "pool")
    for name in ("one", "other"):
        on(name, "sync", "init", remote, "--name", name)
        on(name, "sync")
    store = NoteStore(folder / "other" / "notes")
    path = store.find("pool")
    assert path is not None
    store.write(store.read(path)._replace(quarantine=True), path=path)
    on("other", "sync")
    out = on("one", "sync").out
    assert "your own, put into quarantine on another machine" in out and "\n  pool\n" in out


def test_two_machines_share_their_notes_and_find_them(on: Run, remote: str) -> None:
    on("one", "remember", "The walrus pool holds ten.", "--id", "pool")
    ran = on("one", "sync", "init", remote)
    assert ran.code == 0 and "Nothing has been sent" in ran.out
    assert "sent: 1 note\n" in on("one", "sync").out
    on("other", "sync", "init", remote)
    ran = on("other", "sync")
    assert ran.code == 0 and "came in or changed: 1 note\n  pool\n" in ran.out and "Findable now" in ran.out
    assert on("other", "recall", "walrus", "--strategy", "keyword").code == 0


def test_what_both_wrote_is_found_on_both(on: Run, remote: str, folder: Path) -> None:
    on("one", "remember", "The pool holds ten.", "--id", "pool")
    for name in ("one", "other", "one"):
        on(name, "sync", "init", remote)
        on(name, "sync")
    for name, word in (("one", "walrus"), ("other", "narwhal")):
        store = NoteStore(folder / name / "notes")
        note = store.read(folder / name / "notes/global/pool.md")
        store.write(note._replace(text=f"The pool holds a {word}."))
        assert on(name, "sync", "--json").code == 0
    on("one", "sync")
    for name in ("one", "other"):
        for word in ("walrus", "narwhal"):
            assert on(name, "recall", word, "--strategy", "keyword").code == 0, (name, word)


def test_without_a_repository_or_remote_it_says_what_to_do(on: Run, folder: Path) -> None:
    ran = on("one", "sync")
    assert ran.code == 2 and "chitta sync init" in ran.err
    on("one", "sync", "init")
    assert "no remote yet" in on("one", "sync").out
    assert "chitta sync init REMOTE" in on("one", "sync", "status").out
    for word in ("--upload-pack=x", "ext::sh -c x"):
        assert on("one", "sync", "init", "--", word).code == 2


def test_a_remote_that_is_away(on: Run, folder: Path) -> None:
    on("one", "remember", "Text.")
    assert on("one", "sync", "init", "file:///nowhere/at/all.git").code == 111
    ran = on("one", "sync")
    assert ran.code == 111 and "cannot be reached" in ran.err and "nothing was lost" in ran.err


def test_where_git_is_not_installed(on: Run, monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
    monkeypatch.setenv("PATH", str(folder))
    ran = on("one", "sync", "init")
    assert ran.code == 1 and "git is not installed" in ran.err


def test_secrets_are_not_sent_unasked(on: Run, remote: str, folder: Path) -> None:
    NoteStore(folder / "one" / "notes").write(
        Note("key", text=f"The token is ghp_{'a1B2c3D4e5' * 3}Zz9Yy8, for deploys.")
    )
    ran = on("one", "sync", "init", remote)
    assert ran.code == 2 and "global/key.md" in ran.err and "--yes" in ran.err
    assert on("one", "sync").code == 2
    assert on("one", "sync", "--yes").code == 0
    assert "nothing to send" in on("one", "sync").out


def test_how_it_stands(on: Run, remote: str) -> None:
    on("one", "remember", "Text.")
    on("one", "sync", "init", remote)
    on("one", "sync")
    on("one", "remember", "Another text.")
    value = on("one", "sync", "status", "--json").value
    assert value["remote"] == remote and len(value["changed"]) == 1
    assert (value["ahead"], value["behind"], value["unfinished"]) == (0, 0, False)


def test_git_s_driver_merges_and_adds_the_second_note(chitta: Run, folder: Path) -> None:
    text = "---\nid: pool\nkind: insight\nrealm: global\ntitle: Pool\n---\n\nIt holds {}.\n"
    for name, count in (("base", "ten"), ("ours", "twelve"), ("theirs", "forty")):
        (folder / name).write_text(text.format(count))
    (folder / "global").mkdir()
    ran = chitta("merge-notes", "base", "ours", "theirs", "global/pool.md")
    assert ran.code == 0
    assert "twelve" in (folder / "ours").read_text()
    assert "forty" in (folder / "global/pool-from-other.md").read_text()
    assert "merge-notes" not in chitta().out


def test_a_pull_by_hand_uses_the_driver(on: Run, remote: str, folder: Path) -> None:
    on("one", "sync", "init", remote)
    config = (folder / "one/notes/.git/config").read_text()
    assert "merge-notes %O %A %B %P" in config and "recursive = binary" in config


def test_a_merge_that_needs_no_remark_says_that_both_edits_are_in(capsys: pytest.CaptureFixture[str]) -> None:
    report = Report(settled=(Settled("global/pool.md", "", ()), Settled("global/x\x1b[2J.md", "", ("a remark",))))
    sync_command._print(report, "somewhere")
    told = capsys.readouterr().out
    assert "merged: pool: both edits are in it\n" in told and "merged: x[2J: a remark\n" in told
