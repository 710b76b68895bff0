"""Checks of what a person has set: values, names of variables, lanes that are left out."""

from __future__ import annotations

import difflib
import os
from collections.abc import Iterator

from chitta import settings as table
from chitta.admission import policy
from chitta.cli import checkout
from chitta.cli.finding import FAIL, OK, WARN, Finding
from chitta.settings import Settings

#: Variables that chitta passes to its own processes: no settings, and no mistakes.
INTERNAL = ("CHITTA_ROOT", "CHITTA_DEADLINE_MS", "CHITTA_LOCK_FD", "CHITTA_LAUNCHED", "CHITTA_GROUPS")
_ABLATE = "CHITTA_ABLATE_LANES"


def settings_problems(settings: Settings) -> Iterator[Finding]:
    file = os.path.join(settings.home, "chitta.toml")
    for problem in settings.problems:
        broken = problem.startswith(file) and "is no setting" not in problem
        todo = f"mend or remove {file}" if problem.startswith(file) else "`chitta settings` shows what counts"
        yield Finding("settings", FAIL if broken else WARN, problem, todo)
    if not settings.problems:
        yield Finding("settings", OK, f"in order; {file}" + (" is read" if os.path.exists(file) else " is not there"))


def scoring_problems(settings: Settings) -> Iterator[Finding]:
    """What ``scoring.json`` says that means nothing."""
    from chitta.gateway import scoring

    file = os.path.join(settings.home, scoring.FILE_NAME)
    for problem in scoring.load(settings).problems:
        yield Finding("settings", WARN, problem, f"mend or remove {file}; docs/ranking.md shows its form")


def unknown_variables(settings: Settings) -> Iterator[Finding]:
    """Names in the environment that look like a setting and are none."""
    for name in sorted(os.environ):
        if name.startswith("CHITTA_") and name not in table.BY_NAME and name not in INTERNAL:
            close = difflib.get_close_matches(name, table.BY_NAME, n=1)
            todo = f"did you mean {close[0]}?" if close else f"unset {name}; `chitta settings` shows every name"
            yield Finding("settings", WARN, f"{name} is no setting; it does nothing", todo)


def ablation(settings: Settings) -> Iterator[Finding]:
    """Lanes that are left out, and names in CHITTA_ABLATE_LANES that leave out nothing."""
    asked = settings.words(_ABLATE)
    root = checkout.root()
    shadow = {path.name for path in checkout.lane_files(root)} - set(policy.BY_LANE) if root is not None else set()
    lanes = {name: policy.BY_LANE.get(name) or policy.BY_TAG.get(name) for name in asked}
    good = [name for name in asked if name in shadow or ((lane := lanes[name]) is not None and lane.ablatable)]
    todo = f"write {_ABLATE}={','.join(good)}" if good else f"unset {_ABLATE}"
    for name in asked:
        lane = lanes[name]
        if lane is not None and not lane.ablatable:
            yield Finding("lanes", WARN, f"{_ABLATE}: {name} cannot be left out", todo)
        elif lane is None and name not in shadow:
            yield Finding("lanes", WARN, f"{_ABLATE}: {name} is no lane", _instead(name, todo))
    out = [lane.lane if (lane := lanes[name]) is not None else name for name in good]
    if out:
        names = ", ".join(dict.fromkeys(out))
        yield Finding("lanes", WARN, f"left out by {_ABLATE}: {names}", "unset it to have them back")


def _instead(name: str, todo: str) -> str:
    tags = [lane.tag for lane in policy.LANES if lane.ablatable]
    close = difflib.get_close_matches(name, [*tags, *(lane.lane for lane in policy.LANES if lane.ablatable)], n=1)
    return (f"did you mean {close[0]}? " if close else "") + f"lanes are {', '.join(tags)}; or {todo}"
