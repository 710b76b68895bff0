from __future__ import annotations

import os
from pathlib import Path

import pytest

from chitta import settings as table
from chitta.cli.failure import Misuse
from chitta.cli.realm_options import chosen_realm, current_realm, looking_realm, writing_realm


@pytest.fixture
def project(folder: Path) -> str:
    """The working folder is a repository; its realm."""
    (folder / ".git" / "objects").mkdir(parents=True)
    (folder / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
    (folder / ".git" / "config").write_text('[remote "origin"]\n\turl = https://example.org/a/b\n')
    return "project:example.org/a/b"


def test_without_an_option_it_is_the_folder_s_realm(project: str) -> None:
    assert writing_realm(table.load(), "", False) == looking_realm(table.load(), "", False) == project


def test_the_variable_overrides_the_folder_and_the_option_overrides_both(
    project: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CHITTA_REALM", "project:named")
    assert current_realm(table.load()) == "project:named"
    assert writing_realm(table.load(), "project:given", False) == "project:given"


def test_global_is_one_realm_to_write_to_and_all_to_look_in(project: str) -> None:
    assert writing_realm(table.load(), "", True) == "global" and looking_realm(table.load(), "", True) is None


@pytest.mark.parametrize(("realm", "everywhere"), [("project:a", True), ("../up", False), ("a\nb", False)])
def test_misuse(realm: str, everywhere: bool) -> None:
    with pytest.raises(Misuse):
        chosen_realm(realm, everywhere)


def test_a_folder_that_is_gone_is_no_project(folder: Path) -> None:
    here = folder / "gone"
    here.mkdir()
    os.chdir(here)
    here.rmdir()
    assert current_realm(table.load()) == "global"
