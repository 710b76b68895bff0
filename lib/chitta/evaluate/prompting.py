"""Golden prompts through the real hook, over a copy of a store with a daemon of its own."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import NamedTuple

from chitta import daemon_client
from chitta.cli import trial
from chitta.evaluate.bench_store import environment, working_copy
from chitta.evaluate.golden import Case
from chitta.index.indexer import Progress
from chitta.notes.note import Note
from chitta.notes.realms import GLOBAL
from chitta.notes.store import NoteStore
from chitta.settings import Settings

#: The hook's budget and limits in a measurement, in ms: so long that a busy machine changes times, never scores.
PATIENT = {
    "CHITTA_HOOK_BUDGET_MS": "60000",
    "CHITTA_LANE_LIMIT_MS": "60000",
    "CHITTA_HYBRID_LIMIT_MS": "60000",
    "CHITTA_WARM_WAIT_MS": "60000",
}
#: Seconds for the models of a fresh daemon to load.
_WARM_UP_S = 120.0


class Answered(NamedTuple):
    """What the last turn of a case brought into the context.

    ``shown`` are the notes' ids in the block's order, ``earlier`` those of the session's turns before
    (a session is shown a note once, and still has it), ``characters`` the block's length,
    ``wall_ms`` the whole hook as a process, ``late`` the lanes that failed or were late.
    """

    case: Case
    shown: tuple[str, ...]
    characters: int
    wall_ms: float
    maxrel: float | None
    percent: int | None
    late: tuple[str, ...]
    earlier: tuple[str, ...] = ()


class Bench:
    """A warm store to send prompts to. Every case is a session of its own, whichever setting it is sent with."""

    def __init__(self, settings: Settings, realm: str, changes: Mapping[str, str]) -> None:
        self.settings = settings
        self.realm = realm
        self._changes = dict(changes)
        self._sessions = 0

    def answer(
        self, cases: Sequence[Case], changes: Mapping[str, str] | None = None, progress: Progress | None = None
    ) -> list[Answered]:
        """Each case's last turn, its earlier ones sent before. ``changes`` are settings for these prompts."""
        environ = environment(self.settings.home, {**self._changes, **(changes or {})})
        answers = []
        for done, case in enumerate(cases, start=1):
            self._sessions += 1
            answers.append(self._ask(case, f"evaluate-{self._sessions}", environ))
            if progress:
                progress("prompts", done, len(cases))
        return answers

    def _ask(self, case: Case, session: str, environ: Mapping[str, str]) -> Answered:
        earlier: list[str] = []
        shown: tuple[str, ...] = ()
        for turn in case.turns:
            earlier += shown
            result = trial.run(
                self.settings, turn, cwd=self.settings.home, realm=self.realm, session=session, environ=environ
            )
            shown = tuple(result.admitted)
            if bool(shown) != bool(result.block):
                raise RuntimeError(f"{case.id}: the recall log and the block differ: {result.stdout[:200]!r}")
        return Answered(
            case,
            shown,
            len(result.block),
            result.wall_ms,
            result.record.get("maxrel"),
            result.record.get("percent"),
            tuple(result.record.get("degraded", ())),
            tuple(earlier),
        )


@contextmanager
def bench(
    store: Settings, realm: str, *, notes: Iterable[Note] = (), changes: Mapping[str, str] | None = None
) -> Iterator[Bench]:
    """A warm copy of a store, with ``notes`` added and settings changed; its daemon ends with the block.

    Prompts are typed in ``realm``.

    Raises ``Failure`` where the daemon cannot be had.
    """
    changes = {**PATIENT, **(changes or {})}
    with working_copy(store, changes) as copy:
        added = list(notes)
        for note in added:
            NoteStore(copy.notes_dir).write(note)
        try:
            _warm_up(copy, environment(copy.home, changes), len(added))
            yield Bench(copy, realm, changes)
        finally:
            _stop(copy)


def _warm_up(settings: Settings, environ: Mapping[str, str], added: int) -> None:
    from chitta.cli.failure import Unavailable

    end = time.monotonic() + _WARM_UP_S
    try:
        daemon_client.ensure(settings)
        while time.monotonic() < end:
            models = daemon_client.call(settings, "status").get("models", {})
            if models and all(state.get("state") != "loading" for state in models.values()):
                break
            time.sleep(0.05)
        if added:
            daemon_client.call(settings, "sync", timeout=_WARM_UP_S)
    except (daemon_client.DaemonAway, daemon_client.DaemonRefused) as problem:
        raise Unavailable(f"the daemon for the measurement: {problem}", "run `chitta doctor`") from None
    trial.run(settings, "the first prompt of a session opens files", cwd=settings.home, realm=GLOBAL, environ=environ)


def _stop(settings: Settings) -> None:
    try:
        daemon_client.stop(settings)
    except daemon_client.DaemonAway:
        pass  # it has left by itself
