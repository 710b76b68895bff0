"""One drain: each transcript that waits is weighed, read, kept as notes, written down, and only then let go.

A line of ``begun`` stands in the ledger before a transcript is read, one of ``started`` before its agent or the writing
of its notes begins, one of ``done`` after its notes are stored, and its lines leave the queue last; so a drain that is
killed loses no entry, and its repetition finds the notes it wrote.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from chitta.capture.place import realm_for
from chitta.capture.said import is_said
from chitta.drain import agent, answers, extraction, gate, ledger, poison, queue, retry, source, work
from chitta.drain.extraction import Extracted, Limits, Origin
from chitta.drain.ledger import BEGUN, DONE, FAILED, POISONED, RELEASED, STARTED, Known, Run
from chitta.drain.queue import Entry, Waiting
from chitta.drain.source import Section, Transcript
from chitta.drain.work import Workplace
from chitta.notes.note import Note
from chitta.notes.realms import GLOBAL
from chitta.notes.store import NoteStore
from chitta.settings import Settings

#: What became of a transcript: read; passed over and out of the queue; left in it for later; failed.
READ, PASSED, LEFT = "read", "passed", "left"
#: Of a note that no file can hold.
UNWRITABLE = "unwritable"
#: After an answer of these kinds another try may help; a refusal is set aside at once.
_AGAIN = frozenset({answers.PROSE, answers.MALFORMED, agent.TIME, agent.SIZE, agent.EXIT})
#: After these the next transcript would fare no better.
_STOPS = frozenset({agent.TIME, agent.EXIT})


class Wanted(NamedTuple):
    """What a drain is asked for. ``automatic``: nobody waits, so it is not again so soon. ``hurried`` tries what waits
    after a failure, and reads by rules whatever the day has had. ``limit`` is the most transcripts that are read, 0:
    as set. ``only`` are transcripts that a person names, queued or not."""

    automatic: bool = False
    dry_run: bool = False
    hurried: bool = False
    limit: int = 0
    only: tuple[str, ...] = ()


class Outcome(NamedTuple):
    """What became of one transcript; ``kept`` counts its notes by what keeping them came to."""

    transcript: str
    outcome: str
    why: str = ""
    notes: tuple[Note, ...] = ()
    kept: Mapping[str, int] = {}
    new_bytes: int = 0
    tokens: int = 0


class Drained(NamedTuple):
    """A whole drain: ``problem`` made an end of it; ``damaged`` lines were dropped; ``waiting`` are left."""

    outcomes: tuple[Outcome, ...] = ()
    problem: str = ""
    damaged: int = 0
    waiting: int = 0


class _Stop(Exception):
    """The rest of the drain would fare no better; its first argument is the outcome that showed it, or None."""

    def __init__(self, problem: str, outcome: Outcome | None = None) -> None:
        super().__init__(problem)
        self.outcome = outcome


def drain(settings: Settings, wanted: Wanted, clock: Callable[[], float]) -> Drained:
    """Drain the queue, or what is named. ``clock`` gives seconds since the epoch.

    Raises :class:`chitta.drain.work.Busy`, :class:`chitta.drain.agent.NoCommand` and ``OSError``.
    """
    state_dir = settings.state_dir
    text = settings.text("CHITTA_DRAIN_CMD").strip()
    command = agent.command_of(text) if text else []
    if wanted.automatic and work.is_soon(state_dir, clock()):
        return Drained(problem="the last run was a moment ago")
    with Workplace(state_dir) as place:
        if wanted.automatic:
            work.began(state_dir, clock())
        waiting = queue.read(state_dir)
        if waiting.damaged and not wanted.dry_run:
            queue.remove(state_dir, waiting.damaged)
        drainer = _Drainer(settings, wanted, clock, command, place, waiting)
        outcomes, problem = drainer.all(_chosen(waiting, wanted.only))
        return Drained(outcomes, problem, len(waiting.damaged), len(queue.read(state_dir).entries))


def retry_poisoned(settings: Settings, now: float) -> int:
    """Let everything that was set aside wait in the queue again; how many. Raises ``OSError``."""
    from chitta.session_hooks.flush import enqueue
    from chitta.session_hooks.occasion import FLUSH, Occasion

    found = poison.read(settings.state_dir)
    for entry, *_ in found:
        ledger.append(settings.state_dir, Run(ledger.stamp(now), entry.transcript, RELEASED))
        occasion = Occasion(FLUSH, entry.harness, "", entry.session, entry.cwd)
        enqueue(occasion._replace(transcript=entry.transcript, why=entry.trigger), settings.state_dir, now)
    poison.clear(settings.state_dir)
    return len(found)


def _chosen(waiting: Waiting, only: Sequence[str]) -> list[Entry]:
    """The queue's entries, the longest waiting first; of paths that are named those alone, as the queue knows them."""
    if not only:
        return list(waiting.entries)
    queued = {os.path.abspath(entry.transcript): entry for entry in waiting.entries}
    paths = dict.fromkeys(os.path.abspath(path) for path in only)
    return [queued.get(path, Entry(path)) for path in paths]


