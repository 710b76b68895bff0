"""The folder of notes: writing, finding, scanning, and what can go wrong on a disk."""

from __future__ import annotations

import os
import stat
import threading
from pathlib import Path

import pytest

from chitta.notes.ids import file_name, hashed_file_name
from chitta.notes.note import Note
from chitta.notes.store import MAX_NOTE_BYTES, NoteStore

NOTE = Note(id="pin-node-1a2b3c", realm="project:github.com/Acme/app", title="Pin Node", text="Use 20.")


@pytest.fixture
def store(tmp_path: Path) -> NoteStore:
    return NoteStore(tmp_path / "a home" / "notes")


def paths(store: NoteStore) -> list[str]:
    return [fact.path.relative_to(store.root).as_posix() for fact in store.scan()]


def test_a_note_is_written_where_its_realm_lives_and_read_back(store: NoteStore) -> None:
    path = store.write(NOTE)
    assert path == store.root / "project" / "github.com" / "%41cme" / "app" / "pin-node-1a2b3c.md"
    assert store.read(path) == NOTE


def test_files_and_folders_are_private_whatever_the_umask(store: NoteStore) -> None:
    before = os.umask(0)
    try:
        path = store.write(NOTE)
    finally:
        os.umask(before)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    folder = path.parent
    while folder != store.root.parent.parent:
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700
        folder = folder.parent


def test_a_rewrite_replaces_the_note(store: NoteStore) -> None:
    store.write(NOTE)
    path = store.write(NOTE._replace(text="Use 22."))
    assert store.read(path).text == "Use 22."
    assert len(paths(store)) == 1


def test_a_note_can_be_rewritten_where_a_person_put_it(store: NoteStore) -> None:
    path = store.write(NOTE)
    moved = path.rename(path.with_name("My own name.md"))
    store.write(NOTE._replace(text="new"), path=moved)
    assert paths(store) == ["project/github.com/%41cme/app/My own name.md"]


def test_a_failed_write_leaves_the_old_note_and_no_rest(store: NoteStore, monkeypatch: pytest.MonkeyPatch) -> None:
    path = store.write(NOTE)

    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space left"):
        store.write(NOTE._replace(text="new"))
    assert store.read(path) == NOTE
    assert os.listdir(path.parent) == [path.name]


def test_a_reader_never_sees_half_a_note(store: NoteStore) -> None:
    texts = [letter * 50_000 for letter in "ab"]
    path = store.write(NOTE._replace(text=texts[0]))
    done = threading.Event()

    def write() -> None:
        for turn in range(20):
            store.write(NOTE._replace(text=texts[turn % 2]))
        done.set()

    writers = [threading.Thread(target=write) for _ in range(2)]
    for writer in writers:
        writer.start()
    while not done.is_set():
        assert store.read(path).text in texts
    for writer in writers:
        writer.join()
    assert os.listdir(path.parent) == [path.name]


def test_a_foreign_file_of_the_same_name_is_not_overwritten(store: NoteStore) -> None:
    path = store.write(NOTE)
    path.write_text("---\nid: someone-elses\n---\ntheirs\n")
    written = store.write(NOTE)
    assert written.name == hashed_file_name(NOTE.id)
    assert store.read(path).text == "theirs"
    assert store.find(NOTE.id) == written
    assert store.write(NOTE) == written


@pytest.mark.parametrize(
    "note",
    [
        NOTE._replace(id=""),
        NOTE._replace(id="a\nb"),
        NOTE._replace(realm="../.."),
        NOTE._replace(text="x" * MAX_NOTE_BYTES),
    ],
)
def test_what_no_file_can_hold_is_refused(store: NoteStore, note: Note) -> None:
    with pytest.raises(ValueError):
        store.write(note)
    assert paths(store) == []


def test_any_id_can_be_stored_and_found(store: NoteStore) -> None:
    for note_id in ("README", "readme", "a/b", "..", "日本", "x" * 200):
        path = store.write(Note(id=note_id, text=note_id))
        assert path.parent == store.root / "global"
        assert store.find(note_id) == path
        assert store.read(path).id == note_id
    assert len(paths(store)) == 6


def test_one_id_in_two_realms_is_two_notes(store: NoteStore) -> None:
    here, there = store.write(NOTE), store.write(NOTE._replace(realm="global"))
    assert store.find(NOTE.id, NOTE.realm) == here
    assert store.find(NOTE.id, "global") == there
    assert store.remove(NOTE.id, "global")
    assert store.find(NOTE.id, "global") is None
    assert store.find(NOTE.id) == here


