"""A repository's history: what is worth a note, what is passed over, and that nothing of the repository is run."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from chitta.importing import git_history, git_log
from chitta.importing.git_history import detect, read
from chitta.importing.imported import Imported
from chitta.notes.note import Note

BODY = "The parser took the first line as a header, so files without one lost a row."


class Repository:
    """A repository whose commits have the days that are given, one after another."""

    def __init__(self, path: Path) -> None:
        self.path = path
        path.mkdir()
        self.git("init", "-q", "-b", "main")
        self.count = 0

    def git(self, *words: str, author: str = "Ada <ada@example.org>") -> str:
        name, _, address = author.rstrip(">").partition(" <")
        day = f"2024-03-{getattr(self, 'count', 0) % 28 + 1:02d}T23:30:00-05:00"
        env = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
        env |= {"GIT_AUTHOR_NAME": name, "GIT_AUTHOR_EMAIL": address, "GIT_AUTHOR_DATE": day}
        env |= {"GIT_COMMITTER_NAME": "C", "GIT_COMMITTER_EMAIL": "c@example.org", "GIT_COMMITTER_DATE": day}
        env |= {"GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_NOSYSTEM": "1"}
        done = subprocess.run(["git", *words], cwd=self.path, env=env, check=True, capture_output=True, text=True)
        return done.stdout.strip()

    def commit(self, message: str, *files: str, author: str = "Ada <ada@example.org>") -> str:
        self.count += 1
        for name in files:
            (self.path / name).parent.mkdir(parents=True, exist_ok=True)
            (self.path / name).write_text(str(self.count))
        self.git("add", "-A")
        self.git("commit", "-q", "--allow-empty", "-m", message, author=author)
        return self.git("rev-parse", "HEAD")

    def take(self, raw: bytes) -> None:
        """Make HEAD a commit of these bytes, whatever they are."""
        command = ["git", "hash-object", "-t", "commit", "-w", "--stdin", "--literally"]
        done = subprocess.run(command, cwd=self.path, input=raw, capture_output=True, check=True)
        self.git("reset", "-q", "--hard", done.stdout.decode().strip())


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    return Repository(tmp_path / "shop")


def imported(repository: Repository) -> list[Imported]:
    return list(read(repository.path, realm="global"))


def notes(repository: Repository) -> list[Note]:
    return [item.note for item in imported(repository) if item.note is not None]


def problems(repository: Repository) -> list[str]:
    return [item.problem for item in imported(repository) if item.note is None]


def test_a_fix_that_explains_is_a_note_with_its_day_source_and_files(repository: Repository) -> None:
    sha = repository.commit(
        f"fix(csv): keep the first row\n\n{BODY}\n\nSigned-off-by: Ada <ada@example.org>", "a.py", "é b.py"
    )
    (note,) = notes(repository)
    assert (note.kind, note.title, note.created) == ("bug-fix", "keep the first row", "2024-03-02")
    assert note.text == f"fix(csv): keep the first row\n\n{BODY}"
    assert note.source == f"git {sha[:7]} Ada"
    assert note.tags == ("fix", "csv")
    assert dict(note.extra) == {"commit": sha, "files": ["a.py", "é b.py"]}
    assert note.realm.startswith("project:shop-")


def test_no_address_of_a_person_is_kept(repository: Repository) -> None:
    repository.commit(f"fix: x\n\n{BODY} Asked by bob@example.com, with lodash@4.17.21.", "a", author="a@b.io <a@b.io>")
    (note,) = notes(repository)
    assert "example" not in str(note) and "b.io" not in str(note)
    assert "lodash@4.17.21" in note.text


@pytest.mark.parametrize(
    "subject", ["Fix crash", "fixes: a crash", "bugfix: crash", "hotfix crash", "Bug: crash", "Fixed it"]
)
def test_ways_to_begin_a_fix(repository: Repository, subject: str) -> None:
    repository.commit(f"{subject}\n\n{BODY}", "a")
    assert [note.kind for note in notes(repository)] == ["bug-fix"]


@pytest.mark.parametrize("subject", ["feat: crash", "fixture for tests", "debug output", "fixup! fix: x", "prefix all"])
def test_other_commits_are_no_notes(repository: Repository, subject: str) -> None:
    repository.commit(f"{subject}\n\n{BODY}", "a")
    assert imported(repository) == []


def test_fixes_without_a_body_are_counted_in_one_line(repository: Repository) -> None:
    for number in range(5):
        repository.commit(f"fix: {number}\n\nFixes #12\n\nCo-authored-by: B <b@example.org>", "a")
    assert notes(repository) == []
    assert problems(repository) == ["5 fix commits say nothing more than their subjects; passed over"]


def test_a_revert_tells_what_was_taken_back_and_why_and_supersedes_it(repository: Repository) -> None:
    first = repository.commit(f"fix: cache the session\n\n{BODY}", "a")
    repository.commit(
        f'Revert "fix: cache the session"\n\nThis reverts commit {first}, since it logged people out of other tabs.'
    )
    revert, fix = notes(repository)
    assert revert.kind == "anti-pattern"
    assert revert.title == "Taken back: fix: cache the session"
    assert f"(git {first[:7]}, 2024-03-02)" in revert.text
    assert "since it logged people out of other tabs." in revert.text
    assert fix.superseded_by == revert.id


def test_a_revert_without_a_reason_counts_for_less(repository: Repository) -> None:
    first = repository.commit("feat: cache", "a")
    repository.commit(f'Revert "feat: cache"\n\nThis reverts commit {first}.')
    (note,) = notes(repository)
    assert note.kind == "insight"
    assert note.confidence < git_history._TRUST


def test_what_was_brought_back_stands_again(repository: Repository) -> None:
    first = repository.commit(f"fix: cache\n\n{BODY}", "a")
    second = repository.commit(
        f'Revert "fix: cache"\n\nThis reverts commit {first}. It made the tests slow on Mondays, every one.'
    )
    repository.commit(
        f'Revert "Revert "fix: cache""\n\nThis reverts commit {second}. The tests were slow for another reason.'
    )
    again, back, fix = notes(repository)
    assert again.title.startswith("Brought back: ") and again.kind == "insight"
    assert back.superseded_by == again.id
    assert fix.superseded_by == ""


def test_a_breaking_change_is_a_decision(repository: Repository) -> None:
    repository.commit("feat(api)!: drop v1\n\nBREAKING CHANGE: clients must send a version.", "a")
    (note,) = notes(repository)
    assert (note.kind, note.title) == ("decision", "drop v1")
    assert "clients must send a version" in note.text


def test_bots_and_merges_are_passed_over(repository: Repository) -> None:
    repository.commit(f"fix(deps): bump x\n\n{BODY}", "a")
    repository.commit(f"fix: y\n\n{BODY}", "b", author="dependabot[bot] <x@example.org>")
    repository.commit(f"fix: z\n\n{BODY}", "c", author="Mend <29139614+renovate[bot]@users.noreply.github.com>")
    repository.git("checkout", "-q", "-b", "side")
    repository.commit("feat: side", "d")
    repository.git("checkout", "-q", "main")
    repository.git("merge", "-q", "--no-ff", "-m", f"fix: merge\n\n{BODY}", "side")
    assert notes(repository) == []
    assert problems(repository) == ["3 commits of bots; passed over"]


def test_ids_and_digests_stay_and_outlast_a_rebase(repository: Repository, tmp_path: Path) -> None:
    repository.commit("feat: start", "z")
    repository.commit(f"fix: one\n\n{BODY}", "a")
    before = imported(repository)
    assert imported(repository) == before
    repository.git("commit", "-q", "--amend", "--no-edit")  # another committer's time is another commit
    repository.git("-c", "user.name=X", "commit", "-q", "--amend", "--allow-empty", "-C", "HEAD")
    assert [item.note.id for item in imported(repository) if item.note] == [
        item.note.id for item in before if item.note
    ]


def test_a_commit_picked_to_another_branch_is_one_note(repository: Repository) -> None:
    repository.commit("feat: start", "z")
    repository.git("checkout", "-q", "-b", "side")
    picked = repository.commit(f"fix: one\n\n{BODY}", "a")
    repository.git("checkout", "-q", "main")
    repository.git("commit", "-q", "--allow-empty", "-C", picked)
    repository.git("merge", "-q", "--no-ff", "-m", "merge", "side")
    assert len(notes(repository)) == 1
    assert problems(repository) == ["1 commit that is there twice (picked to another branch); passed over"]


def test_nothing_that_the_repository_configures_is_run(repository: Repository, tmp_path: Path) -> None:
    repository.commit("feat: one", "a.txt")
    people = "author A <a> 1 +0000\ncommitter C <c> 1 +0000"
    signed = "gpgsig -----BEGIN PGP SIGNATURE-----\n \n iQ==\n -----END PGP SIGNATURE-----"
    repository.take(f"tree {repository.git('write-tree')}\n{people}\n{signed}\n\nfix: one\n\n{BODY}\n".encode())
    trap = tmp_path / "trap"
    trap.write_text(f"#!/bin/sh\ntouch {tmp_path}/sprung\ncat\n")
    trap.chmod(0o755)
    for key in ("core.fsmonitor", "core.pager", "pager.log", "core.sshCommand", "diff.external", "gpg.program",
                "diff.evil.textconv", "filter.evil.clean", "filter.evil.smudge", "core.askPass"):  # fmt: skip
        repository.git("config", key, str(trap))
    for key, value in (("log.showSignature", "true"), ("core.hooksPath", str(tmp_path)), ("alias.log", f"!{trap}")):
        repository.git("config", key, value)
    (repository.path / ".git" / "info" / "attributes").write_text("* diff=evil filter=evil\n")
    assert len(notes(repository)) == 1
    assert not (tmp_path / "sprung").exists()


def test_only_the_last_commits_are_read(repository: Repository, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(git_log, "MAX_COMMITS", 2)
    monkeypatch.setattr(git_history, "MAX_COMMITS", 2)
    for number in range(4):
        repository.commit(f"fix: {number}\n\n{BODY}", "a")
    assert [note.title for note in notes(repository)] == ["3", "2"]
    assert problems(repository) == ["commits before the last 2 were not read"]


def test_files_of_a_commit_are_bounded(repository: Repository) -> None:
    repository.commit(f"fix: many\n\n{BODY}", *(f"f{number:03}" for number in range(60)))
    (note,) = notes(repository)
    assert len(dict(note.extra)["files"]) == 20  # type: ignore[arg-type]


@pytest.mark.parametrize("bound, word", [("TIMEOUT", "more than"), ("MAX_BYTES", "messages of more than")])
def test_a_history_without_end_is_stopped(
    repository: Repository, monkeypatch: pytest.MonkeyPatch, bound: str, word: str
) -> None:
    repository.commit(f"fix: one\n\n{BODY}", "a")
    if bound == "TIMEOUT":
        slow = repository.path.parent / "bin"
        slow.mkdir()
        (slow / "git").write_text("#!/bin/sh\nexec sleep 30\n")
        (slow / "git").chmod(0o755)
        monkeypatch.setenv("PATH", f"{slow}:{os.environ['PATH']}")
        monkeypatch.setattr(git_log, bound, 0.2)
    else:
        monkeypatch.setattr(git_log, bound, 10)
    (problem,) = problems(repository)
    assert word in problem


def test_odd_messages_do_no_harm(repository: Repository) -> None:
    repository.commit(f"fix: \x01\x1e odd \x7f\n\n{BODY} \U0001f4a5 \x1b[31m")
    people = "author \xff <x> 1 +0000\ncommitter C <c> 1 +0000"
    raw = f"tree {repository.git('write-tree')}\n{people}\n\nfix: \xff\n\n{BODY}\n"
    repository.take(raw.encode("latin-1"))
    assert len(notes(repository)) == 1


def test_what_is_no_repository_is_one_sentence(tmp_path: Path, repository: Repository) -> None:
    (tmp_path / "plain").mkdir()
    (tmp_path / "file").write_text("x")
    assert [item.problem for item in read(tmp_path / "gone", realm="global")] == ["is not there"]
    assert [item.problem for item in read(tmp_path / "file", realm="global")] == ["is not a folder"]
    assert [item.problem for item in read(tmp_path / "plain", realm="global")] == ["is not a git repository"]
    assert problems(repository) == ["has no commits yet"]
    assert detect(repository.path) and not detect(tmp_path / "plain") and not detect(tmp_path / "file")


def test_git_that_is_not_there_is_one_sentence(repository: Repository, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    assert problems(repository) == ["cannot be read: git is not installed"]
