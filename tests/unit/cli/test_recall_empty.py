from __future__ import annotations

import pytest

from chitta.cli.asking import Answer
from chitta.cli.recall_empty import held_back


@pytest.mark.parametrize(
    ("dropped", "said"),
    [
        ({}, ""),
        ({"kind": 3, "duplicate": 1}, ""),
        ({"quarantined": 1}, "1 note in quarantine was left out (--include-quarantined shows it)"),
        ({"superseded": 2}, "2 notes replaced by others were left out (--include-superseded shows them)"),
        ({"expired": 1}, "1 note expired was left out"),
        (
            {"expired": 1, "quarantined": 1},
            "1 note in quarantine, 1 expired were left out (--include-quarantined shows the former)",
        ),
        (
            {"quarantined": 1, "superseded": 1},
            "1 note in quarantine, 1 replaced by others were left out "
            "(--include-quarantined and --include-superseded show them)",
        ),
        (
            {"quarantined": 1, "superseded": 1, "expired": 1},
            "1 note in quarantine, 1 replaced by others, 1 expired were left out "
            "(--include-quarantined and --include-superseded show the first two)",
        ),
    ],
)
def test_what_was_held_back_names_the_options_that_show_it(dropped: dict[str, int], said: str) -> None:
    assert held_back(Answer([], dropped=dropped)) == said
