"""A session's calls and their results: what a result says depends on the call that it answers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from chitta.capture.events import CALL, EDIT, RESULT, SHELL, TODOS, Event, bounded
from chitta.capture.tools import Tasks, changes_of, command_of, kind_of

#: Calls that wait for their result; the oldest goes.
MAX_OPEN = 256


class _Open(NamedTuple):
    event: Event
    name: str
    given: Mapping[str, Any]


class Calls:
    """Calls that are open, and the list of things to do."""

    def __init__(self, tasks: Tasks | None = None) -> None:
        self._open: dict[str, _Open] = {}
        self.tasks = tasks or Tasks()

    def call(self, call: str, name: str, given: Mapping[str, Any], place: Event) -> Event:
        """A call of a tool; ``place`` has session, folder and time."""
        tool = kind_of(name)
        event = place._replace(
            kind=CALL,
            tool=tool,
            call=call,
            command=command_of(given) if tool == SHELL else "",
            changes=changes_of(given) if tool == EDIT else (),
        )
        if call:
            while len(self._open) >= MAX_OPEN:
                self._open.pop(next(iter(self._open)))
            self._open[call] = _Open(event, name, given)
        return event

    def result(self, call: str, text: str, ok: bool | None, place: Event) -> Iterator[Event]:
        """What a call gave, and the list of things to do where the call changed it. An unknown call's is dropped."""
        opened = self._open.pop(call, None)
        if opened is None:
            return
        yield place._replace(
            kind=RESULT,
            text=bounded(text),
            tool=opened.event.tool,
            call=call,
            command=opened.event.command,
            changes=opened.event.changes,
            ok=ok,
        )
        todos = self.tasks.take(opened.name, opened.given, text) if ok is not False else ()
        if todos:
            yield place._replace(kind=TODOS, todos=todos)
