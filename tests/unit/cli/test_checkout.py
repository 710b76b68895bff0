from __future__ import annotations

from pathlib import Path

import pytest

import chitta
from chitta.cli import checkout
from chitta.cli.failure import Unavailable


def test_the_folder_that_the_front_door_names_wins(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "hooks").mkdir()
    (tmp_path / "hooks" / "prompt-core.sh").touch()
    monkeypatch.setenv("CHITTA_ROOT", str(tmp_path))
    assert checkout.hook() == tmp_path / "hooks" / "prompt-core.sh"


def test_a_bare_package_has_no_hook(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(chitta, "__file__", str(tmp_path / "site-packages" / "chitta" / "__init__.py"))
    assert checkout.root() is None
    with pytest.raises(Unavailable):
        checkout.hook()


def test_lane_files_are_executables_with_a_lane_s_name(tmp_path: Path) -> None:
    (tmp_path / "lanes").mkdir()
    for name in ("keyword", "cross-realm", "keyword~", "README", "a.orig", "é", "not-executable"):
        (tmp_path / "lanes" / name).touch(mode=0o755)
    (tmp_path / "lanes" / "not-executable").chmod(0o644)
    (tmp_path / "lanes" / "folder").mkdir()
    assert [path.name for path in checkout.lane_files(tmp_path)] == ["cross-realm", "keyword"]
    assert checkout.lane_files(tmp_path / "nowhere") == []
