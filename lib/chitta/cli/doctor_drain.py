"""The check of what sessions leave to be read: how long the queue is, and what could not be read."""

from __future__ import annotations

from collections.abc import Iterator

from chitta.cli import output
from chitta.cli.finding import OK, WARN, Finding
from chitta.settings import Settings

#: Transcripts from which on a queue that nobody empties is worth a word: some days of work.
LONG = 50


def drain(settings: Settings) -> Iterator[Finding]:
    """The queue, the command that reads it, and what was set aside."""
    from chitta.drain import agent, poison, queue

    count = len(queue.read(settings.state_dir).entries)
    on = settings.flag("CHITTA_DRAIN")
    waits = f"{output.plural(count, 'transcript')} {'waits' if count == 1 else 'wait'} to be read"
    if count >= LONG and not on:
        yield Finding(
            "drain",
            WARN,
            waits,
            "`chitta drain` reads them; CHITTA_DRAIN=1 does it as sessions start, in the background",
        )
    else:
        how = "as sessions start" if on else "by `chitta drain`"
        yield Finding("drain", OK, f"{waits} {how}" if count else f"no transcript waits; they are read {how}")
    text = settings.text("CHITTA_DRAIN_CMD").strip()
    try:
        if text:
            agent.command_of(text)
    except agent.NoCommand as problem:
        yield Finding("drain", WARN, str(problem), problem.hint)
    aside = poison.read(settings.state_dir)
    if aside:
        last = aside[-1]
        yield Finding(
            "drain",
            WARN,
            f"{output.plural(len(aside), 'transcript')} failed too often: {last.why}, {last.entry.transcript}",
            "`chitta drain --retry-poisoned` lets them wait again",
        )
