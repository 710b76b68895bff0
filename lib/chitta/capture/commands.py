"""A command that failed and later passed, and what made it pass.

:class:`Watch` sees a session's results in order and holds, of each shape of command, the last failure. Its state is
plain data, so that a hook can put it away between two calls.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from chitta.capture.draft import FIX, Draft, whole_words
from chitta.capture.errors import place_in, telling_line
from chitta.capture.events import EDIT, RESULT, SHELL, Change, Event
from chitta.capture.own_block import cut, holds, is_own_command, is_own_path
from chitta.capture.shape import Shape, mends, shape_of
from chitta.notes.note import one_line

#: Failures that are held, results in which one must be mended, and steps between that are told.
MAX_FAILURES, MAX_AGE, MAX_STEPS = 8, 60, 12
_MAX_COMMAND_CHARS = 240
_MAX_EDIT_CHARS = 100
_SHOWN_STEPS = 4

State = dict[str, Any]


class Watch:
    """The failures of one session. ``state`` is what :meth:`state` gave, or nothing."""

    def __init__(self, state: Mapping[str, Any] | None = None) -> None:
        held = (state or {}).get("failures")
        self._failures: list[State] = [one for one in held if _whole(one)] if isinstance(held, list) else []

    def state(self) -> State:
        """Plain data, for :class:`Watch` again; {} when nothing is held."""
        return {"failures": self._failures} if self._failures else {}

    def take(self, event: Event) -> Draft | None:
        """See one event; the fix where this result is the pass of what failed before."""
        if event.kind != RESULT:
            return None
        for failure in self._failures:
            failure["age"] += 1
        self._failures = [failure for failure in self._failures if failure["age"] <= MAX_AGE]
        if event.tool == EDIT and event.ok is True:
            for change in event.changes:
                if not is_own_path(change.path) and not holds(f"{change.old}\n{change.new}"):
                    self._step(_edit_words(change), change.path.rsplit("/", 1)[-1])
        elif event.tool == SHELL and event.command and not is_own_command(event.command):
            return self._command(event)
        return None

    def _command(self, event: Event) -> Draft | None:
        shape = shape_of(event.command)
        if event.ok is False:
            line = telling_line(cut(event.text)) if shape is not None and not shape.looks else ""
            if shape is not None and line:
                self._hold(shape, line, place_in(event.text), event.command)
            return None
        if event.ok is None:
            return None
        mended = shape is not None and self._mended(shape, event)
        if mended and shape is not None:
            self._failures.remove(mended)
            return _fix(mended, event.command, shape)
        changed = _changes_things(event.command, shape)
        if changed:
            self._step(f"ran `{whole_words(event.command, _MAX_COMMAND_CHARS)}`", "")
        return None

    def _hold(self, shape: Shape, line: str, place: str, command: str) -> None:
        kept = [failure for failure in self._failures if failure["name"] != shape.name]
        fresh = {
            "name": shape.name,
            "words": list(shape.words),
            "masked": shape.masked,
            "plain": shape.plain,
            "command": command[:2_000],
            "line": line,
            "place": place,
            "age": 0,
            "steps": [],
            "files": [],
        }
        self._failures = [*kept[-MAX_FAILURES + 1 :], fresh]

    def _mended(self, shape: Shape, event: Event) -> State | None:
        """The failure that this pass mends: something was done between, or the command is another one."""
        for failure in self._failures:
            failed = Shape(failure["name"], tuple(failure["words"]), failure["masked"], failure["plain"])
            if not mends(failed, shape):
                continue
            if shape.masked and telling_line(event.text):
                continue  # the exit code is a pipe's, and the words say otherwise
            if failure["steps"] or failed.words != shape.words or failed.plain != shape.plain:
                return failure
            self._failures.remove(failure)  # it passed on a plain retry: nothing was learned
            return None
        return None

    def _step(self, words: str, file: str) -> None:
        for failure in self._failures:
            if words not in failure["steps"] and len(failure["steps"]) < MAX_STEPS:
                failure["steps"].append(words)
            if file and file not in failure["files"] and len(failure["files"]) < MAX_STEPS:
                failure["files"].append(file)


def _changes_things(command: str, shape: Shape | None) -> bool:
    """Whether a command that passed may be what mended another: neither a look nor a commit."""
    if shape is None:
        words = command.split()
        return bool(words) and "&&" in command and "\n" not in command and "git commit" not in command
    return not shape.looks and shape.name not in ("git commit", "git add", "git push")


def _edit_words(change: Change) -> str:
    name = change.path.rsplit("/", 1)[-1]
    old, new = one_line(change.old), one_line(change.new)
    if (old or new) and len(old) <= _MAX_EDIT_CHARS and len(new) <= _MAX_EDIT_CHARS and "`" not in old + new:
        if old and new:
            return f"edited {name}: `{old}` became `{new}`"
        return f"edited {name}: {'removed' if old else 'added'} `{old or new}`"
    return f"edited {name}"


def _fix(failure: State, command: str, shape: Shape) -> Draft:
    failed, passed = (whole_words(text, _MAX_COMMAND_CHARS) for text in (failure["command"], command))
    line = failure["line"]
    steps = [*failure["steps"][-_SHOWN_STEPS:]]
    if failure["plain"] != shape.plain:
        steps.append(f"ran `{passed}` instead")
    lines = [f"Symptom: `{failed}` failed with: {line}"]
    lines += [f"Cause: at {failure['place']}"] if failure["place"] else []
    lines.append(f"Fix: {'; '.join(steps)}; then it passed.")
    title = f"Fix for {failure['name']}: {line}"
    return Draft(FIX, title, "\n".join(lines), f"{failure['name']}\n{line}", tags=tuple(_tags(failure["name"])))


def _tags(name: str) -> list[str]:
    return [word for word in name.lower().split() if word.replace("-", "").isalnum()][:2]


def _whole(failure: Any) -> bool:
    texts = ("name", "plain", "command", "line", "place")
    lists = ("words", "steps", "files")
    return (
        isinstance(failure, dict)
        and all(isinstance(failure.get(key), str) for key in texts)
        and all(isinstance(failure.get(key), list) and all(isinstance(v, str) for v in failure[key]) for key in lists)
        and isinstance(failure.get("age"), int)
        and isinstance(failure.get("masked"), bool)
    )