class _Drainer:
    """The steps of one drain."""

    def __init__(
        self,
        settings: Settings,
        wanted: Wanted,
        clock: Callable[[], float],
        command: list[str],
        place: Workplace,
        waiting: Waiting,
    ) -> None:
        self._settings, self._wanted, self._clock = settings, wanted, clock
        self._command, self._place, self._lines = command, place, waiting.lines
        self._state = settings.state_dir
        self._runs = ledger.read(self._state)
        self._seen = ledger.digests(self._runs)
        self._store = NoteStore(settings.notes_dir)
        cost = ledger.cost_of(self._runs, ledger.stamp(clock())[:10])
        self._left_today = settings.integer("CHITTA_DRAIN_DAILY") - (cost.agent_runs if command else cost.transcripts)
        if not command and (wanted.hurried or wanted.only):
            self._left_today = 10**9
        self._left_in_run = wanted.limit or (len(wanted.only) or settings.integer("CHITTA_DRAIN_RUN"))

    def all(self, entries: Sequence[Entry]) -> tuple[tuple[Outcome, ...], str]:
        """Every entry until the run's share is read, or one shows that the rest would fail."""
        outcomes: list[Outcome] = []
        for entry in entries:
            if self._left_in_run <= 0:
                break
            try:
                outcomes.append(self._one(entry))
            except _Stop as stop:
                outcomes += [stop.outcome] if stop.outcome is not None else []
                return tuple(outcomes), str(stop)
        return tuple(outcomes), ""

    def _one(self, entry: Entry) -> Outcome:
        user = os.geteuid()
        why = gate.plain(_status(entry.transcript), user, self._bounds.most)
        if why:
            return self._passed(entry, why, 0)
        try:
            transcript = Transcript(entry.transcript)
        except OSError:
            return self._passed(entry, gate.plain(_status(entry.transcript), user, 0) or gate.NOT_A_FILE, 0)
        with transcript:
            known = ledger.known(self._runs, entry.transcript)
            facts = gate.Facts(
                transcript.status, user, known, transcript.is_same(known), own=self._is_own(entry, transcript)
            )
            section = transcript.section(gate.begin_of(facts))
            facts = facts._replace(seen=section.digest in self._seen)
            if self._wanted.only and known.outcome == POISONED:
                facts = facts._replace(known=known._replace(outcome=RELEASED, tries=0))
            hurried = self._wanted.hurried or bool(self._wanted.only)
            why = gate.verdict(facts, self._bounds, self._clock(), hurried=hurried)
            if why:
                return self._passed(entry, why, transcript.status.st_size)
            if retry.is_hopeless(facts.known.tries, facts.known.kills):
                return self._failed(entry, section, facts.known, "the drain was killed while it read it", counted=False)
            if not extraction.is_transcript(entry.transcript, entry.harness):
                return self._passed(entry, gate.NO_TRANSCRIPT, transcript.status.st_size)
            self._left_in_run -= 1
            self._left_today -= 1
            if self._wanted.dry_run and self._command:
                return Outcome(entry.transcript, READ, "the agent would read it", new_bytes=section.end - section.start)
            return self._read(entry, transcript, section, facts.known)

    def _read(self, entry: Entry, transcript: Transcript, section: Section, known: Known) -> Outcome:
        begun = Run(self._now(), entry.transcript, BEGUN, tries=known.tries, agent=bool(self._command))
        started = begun._replace(outcome=STARTED, tries=known.tries + 1)
        if not self._wanted.dry_run:
            self._write(begun)
        try:
            found = self._extracted(entry, transcript, section, started)
        except agent.NoCommand as problem:
            self._write(begun._replace(outcome=FAILED, tries=known.tries, why=str(problem)))
            raise
        except Exception as problem:  # whatever a transcript can bring about costs this transcript alone
            return self._failed(entry, section, known, f"{type(problem).__name__}: {problem}"[:200])
        except BaseException:
            self._write(begun._replace(outcome=FAILED, tries=known.tries, why="stopped by hand"))
            raise
        size = section.end - section.start
        if self._wanted.dry_run:
            return Outcome(entry.transcript, READ, found.remark, found.notes, new_bytes=size)
        if found.kind in _AGAIN or found.kind == answers.REFUSED:
            return self._failed(entry, section, known, found.remark, found)
        if found.notes and not self._command:
            self._write(started)
        kept = self._kept(found.notes, started)
        done = begun._replace(
            ts=self._now(), outcome=DONE, start=section.start, end=section.end, mark=section.mark, notes=kept,
            digest=section.digest, why=found.remark, tries=0, seconds=found.seconds, asked=found.asked,
            answered=found.answered,
        )  # fmt: skip
        self._write(done)
        self._seen |= {section.digest}
        self._let_go(entry, section.end)
        return Outcome(entry.transcript, READ, found.remark, found.notes, kept, size, done.tokens)

    def _extracted(self, entry: Entry, transcript: Transcript, section: Section, started: Run) -> Extracted:
        room = self._place.room()
        overlap = 0 if self._command else source.OVERLAP_BYTES
        path = transcript.copy(section, room, overlap)
        origin = self._origin(entry)
        if not self._command:
            return extraction.by_rules(path, origin)
        limits = Limits(
            self._settings.integer("CHITTA_DRAIN_TIME_S"), self._settings.integer("CHITTA_DRAIN_ANSWER_BYTES")
        )
        folder, token = self._place.room(), self._place.token
        return extraction.by_agent(
            path, origin, self._command, limits, folder, token, before=lambda: self._write(started)
        )

    def _origin(self, entry: Entry) -> Origin:
        """Whose it is: as the hook said, else as the session's beginning says; which client's, its lines know best."""
        session, cwd, moment = entry.session, entry.cwd, entry.ts or self._now()
        if not (session and cwd):
            told = extraction.told_by(entry.transcript, entry.harness)
            session, cwd = session or told.session, cwd or told.cwd
            moment = entry.ts or told.time or moment
        session = session or os.path.splitext(os.path.basename(entry.transcript))[0][:200]
        override = self._settings.text("CHITTA_REALM")
        realm = realm_for(self._settings, cwd, session) if cwd else override or GLOBAL
        harness = extraction.harness_of(entry.transcript) or entry.harness or "agent"
        return Origin(realm, harness, session, moment[:10])

    def _kept(self, notes: Sequence[Note], started: Run) -> dict[str, int]:
        from chitta.capture.keep import KNOWN, keep

        counts: Counter[str] = Counter()
        for note in notes:
            try:
                told = is_said(self._settings, note)
                counts[KNOWN if told else keep(self._store, note, state_dir=self._state)] += 1
            except ValueError:
                counts[UNWRITABLE] += 1
            except OSError as problem:
                why = f"the store cannot be written: {problem.strerror or problem}"
                self._write(started._replace(outcome=FAILED, tries=started.tries - 1, why=why))
                raise _Stop(why, Outcome(started.transcript, FAILED, why)) from None
        return dict(counts)

    def _failed(
        self,
        entry: Entry,
        section: Section,
        known: Known,
        why: str,
        found: Extracted | None = None,
        *,
        counted: bool = True,
    ) -> Outcome:
        tries = known.tries + (1 if counted else 0)
        cost = found or Extracted()
        hopeless = retry.is_hopeless(tries, known.kills) or cost.kind == answers.REFUSED
        run = Run(
            self._now(), entry.transcript, POISONED if hopeless else FAILED, section.start, why=why, tries=tries,
            agent=bool(self._command), seconds=cost.seconds, asked=cost.asked, answered=cost.answered,
        )  # fmt: skip
        outcome = Outcome(entry.transcript, run.outcome, why, new_bytes=section.end - section.start, tokens=run.tokens)
        if self._wanted.dry_run:
            return outcome
        if hopeless:
            poison.add(self._state, entry, why, run.ts)
        self._write(run)
        if hopeless:
            queue.remove(self._state, self._lines.get(entry.transcript, ()))
        if cost.kind in _STOPS:
            raise _Stop(why, outcome)
        return outcome

    def _passed(self, entry: Entry, why: str, size: int) -> Outcome:
        later = why in gate.LATER
        if not later:
            self._let_go(entry, size)
        return Outcome(entry.transcript, LEFT if later else PASSED, gate.WORDS[why])

    def _let_go(self, entry: Entry, size: int) -> None:
        if not self._wanted.dry_run:
            lines = self._lines.get(entry.transcript, ())
            queue.remove(self._state, lines, lambda: source.size_of(entry.transcript) > size > 0)

    def _is_own(self, entry: Entry, transcript: Transcript) -> bool:
        return work.is_inside(entry.cwd, self._state) or transcript.is_own()

    @property
    def _bounds(self) -> gate.Bounds:
        least = 1 if self._wanted.only else self._settings.integer("CHITTA_DRAIN_LEAST_BYTES")
        return gate.Bounds(least, self._settings.integer("CHITTA_DRAIN_MOST_BYTES"), self._left_today)

    def _write(self, run: Run) -> None:
        ledger.append(self._state, run)
        self._runs.append(run)

    def _now(self) -> str:
        return ledger.stamp(self._clock())


def _status(path: str) -> os.stat_result | None:
    try:
        return os.lstat(path)
    except OSError:
        return None
