"""What a folder says of the work in it."""

import json
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chitta.session_hooks import project as room
from chitta.session_hooks.project import Project, branch, branch_words, commit_words, logged_subjects, name_of, project

REALM = "project:example.com/acme/shop"


def test_project_branch_and_commits_are_the_query(tmp_path: Path, repository: Callable[..., Any]) -> None:
    repo = repository()
    repo.commit("fix(payments): stripe signature of the payments webhook")
    repo.commit("feat: payments ledger")
    repo.commit("docs: payments ledger entries")
    found = project(str(repo.folder), REALM, str(tmp_path / "state"))
    assert found.name == "shop"
    assert found.tags == ("payments", "ledger", "entries")
    assert found.words == ("shop", "webhook", "retry", "payments", "ledger", "entries")
    assert found.query == "shop webhook retry payments ledger entries"


def test_only_the_last_commits_count(tmp_path: Path, repository: Callable[..., Any]) -> None:
    repo = repository(branch="main")
    repo.commit("ancient ancient ancient")
    for number in range(room.COMMITS):
        repo.commit(f"recent word{number}")
    found = project(str(repo.folder), REALM, str(tmp_path / "state"))
    assert found.tags[0] == "recent" and "ancient" not in found.tags and "main" not in found.words


def test_the_commit_log_adds_words(tmp_path: Path, repository: Callable[..., Any]) -> None:
    repo = repository(branch="main")
    repo.commit("ledger")
    state = tmp_path / "state"
    state.mkdir()
    lines: list[dict[str, object]] = [
        {"subject": "kafka ledger rebalance offsets consumer"},
        {"message": "kafka\n\nbody word", "realm": REALM},
    ]
    lines += [{"subject": "foreign words", "realm": "project:other/x"}, {"subject": 7}]
    text = "\n".join(json.dumps(line) for line in lines) + "\n{cut\n[]\n"
    (state / "commits.jsonl").write_text(text, encoding="utf-8")
    assert project(str(repo.folder), REALM, str(state)).tags == ("ledger", "kafka", "rebalance")


def test_the_commit_log_is_read_from_its_end(tmp_path: Path) -> None:
    lines = [json.dumps({"subject": f"number{at} {'x' * 900}"}) for at in range(300)]
    (tmp_path / "commits.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
    found = logged_subjects(str(tmp_path), REALM)
    assert [text.split()[0] for text in found] == [f"number{at}" for at in range(299, 294, -1)]


@pytest.mark.parametrize(
    ("origin", "realm", "cwd", "name"),
    [
        ("https://example.com/acme/shop.git\n", "global", "/a/b", "shop"),
        ("git@example.com:shop.git", "global", "/a/b", "shop"),
        ("/srv/git/shop.git/", "global", "/a/b", "shop"),
        ("", REALM, "/a/b", "shop"),
        ("", "global", "/a/b/", "b"),
        ("", "global", "/", ""),
    ],
)
def test_the_projects_name(origin: str, realm: str, cwd: str, name: str) -> None:
    assert name_of(origin, realm, cwd) == name


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("main", []),
        ("master", []),
        ("feat/foo-bar", ["foo", "bar"]),
        ("Users/JO_retry--Queue", ["users", "jo", "retry", "queue"]),
        ("", []),
        ("a/" * 50, ["a"] * room.BRANCH_WORDS),
    ],
)
def test_a_branchs_words(name: str, words: list[str]) -> None:
    assert branch_words(name) == words


def test_what_tells_one_note_from_another() -> None:
    found = Project("Shop", ("shop", "webhook", "src", "fix"))
    assert found.telling(REALM) == "webhook" and found.telling("global") == "shop webhook"
    assert found.query == "shop webhook src fix"


def test_filler_hashes_and_short_words_tell_nothing() -> None:
    assert (
        commit_words(["fix: add an id to it", "Merge pull request #12 from x/y", "revert 0a1b2c3d4e", "chore(ci): wip"])
        == []
    )
    assert commit_words(["alpha beta", "gamma beta", "beta delta"]) == ["beta", "alpha", "gamma"]


def test_a_detached_head_and_a_work_tree(tmp_path: Path, repository: Callable[..., Any]) -> None:
    repo = repository()
    repo.commit("one")
    inner = repo.folder / "deep" / "er"
    inner.mkdir(parents=True)
    assert branch(str(inner)) == "feat/webhook-retry"
    repo.git("worktree", "add", "-q", "-b", "other-work", str(tmp_path / "beside"))
    assert branch(str(tmp_path / "beside")) == "other-work"
    repo.git("checkout", "-q", "--detach")
    assert branch(str(repo.folder)) == ""


