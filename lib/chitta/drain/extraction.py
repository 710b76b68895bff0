"""What a part of a session teaches: by fixed rules, or by the person's own agent. Writes nothing."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from typing import NamedTuple

from chitta.capture import events, extract, note, own_block, transcript
from chitta.capture.draft import Draft
from chitta.capture.events import Event
from chitta.drain import agent, answers, slices, task
from chitta.drain.answers import Learning
from chitta.notes.note import Note
from chitta.safety.private import without_private
from chitta.safety.secrets import redact
from chitta.wire import codec

#: Events that are looked at for whose session it is.
_TOLD_EVENTS = 200
#: Lines that are looked at for which client wrote them, and bytes of each.
_TOLD_LINES, _TOLD_BYTES = 20, 1_000_000


class Origin(NamedTuple):
    """Whose session it is; ``day`` is the date of what is learned."""

    realm: str
    harness: str
    session: str
    day: str


class Limits(NamedTuple):
    """Of one run of the agent."""

    seconds: float
    most_bytes: int


class Extracted(NamedTuple):
    """Notes, and of an agent the class of its answer (or why there is none), its words for people, and its cost."""

    notes: tuple[Note, ...] = ()
    kind: str = answers.VALID
    remark: str = ""
    seconds: float = 0.0
    asked: int = 0
    answered: int = 0


def by_rules(path: str, origin: Origin) -> Extracted:
    """The deterministic way: the rules of the capture hooks over the whole file."""
    found = extract.learnings(
        transcript.read(path, origin.harness),
        realm=origin.realm,
        harness=origin.harness,
        session=origin.session,
        day=origin.day,
    )
    return Extracted(tuple(found))


def by_agent(
    path: str,
    origin: Origin,
    command: list[str],
    limits: Limits,
    folder: str,
    token: str,
    *,
    before: Callable[[], object] = lambda: None,
) -> Extracted:
    """One run of the agent over the lines around signals; none where there is no signal. ``before`` is called just
    before it begins. Raises ``NoCommand``.
    """
    material = material_of(transcript.read(path, origin.harness))
    if not material:
        return Extracted(kind=answers.IDLE, remark="no sign of anything learned")
    prompt = task.prompt(material)
    before()
    reply = agent.ask(command, prompt, folder, token, seconds=limits.seconds, most_bytes=limits.most_bytes)
    cost = Extracted(seconds=reply.seconds, asked=len(prompt.encode()), answered=len(reply.out))
    if reply.problem:
        return cost._replace(kind=reply.problem, remark=_PROBLEMS[reply.problem].format(reply.code))
    answer = answers.parse(reply.out)
    notes = tuple(found for one in answer.learnings if (found := note_of(one, origin)) is not None)
    left_out = answer.left_out + len(answer.learnings) - len(notes)
    remark = _CLASSES[answer.kind] + (f", {left_out} left out" if left_out else "")
    return cost._replace(notes=notes, kind=answer.kind, remark=remark)


def material_of(found: Iterable[Event]) -> str:
    """The slice of a session, without what is private, chitta's own, a client's markup, or a secret."""
    return redact(slices.joined(_said(found))).text


def told_by(path: str, harness: str) -> Event:
    """What a session itself says of itself: an event with its first session, folder and time."""
    told = Event(events.PERSON)
    for event in islice(transcript.read(path, harness), _TOLD_EVENTS):
        told = told._replace(
            session=told.session or event.session, cwd=told.cwd or event.cwd, time=told.time or event.time
        )
        if told.session and told.cwd and told.time:
            break
    return told


def is_transcript(path: str, harness: str) -> bool:
    """Whether a client wrote it: one that its first lines tell, or anything that was said or done in it."""
    return bool(harness_of(path)) or next(iter(transcript.read(path, harness)), None) is not None


def harness_of(path: str) -> str:
    """Whose transcript it is by its first lines, or ""."""
    with open(path, "rb") as file:
        lines = [file.readline(_TOLD_BYTES) for _ in range(_TOLD_LINES)]
    for line in lines:
        try:
            value = codec.loads(line)
        except ValueError:
            continue
        if isinstance(value, dict) and (told := transcript.told_harness(value)):
            return told
    return ""


def note_of(learning: Learning, origin: Origin) -> Note | None:
    """The note of one learning, as low as a captured one; None for what repeats chitta's own block, or is a secret."""
    if own_block.holds(learning.title) or own_block.holds(learning.text):
        return None
    draft = Draft(
        what=learning.kind, title=learning.title, text=learning.text, key=f"{learning.title}\n{learning.text}"
    )
    found = note.note_of(draft, realm=origin.realm, harness=origin.harness, session=origin.session, day=origin.day)
    return found._replace(source=f"{found.source}, read by an agent") if found is not None else None


def _said(found: Iterable[Event]) -> Iterator[tuple[str, str]]:
    """Who says what: words, and of tools the shell's alone, but not where it ran chitta or read its store."""
    for event in found:
        if event.kind in _SPEAKERS:
            yield _SPEAKERS[event.kind], _fit(event.text)
        elif event.tool == events.SHELL and not own_block.is_own_command(event.command):
            if event.kind == events.CALL:
                yield slices.COMMAND, _fit(event.command)
            elif event.kind == events.RESULT:
                yield slices.OUTPUT, _fit(event.text)


def _fit(text: str) -> str:
    return own_block.cut(without_private(text))


_SPEAKERS = {events.PERSON: slices.PERSON, events.AGENT: slices.AGENT}
_PROBLEMS = {
    agent.TIME: "the agent took longer than CHITTA_DRAIN_TIME_S",
    agent.SIZE: "the agent wrote more than CHITTA_DRAIN_ANSWER_BYTES",
    agent.EXIT: "the agent's command failed (exit code {})",
}
_CLASSES = {
    answers.VALID: "the agent's answer",
    answers.IDLE: "the agent found nothing",
    answers.PROSE: "the agent answered in prose",
    answers.MALFORMED: "the agent's answer is not in the format it was given",
    answers.REFUSED: "the agent declined",
}
