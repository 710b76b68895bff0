"""A calibration as a file: what is written is read again, and a write that fails changes nothing."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chitta.admission import calibration
from chitta.admission.calibration import Calibration, Logistic
from chitta.evaluate.calibration_file import as_fields, write

NUMBERS = st.floats(allow_nan=False, allow_infinity=False)
LOGISTICS = st.builds(Logistic, NUMBERS, st.dictionaries(st.sampled_from(["cos", "coverage", "shared"]), NUMBERS))
FITS = st.builds(
    Calibration,
    name=st.text(st.characters(exclude_categories=["Cs"])),
    model=st.just("bge-small-en"),
    note=LOGISTICS,
    note_words_only=LOGISTICS,
    prompt=LOGISTICS,
    threshold=NUMBERS,
    display=st.tuples(NUMBERS, NUMBERS),
)


def fields(fit: Calibration) -> dict[str, Any]:
    return as_fields(fit, date="2026-01-02", data="a set", counts={"prompts": 3}, quality={"ece": 1 / 3})


@settings(deadline=None)
@given(FITS)
def test_what_is_written_is_read_again(tmp_path_factory: pytest.TempPathFactory, fit: Calibration) -> None:
    path = tmp_path_factory.getbasetemp() / "round" / "calibration.json"
    write(path, fields(fit))
    assert calibration.read(str(path)) == fit


def test_it_says_what_it_was_fitted_on(tmp_path: Path) -> None:
    write(tmp_path / "c.json", fields(calibration.shipped()))
    value = json.loads((tmp_path / "c.json").read_text())
    assert (value["date"], value["data"], value["counts"]) == ("2026-01-02", "a set", {"prompts": 3})
    assert value["quality"] == {"ece": 0.3333}


@pytest.mark.parametrize("broken", ["replace", "write"])
def test_a_write_that_fails_leaves_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, broken: str) -> None:
    path = tmp_path / "calibration.json"
    write(path, fields(calibration.shipped()))
    before = path.read_bytes()

    def full(*args: object, **more: object) -> None:
        raise OSError(28, "No space left on device")

    if broken == "replace":
        monkeypatch.setattr(os, "replace", full)
    else:
        monkeypatch.setattr(Path, "write_text", full)
    with pytest.raises(OSError, match="No space"):
        write(path, fields(calibration.shipped()._replace(name="new")))
    assert path.read_bytes() == before and [file.name for file in tmp_path.iterdir()] == ["calibration.json"]
