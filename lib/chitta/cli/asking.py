"""Asking the store: by the daemon where one can be had, else in this process, and from the folder one is in."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from chitta.cli import output, upkeep
from chitta.cli.failure import Busy, Misuse, Unavailable
from chitta.cli.realm_options import GLOBAL, current_realm
from chitta.cli.recall_tier import SUPPORTED, tier
from chitta.recall.fuse import surest_first
from chitta.settings import Settings
from chitta.wire import codec

if TYPE_CHECKING:
    from chitta.gateway.question import Question
    from chitta.recall.persona import PersonaLine
    from chitta.wire.rows import Row

#: Seconds that a question waits for the daemon: it may still be loading its models.
WAIT_S = 90.0
#: Where was looked: one realm that was named, this folder's and `global`, then all others as well, or everywhere.
NAMED, HERE, BEYOND, EVERYWHERE = "named", "here", "beyond", "everywhere"
#: What the gateway's header says of an answer that was not searched for.
LISTED, NOTHING_WRITTEN, HABIT = "answered from the ", "nothing was written ", "a known habit"
#: Rows asked of all realms beside those that this folder's may take, which are not shown again.
_BEYOND_ROWS = 3
_MOST_ROWS = 1000
#: What an arm says of itself that is no reason to look closer.
_WELL = ("ok", "off")
_NEEDS_MODEL = "`--strategy keyword` needs no model; `chitta doctor` checks it"


class Answer(NamedTuple):
    """Rows, best first, with what a person should know about how they were found.

    ``beyond`` are rows of other projects, ``scope`` says where was looked. ``reasons``, ``dropped``,
    ``health`` and ``persona`` are those of :class:`chitta.gateway.answer.Answer`; ``around`` is by id
    what stands around a note, where the question's depth asks for it.
    """

    rows: list[Row]
    maxrel: float | None = None
    warming: bool = False
    note: str = ""
    beyond: tuple[Row, ...] = ()
    scope: str = NAMED
    reasons: Mapping[str, Mapping[str, Any]] = {}
    dropped: Mapping[str, int] = {}
    health: Mapping[str, str] = {}
    persona: PersonaLine | None = None
    around: Mapping[str, Mapping[str, Any]] = {}

    @property
    def newest(self) -> bool:
        """Whether these are notes by their date rather than what was found for the question's words."""
        return self.note.startswith(LISTED)


def ask_from_here(settings: Settings, question: Question) -> Answer:
    """This folder's realm (the question's) and `global` together; where nothing there is supported, all after them.

    A habit that the folder's realm knows is the answer, before one of `global`.
    """
    answers: list[Answer] = []
    for place in dict.fromkeys((question.realm, GLOBAL)):
        answers.append(ask(settings, question._replace(realm=place)))
        if answers[-1].persona is not None:
            return answers[-1]._replace(scope=HERE)
    near = _joined(answers, question.limit)
    if near.rows and (near.newest or any(tier(row) == SUPPORTED for row in near.rows)):
        return near
    wide = ask(settings, question._replace(realm=None, limit=min(question.limit * _BEYOND_ROWS, _MOST_ROWS)))
    others = tuple(row for row in wide.rows if row.realm not in (question.realm, GLOBAL))
    whole = _joined([*answers, wide], question.limit)  # a habit of another project is no answer here
    return whole._replace(rows=near.rows, beyond=others, scope=BEYOND, dropped=wide.dropped)


def ask(settings: Settings, question: Question) -> Answer:
    """Answered by the daemon, which is started where meaning is asked for; by this process without one."""
    from chitta import daemon_client
    from chitta.gateway.question import as_fields

    upkeep.freshen(settings)
    if question.realm is None and not question.home:
        question = question._replace(home=current_realm(settings))
    try:
        there = _may_ask(settings) or (question.strategy != "keyword" and daemon_client.ensure(settings))
        if there:
            value = daemon_client.call(settings, "recall", as_fields(question), timeout=WAIT_S)
            return _completed(settings, question, _from_daemon(value))
    except daemon_client.DaemonAway as away:
        output.tell(f"chitta: answering without the daemon: {away}")
    except daemon_client.DaemonRefused as refused:
        if refused.code == codec.BUSY:
            raise Busy(str(refused), "nothing was lost; the question was not answered yet") from None
        if question.strategy == "semantic":
            raise Unavailable(str(refused), _NEEDS_MODEL) from None
    return _completed(settings, question, _from_here(settings, question))


def expand(settings: Settings, ids: Sequence[str]) -> list[dict[str, Any]]:
    """These notes, whole, with what is around each; ids that the index does not hold are left out."""
    from chitta.cli import bookshelf

    notes = _called(settings, "expand", {"ids": list(ids)})
    if notes is not None:
        return list(notes.get("notes", []))
    from chitta.gateway.surroundings import expanded

    with bookshelf.opened(settings) as snapshot:
        return expanded(snapshot, ids) if snapshot is not None else []


def transfer(settings: Settings, analogy: str, realm: str | None) -> dict[str, Any]:
    """The ``solutions`` of an analogy, or the ``reason`` why there is none. Raises :class:`Misuse` for none."""
    from chitta.cli import bookshelf
    from chitta.recall.analogy import parse

    try:
        parse(analogy)
    except ValueError as problem:
        raise Misuse(str(problem), "for example --analogy 'api:python::web:?'") from None
    upkeep.freshen(settings)
    found = _called(settings, "analogy", {"analogy": analogy, "realm": realm})
    if found is not None:
        return found
    from chitta.gateway.surroundings import transferred_json

    with bookshelf.opened(settings) as snapshot:
        return transferred_json(snapshot, analogy, realm)


