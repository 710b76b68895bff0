"""When what failed comes again."""

import pytest

from chitta.drain.retry import FIRST_WAIT_S, MOST_TRIES, is_due, is_hopeless, wait_after


def test_each_failure_doubles_the_wait() -> None:
    assert wait_after(1) == FIRST_WAIT_S == 600.0
    assert all(wait_after(tries + 1) == 2 * wait_after(tries) for tries in range(1, 6))


@pytest.mark.parametrize("tries", [1, 2])
def test_it_is_due_after_its_wait_and_not_before(tries: int) -> None:
    assert not is_due(tries, 1_000.0, 1_000.0 + wait_after(tries) - 1)
    assert is_due(tries, 1_000.0, 1_000.0 + wait_after(tries))


def test_what_never_failed_is_due_and_a_clock_that_was_set_back_does_not_wait() -> None:
    assert is_due(0, 1_000.0, 1_000.0)
    assert is_due(1, 1_000.0, 500.0)


def test_three_tries_are_enough() -> None:
    assert not is_hopeless(MOST_TRIES - 1) and is_hopeless(MOST_TRIES) and MOST_TRIES == 3
