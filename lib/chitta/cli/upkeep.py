"""Keeping the index level with the notes after a command has changed them, or before it asks.

The daemon does it where one runs, since its models are loaded; otherwise this process does.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from chitta.cli import output
from chitta.cli.progress import Meter
from chitta.settings import Settings

if TYPE_CHECKING:
    from chitta.index.indexer import SyncReport
    from chitta.models.protocol import Embedder

#: Seconds that a command waits for the daemon to index what has changed.
DAEMON_WAIT_S = 120.0


class Levelled(NamedTuple):
    """How the index stands after a sync: its report, and why notes have no meaning yet (or nothing)."""

    added: int = 0
    updated: int = 0
    removed: int = 0
    unchanged: int = 0
    embedded: int = 0
    pending: int = 0
    seconds: float = 0.0
    generation: int | str = ""
    problems: tuple[str, ...] = ()
    no_meaning: str = ""
    by_daemon: bool = False

    @property
    def findable(self) -> str:
        """When and how the notes can be found, as a sentence for people."""
        if not self.pending:
            return "findable now, by its words and by its meaning"
        return f"findable now by its words; by its meaning later ({self.no_meaning or 'the model is busy'})"


def level(settings: Settings, *, full: bool = False) -> Levelled:
    """Bring the whole index level with words and meaning. Raises what the index raises."""
    answer = _daemon_sync(settings, full=full)
    return answer if answer is not None else level_here(settings, full=full)


def level_paths(settings: Settings, paths: Sequence[Path]) -> Levelled:
    """The same after a command that wrote or removed these files: nothing else is looked at without a daemon."""
    answer = _daemon_sync(settings, full=False)
    if answer is not None:
        return answer
    from chitta.index.indexer import quick_sync_paths

    embedder, problem = _embedder(settings) if any(path.exists() for path in paths) else (None, "")
    return _from_report(quick_sync_paths(settings, paths, embedder), problem)


def level_here(settings: Settings, *, full: bool = False, meaning: bool = True) -> Levelled:
    """The same in this process, showing progress; without ``meaning`` vectors wait for a later sync."""
    from chitta.index.indexer import sync

    embedder, problem = _embedder(settings) if meaning else (None, "")
    with Meter() as meter:
        report = sync(settings, embedder, full=full, progress=meter)
    return _from_report(report, problem)


def freshen(settings: Settings) -> None:
    """Let what was edited by hand be found by its words, at least; a store that cannot be written stays as it is."""
    from chitta import daemon_client
    from chitta.index import IndexFault
    from chitta.index.indexer import needs_sync

    try:
        if not needs_sync(settings):
            return
        if daemon_client.running(settings):
            daemon_client.call(settings, "sync", timeout=DAEMON_WAIT_S)
        else:
            level_here(settings, meaning=False)
    except (OSError, IndexFault, daemon_client.DaemonAway, daemon_client.DaemonRefused) as problem:
        output.tell(f"chitta: notes changed since the last indexing are not in this answer: {problem}")


def _embedder(settings: Settings) -> tuple[Embedder | None, str]:
    from chitta.models.registry import ModelUnavailable, load_embedder

    try:
        return load_embedder(settings), ""
    except ModelUnavailable as problem:
        return None, str(problem)


def _from_report(report: SyncReport, problem: str) -> Levelled:
    facts = {name: value for name, value in report._asdict().items() if name in Levelled._fields}
    return Levelled(**facts)._replace(no_meaning=problem)


def _daemon_sync(settings: Settings, *, full: bool) -> Levelled | None:
    """The daemon's report, or None where none runs or it cannot do it now."""
    from chitta import daemon_client

    if not daemon_client.running(settings):
        return None
    try:
        answer = daemon_client.call(settings, "sync", {"full": full}, timeout=DAEMON_WAIT_S)
        models = daemon_client.call(settings, "status").get("models", {})
    except (daemon_client.DaemonAway, daemon_client.DaemonRefused):
        return None
    facts = {name: answer[name] for name in Levelled._fields if name in answer}
    facts["problems"] = tuple(answer.get("problems", ()))
    reason = str(models.get("embedder", {}).get("reason", ""))
    return Levelled(**facts)._replace(by_daemon=True, no_meaning=reason)
