"""Whose settings count for a request."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from chitta.daemon.environment import Environment, OtherStore


@pytest.fixture
def home(tmp_path: Path) -> Path:
    (tmp_path / "store").mkdir()
    return tmp_path / "store"


def made(home: Path, **own: str) -> Environment:
    return Environment({"CHITTA_HOME": str(home), **own}, os.getcwd())


def test_the_starters_variables_are_not_the_callers(home: Path) -> None:
    environment = made(home, CHITTA_ABLATE_LANES="sem", CHITTA_IDLE_TIMEOUT="77")
    assert environment.own().integer("CHITTA_IDLE_TIMEOUT") == 77
    asked = environment.of({"CHITTA_LANE_K": "4"})
    assert asked.integer("CHITTA_LANE_K") == 4
    assert asked.text("CHITTA_ABLATE_LANES") == ""
    assert asked.integer("CHITTA_IDLE_TIMEOUT") != 77
    assert asked.home == str(home)


def test_toml_counts_below_the_caller_and_is_read_again_when_it_changes(home: Path) -> None:
    environment = made(home)
    assert environment.of({}).integer("CHITTA_LANE_K") == 10
    (home / "chitta.toml").write_text("lane_k = 5\n")
    assert environment.of({}).integer("CHITTA_LANE_K") == 5
    assert environment.of({"CHITTA_LANE_K": "6"}).integer("CHITTA_LANE_K") == 6
    (home / "chitta.toml").write_text("lane_k = 27\n")
    assert environment.of({}).integer("CHITTA_LANE_K") == 27


def test_the_same_variables_give_the_same_settings(home: Path) -> None:
    environment = made(home)
    one = environment.of({"CHITTA_LANE_K": "4", "CHITTA_UNKNOWN_TO_US": "1"})
    assert environment.of({"CHITTA_LANE_K": "4", "CHITTA_UNKNOWN_TO_US": "2"}) is one


def test_memory_for_settings_is_bounded(home: Path) -> None:
    environment = made(home)
    for number in range(1, 500):
        environment.of({"CHITTA_REALM": f"r{number}"})
    assert len(environment._made) <= 64


def test_another_store_is_refused(home: Path, tmp_path: Path) -> None:
    with pytest.raises(OtherStore):
        made(home).of({"CHITTA_HOME": str(tmp_path / "elsewhere")})


def test_the_same_store_by_another_name_is_ours(home: Path, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(home)
    assert made(home).of({"CHITTA_HOME": str(tmp_path / "link") + "/"}).home == str(home)


def test_a_caller_without_a_home_came_through_our_run_folder(home: Path, tmp_path: Path) -> None:
    assert made(home).of({}).home == str(home)
    shared = made(home, CHITTA_RUN_DIR=str(tmp_path / "shared"))
    with pytest.raises(OtherStore):
        shared.of({})


def test_a_relative_home_is_below_the_persons_folder_and_a_run_folder_where_the_daemon_was_started(
    tmp_path: Path, own_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    environment = Environment({"CHITTA_HOME": "store", "CHITTA_RUN_DIR": "run"}, str(tmp_path))
    monkeypatch.chdir("/")
    assert environment.home == str(own_home / "store")
    assert environment.of({"CHITTA_HOME": "store"}).run_dir == str(tmp_path / "run")
