"""New folders are for their owner alone."""

import os
import stat
from pathlib import Path

import pytest

from chitta.folders import make_private, open_to_others


def test_every_folder_that_is_made_is_private(tmp_path: Path) -> None:
    old = os.umask(0)
    try:
        make_private(str(tmp_path / "home" / "state" / "deep"))
    finally:
        os.umask(old)
    for folder in ("home", "home/state", "home/state/deep"):
        assert stat.S_IMODE((tmp_path / folder).stat().st_mode) == 0o700


def test_folders_that_are_there_keep_their_mode(tmp_path: Path) -> None:
    shared = tmp_path / "shared"
    shared.mkdir()
    shared.chmod(0o755)
    make_private(str(shared))
    make_private(str(shared / "own"))
    assert stat.S_IMODE(shared.stat().st_mode) == 0o755


def test_a_file_in_the_way_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    with pytest.raises(OSError):
        make_private(str(tmp_path / "file"))
    with pytest.raises(OSError):
        make_private(str(tmp_path / "file" / "below"))


@pytest.fixture
def store(tmp_path: Path) -> Path:
    home = tmp_path / "above" / "home"
    make_private(str(home / "notes"))
    return home


def test_a_store_for_its_owner_alone_and_one_that_is_not_there_are_closed(store: Path, tmp_path: Path) -> None:
    assert open_to_others(str(store)) == ""
    assert open_to_others(str(tmp_path / "nothing" / "here")) == ""
    for folder in (store, store / "notes", store.parent):
        folder.chmod(0o755)
    assert open_to_others(str(store)) == ""


@pytest.mark.parametrize("below", [".", "notes", ".."])
@pytest.mark.parametrize("mode", [0o777, 0o770, 0o702])
def test_a_folder_that_others_may_write_into_is_named(store: Path, below: str, mode: int) -> None:
    folder = (store / below).resolve()
    if os.geteuid() == 0:
        os.chown(folder, -1, 12345)
    elif mode == 0o770:
        pytest.skip("only root can give the folder to a group")
    folder.chmod(mode)
    assert str(folder) in open_to_others(str(store)) and f"{mode:04o}" in open_to_others(str(store))


def test_a_sticky_bit_helps_in_the_folder_above_alone(store: Path) -> None:
    store.parent.chmod(0o1777)
    assert open_to_others(str(store)) == ""
    (store / "notes").chmod(0o1777)
    assert "notes" in open_to_others(str(store))


def test_the_group_of_its_owner_alone_is_no_other(store: Path) -> None:
    os.chown(store, -1, os.getegid())
    if os.getegid() not in (0, os.geteuid()):
        pytest.skip("this user has no group of its own")
    store.chmod(0o775 & ~0o002)
    assert open_to_others(str(store)) == ""


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a folder away")
def test_a_folder_of_another_user_is_named(store: Path) -> None:
    os.chown(store / "notes", 12345, -1)
    assert open_to_others(str(store)) == f"{store / 'notes'} belongs to another user"


def test_a_link_to_an_open_place_is_looked_through(store: Path, tmp_path: Path) -> None:
    link = tmp_path / "link"
    link.symlink_to(store)
    store.parent.chmod(0o777)
    assert str(store.parent) in open_to_others(str(link))
