from __future__ import annotations

import os
from pathlib import Path
from types import SimpleNamespace

import pytest

from chitta import settings as table
from chitta.cli.doctor_places import places
from chitta.cli.finding import FAIL


@pytest.fixture
def notes(own_home: Path) -> Path:
    path = own_home / ".chitta" / "notes"
    path.mkdir(parents=True, mode=0o700)
    (own_home / ".chitta").chmod(0o700)
    return path


def test_folders_of_ones_own_are_in_order(notes: Path) -> None:
    assert list(places(table.load())) == []


@pytest.mark.parametrize("mode", [0o777, 0o770, 0o702])
def test_a_folder_that_others_may_write_to_is_broken(notes: Path, mode: int) -> None:
    notes.chmod(mode)
    (finding,) = places(table.load())
    assert finding.state == FAIL and f"{mode:04o}" in finding.detail and "chmod 700" in finding.todo


def test_a_store_that_anybody_may_replace_is_broken(notes: Path, own_home: Path) -> None:
    own_home.chmod(0o777)
    assert [finding.state for finding in places(table.load())] == [FAIL]
    own_home.chmod(0o1777)
    assert list(places(table.load())) == []


def test_a_link_into_another_place_is_broken(
    notes: Path, own_home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = tmp_path / "theirs"
    notes.rename(real)
    notes.symlink_to(real)
    assert list(places(table.load())) == [], "a link to a place of one's own is a person's choice"
    monkeypatch.setattr("chitta.cli.doctor_places.os", SimpleNamespace(**{**vars(os), "geteuid": lambda: 4711}))
    assert any("link into another user" in finding.detail for finding in places(table.load()))


def test_a_store_that_a_cloned_repository_brings_is_not_read(
    own_home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither with the usual home nor with a relative one."""
    for name in (".chitta/chitta.toml", "chitta.toml", ".chitta.toml"):
        path = tmp_path / "clone" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("max_memories = 1\n")
    monkeypatch.chdir(tmp_path / "clone")
    usual = table.load({}).integer("CHITTA_MAX_MEMORIES")
    assert usual != 1
    monkeypatch.setenv("CHITTA_HOME", ".chitta")
    found = table.load()
    assert found.integer("CHITTA_MAX_MEMORIES") == usual and found.home == str(own_home / ".chitta")
