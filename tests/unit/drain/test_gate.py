"""Which transcripts are worth reading now."""

import os
import stat
from typing import Any

import pytest

from chitta.drain import gate
from chitta.drain.gate import Bounds, Facts, begin_of, verdict
from chitta.drain.ledger import FAILED, POISONED, Known, stamp

NOW = 1_800_000_000.0
BOUNDS = Bounds(2_000, 100_000, 5)


def status(size: int = 10_000, mode: int = stat.S_IFREG | 0o600, user: int = 7) -> os.stat_result:
    return os.stat_result((mode, 1, 1, 1, user, 7, size, 0, 0, 0))


def facts(known: Known = Known(), **more: Any) -> Facts:  # noqa: B008
    return Facts(**{"status": status(), "user": 7, "known": known, **more})


@pytest.mark.parametrize(
    ("given", "why"),
    [
        (facts(), ""),
        (facts(status=None), gate.GONE),
        (facts(status=status(mode=stat.S_IFIFO | 0o600)), gate.NOT_A_FILE),
        (facts(status=status(mode=stat.S_IFLNK | 0o777)), gate.NOT_A_FILE),
        (facts(status=status(user=8)), gate.FOREIGN),
        (facts(status=status(100_001)), gate.LARGE),
        (facts(status=status(100_000)), ""),
        (facts(own=True), gate.OWN),
        (facts(Known(outcome=POISONED, tries=3)), gate.IS_POISONED),
        (facts(Known(end=10_000, mark="m")), gate.NOTHING_NEW),
        (facts(seen=True), gate.NOTHING_NEW),
        (facts(status=status(0)), gate.NOTHING_NEW),
        (facts(Known(end=8_001, mark="m")), gate.SMALL),
        (facts(Known(end=8_000, mark="m")), ""),
        (facts(status=status(1_999)), gate.SMALL),
        (facts(Known(end=10_000, mark="m"), same=False), ""),
        (facts(Known(end=50_000, mark="m")), ""),
        (facts(Known(tries=1, last=stamp(NOW - 599), outcome=FAILED)), gate.WAITING),
        (facts(Known(tries=1, last=stamp(NOW - 600), outcome=FAILED)), ""),
    ],
)
def test_each_reason(given: Facts, why: str) -> None:
    assert verdict(given, BOUNDS, NOW) == why
    assert not why or gate.WORDS[why]


def test_a_day_has_its_share_and_what_is_not_read_for_it_waits() -> None:
    assert verdict(facts(), BOUNDS._replace(left_today=0), NOW) == gate.DAILY
    assert verdict(facts(status=None), BOUNDS._replace(left_today=0), NOW) == gate.GONE
    assert {gate.DAILY, gate.WAITING} == gate.LATER


def test_who_is_in_a_hurry_does_not_wait_but_the_day_still_has_its_share() -> None:
    failed = facts(Known(tries=1, last=stamp(NOW - 1), outcome=FAILED))
    assert verdict(failed, BOUNDS, NOW, hurried=True) == ""
    assert verdict(failed, BOUNDS._replace(left_today=0), NOW, hurried=True) == gate.DAILY


def test_reading_begins_where_it_ended_unless_the_file_is_another() -> None:
    assert begin_of(facts(Known(end=4_000, mark="m"))) == 4_000
    assert begin_of(facts(Known(end=4_000, mark="m"), same=False)) == 0
    assert begin_of(facts(Known(end=40_000, mark="m"))) == 0
