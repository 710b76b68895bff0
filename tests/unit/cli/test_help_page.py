from __future__ import annotations

from collections.abc import Callable
from typing import Any


def test_options_stand_in_their_groups_after_the_common_ones(chitta: Callable[..., Any]) -> None:
    out = chitta("recall", "--help").out
    headings = [line for line in out.splitlines() if line.endswith(":") and not line.startswith(" ")]
    assert headings == ["Arguments:", "Options:", "Which notes:", "Which time:", "How it is shown:"]
    assert out.index("Which notes:") < out.index("--kind") < out.index("Which time:") < out.index("--since")
    assert max(map(len, out.splitlines())) <= 100


def test_a_command_without_groups_has_one_list(chitta: Callable[..., Any]) -> None:
    out = chitta("show", "--help").out
    assert [line for line in out.splitlines() if line.endswith(":") and not line.startswith(" ")] == [
        "Arguments:",
        "Options:",
    ]
