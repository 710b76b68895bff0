"""A small store with a real index, and a real git repository of the project that it knows."""

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from chitta.index.indexer import sync
from chitta.notes.note import Note
from chitta.notes.store import NoteStore
from chitta.settings import Settings, load

SHOP = "project:example.com/acme/shop"
WEBHOOK = Note("raw-body", kind="bug-fix", realm=SHOP, title="Stripe webhook needs the raw body",
               text="The stripe webhook answers 400 when its body was parsed first.", created="2026-01-02")  # fmt: skip
NOTES = (
    WEBHOOK,
    Note("retry-twice", realm=SHOP, title="Webhook retries come twice", text="Retries of a webhook need a key."),
    Note("rebase", realm=SHOP, title="Rebase onto main", text="git rebase --onto main moves commits."),
    Note("sure", kind="decision", realm="global", title="Kafka lag", text="Raise max.poll.interval.ms."),
    Note("old-webhook", realm=SHOP, title="Stripe webhook retries", text="webhook", superseded_by="raw-body"),
    Note("bad-webhook", realm=SHOP, title="Stripe webhook retry", text="webhook stripe", quarantine=True),
    Note("typed", kind="prompt", realm=SHOP, title="stripe webhook retries", text="stripe webhook retry"),
)  # fmt: skip


class Repository:
    """A work tree in which a test commits."""

    def __init__(self, folder: Path, branch: str, origin: str) -> None:
        self.folder = folder
        folder.mkdir()
        self.git("init", "-q", "-b", branch)
        if origin:
            self.git("remote", "add", "origin", origin)

    def git(self, *words: str) -> None:
        person = ("-c", "user.email=a@example.com", "-c", "user.name=a", "-c", "commit.gpgsign=false")
        subprocess.run(("git", *person, *words), cwd=self.folder, check=True, capture_output=True)

    def commit(self, subject: str) -> None:
        self.git("commit", "-q", "--allow-empty", "-m", subject)


@pytest.fixture
def repository(tmp_path: Path) -> Callable[..., Repository]:
    def make(
        name: str = "shop", branch: str = "feat/webhook-retry", origin: str = "https://example.com/acme/shop.git"
    ) -> Repository:
        return Repository(tmp_path / name, branch, origin)

    return make


@pytest.fixture
def store(tmp_path: Path) -> Callable[..., Settings]:
    """Settings of a store with :data:`NOTES` and more; no daemon, so that words alone answer."""

    def make(*more: Note, notes: tuple[Note, ...] = NOTES, **environ: str) -> Settings:
        environ = {"CHITTA_HOME": str(tmp_path / "store"), "CHITTA_NO_DAEMON": "1", **environ}
        found = load(environ)
        kept = NoteStore(found.notes_dir)
        for note in (*notes, *more):
            kept.write(note)
        sync(found, None)
        return found

    return make
