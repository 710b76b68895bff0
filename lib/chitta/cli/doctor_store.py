"""Checks of the store and of what uses it: home, run folder, daemon, index, the last prompts."""

from __future__ import annotations

import os
import stat
from collections import Counter
from collections.abc import Iterator
from typing import Any

from chitta.admission.policy import BY_LANE, FAILED_STATES
from chitta.cli import bookshelf, output, recall_history, waiting
from chitta.cli.finding import FAIL, OK, WARN, Finding
from chitta.sessions import TRIAL
from chitta.settings import Settings
from chitta.statistics_of_log import is_prompt

#: Prompts of the recall log that are looked at.
LAST_PROMPTS = 200
#: Lines of the log among which these are looked for; starts of sessions and trials have lines of their own.
_MOST_LINES = 5_000
#: Share of the prompts that asked a lane and got no answer from which this is worth a word, or is broken.
WARN_FROM, FAIL_FROM = 0.05, 0.25
#: Waiting notes from which this is worth a word.
MANY_WAITING = 50
_NO_INTERPRETER = "no interpreter"


def home(settings: Settings) -> Iterator[Finding]:
    path = settings.home
    if not os.path.exists(path):
        above = os.path.dirname(path)
        while not os.path.exists(above):
            above = os.path.dirname(above)
        if os.access(above, os.W_OK):
            yield Finding("home", OK, f"{path} is made with the first note")
        else:
            yield Finding(
                "home", FAIL, f"{path} cannot be made in {above}", "set CHITTA_HOME to a folder you may write to"
            )
        return
    found = os.stat(path)
    if not stat.S_ISDIR(found.st_mode):
        yield Finding("home", FAIL, f"{path} is no folder", "set CHITTA_HOME to a folder")
    elif not _writable(settings):
        yield Finding("home", FAIL, f"{path} cannot be written", f"chown -R $USER {path}, or set CHITTA_HOME")
    elif found.st_uid != os.geteuid():
        yield Finding("home", WARN, f"{path} belongs to another user", "set CHITTA_HOME to a folder of your own")
    elif stat.S_IMODE(found.st_mode) & 0o077:
        mode = stat.S_IMODE(found.st_mode)
        yield Finding("home", WARN, f"{path} is open to other users (mode {mode:04o})", f"chmod 700 {path}")
    else:
        yield Finding("home", OK, f"{path}, writable, for you alone")


def _writable(settings: Settings) -> bool:
    folders = (settings.home, settings.notes_dir, settings.index_dir, settings.state_dir)
    return all(os.access(folder, os.W_OK | os.X_OK) for folder in folders if os.path.exists(folder))


def run_folder(settings: Settings) -> Iterator[Finding]:
    path = settings.run_dir
    if not os.path.exists(path):
        yield Finding("run folder", OK, f"{path} is made by the daemon")
        return
    found = os.stat(path)
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.geteuid():
        yield Finding("run folder", FAIL, f"{path} is no folder of yours", "set CHITTA_RUN_DIR to a folder of your own")
    elif stat.S_IMODE(found.st_mode) != 0o700:
        yield Finding("run folder", WARN, f"{path} has mode {stat.S_IMODE(found.st_mode):04o}", f"chmod 700 {path}")
    elif not os.access(path, os.W_OK):
        yield Finding(
            "run folder", FAIL, f"{path} cannot be written", "set CHITTA_RUN_DIR to a folder you may write to"
        )
    else:
        yield Finding("run folder", OK, f"{path}, for you alone")


def daemon(settings: Settings) -> Iterator[Finding]:
    """A daemon that is away is started to see that it can be, and stopped again."""
    from chitta import daemon_client

    if settings.flag("CHITTA_NO_DAEMON"):
        yield Finding("daemon", WARN, "CHITTA_NO_DAEMON keeps it away: lanes load what they need, slowly", "unset it")
        return
    if not os.path.isdir(settings.home):
        yield Finding("daemon", OK, "starts with the first prompt once there are notes")
        return
    was_running = daemon_client.running(settings)
    try:
        if not was_running and not daemon_client.ensure(settings):
            yield Finding(
                "daemon", FAIL, "it was started and does not answer", f"look into {settings.state_dir}/chittad.log"
            )
            return
        facts = daemon_client.call(settings, "status", timeout=daemon_client.PING_S)
    except (daemon_client.DaemonAway, daemon_client.DaemonRefused) as problem:
        yield Finding("daemon", FAIL, str(problem), getattr(problem, "hint", "`chitta stop`, then try again"))
        return
    said = set(settings.problems)  # told by the check of settings already
    facts["problems"] = [problem for problem in facts.get("problems", []) if problem not in said]
    yield from _daemon_findings(facts, was_running)
    if not was_running:
        daemon_client.stop(settings)


def _daemon_findings(facts: dict[str, Any], was_running: bool) -> Iterator[Finding]:
    from chitta import __version__, edition

    if facts.get("version") != __version__:
        yield Finding("daemon", WARN, f"it runs version {facts.get('version')}, this is {__version__}", "chitta start")
    elif facts.get("edition") != edition.here():
        yield Finding("daemon", WARN, "it runs the code as it was before a change", "chitta start")
    for problem in facts.get("problems", []):
        yield Finding("daemon", WARN, problem, "the checks above and below say what to do")
    size = output.size_of(int(facts.get("rss_bytes", 0)))
    running = f"process {facts.get('pid')} answers, {size}"
    yield Finding("daemon", OK, running if was_running else "it can be started; a prompt does so when it needs it")


