"""chitta's entries into a harness's file and out of it again, as pure functions on text.

Whatever is not chitta's keeps its bytes. Every result is parsed and compared with what was there before it is handed
out; a text that cannot be changed that safely is refused with :class:`Refused`.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, NamedTuple

from chitta.wiring import harness, json_text
from chitta.wiring.harness import Event, Harness, Ours
from chitta.wiring.json_text import Broken, Container, Member

_HOOKS = "hooks"


class Refused(Exception):
    """The text cannot be changed without risking what is in it. The message is a sentence without the file's name."""


class Found(NamedTuple):
    """One chitta entry in a file: its event, the entry itself, and what it starts."""

    event: str
    entry: dict[str, Any]
    ours: Ours


class _Place(NamedTuple):
    """Where one chitta entry stands in a text, with the lists and objects around it, the innermost first."""

    found: Found
    handler: Member
    around: tuple[tuple[Container, int], ...]


def entries(row: Harness, text: str) -> list[Found]:
    """Every chitta entry of a text, in its order. Raises :class:`Refused`."""
    return [place.found for place in _places(row, _checked(text))]


def captures(row: Harness, text: str | None) -> bool:
    """Whether a text has an entry of capture. Raises :class:`Refused`."""
    found = entries(row, text) if text and text.strip() else []
    return any(entry.ours.script == harness.CAPTURE for entry in found)


def install(row: Harness, text: str | None, root: str, capture: bool = False) -> str:
    """The text with one entry for each event of the table, for the checkout ``root``; ``None`` is a file that is not.
    ``capture`` adds capture's; those that are there stay without it.

    An entry of another checkout, or with another time limit, is brought up to date where it stands; a second one for
    the same event, and one for an event that is not in the table, goes. Twice is once. Raises :class:`Refused`.
    """
    if text is None or not text.strip():
        return harness.template(row, root, capture)
    before = text = _checked(text)
    capture = capture or captures(row, text)
    for key, value in row.top.items():
        top = json_text.root(text)
        if top.get(key) is None:
            text = json_text.appended(text, top, key, value, json_text.style_of(text))
    while (place := _superfluous(row, text)) is not None:
        text = _taken_out(text, place, None)
    for event in row.wired(capture):
        at = (event.name, event.script)
        place = next((one for one in _places(row, text) if (one.found.event, one.found.ours.script) == at), None)
        if place is None:
            text = _added(row, text, event, root)
        elif place.found.ours.plain:
            text = _brought_up(text, place, harness.handler(row, event, root))
    _compare(row, before, text)
    return text


def uninstall(row: Harness, text: str, original: str | None = None) -> str:
    """The text without chitta's entries and what was made for them. Raises :class:`Refused`.

    ``original``: the text as it was without chitta, where known. Empty lists and objects that stood there stay, as
    they were written; others that become empty go.
    """
    before = text = _checked(text)
    known = _known(original)
    while (place := next(_places(row, text), None)) is not None:
        text = _taken_out(text, place, known)
    if text != before:
        text = _without_top(row, text, known)
        top = json_text.root(text)
        if known is not None and known.root and not top.members:
            text = text[: top.start] + known.root + text[top.end :]
    _compare(row, before, text)
    return text


def is_bare(row: Harness, text: str) -> bool:
    """Whether nothing is left in a file but what chitta itself would have put around its entries."""
    value = json_text.parse(text)
    return isinstance(value, dict) and all(row.top.get(key) == kept for key, kept in value.items())


def _checked(text: str) -> str:
    """The text, when it is an object whose hooks have the shape that every harness reads."""
    try:
        value = json_text.parse(text)
    except Broken as problem:
        raise Refused(f"it is not plain JSON ({problem})") from None
    if not isinstance(value, dict):
        raise Refused("it holds no JSON object")
    hooks = value.get(_HOOKS, {})
    if not isinstance(hooks, dict):
        raise Refused('its "hooks" is no object')
    for name, handlers in hooks.items():
        if not isinstance(handlers, list) and name not in ("disabled", "enabled", "notifications"):
            raise Refused(f"its hooks for {json.dumps(name)} are no list")
    return text


def _places(row: Harness, text: str) -> Iterator[_Place]:
    top = json_text.root(text)
    hooks = top.get(_HOOKS)
    if hooks is None:
        return
    events = json_text.container(text, hooks.value_start)
    outer = ((events, 0), (top, top.members.index(hooks)))
    for number, event in enumerate(events.members):
        if not isinstance(event.value, list):
            continue
        listed = json_text.container(text, event.value_start)
        around = ((events, number), outer[1])
        for index, member in enumerate(listed.members):
            here = ((listed, index), *around)
            yield from _handlers(row, text, event.key, member, here)


def _handlers(
    row: Harness, text: str, event: str, member: Member, around: tuple[tuple[Container, int], ...]
) -> Iterator[_Place]:
    if not row.grouped:
        ours = harness.recognise(row, member.value)
        if ours is not None:
            yield _Place(Found(event, member.value, ours), member, around)
        return
    if not isinstance(member.value, dict) or not isinstance(member.value.get(_HOOKS), list):
        return
    group = json_text.container(text, member.value_start)
    inner = group.get(_HOOKS)
    assert inner is not None
    listed = json_text.container(text, inner.value_start)
    for index, handler in enumerate(listed.members):
        ours = harness.recognise(row, handler.value)
        if ours is not None:
            yield _Place(Found(event, handler.value, ours), handler, ((listed, index), *around))


