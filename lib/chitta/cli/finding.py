"""What a check of `chitta doctor` finds."""

from __future__ import annotations

from typing import NamedTuple

OK, WARN, FAIL = "ok", "warn", "fail"


class Finding(NamedTuple):
    """One line for people: ``state`` is ok, warn or fail; ``todo`` says what to do where it is not ok."""

    name: str
    state: str
    detail: str
    todo: str = ""
