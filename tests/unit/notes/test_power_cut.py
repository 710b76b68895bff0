"""A power cut at any moment of a write: what was not yet asked to be on disk is lost, and no note is torn.

The model: a file's bytes are on disk once it was fsynced, a name once its folder was. At a cut, bytes that were not are
gone, and names that were not are either all there or none.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from chitta.notes.note import Note
from chitta.notes.store import NoteStore

Tree = dict[str, bytes]


class Disk:
    """Watches a folder, and gives what each cut would have left of it."""

    def __init__(self, root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.root = root
        self.cuts: list[tuple[Tree, Tree]] = []
        self._bytes: dict[int, bytes] = {}
        self._names: dict[str, dict[str, int]] = {}
        for folder, _, files in os.walk(root):
            self._keep_folder(folder)
            for name in files:
                self._keep_file(os.path.join(folder, name))
        for name in ("fsync", "replace", "rename", "mkdir", "unlink"):
            monkeypatch.setattr(os, name, self._watched(name, getattr(os, name)))

    def _watched(self, name: str, real: Callable[..., Any]) -> Callable[..., Any]:
        def call(*given: Any, **named: Any) -> Any:
            self.cuts.append((self.kept(names_kept=False), self.kept(names_kept=True)))
            done = real(*given, **named)
            if name == "fsync":
                path = os.readlink(f"/proc/self/fd/{given[0]}")
                (self._keep_folder if stat.S_ISDIR(os.fstat(given[0]).st_mode) else self._keep_file)(path)
            return done

        return call

    def _keep_file(self, path: str) -> None:
        self._bytes[os.stat(path).st_ino] = Path(path).read_bytes()

    def _keep_folder(self, path: str) -> None:
        self._names[path] = {name: os.lstat(os.path.join(path, name)).st_ino for name in os.listdir(path)}

    def kept(self, *, names_kept: bool) -> Tree:
        """Every file after a cut now. ``names_kept``: names that nobody asked to be on disk are there, too."""
        found: Tree = {}
        pending = [str(self.root)]
        while pending:
            folder = pending.pop()
            there = {name: os.lstat(os.path.join(folder, name)).st_ino for name in os.listdir(folder)}
            for name, inode in (there if names_kept else self._names.get(folder, {})).items():
                path = os.path.join(folder, name)
                if os.path.isdir(path):
                    pending.append(path)
                else:
                    found[path] = self._bytes.get(inode, b"")
        return {path: content for path, content in found.items() if path.endswith(".md")}


@pytest.fixture
def store(tmp_path: Path) -> NoteStore:
    return NoteStore(tmp_path / "notes")


@pytest.mark.skipif(not os.path.isdir("/proc/self/fd"), reason="a descriptor's path is read from /proc")
def test_fault_27_a_power_cut_leaves_the_old_note_or_the_new(
    store: NoteStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = store.write(Note(id="a", text="as it was"))
    old = path.read_bytes()
    disk = Disk(tmp_path, monkeypatch)
    store.write(Note(id="a", text="as it is"))
    new = path.read_bytes()
    assert len(disk.cuts) >= 3
    for tree in (tree for cut in disk.cuts for tree in cut):
        assert tree in ({str(path): old}, {str(path): new})
    assert disk.kept(names_kept=False) == {str(path): new}


@pytest.mark.skipif(not os.path.isdir("/proc/self/fd"), reason="a descriptor's path is read from /proc")
def test_fault_27_a_power_cut_leaves_a_first_note_whole_or_not_at_all(
    store: NoteStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    disk = Disk(tmp_path, monkeypatch)
    path = store.write(Note(id="a", realm="project:h/o/n", text="words"))
    for tree in (tree for cut in disk.cuts for tree in cut):
        assert tree in ({}, {str(path): path.read_bytes()})
    assert disk.kept(names_kept=False) == {str(path): path.read_bytes()}


@pytest.mark.skipif(not os.path.isdir("/proc/self/fd"), reason="a descriptor's path is read from /proc")
def test_the_model_sees_a_write_that_is_not_asked_to_be_on_disk(
    store: NoteStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = store.write(Note(id="a", text="as it was"))
    disk = Disk(tmp_path, monkeypatch)
    monkeypatch.setattr(os, "fsync", lambda file: None)
    store.write(Note(id="a", text="as it is"))
    assert disk.kept(names_kept=True) == {str(path): b""}
