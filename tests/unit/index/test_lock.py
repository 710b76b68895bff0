"""The index's locks: one holder, a wait with an end, and a sentence for people."""

from __future__ import annotations

from pathlib import Path

import pytest

from chitta.index import IndexBusy, IndexFault
from chitta.index.lock import held


def test_a_second_holder_waits_and_then_says_why(tmp_path: Path) -> None:
    with (
        held(str(tmp_path)),
        pytest.raises(IndexBusy, match="another process") as caught,
        held(str(tmp_path), wait=0.05),
    ):
        pass
    assert caught.value.hint
    with held(str(tmp_path), wait=0.05):
        pass


def test_locks_of_two_names_are_apart(tmp_path: Path) -> None:
    with held(str(tmp_path), "write"), held(str(tmp_path), "embed", wait=0.05):
        pass


def test_an_error_lets_go(tmp_path: Path) -> None:
    with pytest.raises(KeyError), held(str(tmp_path)):
        raise KeyError
    with held(str(tmp_path), wait=0.05):
        pass


def test_a_place_without_room_for_a_lock_is_a_fault(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(IndexFault, match="cannot be written"), held(str(tmp_path / "file" / "index")):
        pass
