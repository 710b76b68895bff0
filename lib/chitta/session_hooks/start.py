"""The start of a session, and of a subagent: what the hook prints, keeps and logs."""

from __future__ import annotations

import os
import re
import stat
import time
from collections import Counter
from collections.abc import Collection, Iterator, Sequence

from chitta import recall_log, sessions
from chitta.admission.tokens import distinctive
from chitta.admission.verdict import ADMITTED, Admitted, Judged, Verdict
from chitta.gateway.question import Question
from chitta.notes.realms import GLOBAL, realm_of
from chitta.render.economics import Cost, cost_of
from chitta.render.envelope import NO_SUBAGENT_CONTEXT, session_envelope, subagent_envelope
from chitta.render.start_block import StartBlock, compose
from chitta.session_hooks import tiers
from chitta.session_hooks.asking import Asker, Found, supported
from chitta.session_hooks.occasion import Occasion, in_home
from chitta.session_hooks.project import Project, name_of, project
from chitta.session_hooks.tiers import LIMIT, Tiers
from chitta.sessions import Held
from chitta.settings import Settings
from chitta.wire.request import Request

#: Sources after which the session's context is empty of what it was shown.
EMPTIED = frozenset({"compact", "clear"})
COMPACT = "compact"
#: Bytes at the end of a transcript that are looked through for what a forked or resumed session was shown.
_TRANSCRIPT_BYTES = 4_000_000
#: Sources after which the session's context holds what an earlier one was shown.
_CONTINUED = frozenset({"resume", "fork"})
_ITEM_FACTS = re.compile(r"- \[[a-z]+\] [^\n\\]{0,400}?\([^()\\]{0,200}, ([^\s(),\\]{1,200})\)")


def session_start(occasion: Occasion, settings: Settings, end: float) -> bytes:
    """What to print as a session starts; ``end`` is the monotonic time by which it must be said."""
    began = time.monotonic()
    emptied = occasion.source in EMPTIED
    before, problems = _before(occasion, settings, emptied)
    folder = occasion.cwd
    if not folder or in_home(folder):
        return b""
    realm = realm_of(folder, settings.text("CHITTA_REALM"))
    work = project(folder, realm, settings.state_dir)
    asker = Asker(settings, end)
    seen = frozenset() if emptied else _seen(occasion, before)
    first = tiers.standing(settings, realm, seen)
    back = tiers.again(settings, before, {realm, GLOBAL}) if occasion.source == COMPACT and before else Tiers()
    known = {*seen, *(one.row.id for one in (*first.admitted, *back.admitted))}
    rest = tiers.climb(settings, asker, work, realm, known) if len(back.admitted) < LIMIT else Tiers()
    slots = {one.row.id for one in first.admitted}
    body = [one for one in (*back.admitted, *rest.admitted) if one.row.id not in slots][:LIMIT]
    chosen = (*first.admitted, *body)
    block = _compose(chosen, settings, work.name, first.pointer)
    problems += _remember(occasion, settings, realm, block)
    candidates = _judged(rest.found, block, work, known)
    _log(occasion, settings, realm, work.query, rest.found, candidates, block, began, [*problems, *_told(asker)])
    return session_envelope(block.text, occasion.harness, occasion.event)


def subagent_start(occasion: Occasion, settings: Settings, end: float) -> bytes:
    """What to print as a subagent starts.

    Its context is its own: what the session was shown it has not seen, and what it is shown the session has not.
    """
    began = time.monotonic()
    if occasion.harness in NO_SUBAGENT_CONTEXT or not occasion.cwd:
        return b""
    realm = realm_of(occasion.cwd, settings.text("CHITTA_REALM"))
    asker = Asker(settings, end)
    for query, work in _subagent_questions(occasion, settings, realm):
        own = work.asked_of(realm) if query == work.query else None  # a task is asked as it was given
        found = asker.ask(Question(query, realm=realm, limit=LIMIT, tags=work.tags), own)
        rows = [row for row in found.rows if supported(row, work.telling(row.realm))][:LIMIT]
        if rows:
            break
    admitted = tuple(Admitted(row, found.tag, "of this task") for row in rows)
    block = _compose(admitted, settings, work.name, "", footer=False)
    candidates = _judged((found,), block, work, ())
    _log(occasion, settings, realm, query, (found,), candidates, block, began, _told(asker))
    return subagent_envelope(block.text, occasion.harness, occasion.event)


def _subagent_questions(occasion: Occasion, settings: Settings, realm: str) -> Iterator[tuple[str, Project]]:
    """What to ask, each until one has an answer, with the words of it that tell: type and folder are for the model.

    The task; where the client does not say it, what the person typed last, and then what the project is about.
    """
    name = name_of("", realm, occasion.cwd)
    task = occasion.task
    if not task:
        known = sessions.read(settings.state_dir, occasion.session)
        task = known.turns[-1] if known.turns and known.realm in ("", realm) else ""
    if task:
        yield subagent_query(occasion, task), Project(name, (name.lower(), *task.split()))
    if not occasion.task:
        work = project(occasion.cwd, realm, settings.state_dir)
        yield work.query, work


