"""`chitta drain`: read the transcripts that wait, say for each what it gave, and what to do next."""

from __future__ import annotations

import os
import shlex
import signal
import time
from typing import TYPE_CHECKING, Annotated, Any

import typer

from chitta import breadcrumb
from chitta import settings as table
from chitta.cli import output
from chitta.cli.failure import NOTHING, Misuse, Nothing, leave
from chitta.cli.realm_options import AsJson
from chitta.settings import Settings

if TYPE_CHECKING:
    from chitta.drain.run import Drained, Outcome

_LAST_RUNS = 10
_TITLE_CHARS = 100
_WORDS = {"added": "added", "proved": "proved again", "known": "known", "refused": "refused before"}


def drain(
    transcripts: Annotated[
        list[str] | None, typer.Argument(metavar="[TRANSCRIPT]...", help="Only these, whether they wait or not.")
    ] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Say what would be kept, and keep nothing.")] = False,
    limit: Annotated[int, typer.Option("--limit", min=0, max=1_000, help="Most to read; 0: CHITTA_DRAIN_RUN.")] = 0,
    now: Annotated[
        bool, typer.Option("--now", help="Also what failed a while ago; by rules, any number a day.")
    ] = False,
    status: Annotated[bool, typer.Option("--status", help="What waits, the last runs, today's cost.")] = False,
    retry_poisoned: Annotated[
        bool, typer.Option("--retry-poisoned", help="Let what failed too often wait again.")
    ] = False,
    automatic: Annotated[bool, typer.Option("--automatic", hidden=True)] = False,
    as_json: AsJson = False,
) -> None:
    """Read what sessions have left in the queue and keep what they teach, for `chitta review`. Fixed rules do it, or
    your own agent where CHITTA_DRAIN_CMD names one; CHITTA_DRAIN=1 does it as a session starts, in the background.

    Example: chitta drain --dry-run
    """
    settings = table.load()
    if status:
        _status(settings, as_json)
        return
    signal.signal(signal.SIGTERM, leave)
    if retry_poisoned:
        _retry(settings)
        return
    if automatic:
        _automatic(settings)
        return
    from chitta.drain.run import Wanted

    if transcripts and limit:
        raise Misuse("--limit does not go with named transcripts", "leave one of the two out")
    _by_hand(settings, Wanted(dry_run=dry_run, hurried=now, limit=limit, only=tuple(transcripts or ())), as_json)


def _by_hand(settings: Settings, wanted: Any, as_json: bool) -> None:
    from chitta.drain import run

    done = run.drain(settings, wanted, time.time)
    _level(settings, done)
    if as_json:
        output.as_json({**done._asdict(), "outcomes": [_facts(one) for one in done.outcomes]})
    else:
        for one in done.outcomes:
            _print(one, wanted.dry_run)
        _next(settings, done, wanted.dry_run)
    if done.problem:
        output.tell(f"chitta: stopped: {done.problem}")
    if wanted.only and not wanted.dry_run:
        _say_what_failed(settings, done)
    if done.problem or (wanted.only and all(_came_to_nothing(one) for one in done.outcomes)):
        raise typer.Exit(NOTHING)
    if not done.outcomes:
        hint = "sessions queue their transcripts as they stop; `chitta drain FILE` reads one that is not queued"
        raise Nothing("no transcript waits", hint)


def _automatic(settings: Settings) -> None:
    """As a session starts: nobody reads what is printed, so what goes wrong is left for `chitta doctor`."""
    from chitta.drain import run
    from chitta.drain.agent import NoCommand
    from chitta.drain.work import Busy

    try:
        done = run.drain(settings, run.Wanted(automatic=True), time.time)
    except Busy:
        return
    except NoCommand as problem:
        breadcrumb.leave(settings.state_dir, "drain", str(problem))
        raise
    except Exception as problem:
        breadcrumb.fault(settings.state_dir, "drain", problem)
        raise
    _findable(settings, done)


def _retry(settings: Settings) -> None:
    from chitta.drain.run import retry_poisoned

    count = retry_poisoned(settings, time.time())
    if not count:
        raise Nothing("nothing is set aside")
    output.say(f"{output.plural(count, 'transcript')} {'waits' if count == 1 else 'wait'} again")
    output.tell("chitta: `chitta drain` reads what waits")


def _findable(settings: Settings, done: Drained) -> None:
    from chitta.cli import upkeep

    if any(one.kept.get("added") or one.kept.get("proved") for one in done.outcomes):
        upkeep.freshen(settings)


def _level(settings: Settings, done: Drained) -> None:
    """Bring the index level after a drain by hand, and say what is not found by its meaning yet."""
    from chitta.cli import upkeep
    from chitta.index import IndexFault

    if not any(one.kept.get("added") or one.kept.get("proved") for one in done.outcomes):
        return
    try:
        levelled = upkeep.level(settings)
    except (OSError, IndexFault) as problem:
        output.tell(f"chitta: the notes are kept, but not indexed: {problem}")
        return
    if levelled.pending:
        output.tell(f"chitta: {output.plural(levelled.pending, 'note')} {levelled.findable}")


def _came_to_nothing(one: Outcome) -> bool:
    return one.outcome in ("failed", "poisoned") or (one.outcome == "passed" and one.why in _unreadable())


