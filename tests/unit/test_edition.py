"""Telling a daemon of other code from one of this checkout."""

from __future__ import annotations

import importlib.util
import os
import shutil
from pathlib import Path
from typing import Any

import pytest

from chitta import edition


@pytest.fixture
def other(tmp_path: Path) -> Any:
    """The module in a package of its own."""
    folder = tmp_path / "chitta"
    (folder / "below").mkdir(parents=True)
    (folder / "below" / "part.py").touch()
    shutil.copy(edition.__file__, folder / "edition.py")
    spec = importlib.util.spec_from_file_location("another_edition", folder / "edition.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_it_changes_with_any_module_and_stays_with_anything_else(other: Any, tmp_path: Path) -> None:
    first = other.own()
    assert first == other.here() != edition.here()
    (tmp_path / "chitta" / "words.txt").touch()
    assert other.here() == first
    part = tmp_path / "chitta" / "below" / "part.py"
    os.utime(part, ns=(2**62, 2**62))
    assert other.here() != first == other.own()


def test_a_folder_that_is_gone_is_no_error(other: Any, tmp_path: Path) -> None:
    shutil.rmtree(tmp_path / "chitta")
    assert other.here() == ""