def test_a_renamed_file_is_still_found_and_removed(store: NoteStore) -> None:
    path = store.write(NOTE)
    moved = path.rename(store.root / "elsewhere.md")
    assert store.find(NOTE.id) == moved
    assert store.remove(NOTE.id)
    assert not store.remove(NOTE.id)


def test_a_file_without_front_matter_is_named_after_its_place(store: NoteStore) -> None:
    folder = store.root / "project" / "h" / "Mine"
    folder.mkdir(parents=True)
    (folder / "By hand.md").write_text("Words.")
    assert store.read(folder / "By hand.md") == Note(id="By hand", realm="project:h/Mine", text="Words.")
    (store.root / "loose.md").write_text("Words.")
    assert store.read(store.root / "loose.md").realm == "global"


def test_scan_takes_notes_alone(store: NoteStore, tmp_path: Path) -> None:
    assert paths(store) == []
    store.write(Note(id="b"))
    store.write(Note(id="a"))
    store.write(NOTE)
    for name in (".hidden.md", "draft.md~", "a.md.tmp", "notes.txt", ".abc.tmp"):
        (store.root / "global" / name).write_text("x")
    (store.root / ".git").mkdir()
    (store.root / ".git" / "x.md").write_text("x")
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "far.md").write_text("far")
    (store.root / "loop").symlink_to(store.root)
    (store.root / "out").symlink_to(outside)
    (store.root / "gone.md").symlink_to(outside / "nowhere.md")
    (store.root / "linked.md").symlink_to(outside / "far.md")
    (store.root / "folder.md").mkdir()
    (store.root / "global" / "near.md").symlink_to(store.root / "global" / "a.md")
    # What lies outside is somebody else's to change, and no note; a link inside the folder is one.
    expected = ["global/a.md", "global/b.md", "global/near.md", f"project/github.com/%41cme/app/{file_name(NOTE.id)}"]
    assert paths(store) == expected


def test_scan_says_what_tells_a_changed_file(store: NoteStore) -> None:
    path = store.write(NOTE)
    (fact,) = store.scan()
    status = path.stat()
    assert fact == (path, status.st_mtime_ns, status.st_size)


def test_a_folder_that_cannot_be_read_is_not_taken_for_empty(store: NoteStore) -> None:
    store.write(NOTE)
    path = store.write(Note(id="a"))
    closed = store.root / "project"
    closed.chmod(0)
    try:
        if os.access(closed, os.R_OK):
            pytest.skip("this user may read everything")
        with pytest.raises(PermissionError):
            paths(store)
        problems: list[OSError] = []
        assert [fact.path for fact in store.scan(on_error=problems.append)] == [path]
        assert [problem.filename for problem in problems] == [str(closed)]
        assert store.find(NOTE.id) is None
    finally:
        closed.chmod(0o700)


def test_a_notes_folder_that_is_a_file_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "notes").write_text("x")
    with pytest.raises(OSError):
        paths(NoteStore(tmp_path / "notes"))


def test_a_home_that_cannot_be_written_is_an_os_error(tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    try:
        if os.access(tmp_path, os.W_OK):
            pytest.skip("this user may write everywhere")
        with pytest.raises(PermissionError):
            NoteStore(tmp_path / "notes").write(NOTE)
    finally:
        tmp_path.chmod(0o700)


def test_a_huge_file_is_refused_not_cut(store: NoteStore) -> None:
    store.root.mkdir(parents=True)
    with open(store.root / "huge.md", "wb") as file:
        file.truncate(MAX_NOTE_BYTES + 1)
    with pytest.raises(ValueError, match="larger"):
        store.read(store.root / "huge.md")
    assert store.find("huge") is None


def test_a_store_behind_a_link_works(tmp_path: Path) -> None:
    (tmp_path / "real place").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real place")
    store = NoteStore(tmp_path / "link" / "notes")
    path = store.write(NOTE)
    assert store.find(NOTE.id, NOTE.realm) == path
    assert store.read(path).realm == NOTE.realm


@pytest.mark.parametrize("linked", ["project", "project/github.com", "project/github.com/%41cme/app"])
def test_nothing_is_written_through_a_link_out_of_the_store(store: NoteStore, tmp_path: Path, linked: str) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (store.root / linked).parent.mkdir(parents=True)
    (store.root / linked).symlink_to(elsewhere)
    with pytest.raises(OSError, match="leads out of"):
        store.write(NOTE)
    assert not list(elsewhere.iterdir())


def test_a_link_to_a_folder_of_the_store_is_written_through(store: NoteStore) -> None:
    (store.root / "kept").mkdir(parents=True)
    (store.root / "project").symlink_to(store.root / "kept")
    assert store.write(NOTE).exists()