def _say_what_failed(settings: Settings, done: Drained) -> None:
    """Where transcripts stand that a person named and that failed: none is lost, but the queue may not have them."""
    from chitta.drain import queue

    failed = [one.transcript for one in done.outcomes if one.outcome == "failed"]
    if not failed:
        return
    waiting = {entry.transcript for entry in queue.read(settings.state_dir).entries}
    for path in failed:
        where = "still in the queue" if path in waiting else "not in the queue"
        command = f"chitta drain {shlex.quote(output.harmless(_short(path)))}"
        output.tell(f"chitta: {output.harmless(_short(path))} is {where}, and nothing of it is lost; run it again:")
        output.tell(f"    {command.replace(chr(39) + '~/', '~/' + chr(39))}")


def _unreadable() -> frozenset[str]:
    from chitta.drain import gate

    return frozenset(gate.WORDS[why] for why in gate.UNREADABLE)


def _print(one: Outcome, dry_run: bool) -> None:
    where = output.harmless(_short(one.transcript))
    if one.outcome != "read":
        output.wrapped(f"{where}: {_OUTCOMES.get(one.outcome, one.outcome)}: {output.harmless(one.why)}")
        return
    told = [f"{output.size_of(one.new_bytes)} new", output.plural(len(one.notes), "note")]
    kept = [f"{count} {_WORDS.get(name, name)}" for name, count in one.kept.items() if count]
    told[1] += " (not kept: --dry-run)" if dry_run and one.notes else f" ({', '.join(kept)})" if kept else ""
    told += [f"about {one.tokens:,} tokens"] if one.tokens else []
    told += [output.harmless(one.why)] if one.why else []
    output.wrapped(f"{where}: {', '.join(told)}")
    for note in one.notes:
        what = str(dict(note.extra).get("captured", note.kind))
        output.say(f"  {output.paint(f'{what:<11}', 'cyan')}{output.one_line(note.title or note.text, _TITLE_CHARS)}")


def _next(settings: Settings, done: Drained, dry_run: bool) -> None:
    if done.damaged:
        output.tell(f"chitta: {output.plural(done.damaged, 'line')} of the queue could not be read")
    if dry_run:
        return
    if any(one.kept.get("added") for one in done.outcomes):
        output.tell("chitta: no prompt shows these notes before you have looked at them: `chitta review`")
    left = done.waiting - sum(one.outcome == "left" for one in done.outcomes)
    if left > 0 and not done.problem:
        output.tell(f"chitta: {output.plural(left, 'transcript')} still in the queue; `chitta drain` goes on")
    if any(one.outcome == "poisoned" for one in done.outcomes):
        output.tell("chitta: `chitta drain --retry-poisoned` tries again what was set aside")


def _status(settings: Settings, as_json: bool) -> None:
    from chitta.drain import ledger, poison, queue

    runs = ledger.read(settings.state_dir)
    waiting = queue.read(settings.state_dir).entries
    aside = poison.read(settings.state_dir)
    cost = ledger.cost_of(runs, ledger.stamp(time.time())[:10])
    last = _last(runs)
    if as_json:
        facts = {
            "on": settings.flag("CHITTA_DRAIN"),
            "command": settings.text("CHITTA_DRAIN_CMD"),
            "waiting": [entry._asdict() for entry in waiting],
            "poisoned": [{**one.entry._asdict(), "why": one.why, "at": one.ts} for one in aside],
            "today": cost._asdict(),
            "last": [run._asdict() for run in last],
        }
        output.as_json(facts)
        return
    on = "on, as a session starts" if settings.flag("CHITTA_DRAIN") else "by hand (CHITTA_DRAIN=1 at sessions' starts)"
    daily = settings.integer("CHITTA_DRAIN_DAILY")
    used = f"{cost.transcripts} of {daily} transcripts"
    if cost.agent_runs:
        agent = output.plural(cost.agent_runs, "agent run")
        used += f", {agent}, {cost.seconds:.0f} s, about {cost.tokens:,} tokens"
    output.pairs(
        [
            ("drain", on),
            ("read by", settings.text("CHITTA_DRAIN_CMD") or "fixed rules"),
            ("waiting", len(waiting) or "nothing"),
            ("today", used),
            ("set aside", f"{len(aside)}: `chitta drain --retry-poisoned`" if aside else "nothing"),
        ]
    )
    if last:
        output.say()
        rows = [
            [
                run.ts[:16].replace("T", " "),
                run.outcome,
                sum(run.notes.values()),
                run.why or "-",
                _short(run.transcript),
            ]
            for run in last
        ]
        output.table(["when", "outcome", "notes", "why", "transcript"], rows, right=("notes",), cut="transcript")


def _last(runs: list[Any]) -> list[Any]:
    """The latest line of the latest transcripts, newest first."""
    found: dict[str, Any] = {}
    for run in reversed(runs):
        found.setdefault(run.transcript, run)
    return list(found.values())[:_LAST_RUNS]


def _facts(one: Outcome) -> dict[str, Any]:
    notes = [{**note._asdict(), "extra": dict(note.extra)} for note in one.notes]
    return {**one._asdict(), "kept": dict(one.kept), "notes": notes}


def _short(path: str) -> str:
    home = os.path.expanduser("~")
    return f"~{path[len(home) :]}" if home != "/" and path.startswith(home + "/") else path


_OUTCOMES = {"passed": "passed over", "left": "left in the queue", "failed": "failed", "poisoned": "set aside"}
