"""What the settings and scoring.json say together."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from chitta.gateway import scoring
from chitta.recall.score import ALPHAS, Alphas
from chitta.settings import BY_NAME, load


def load_from(home: Path, **variables: str) -> scoring.Scoring:
    return scoring.load(load({"CHITTA_HOME": str(home), **variables}))


def write(home: Path, value: object) -> None:
    (home / scoring.FILE_NAME).write_text(value if isinstance(value, str) else json.dumps(value))


def test_every_alpha_has_a_setting_with_its_default(tmp_path: Path) -> None:
    assert set(scoring._SETTINGS) == set(Alphas._fields)
    assert all(BY_NAME[variable].default == getattr(ALPHAS, name) for name, variable in scoring._SETTINGS.items())
    assert load_from(tmp_path) == scoring.Scoring(ALPHAS, {})


def test_the_file_gives_priors_and_alphas_and_a_changed_setting_wins(tmp_path: Path) -> None:
    write(tmp_path, {"kind_priors": {"Insight": 2}, "alphas": {"recency": 0, "proof": 1.5}})
    found = load_from(tmp_path, CHITTA_RECENCY_ALPHA="0.7")
    assert found.priors == {"insight": 2.0} and found.problems == ()
    assert found.alphas == ALPHAS._replace(recency=0.7, proof=1.5)


@pytest.mark.parametrize("text", ["{", "[]", "", '{"alphas": 3}', '{"kind_priors": {"insight": "high"}}', "[" * 70_000])
def test_a_malformed_file_is_named_and_the_defaults_hold(tmp_path: Path, text: str) -> None:
    write(tmp_path, text)
    found = load_from(tmp_path)
    assert (found.alphas, found.priors) == (ALPHAS, {})
    assert found.problems and all(str(tmp_path / scoring.FILE_NAME) in problem for problem in found.problems)


def test_a_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    (tmp_path / scoring.FILE_NAME).mkdir()
    found = load_from(tmp_path)
    assert found.alphas == ALPHAS and "cannot be read" in found.problems[0]


def test_a_pipe_in_its_place_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / scoring.FILE_NAME)
    found = load_from(tmp_path)
    assert found.alphas == ALPHAS and "cannot be read" in found.problems[0]


def test_a_changed_file_is_read_again_and_a_removed_one_forgotten(tmp_path: Path) -> None:
    write(tmp_path, {"alphas": {"recency": 0}})
    assert load_from(tmp_path).alphas.recency == 0
    before = os.stat(tmp_path / scoring.FILE_NAME)
    write(tmp_path, {"alphas": {"recency": 1}})  # of the same size
    os.utime(tmp_path / scoring.FILE_NAME, ns=(before.st_atime_ns, before.st_mtime_ns + 1))
    assert load_from(tmp_path).alphas.recency == 1
    os.unlink(tmp_path / scoring.FILE_NAME)
    assert load_from(tmp_path).alphas == ALPHAS
