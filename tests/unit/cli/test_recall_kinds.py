from __future__ import annotations

from pathlib import Path

import pytest

from chitta import settings as table
from chitta.cli.failure import Misuse
from chitta.cli.recall_kinds import checked


@pytest.mark.parametrize("kinds", [[], ["insight"], ["wisdom", "episode"], ["no-store-knows"]])
def test_known_kinds_and_a_store_that_is_not_there_say_nothing(own_home: Path, kinds: list[str]) -> None:
    assert checked(table.load(), kinds) == []


def test_fault_09_bookkeeping_is_never_an_answer(own_home: Path) -> None:
    with pytest.raises(Misuse, match="bookkeeping"):
        checked(table.load(), ["session", "session"])
    (told,) = checked(table.load(), ["session", "insight"])
    assert "bookkeeping" in told