def _may_ask(settings: Settings) -> bool:
    """Whether a daemon runs and may be asked."""
    from chitta import daemon_client

    return not settings.flag("CHITTA_NO_DAEMON") and daemon_client.running(settings)


def _called(settings: Settings, operation: str, body: dict[str, Any]) -> dict[str, Any] | None:
    """What a running daemon answers; None where none runs or it cannot. None is started: no model is needed."""
    from chitta import daemon_client

    try:
        return daemon_client.call(settings, operation, body) if _may_ask(settings) else None
    except (daemon_client.DaemonAway, daemon_client.DaemonRefused):
        return None


def _joined(answers: list[Answer], limit: int) -> Answer:
    """Answers of several realms as one, each in its own order, the surer of two first notes first; the newest by date.

    Scores of two answers do not compare, conf does. What another note of the answer replaced stays below it.
    """
    newest = any(answer.newest for answer in answers)
    rows = [row for answer in answers for row in answer.rows] if newest else surest_first([a.rows for a in answers])
    if newest:
        rows.sort(key=lambda row: row.id)
        rows.sort(key=lambda row: row.created, reverse=True)
    else:
        rows = _settled(rows, answers)
    measured = [answer.maxrel for answer in answers if answer.maxrel is not None]
    dropped: Counter[str] = Counter()
    reasons: dict[str, Mapping[str, Any]] = {}
    around: dict[str, Mapping[str, Any]] = {}
    for answer in answers:
        dropped.update(answer.dropped)
        reasons = {**answer.reasons, **reasons}
        around = {**answer.around, **around}
    return Answer(
        rows[:limit],
        max(measured, default=None),
        any(answer.warming for answer in answers),
        _note(answers),
        scope=HERE,
        reasons=reasons,
        dropped=dropped,
        health=_worst([answer.health for answer in answers]),
        around=around,
    )


def _note(answers: Sequence[Answer]) -> str:
    """What is to be said of them all: that some were listed by date, before anything else."""
    notes = sorted((answer.note for answer in answers if answer.note), key=lambda note: not note.startswith(LISTED))
    return notes[0] if notes else ""


def _settled(rows: list[Row], answers: Sequence[Answer]) -> list[Row]:
    from chitta.recall.diversify import Contradiction, settle

    whys = [why["replaced"] for answer in answers for why in answer.reasons.values() if why.get("replaced")]
    by_id = {row.id: row for row in rows}
    return [
        by_id[name] for name, _ in settle([(row.id, row.score) for row in rows], [Contradiction(**w) for w in whys])
    ]


def _worst(healths: Sequence[Mapping[str, str]]) -> dict[str, str]:
    """What each arm said where it was least well."""
    said: dict[str, list[str]] = {}
    for health in healths:
        for arm, state in health.items():
            said.setdefault(arm, []).append(state)
    return {arm: next((state for state in states if state not in _WELL), states[0]) for arm, states in said.items()}


def _from_daemon(value: dict[str, Any]) -> Answer:
    from chitta.recall.persona import PersonaLine
    from chitta.wire.rows import Row

    header, persona = value.get("header", {}), value.get("persona")
    return Answer(
        [Row(**{**row, "shared": tuple(row.get("shared", ()))}) for row in value.get("rows", [])],
        header.get("maxrel"),
        header.get("warming") is True,
        header.get("note", ""),
        reasons=value.get("reasons", {}),
        dropped=value.get("dropped", {}),
        health=value.get("health", {}),
        persona=PersonaLine(**persona) if persona else None,
        around=value.get("around", {}),
    )


def _from_here(settings: Settings, question: Question) -> Answer:
    from chitta.gateway.engine import Unavailable as NoMeaning
    from chitta.gateway.recall import recall as answer_here

    try:
        found, problem = answer_here(settings, question)
    except NoMeaning as none:
        raise Unavailable(str(none), _NEEDS_MODEL) from None
    note = found.header.note
    return Answer(
        list(found.rows),
        found.header.maxrel,
        found.header.warming,
        problem if problem and not note.startswith((LISTED, NOTHING_WRITTEN, HABIT)) else note,
        reasons=found.reasons,
        dropped=found.dropped,
        health=found.health,
        persona=found.persona,
    )


def _completed(settings: Settings, question: Question, answer: Answer) -> Answer:
    """The answer with titles of what replaced its notes and, where the depth asks for them, whole texts.

    Rows hold the beginning of a text. What is around a note is added where the answer came without it.
    """
    from chitta.cli import bookshelf
    from chitta.gateway.question import CONTEXT
    from chitta.gateway.surroundings import as_json, surroundings

    replaced = {
        row.id: row.superseded_by
        for row in answer.rows
        if row.superseded_by and not answer.reasons.get(row.id, {}).get("replaced")
    }
    deep = question.depth >= CONTEXT
    if not replaced and not (deep and answer.rows):
        return answer
    with bookshelf.opened(settings) as snapshot:
        if snapshot is None:
            return answer
        newer = snapshot.catalog.notes(list(dict.fromkeys(replaced.values())))
        reasons = dict(answer.reasons)
        for old, name in replaced.items():
            if name in newer:
                why = f"replaced by {', '.join(filter(None, (newer[name].title or name, newer[name].created[:10])))}"
                reasons[old] = {**reasons.get(old, {}), "replaced": {"winner": name, "loser": old, "why": why}}
        if not deep:
            return answer._replace(reasons=reasons)
        notes = snapshot.catalog.notes([row.id for row in answer.rows])
        rows = [row._replace(text=notes[row.id].text) if row.id in notes else row for row in answer.rows]
        around = answer.around or {name: as_json(surroundings(snapshot, note)) for name, note in notes.items()}
        return answer._replace(rows=rows, reasons=reasons, around=around)
