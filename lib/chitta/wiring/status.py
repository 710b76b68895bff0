"""What is wired: one harness's file in one scope, read and judged. Nothing is changed, nothing is started."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from chitta.wiring import edit, files, harness, json_text
from chitta.wiring.edit import Found, Refused
from chitta.wiring.harness import Event, Harness

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

#: A limit outside of these is one in the wrong unit: no client waits less than a second or more than ten minutes.
_LEAST_MS, _MOST_MS = 1000, 600_000
#: What Codex takes at the top of its file; with any other key it drops the file without a word (measured on 0.171.0).
_CODEX_TOP = frozenset({"description", "hooks"})


#: Both scopes have entries, and harnesses run them all.
DOUBLE = "user and project are both wired, so every prompt is answered twice"


class Wired(NamedTuple):
    """How one harness is wired in one scope.

    ``events`` are those of the table that have an entry, ``missing`` the others, both in the table's order;
    ``problems`` are sentences without a full stop. ``file`` is where the entries are or would be. ``capture`` are the
    events of capture that have an entry, none unless it was asked for.
    """

    harness: str
    scope: str
    file: Path
    exists: bool
    events: tuple[str, ...]
    missing: tuple[str, ...]
    problems: tuple[str, ...]
    capture: tuple[str, ...] = ()

    @property
    def good(self) -> bool:
        return bool(self.events) and not self.missing and not self.problems


def inspect(
    harness_name: str,
    scope: str,
    home: Path,
    project: Path,
    root: Path,
    environ: Mapping[str, str] = os.environ,
) -> Wired:
    """Read the harness's file in ``scope`` ("user" or "project") and judge chitta's entries in it.

    ``home`` is the person's, ``project`` the folder whose own settings count, ``root`` the checkout that entries
    should lead to. Reads files only; never raises for what is in them. Raises ``KeyError`` for an unknown harness.
    """
    row = harness.BY_NAME[harness_name]
    file = harness.file_of(row, scope, home, project, environ)
    names = tuple(event.name for event in row.events)
    text, problem = _text_of(file)
    if problem:
        return Wired(row.name, scope, file, True, (), (), (f"{problem}; what is wired there cannot be told",))
    if text is None:
        return Wired(row.name, scope, file, False, (), names, ())
    found = edit.entries(row, text) if text.strip() else []
    value = json_text.parse(text) if text.strip() else {}
    there = {entry.event for entry in found if entry.ours.script != harness.CAPTURE}
    captured = {entry.event for entry in found if entry.ours.script == harness.CAPTURE}
    capture = tuple(event.name for event in row.capture if event.name in captured)
    problems = [*_of_entries(row, found, root, environ)]
    if found:
        problems += [*_of_file(row, value), *_switched_off(row, value, file)]
    plugin = _plugin(value) if row.name == "claude" else ""
    if plugin and found:
        problems.append(f"the plugin {plugin} is enabled as well, so every prompt is answered twice")
    elif plugin:
        there = set(names)
        problems += _switched_off(row, value, file)
    if found and _elsewhere(row, scope, home, project, environ):
        problems.append(DOUBLE)
    events = tuple(name for name in names if name in there)
    missing = tuple(name for name in names if name not in there)
    if capture and len(capture) < len(row.capture):
        problems.append(f"capture is wired in part: {', '.join(capture)}")
    return Wired(row.name, scope, file, True, events, missing, tuple(dict.fromkeys(problems)), capture)


def remedy(wired: Wired) -> str:
    """The command that mends what is wrong."""
    if DOUBLE in wired.problems:
        return f"chitta hooks uninstall {wired.harness} --scope project"
    return f"chitta hooks install {wired.harness}" + (" --scope project" if wired.scope == "project" else "")


def roots(row: Harness, file: Path) -> tuple[str, ...]:
    """The checkouts that a file's entries lead to, in their order; empty where there are none or it is unreadable."""
    text, problem = _text_of(file)
    if problem or not text or not text.strip():
        return ()
    return tuple(dict.fromkeys(found.ours.root for found in edit.entries(row, text)))