def subagent_query(occasion: Occasion, task: str) -> str:
    """``subagent TYPE | cwd FOLDER | TASK`` (reflect), without what nobody says."""
    parts = [f"subagent {occasion.agent}".strip(), f"cwd {occasion.cwd}", task]
    return " | ".join(part for part in parts if part)


def _seen(occasion: Occasion, before: Sequence[str]) -> frozenset[str]:
    """Ids that the session's context holds: those it was shown, and of a fork or resume those in its transcript."""
    named = _named_in(_end_of(occasion.transcript)) if occasion.source in _CONTINUED else []
    return frozenset((*before, *named))


def _named_in(transcript: str) -> list[str]:
    """Ids of the notes in the blocks of a transcript, which is JSON: an item's line ends in its facts, the id last."""
    return [found[1] for found in _ITEM_FACTS.finditer(transcript)]


def _end_of(path: str) -> str:
    """The last part of a plain file as text; "" for what is none."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except (OSError, ValueError):
        return ""
    try:
        facts = os.fstat(descriptor)
        if not stat.S_ISREG(facts.st_mode):
            return ""
        raw = os.pread(descriptor, _TRANSCRIPT_BYTES, max(0, facts.st_size - _TRANSCRIPT_BYTES))
    finally:
        os.close(descriptor)
    return raw.decode("utf-8", "replace")


def _compose(
    admitted: Sequence[Admitted], settings: Settings, name: str, pointer: str, footer: bool = True
) -> StartBlock:
    costs: dict[str, Cost] | None = None
    if settings.flag("CHITTA_ECONOMICS"):
        notes = tiers.notes_by_id(settings, [one.row.id for one in admitted])
        costs = {found: cost_of(note) for found, note in notes.items()}
    room = settings.integer("CHITTA_MAX_OUTPUT_CHARS")
    return compose(admitted, about=name, room=room, pointer=pointer, costs=costs, footer=footer)


def _before(occasion: Occasion, settings: Settings, emptied: bool) -> tuple[tuple[str, ...], list[str]]:
    """Ids that the session was shown, forgotten from now on where its context was ``emptied``; and what went wrong."""
    with Held(settings.state_dir, occasion.session) as held:
        before = held.session.injected
        try:
            if emptied:
                held.forget_shown()
        except OSError as problem:
            return before, [f"session not kept: {problem.strerror}"]
    return before, []


def _remember(occasion: Occasion, settings: Settings, realm: str, block: StartBlock) -> list[str]:
    """Keep what was shown, so that the first prompt does not bring it again; what could not be kept, in words."""
    try:
        with Held(settings.state_dir, occasion.session) as held:
            held.show([one.row.id for one in block.shown], realm)
    except OSError as problem:
        return [f"session not kept: {problem.strerror}"]
    return []


def _judged(found: Sequence[Found], block: StartBlock, work: Project, known: Collection[str]) -> list[Judged]:
    """What became of each row of the last answer, by the causes of the gate; ``known`` were in the context."""
    shown = {one.row.id for one in block.shown}
    judged: list[Judged] = []
    for row in found[-1].rows if found else ():
        outcome = (
            ADMITTED
            if row.id in shown
            else "conf"
            if not supported(row, work.telling(row.realm))
            else "dup"
            if row.id in known
            else "cap"
        )
        judged.append(Judged(found[-1].tag, row, outcome))
    return judged


def _log(
    occasion: Occasion,
    settings: Settings,
    realm: str,
    query: str,
    found: Sequence[Found],
    judged: Sequence[Judged],
    block: StartBlock,
    began: float,
    problems: Sequence[str],
) -> None:
    """One line in the recall log, in the form of a prompt's, with the event that it is of."""
    dropped = Counter((one.tag, one.outcome) for one in judged if one.outcome != ADMITTED)
    request = Request(
        prompt=query,
        query=query,
        tokens=distinctive(query),
        session=occasion.session,
        turn=0,
        cwd=occasion.cwd,
        realm=realm,
        k=LIMIT,
        harness=occasion.harness,
        event=_EVENTS[occasion.part],
    )
    try:
        line = recall_log.entry(
            request,
            [one.result for one in found[-1:]],
            Verdict(block.shown, dict(dropped), trace=tuple(judged)),
            settings=settings,
            total_ms=(time.monotonic() - began) * 1000,
            now=time.time(),
            problems=problems,
            chars=len(block.text),
        )
        recall_log.append(settings.state_dir, {"event": request.event, **line})
    except OSError:
        pass  # `chitta doctor` reports a store that cannot be written


_EVENTS = {"start": "SessionStart", "subagent": "SubagentStart"}


def _told(asker: Asker) -> list[str]:
    return [asker.problem] if asker.problem else []