def _superfluous(row: Harness, text: str) -> _Place | None:
    """A chitta entry too many: the second for its event, or one that the table does not have there."""
    wanted = {(event.name, event.script) for event in row.wired(True)}
    seen: set[tuple[str, str]] = set()
    for place in _places(row, text):
        key = (place.found.event, place.found.ours.script)
        if key in seen or key not in wanted:
            return place
        seen.add(key)
    return None


def _added(row: Harness, text: str, event: Event, root: str) -> str:
    style = json_text.style_of(text)
    value = harness.group(row, event, root)
    top = json_text.root(text)
    hooks = top.get(_HOOKS)
    if hooks is None:
        return json_text.appended(text, top, _HOOKS, {event.name: [value]}, style)
    events = json_text.container(text, hooks.value_start)
    listed = events.get(event.name)
    if listed is None:
        return json_text.appended(text, events, event.name, [value], style)
    return json_text.appended(text, json_text.container(text, listed.value_start), "", value, style)


def _brought_up(text: str, place: _Place, wanted: dict[str, Any]) -> str:
    """The entry with the wanted values; keys that a person has added stay, those of another form go."""
    entry = place.found.entry
    replaced = {"command", "bash", "args", "timeout", "timeoutSec", "type"}
    if all(entry.get(key) == value for key, value in wanted.items()) and not (replaced & entry.keys()) - wanted.keys():
        return text
    merged = {key: wanted.get(key, value) for key, value in entry.items() if key in wanted or key not in replaced}
    new = json_text.replaced(text, place.handler, merged | wanted, json_text.style_of(text))
    try:
        new.encode()
        json_text.parse(new)
    except (Broken, UnicodeEncodeError):  # a key that a person has added to it: half a character, 1e999
        raise Refused("one of chitta's entries holds a value that cannot be written again") from None
    return new


class _Known(NamedTuple):
    """What the text without chitta has: the ``hooks`` and each event's list as they are written when empty, the keys
    at its ``top``, and its ``root`` where that is an empty object."""

    hooks: str | None
    events: dict[str, str]
    top: frozenset[str]
    root: str


def _known(original: str | None) -> _Known | None:
    if original is None or not original.strip():
        return None
    try:
        _checked(original)
    except Refused:
        return None
    top = json_text.root(original)
    keys = frozenset(member.key for member in top.members)
    hooks = top.get(_HOOKS)
    raw_root = "" if top.members else original[top.start : top.end]
    if hooks is None:
        return _Known(None, {}, keys, raw_root)
    events = json_text.container(original, hooks.value_start)
    raw = {event.key: _empty(original, event) for event in events.members}
    return _Known(_empty(original, hooks), raw, keys, raw_root)


def _empty(text: str, member: Member) -> str:
    """An empty container as it was written, or the plain one of its kind."""
    if not member.value:
        return text[member.value_start : member.end]
    return "[]" if isinstance(member.value, list) else "{}"


def _taken_out(text: str, place: _Place, known: _Known | None) -> str:
    """The text without one entry, and without what around it would then be empty, unless that was known before."""
    event = place.found.event
    stays = known.events.get(event) if known else None
    hooks_stay = known.hooks if known else None
    levels = len(place.around)  # with groups: handlers, groups, events, top; else: handlers, events, top
    for depth, (around, index) in enumerate(place.around):
        kept = stays if depth == levels - 3 else hooks_stay if depth == levels - 2 else None
        if len(around.members) > 1:
            return json_text.removed(text, around, index)
        if kept is not None:
            return text[: around.start] + kept + text[around.end :]
    around, index = place.around[-1]
    return json_text.removed(text, around, index)


def _without_top(row: Harness, text: str, known: _Known | None) -> str:
    """The text without the keys that the file needed for chitta's hooks alone."""
    for key, value in row.top.items():
        top = json_text.root(text)
        member = top.get(key)
        if known is not None and key not in known.top and member is not None and member.value == value:
            text = json_text.removed(text, top, top.members.index(member))
    return text


def _compare(row: Harness, before: str, after: str) -> None:
    """Raise :class:`Refused` unless both texts say the same once chitta's entries are looked away from."""
    if _others(row, before) != _others(row, after):
        raise Refused("changing it would have changed more than chitta's entries")


def _others(row: Harness, text: str) -> str:
    """What a text says besides chitta's entries, keys in their order; empty lists and objects of hooks left out."""
    value = json_text.parse(text)
    hooks = {}
    for event, listed in value.get(_HOOKS, {}).items():
        if not isinstance(listed, list):
            hooks[event] = listed
            continue
        kept = [other for other in (_other(row, member) for member in listed) if other is not None]
        if kept:
            hooks[event] = kept
    rest = {key: hooks if key == _HOOKS else kept for key, kept in value.items() if key not in row.top}
    if not hooks:
        rest.pop(_HOOKS, None)
    return json.dumps(rest)


def _other(row: Harness, member: Any) -> Any:
    if not row.grouped:
        return None if harness.recognise(row, member) else member
    if not isinstance(member, dict) or not isinstance(member.get(_HOOKS), list):
        return member
    kept = [entry for entry in member[_HOOKS] if harness.recognise(row, entry) is None]
    return None if member[_HOOKS] and not kept else {**member, _HOOKS: kept}
