"""New folders are for their owner alone."""

import os
import stat
from pathlib import Path

import pytest

from chitta.folders import make_private


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
