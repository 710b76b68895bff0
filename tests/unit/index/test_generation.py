"""Generations: what is current at every moment of a switch, and what is swept."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from chitta.index import generation


def names(folder: Path) -> set[str]:
    return set(os.listdir(folder))


def test_nothing_is_current_before_the_first(tmp_path: Path) -> None:
    assert generation.current(str(tmp_path / "absent")) is None
    generation.begin(str(tmp_path))
    assert generation.current(str(tmp_path)) is None


def test_a_finished_generation_is_current(tmp_path: Path) -> None:
    first = generation.finish(str(tmp_path), generation.begin(str(tmp_path)))
    assert generation.current(str(tmp_path)) == first
    assert (first.number, os.path.basename(first.folder)) == (1, "gen-000001")
    assert os.readlink(tmp_path / "current") == "gen-000001"
    second = generation.finish(str(tmp_path), generation.begin(str(tmp_path)))
    assert generation.current(str(tmp_path)) == second
    assert second.number == 2
    assert names(tmp_path) == {"current", "gen-000001", "gen-000002"}


def test_one_that_was_never_named_current_is_not_read(tmp_path: Path) -> None:
    first = generation.finish(str(tmp_path), generation.begin(str(tmp_path)))
    os.rename(generation.begin(str(tmp_path)).folder, tmp_path / "gen-000002")  # killed before the link
    assert generation.current(str(tmp_path)) == first


@pytest.mark.parametrize("harm", ["lost", "dangling", "foreign"])
def test_without_a_good_link_the_latest_is_current(tmp_path: Path, harm: str) -> None:
    generation.finish(str(tmp_path), generation.begin(str(tmp_path)))
    second = generation.finish(str(tmp_path), generation.begin(str(tmp_path)))
    (tmp_path / "current").unlink()
    if harm != "lost":
        os.symlink("gen-000009" if harm == "dangling" else "/etc", tmp_path / "current")
    assert generation.current(str(tmp_path)) == second


def test_a_file_system_without_links_is_enough(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def no_links(*_: object) -> None:
        raise OSError("no links here")

    monkeypatch.setattr(os, "symlink", no_links)
    generation.finish(str(tmp_path), generation.begin(str(tmp_path)))
    second = generation.finish(str(tmp_path), generation.begin(str(tmp_path)))
    assert generation.current(str(tmp_path)) == second


def test_a_sweep_leaves_the_current_one_and_what_is_not_its_own(tmp_path: Path) -> None:
    generation.finish(str(tmp_path), generation.begin(str(tmp_path)))
    generation.finish(str(tmp_path), generation.begin(str(tmp_path)))
    generation.begin(str(tmp_path))
    (tmp_path / "write.lock").touch()
    os.symlink("gen-000001", tmp_path / ".current-123")
    generation.sweep(str(tmp_path))
    assert names(tmp_path) == {"current", "gen-000002", "write.lock"}
    generation.sweep(str(tmp_path / "absent"))


def test_what_a_dead_process_began_is_begun_anew(tmp_path: Path) -> None:
    (Path(generation.begin(str(tmp_path)).folder) / "half").touch()
    assert os.listdir(generation.begin(str(tmp_path)).folder) == []
