"""What failed comes again later, and not for ever. Pure: the time is an argument."""

from __future__ import annotations

#: Tries before a transcript is set aside (reflect: 3).
MOST_TRIES = 3
#: Runs in a row that were killed before they did anything, after which the transcript itself may be what kills them.
MOST_KILLS = 10
#: Seconds after the first failure; twice as many after each further one.
FIRST_WAIT_S = 600.0


def wait_after(tries: int) -> float:
    """Seconds from the failure of this try (1 is the first) to the next: 10 min · 2^(tries - 1)."""
    return FIRST_WAIT_S * 2.0 ** (min(max(tries, 1), 20) - 1)


def is_due(tries: int, last: float, now: float) -> bool:
    """Whether a transcript may be tried again; ``last`` is when it failed. A clock that was set back does not wait."""
    return tries == 0 or not 0.0 <= now - last < wait_after(tries)


def is_hopeless(tries: int, kills: int = 0) -> bool:
    """Whether it is set aside now."""
    return tries >= MOST_TRIES or kills >= MOST_KILLS