def test_without_git_the_branch_and_the_name_still_are(
    tmp_path: Path,
    repository: Callable[..., Any],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    repo = repository()
    repo.commit("kafka offsets")
    monkeypatch.setenv("PATH", str(tmp_path / "nothing"))
    assert project(str(repo.folder), REALM, str(tmp_path)).words == ("shop", "webhook", "retry")


def test_git_that_hangs_or_asks_is_left(
    tmp_path: Path,
    repository: Callable[..., Any],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    repo = repository()
    tools = tmp_path / "tools"
    tools.mkdir()
    (tools / "git").write_text('#!/bin/sh\nenv >"$0.env"\nexec sleep 60\n', encoding="utf-8")
    (tools / "git").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tools}:{os.environ['PATH']}")
    monkeypatch.setenv("GIT_DIR", "/elsewhere")
    monkeypatch.setenv("SECRET_TOKEN", "x")
    monkeypatch.setattr(room, "GIT_S", 0.3)
    assert project(str(repo.folder), REALM, str(tmp_path)).words == ("shop", "webhook", "retry")
    told = (tools / "git.env").read_text(encoding="utf-8")
    assert "GIT_TERMINAL_PROMPT=0" in told and "GIT_OPTIONAL_LOCKS=0" in told
    assert "GIT_DIR" not in told and "SECRET_TOKEN" not in told


def test_a_repository_cannot_have_a_program_run(tmp_path: Path, repository: Callable[..., Any]) -> None:
    repo = repository()
    repo.commit("one")
    program = tmp_path / "program"
    program.write_text(f'#!/bin/sh\ntouch "{tmp_path}/ran"\n', encoding="utf-8")
    program.chmod(0o755)
    for key in ("core.pager", "core.fsmonitor", "gpg.program", "core.sshCommand", "alias.log", "core.askPass"):
        repo.git("config", key, str(program))
    repo.git("config", "log.showSignature", "true")
    (tmp_path / "ran").unlink(missing_ok=True)
    assert project(str(repo.folder), REALM, str(tmp_path)).name == "shop"
    assert not (tmp_path / "ran").exists()


@pytest.mark.parametrize("folder", ["", "/", "relative", "/no/such/folder", "/dev/null", "/a\x00b", "/\udcff"])
def test_any_folder_is_taken(tmp_path: Path, folder: str) -> None:
    found = project(folder, "global", str(tmp_path))
    assert found.query.encode() or folder in ("", "/")


@given(st.lists(st.text(max_size=80), max_size=8), st.text(max_size=300))
def test_words_are_few_and_of_lower_case(subjects: list[str], name: str) -> None:
    words = commit_words(subjects)
    assert len(words) <= room.WORDS and len(set(words)) == len(words)
    assert all(len(word) >= room.SHORTEST_WORD and word not in room.DULL for word in words)
    assert words == commit_words(subjects)
    assert len(branch_words(name)) <= room.BRANCH_WORDS


@given(st.binary(max_size=300))
def test_any_head_file_is_taken(tmp_path_factory: pytest.TempPathFactory, raw: bytes) -> None:
    folder = tmp_path_factory.mktemp("head")
    (folder / ".git").mkdir()
    (folder / ".git" / "HEAD").write_bytes(raw)
    assert isinstance(branch(str(folder)), str)


def _fake_git(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, script: str) -> None:
    place = tmp_path / "bin"
    place.mkdir()
    (place / "git").write_text(f"#!/bin/sh\n{script}\n")
    (place / "git").chmod(0o755)
    monkeypatch.setenv("PATH", f"{place}:/usr/bin:/bin")


def test_what_a_hanging_git_has_started_ends_with_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    child = tmp_path / "child"
    _fake_git(tmp_path, monkeypatch, f"sleep 60 &\necho $! >{child}\nwait")
    monkeypatch.setattr(room, "GIT_S", 0.3)
    project(str(tmp_path), "global", str(tmp_path))
    number = int(child.read_text())
    for _ in range(100):
        try:
            state = Path(f"/proc/{number}/stat").read_text().rpartition(")")[2].split()[0]
            os.kill(number, 0)
        except (OSError, IndexError):
            return
        if state == "Z":
            return
        time.sleep(0.02)
    pytest.fail("the child of git goes on")


def test_a_git_that_does_not_stop_talking_is_not_listened_to(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _fake_git(tmp_path, monkeypatch, "exec yes stripe")
    began = time.monotonic()
    assert project(str(tmp_path), "global", str(tmp_path)).tags == ()
    assert time.monotonic() - began < 1.0


@pytest.mark.parametrize(
    ("name", "words", "asked"),
    [
        ("tidewater", ("tidewater",), ""),
        ("tidewater", ("tidewater", "core", "tidewater"), "core"),
        ("tidewater-core", ("tidewater-core", "tidewater", "core", "flags"), "flags"),
        ("Tidewater", ("tidewater", "tidewater.core", "billing.core"), "core billing.core"),
        ("shop", ("shop", "webhook", "app"), "webhook app"),
    ],
)
def test_a_projects_own_notes_are_asked_without_its_name(name: str, words: tuple[str, ...], asked: str) -> None:
    found = Project(name, words)
    assert found.asked_of(REALM) == asked
    assert found.asked_of("global") == " ".join(words)
    assert found.telling(REALM) == " ".join(word for word in asked.split() if word != "app")