def _text_of(file: Path) -> tuple[str | None, str]:
    """The file's text (None: not there), or a sentence on why it cannot be had."""
    try:
        data = files.read(file)
        if data is None:
            return None, ""
        text = files.decoded(data)
        if text.strip():
            edit.entries(harness.TABLE[0], text)
        return text, ""
    except OSError as problem:
        return None, f"{file} cannot be read: {problem.strerror}"
    except Refused as problem:
        return None, f"{file}: {problem}"


def _of_entries(row: Harness, found: list[Found], root: Path, environ: Mapping[str, str]) -> Iterator[str]:
    wanted = {(event.name, event.script): event for event in row.wired(True)}
    first = {event.name: event for event in reversed(row.wired(True))}
    seen: set[tuple[str, str]] = set()
    for event, entry, ours in found:
        # A script that is wrong here stands in the place of the event's own.
        key = (event, ours.script if (event, ours.script) in wanted or event not in first else first[event].script)
        if key in seen:
            yield f"{event} has more than one chitta entry"
        seen.add(key)
        if event not in first:
            yield f"{event} is no event that chitta answers in {row.title}"
            continue
        if (event, ours.script) not in wanted:
            yield f"{event} starts {ours.script}, which is for another event"
        yield from _limit(row, wanted[key], entry)
        if os.path.isabs(ours.root):
            yield from _checkout(ours.root, ours.script, root, environ)


def _limit(row: Harness, event: Event, entry: dict[str, Any]) -> Iterator[str]:
    limit = entry.get(row.limit_key)
    if not isinstance(limit, (int, float)) or isinstance(limit, bool):
        return
    unit = "milliseconds" if row.per_second == 1000 else "seconds"
    ms = limit * 1000 / row.per_second
    if not _LEAST_MS <= ms <= _MOST_MS:
        yield f"{event.name} has the time limit {limit:g}, but {row.title} counts in {unit}"
    elif ms < event.limit_s * 1000:
        yield f"{event.name} has the time limit {limit:g} {unit}, less than the hook may take"


def _checkout(named: str, script: str, root: Path, environ: Mapping[str, str]) -> Iterator[str]:
    place = Path(named)
    if not place.is_dir():
        yield f"the checkout {named} is not there"
        return
    if os.path.realpath(named) != os.path.realpath(root):
        yield f"it leads to another checkout, {named}"
    if not os.access(place / "hooks" / script, os.X_OK):
        yield f"{place / 'hooks' / script} is missing or not executable"
    python = environ.get("CHITTA_PYTHON") or str(place / ".venv" / "bin" / "python")
    if not os.access(python, os.X_OK):
        yield f"the interpreter {python} is not there; run install.sh"


def _of_file(row: Harness, value: dict[str, Any]) -> Iterator[str]:
    if row.name == "codex":
        for key in sorted(value.keys() - _CODEX_TOP):
            yield f'Codex drops the whole file because of its key "{key}"'
    for key, kept in row.top.items():
        if value.get(key) != kept:
            yield f'"{key}" is not {kept}, as {row.title} wants it'


def _switched_off(row: Harness, value: dict[str, Any], file: Path) -> Iterator[str]:
    if value.get("disableAllHooks") is True:
        yield '"disableAllHooks" is true, so no hook runs'
    if row.name == "codex":
        try:
            features = tomllib.loads((file.parent / "config.toml").read_text(encoding="utf-8")).get("features")
        except (OSError, ValueError):
            features = None
        if isinstance(features, dict) and features.get("hooks") is False:
            yield "[features] hooks = false in config.toml, so no hook runs"
    if row.name == "gemini":
        for part in (value.get("hooksConfig"), value.get("hooks")):
            if not isinstance(part, dict):
                continue
            if part.get("enabled") is False:
                yield "hooks are switched off in the settings, so no hook runs"
            disabled = part.get("disabled")
            if isinstance(disabled, list) and "chitta" in disabled:
                yield 'the hook "chitta" is among the disabled ones'


def _plugin(value: dict[str, Any]) -> str:
    enabled = value.get("enabledPlugins")
    if not isinstance(enabled, dict):
        return ""
    return next((name for name, on in enabled.items() if on and name.partition("@")[0] == "chitta"), "")


def _elsewhere(row: Harness, scope: str, home: Path, project: Path, environ: Mapping[str, str]) -> bool:
    other = harness.file_of(row, "project" if scope == "user" else "user", home, project, environ)
    return other != harness.file_of(row, scope, home, project, environ) and bool(roots(row, other))