def index(settings: Settings) -> Iterator[Finding]:
    from chitta.index.indexer import needs_sync

    behind = needs_sync(settings)
    with bookshelf.opened(settings) as snapshot:
        if snapshot is None:
            if behind:
                yield Finding("index", WARN, "there are notes and no index yet", "chitta reindex")
            else:
                yield Finding("index", OK, 'no notes yet: `chitta remember "…"` or `chitta import PATH`')
            return
        count, pending, made_by = snapshot.catalog.count(), snapshot.catalog.pending(), snapshot.model
        problems = list(snapshot.problems)
    for problem in problems:
        yield Finding("index", FAIL, problem, "chitta reindex --full")
    if behind:
        yield Finding(
            "index", WARN, "notes have changed since it was made", "chitta reindex (a running daemon does it too)"
        )
    yield from _model_of_index(settings, made_by)
    if pending and made_by:
        yield Finding("index", WARN, f"{pending:,} of {count:,} notes can be found by words only", "chitta reindex")
    if not (problems or behind or pending):
        yield Finding("index", OK, f"{output.plural(count, 'note')}, all with a vector by {made_by}")


def _model_of_index(settings: Settings, made_by: str) -> Iterator[Finding]:
    from chitta.models.registry import embedder_name

    wanted = embedder_name(settings)
    if not made_by:
        yield Finding("index", WARN, "no note has a vector, so nothing is found by meaning", "chitta reindex")
    elif made_by != wanted:
        yield Finding(
            "index", FAIL, f"its vectors were made by {made_by}; the model in use is {wanted}", "chitta reindex"
        )


def review(settings: Settings) -> Iterator[Finding]:
    """How many notes wait for a person; nothing where none does."""
    found = waiting.counts(settings)
    total = sum(found.values())
    if not total:
        return
    detail = f"{waiting.words_of(found)} for you to look at"
    many = total >= MANY_WAITING
    yield Finding("review", WARN if many else OK, detail, "`chitta review` walks through them" if many else "")


def prompts(settings: Settings) -> Iterator[Finding]:
    """How the last prompts went, from the recall log: lanes that failed, and an interpreter that was missing."""
    every = [line for line in recall_history.read_last(settings, _MOST_LINES) if "event" not in line]
    lines = [line for line in every if not str(line.get("session", "")).startswith(TRIAL)][-LAST_PROMPTS:]
    if not lines:
        yield Finding("prompts", OK, "no prompt has been through the hook yet")
        return
    without = [line for line in lines if "lanes" not in line and _NO_INTERPRETER in str(line.get("degraded"))]
    if without:
        state = FAIL if without[-1] is lines[-1] else WARN
        yield Finding(
            "prompts", state, f"{len(without)} of the last {len(lines)} found no interpreter", "run install.sh"
        )
    told = [line for line in lines if is_prompt(line)]
    yield from _lane_failures(told)
    kept = Counter(
        text for line in told for text in line.get("degraded", []) if str(text).startswith("session not kept")
    )
    for text, count in kept.items():
        yield Finding("prompts", WARN, f"{text} ({count} of {len(told)} prompts)", "check that the home can be written")


def _lane_failures(lines: list[dict[str, Any]]) -> Iterator[Finding]:
    if not lines:
        return
    failures: Counter[tuple[str, str]] = Counter()
    asked: Counter[str] = Counter()
    for line in lines:
        for name, facts in line["lanes"].items():
            state = facts.get("state") if isinstance(facts, dict) else None
            asked[name] += state != "ablated"
            if state in FAILED_STATES:
                failures[name, str(state)] += 1
    told = False
    for (name, state), count in sorted(failures.items()):
        share = count / asked[name]
        if share > WARN_FROM:
            told = True
            words = f"{name} was {state} in {count} of the last {asked[name]} prompts that asked it ({share:.0%})"
            yield Finding("prompts", FAIL if share >= FAIL_FROM else WARN, words, _remedy(name, state))
    if not told:
        since = str(lines[0].get("time", ""))[:10]
        span = f"the last {len(lines)}" + (f", since {since}" if since else "")
        yield Finding("prompts", OK, f"{span}: {_times(lines)}")


def _remedy(lane: str, state: str) -> str:
    limit = BY_LANE[lane].limit if lane in BY_LANE else "CHITTA_LANE_LIMIT_MS"
    return {
        "late": f"more time: {limit}; or `chitta start` before you begin",
        "unavailable": "`chitta start` shows whether the daemon and its models can be had",
    }.get(state, f'run the lane by hand: lanes/{lane} "some words"')


def _times(lines: list[dict[str, Any]]) -> str:
    spans = sorted(float(line.get("total_ms", 0)) for line in lines)
    silent = sum(not line.get("admitted") for line in lines)
    half, most = spans[len(spans) // 2], spans[int(len(spans) * 0.95)]
    return f"half within {half:.0f} ms, 95% within {most:.0f} ms, {silent} silent"
