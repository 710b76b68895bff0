"""Commands that look after the store: status, reindex, start, stop."""

from __future__ import annotations

import os
from typing import Annotated, Any

import typer

from chitta import __version__
from chitta import settings as table
from chitta.cli import bookshelf, output, upkeep, waiting
from chitta.cli.failure import Nothing, Unavailable
from chitta.cli.realm_options import AsJson
from chitta.settings import Settings


def status(as_json: AsJson = False) -> None:
    """Show the store at a glance: notes by realm, how far the index is, the daemon, and the disk they use.

    Example: chitta status --json
    """
    settings = table.load()
    facts = {**_store_facts(settings), "waiting": waiting.counts(settings), "daemon": _daemon_facts(settings)}
    if as_json:
        output.as_json(facts)
        return
    daemon = facts["daemon"]
    output.pairs(
        [
            ("home", facts["home"]),
            ("notes", _notes_words(facts["realms"])),
            *_waiting_pairs(facts["waiting"]),
            ("index", _index_words(facts)),
            ("model", facts["model"]),
            ("daemon", _daemon_words(daemon)),
            ("disk", f"{output.size_of(facts['notes_bytes'])} notes, {output.size_of(facts['index_bytes'])} index"),
        ]
    )
    if len(facts["realms"]) > 1:
        output.say()
        rows = sorted(facts["realms"].items(), key=lambda item: (-item[1], item[0]))
        output.table(["realm", "notes"], rows, right=["notes"])
    for problem in dict.fromkeys([*facts["problems"], *daemon.get("problems", [])]):
        output.tell(f"chitta: {problem}")


def reindex(
    full: Annotated[bool, typer.Option("--full", help="Build a new index; vectors that still hold are kept.")] = False,
    as_json: AsJson = False,
) -> None:
    """Bring the index level with the notes: words first, then meaning. Nothing you wrote is in the index alone, so
    this is always safe; --full builds it anew, which also mends a damaged one.

    Example: chitta reindex --full
    """
    settings = table.load()
    done = upkeep.level_here(settings, full=full)
    if as_json:
        output.as_json(done._asdict())
        return
    words = [f"{count:,} {name}" for name, count in (("added", done.added), ("updated", done.updated)) if count]
    words += [f"{done.removed:,} removed"] if done.removed else []
    words += [f"{done.unchanged:,} unchanged"] if done.unchanged else []
    words += [f"{done.embedded:,} embedded"] if done.embedded else []
    output.say(f"{', '.join(words) or 'no notes'} in {done.seconds:.1f} s (generation {done.generation})")
    if done.pending:
        output.say(
            f"{output.plural(done.pending, 'note')} can be found by words only: {done.no_meaning or 'not embedded yet'}"
        )
    for problem in done.problems:
        output.tell(f"chitta: {problem}")


def start() -> None:
    """Start the daemon, which holds the models and the open index. Prompts start it by themselves; by hand it is
    only worth it to have the models loaded before the first prompt.

    Example: chitta start
    """
    from chitta import daemon_client

    settings = table.load()
    if daemon_client.retire_other(settings):
        output.say("stopped the daemon of an older chitta")
    if daemon_client.running(settings):
        output.say(f"already running (process {daemon_client.call(settings, 'ping').get('pid')})")
        return
    if settings.flag("CHITTA_NO_DAEMON"):
        raise Unavailable("CHITTA_NO_DAEMON forbids the daemon", "unset it to let the daemon run")
    if not daemon_client.ensure(settings):
        raise Unavailable("the daemon did not answer in time", "`chitta doctor` says more")
    output.say(f"started (process {daemon_client.call(settings, 'ping').get('pid')})")


def stop() -> None:
    """Stop the daemon. The next prompt starts it again; CHITTA_NO_DAEMON=1 keeps it away.

    Example: chitta stop
    """
    from chitta import daemon_client

    if not daemon_client.stop(table.load()):
        raise Nothing("the daemon is not running")
    output.say("stopped")


def version() -> None:
    """Say which chitta this is.

    Example: chitta version
    """
    output.say(f"chitta {__version__}")


def _store_facts(settings: Settings) -> dict[str, Any]:
    facts: dict[str, Any] = {
        "home": settings.home,
        "realms": {},
        "notes": 0,
        "generation": None,
        "vectors": 0,
        "pending": 0,
        "index_model": "",
        "model": settings.text("CHITTA_EMBED_MODEL"),
        "level": True,
        "problems": list(settings.problems),
    }
    with bookshelf.opened(settings) as snapshot:
        if snapshot is not None:
            facts["realms"] = snapshot.catalog.realms()
            facts["notes"] = snapshot.catalog.count()
            facts["generation"] = snapshot.generation
            facts["vectors"] = snapshot.vectors.count if snapshot.vectors is not None else 0
            facts["pending"] = snapshot.catalog.pending()
            facts["index_model"] = snapshot.model
            facts["problems"] += snapshot.problems
    from chitta.index.indexer import needs_sync

    facts["level"] = not needs_sync(settings)
    facts["notes_bytes"] = _folder_bytes(settings.notes_dir)
    facts["index_bytes"] = _folder_bytes(settings.index_dir)
    return facts


def _daemon_facts(settings: Settings) -> dict[str, Any]:
    """What the daemon says of itself; ``running`` False when there is none. Never starts one."""
    from chitta import daemon_client

    try:
        return {"running": True, **daemon_client.call(settings, "status", timeout=daemon_client.PING_S)}
    except (daemon_client.DaemonAway, daemon_client.DaemonRefused):
        return {"running": False}


def _notes_words(realms: dict[str, int]) -> str:
    if not realms:
        return 'none yet: `chitta remember "…"` or `chitta import PATH`'
    if len(realms) == 1:
        return f"{output.plural(sum(realms.values()), 'note')} in {next(iter(realms))}"
    return f"{output.plural(sum(realms.values()), 'note')} in {output.plural(len(realms), 'realm')}"


def _waiting_pairs(found: dict[str, int]) -> list[tuple[str, object]]:
    return [("waiting", f"{waiting.words_of(found)}: `chitta review`")] if found else []


def _index_words(facts: dict[str, Any]) -> str:
    if facts["generation"] is None:
        return "none yet" if facts["level"] else "none yet: `chitta reindex`"
    words = [f"generation {facts['generation']}", output.plural(facts["vectors"], "vector")]
    words += [f"{facts['pending']:,} pending"] if facts["pending"] else []
    words += [] if facts["level"] else ["notes have changed since"]
    return ", ".join(words)


def _daemon_words(daemon: dict[str, Any]) -> str:
    if not daemon["running"]:
        return "not running (a prompt starts it)"
    models = [f"{part} {state.get('state')}" for part, state in daemon.get("models", {}).items()]
    minutes = float(daemon.get("uptime_s", 0)) / 60
    size = output.size_of(int(daemon.get("rss_bytes", 0)))
    return ", ".join([f"process {daemon.get('pid')}", f"up {minutes:.0f} min", size, *models])


def _folder_bytes(path: str) -> int:
    total = 0
    for folder, _, files in os.walk(path):
        for name in files:
            try:
                total += os.lstat(os.path.join(folder, name)).st_size
            except OSError:  # gone meanwhile
                continue
    return total
