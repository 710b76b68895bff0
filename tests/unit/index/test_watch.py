"""Looks and glances at the notes: what they see, and that a look sees what a scan sees."""

from __future__ import annotations

import os
import random
import shutil
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from chitta.index import generation, watch
from chitta.index.catalog import Catalog
from chitta.index.indexer import sync
from chitta.index.watch import Watch
from chitta.notes.note import Note
from chitta.notes.store import NoteStore
from chitta.settings import Settings


@pytest.fixture
def watching(settings: Settings) -> Iterator[Watch]:
    made = Watch(settings.notes_dir, settings.index_dir)
    yield made
    made.close()


def age(path: Path, seconds: float = 60) -> None:
    then = time.time_ns() - int(seconds * 1e9)
    os.utime(path, ns=(then, then))


@pytest.fixture
def one(settings: Settings, store: NoteStore) -> Path:
    """The file of the only note, old and indexed."""
    path = store.write(Note(id="one", text="One."))
    age(path)
    sync(settings, None)
    return path


def current_catalog(settings: Settings) -> str:
    found = generation.current(settings.index_dir)
    assert found is not None
    return found.catalog


class TestLook:
    def test_no_notes_and_no_index_are_level(self, watching: Watch) -> None:
        assert not watching.changed()

    def test_notes_without_an_index_are_new(self, watching: Watch, store: NoteStore) -> None:
        store.write(Note(id="one"))
        assert watching.changed()

    def test_what_came_went_or_was_written_in_place(self, watching: Watch, one: Path, store: NoteStore) -> None:
        assert not watching.changed()
        other = store.write(Note(id="two"))
        assert watching.changed()
        other.unlink()
        assert not watching.changed()
        status = one.stat()
        one.write_text("---\nid: one\n---\nTwo.\n")
        assert watching.changed()
        os.utime(one, ns=(status.st_atime_ns, status.st_mtime_ns))
        assert watching.changed() == (one.stat().st_size != status.st_size)
        one.unlink()
        assert watching.changed()

    def test_a_folder_that_went(self, watching: Watch, one: Path, store: NoteStore, settings: Settings) -> None:
        path = store.write(Note(id="two", realm="project:h/o/n"))
        sync(settings, None)
        assert not watching.changed()
        shutil.rmtree(path.parent)
        assert watching.changed()

    def test_hidden_files_folders_and_other_names_are_passed_over(self, watching: Watch, one: Path) -> None:
        (one.parent / ".swp.md").write_text("x")
        (one.parent / "draft.txt").write_text("x")
        (one.parent / "folder.md").mkdir()
        (one.parent / "nowhere.md").symlink_to("nowhere")
        (one.parent / ".git").mkdir()
        (one.parent / ".git" / "note.md").write_text("x")
        assert not watching.changed()
        (one.parent / "folder.md" / "note.md").write_text("x")
        assert watching.changed()

    def test_a_name_that_is_no_utf8(self, watching: Watch, one: Path, settings: Settings) -> None:
        folder = os.path.join(os.fsencode(one.parent), b"d\xe9j\xe0")
        try:
            os.mkdir(folder)
            with open(os.path.join(folder, b"caf\xe9.md"), "wb") as file:
                file.write(b"---\nid: odd\n---\ntext")
        except OSError:
            pytest.skip("this file system takes only names in UTF-8")
        assert watching.changed()
        sync(settings, None)
        assert not watching.changed()

    def test_the_index_is_read_once_a_commit(
        self, watching: Watch, one: Path, store: NoteStore, settings: Settings, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        reads: list[str] = []
        real = Catalog.file_facts

        def facts(catalog: Catalog) -> dict[str, tuple[int, int, str, bool]]:
            reads.append(catalog.path)
            return real(catalog)

        monkeypatch.setattr(Catalog, "file_facts", facts)
        for _ in range(3):
            assert not watching.changed()
        assert len(reads) == 1
        store.write(Note(id="two"))
        sync(settings, None)
        for _ in range(3):
            assert not watching.changed()
        assert len(reads) == 2
        sync(settings, None, full=True)
        for _ in range(3):
            assert not watching.changed()
        assert len(set(reads)) == 2

    @pytest.mark.parametrize("harm", [os.unlink, lambda path: os.truncate(path, 100)], ids=["gone", "cut short"])
    def test_an_index_that_cannot_be_read_is_not_level(
        self, watching: Watch, one: Path, settings: Settings, harm: object
    ) -> None:
        assert callable(harm)
        watching.close()
        harm(current_catalog(settings))
        assert watching.changed()
        sync(settings, None)
        assert not watching.changed()

    def test_a_folder_out_of_sight_keeps_its_notes(
        self, watching: Watch, one: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def refuse(folder: str) -> None:
            raise PermissionError(13, "Permission denied", folder)

        monkeypatch.setattr(os, "scandir", refuse)
        assert not watching.changed()


class TestYoungFiles:
    def test_they_are_looked_into_until_their_time_tells(
        self, watching: Watch, store: NoteStore, settings: Settings, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        path = store.write(Note(id="one", text="One."))
        sync(settings, None)
        read: list[str] = []
        real = watch.digest_of

        def digest_of(path: str) -> str:
            read.append(path)
            return real(path)

        monkeypatch.setattr(watch, "digest_of", digest_of)
        assert not watching.changed() and not watching.changed()
        assert read == [str(path)] * 2
        monkeypatch.setattr(watch, "FRESH_NS", -1)
        for _ in range(3):
            assert not watching.changed()
        assert read == [str(path)] * 3

    def test_a_change_that_keeps_time_and_size_is_seen(
        self, watching: Watch, store: NoteStore, settings: Settings
    ) -> None:
        path = store.write(Note(id="one", text="One."))
        sync(settings, None)
        assert not watching.changed()
        status = path.stat()
        store.write(Note(id="one", text="Two."))
        os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))
        assert watching.changed()


class TestGlance:
    def test_it_knows_nothing_before_the_first_look(self, watching: Watch, one: Path) -> None:
        assert not watching.glance()

    def test_it_sees_what_came_went_or_was_renamed(self, watching: Watch, one: Path, store: NoteStore) -> None:
        assert not watching.changed() and not watching.glance()
        for change in (
            lambda: store.write(Note(id="one", text="Saved by a rename.")),
            lambda: store.write(Note(id="two", realm="project:h/o/n")),
            one.unlink,
        ):
            assert not watching.glance()
            time.sleep(0.02)  # a folder's time has the clock's tick
            change()
            assert watching.glance()
            watching._times = {path: os.stat(path).st_mtime_ns for path in watching._times}

    def test_what_changed_stays_changed_until_a_look_finds_nothing(
        self, watching: Watch, one: Path, store: NoteStore, settings: Settings
    ) -> None:
        assert not watching.changed()
        time.sleep(0.02)
        store.write(Note(id="two"))
        assert watching.glance() and watching.changed() and watching.glance()
        sync(settings, None)
        assert watching.glance()
        assert not watching.changed() and not watching.glance()

    def test_a_notes_folder_that_is_made_later(self, watching: Watch, store: NoteStore) -> None:
        assert not watching.changed() and not watching.glance()
        store.write(Note(id="one"))
        assert watching.glance()

    def test_in_place_it_sees_nothing(self, watching: Watch, one: Path) -> None:
        assert not watching.changed()
        one.write_text("---\nid: one\n---\nIn place.\n")
        assert not watching.glance()
        assert watching.changed()


def test_a_look_sees_what_a_scan_sees(watching: Watch, settings: Settings, store: NoteStore) -> None:
    """Random changes to a tree, against the definition: the scan's facts are the catalog's."""
    dice = random.Random(7)
    names = ["a.md", "b.md", "é.md", "c.txt", ".d.md", "e.MD"]
    folders = ["global", "global/sub", "project/h/o", ".hidden", "x.md"]
    outcomes = set()
    for _ in range(60):
        path = store.root / dice.choice(folders) / dice.choice(names)
        action = dice.choice(["write", "remove", "touch", "sync", "sync"])
        if action == "write":
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(f"text {dice.random()}")
        elif action == "remove" and path.exists():
            path.unlink()
        elif action == "touch" and path.exists():
            age(path, dice.randint(3, 1000))
        elif action == "sync":
            sync(settings, None)
        if generation.current(settings.index_dir) is None:
            continue
        catalog = Catalog(current_catalog(settings))
        known = {key: fact[:2] for key, fact in catalog.file_facts().items()}
        catalog.close()
        scanned = {str(fact.path.relative_to(store.root)): (fact.mtime_ns, fact.size) for fact in store.scan()}
        assert watching.changed() == (scanned != known)
        outcomes.add(scanned != known)
    assert outcomes == {True, False}
