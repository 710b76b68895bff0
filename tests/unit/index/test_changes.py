"""Which files changed, and which notes can be found because of it."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from chitta.index import changes, watch
from chitta.index.indexer import needs_sync, quick_sync_paths, sync
from chitta.index.snapshot import Snapshot
from chitta.notes.note import Note
from chitta.notes.store import MAX_NOTE_BYTES, NoteStore
from chitta.settings import Settings

Opened = Callable[[], Snapshot]


def age(path: Path, seconds: float = 60) -> None:
    """Give a file a time that is long enough ago for it to tell the content."""
    then = time.time_ns() - int(seconds * 1e9)
    os.utime(path, ns=(then, then))


def found(snapshot: Snapshot, realm: str | None = None) -> dict[str, str]:
    return {note.id: note.text for note in snapshot.catalog.page(realm, limit=99)}


def test_a_file_whose_time_and_size_are_known_is_not_read_again(
    settings: Settings, store: NoteStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in "ab":
        age(store.write(Note(id=name)))
    sync(settings, None)
    read: list[Path] = []

    def digest(path: Path) -> str:
        read.append(path)
        return ""

    monkeypatch.setattr(watch, "digest_of", digest)
    assert sync(settings, None).unchanged == 2
    assert read == []


def test_a_young_file_is_looked_into_although_its_time_and_size_are_the_same(
    settings: Settings, store: NoteStore, opened: Opened
) -> None:
    path = store.write(Note(id="a", text="one"))
    sync(settings, None)
    status = path.stat()
    store.write(Note(id="a", text="two"))
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))
    assert path.stat().st_size == status.st_size
    assert needs_sync(settings)
    assert sync(settings, None).updated == 1
    assert found(opened()) == {"a": "two"}


def test_a_touched_file_is_no_update(settings: Settings, store: NoteStore) -> None:
    path = store.write(Note(id="a"))
    sync(settings, None)
    age(path)
    assert needs_sync(settings)
    assert sync(settings, None)[:4] == (0, 0, 0, 1)
    assert not needs_sync(settings)


def test_a_moved_note_is_the_same_note(settings: Settings, store: NoteStore, opened: Opened) -> None:
    path = store.write(Note(id="a", text="one"))
    sync(settings, None)
    (path.parent / "sub").mkdir()
    path.rename(path.parent / "sub" / "b.md")
    assert sync(settings, None)[:4] == (0, 1, 0, 0)
    snapshot = opened()
    assert found(snapshot) == {"a": "one"}
    assert snapshot.catalog.path_of("a") == "global/sub/b.md"


def test_a_note_that_gets_another_id(settings: Settings, store: NoteStore, opened: Opened) -> None:
    path = store.write(Note(id="a", text="one"))
    sync(settings, None)
    store.write(Note(id="b", text="one"), path=path)
    assert sync(settings, None)[:4] == (1, 0, 1, 0)
    assert found(opened()) == {"b": "one"}


class TestSameId:
    def test_of_two_files_in_one_realm_the_first_is_used(
        self, settings: Settings, store: NoteStore, opened: Opened
    ) -> None:
        path = store.write(Note(id="a", text="original"))
        copy = path.with_name("a copy.md")
        store.write(Note(id="a", text="copy"), path=copy)
        report = sync(settings, None)
        assert report.added == 1
        assert any("more than one file" in problem for problem in report.problems)
        assert found(opened()) == {"a": "copy"}  # "a copy.md" sorts before "a.md"
        copy.unlink()
        assert sync(settings, None).problems == ()
        assert found(opened()) == {"a": "original"}

    def test_in_two_realms_both_are_found(self, settings: Settings, store: NoteStore, opened: Opened) -> None:
        one = store.write(Note(id="testing", realm="project:one", text="one"))
        two = store.write(Note(id="testing", realm="project:two", text="two"))
        assert sync(settings, None).added == 2
        snapshot = opened()
        assert list(found(snapshot, "project:one").values()) == ["one"]
        assert list(found(snapshot, "project:two").values()) == ["two"]
        assert "testing" in found(snapshot, "project:one")
        one.unlink()
        sync(settings, None)
        assert found(opened()) == {"testing": "two"}
        two.unlink()
        sync(settings, None)
        assert found(opened()) == {}

    def test_it_does_not_matter_in_which_order_they_came(
        self, settings: Settings, store: NoteStore, opened: Opened
    ) -> None:
        for realm in ("project:two", "project:one"):
            quick_sync_paths(settings, [store.write(Note(id="testing", realm=realm, text=realm))], None)
        by_steps = found(opened())
        sync(settings, None, full=True)
        assert found(opened()) == by_steps == {"testing": "project:one", **by_steps}


class TestUnreadable:
    def test_a_file_that_is_too_large_is_a_problem_and_no_note(self, settings: Settings, store: NoteStore) -> None:
        store.write(Note(id="good"))
        with open(store.root / "global" / "large.md", "wb") as file:
            file.truncate(MAX_NOTE_BYTES + 1)
        report = sync(settings, None)
        assert report.added == 1
        assert any("large.md" in problem for problem in report.problems)
        assert not needs_sync(settings)

    def test_a_note_that_can_no_longer_be_read_stays(
        self, settings: Settings, store: NoteStore, opened: Opened, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        path = store.write(Note(id="a", text="one"))
        sync(settings, None)
        store.write(Note(id="a", text="other"))

        def refuse(store: NoteStore, path: Path) -> Note:
            raise PermissionError(13, "Permission denied", str(path))

        with monkeypatch.context() as patch:
            patch.setattr(NoteStore, "read", refuse)
            patch.setattr(watch, "digest_of", lambda path: "")
            for _ in range(2):
                report = sync(settings, None)
                assert any(str(path) in problem for problem in report.problems)
                assert found(opened()) == {"a": "one"}
                assert not needs_sync(settings)
        assert needs_sync(settings)
        assert sync(settings, None).updated == 1
        assert found(opened()) == {"a": "other"}

    def test_a_folder_out_of_sight_keeps_its_notes(
        self, settings: Settings, store: NoteStore, opened: Opened, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        store.write(Note(id="a", realm="project:hidden"))
        store.write(Note(id="b"))
        sync(settings, None)
        real = os.scandir

        def scandir(folder: Path) -> object:
            if Path(folder).name == "hidden":
                raise PermissionError(13, "Permission denied", str(folder))
            return real(folder)

        monkeypatch.setattr(os, "scandir", scandir)
        report = sync(settings, None)
        assert report.removed == 0
        assert any("hidden" in problem for problem in report.problems)
        assert set(found(opened())) == {"a", "b"}
        assert not needs_sync(settings)


class TestQuickSync:
    def test_only_the_named_files_are_looked_at(self, settings: Settings, store: NoteStore, opened: Opened) -> None:
        sync(settings, None)
        named, other = store.write(Note(id="named")), store.write(Note(id="other"))
        report = quick_sync_paths(settings, [named, named, store.root / "absent.md"], None)
        assert (report.added, report.unchanged) == (1, 0)
        assert set(found(opened())) == {"named"}
        named.unlink()
        assert quick_sync_paths(settings, [named, str(other)], None)[:3] == (1, 0, 1)
        assert set(found(opened())) == {"other"}

    def test_names_that_are_no_note_s_are_passed_over(
        self, settings: Settings, store: NoteStore, tmp_path: Path
    ) -> None:
        sync(settings, None)
        store.write(Note(id="a"))
        outside = tmp_path / "outside.md"
        outside.write_text("not in the store")
        (store.root / "global" / "draft.txt").write_text("no note")
        (store.root / "global" / ".hidden.md").write_text("no note")
        paths = [outside, store.root / "global" / "draft.txt", store.root / "global" / ".hidden.md", store.root]
        assert quick_sync_paths(settings, paths, None).added == 0

    def test_a_path_through_a_link_is_the_same_file(self, settings: Settings, store: NoteStore, tmp_path: Path) -> None:
        sync(settings, None)
        path = store.write(Note(id="a"))
        (tmp_path / "link").symlink_to(store.root)
        assert quick_sync_paths(settings, [tmp_path / "link" / path.relative_to(store.root)], None).added == 1
        assert sync(settings, None).unchanged == 1

    def test_without_an_index_everything_is_indexed(self, settings: Settings, store: NoteStore) -> None:
        store.write(Note(id="a"))
        assert quick_sync_paths(settings, [store.write(Note(id="b"))], None).added == 2


def test_more_files_than_one_commit_takes(
    settings: Settings, store: NoteStore, monkeypatch: pytest.MonkeyPatch, opened: Opened
) -> None:
    monkeypatch.setattr(changes, "CHUNK", 3)
    for number in range(8):
        store.write(Note(id=f"n{number}"))
    seen: list[tuple[str, int, int]] = []
    assert sync(settings, None, progress=lambda *at: seen.append(at)).added == 8
    assert seen == [("notes", 3, 8), ("notes", 6, 8), ("notes", 8, 8)]
    assert len(found(opened())) == 8


def test_a_file_name_that_is_no_utf8(settings: Settings, store: NoteStore, opened: Opened) -> None:
    store.write(Note(id="a"))
    try:
        with open(os.path.join(os.fsencode(store.root / "global"), b"caf\xe9.md"), "wb") as file:
            file.write(b"---\nid: odd\n---\ntext")
    except OSError:
        pytest.skip("this file system takes only names in UTF-8")
    assert sync(settings, None).added == 2
    assert sync(settings, None)[:4] == (0, 0, 0, 2)
    assert "odd" in found(opened())
