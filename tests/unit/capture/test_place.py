"""The realm of a folder that is gone is the project's that it was, and never `global`."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from chitta import sessions
from chitta.capture.place import realm_for
from chitta.notes.realms import GLOBAL, realm_of
from chitta.settings import Settings, load


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return load({"CHITTA_HOME": str(tmp_path / "home")})


def test_a_folder_that_is_gone_has_the_realm_of_a_repository_there(settings: Settings, tmp_path: Path) -> None:
    folder = tmp_path / "shop"
    gone = realm_for(settings, str(folder))
    subprocess.run(["git", "init", "-q", str(folder)], check=True)
    assert gone.startswith("project:shop-") and gone == realm_of(str(folder)) == realm_for(settings, str(folder))
    assert realm_for(settings, str(folder / "gone" / "deeper")) == gone


def test_the_session_knows_best_where_it_was(
    settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sessions, "read", lambda state, name: sessions.Session(realm="project:x/y" if name else ""))
    assert realm_for(settings, str(tmp_path / "gone"), "s") == "project:x/y"
    assert realm_for(settings, str(tmp_path), "s") == GLOBAL


@pytest.mark.parametrize("cwd", ["", "/", "relative"])
def test_no_folder_is_global(settings: Settings, cwd: str) -> None:
    assert realm_for(settings, cwd) == GLOBAL
