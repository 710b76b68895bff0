"""tests/conftest.py keeps its two promises: a home of its own for each test, and hands off the real one."""

from __future__ import annotations

import os
import pwd
import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest

REAL = Path(pwd.getpwuid(os.getuid()).pw_dir)
NAME = "chitta-home-guard-test"

pytestmark = pytest.mark.skipif(REAL == Path("/"), reason="this user has no home of its own")


def test_each_test_has_an_empty_home_of_its_own(own_home: Path) -> None:
    assert Path.home() == own_home
    assert list(own_home.iterdir()) == []
    assert Path(os.environ["CHITTA_HOME"]).parent == own_home
    assert [name for name in os.environ if name.startswith(("CHITTA_", "XDG_"))] == ["CHITTA_HOME"]


@pytest.mark.parametrize(
    "write",
    [
        lambda path: open(path, "w"),
        lambda path: os.open(path, os.O_WRONLY | os.O_CREAT),
        lambda path: os.mkdir(path),
        lambda path: os.symlink("/nowhere", path),
        lambda path: sqlite3.connect(path),
        lambda path: Path(path).write_text("x"),
    ],
)
def test_a_write_into_the_real_home_is_refused(write: Callable[[Path], object]) -> None:
    with pytest.raises(BaseException, match="lies in the real home"):
        write(REAL / NAME)
    assert not os.path.lexists(REAL / NAME)


def test_a_file_cannot_be_moved_into_the_real_home(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(BaseException, match="lies in the real home"):
        os.rename(tmp_path / "file", REAL / NAME)
    assert (tmp_path / "file").exists()


def test_reading_the_real_home_is_allowed() -> None:
    assert isinstance(os.listdir(REAL), list)
