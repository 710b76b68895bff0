"""Notes that may say what a new one says: by meaning from a running daemon, by words from the index."""

from __future__ import annotations

from typing import NamedTuple

from chitta.notes.note import Note
from chitta.notes.realms import GLOBAL
from chitta.settings import Settings

#: Candidates asked of each way; a double is among the very nearest.
MOST = 10
#: Seconds that the daemon may take: a person waits, and words answer without it.
WAIT_S = 0.5


class Candidates(NamedTuple):
    """Notes, and cosines with the note by id where meaning was to be had."""

    notes: tuple[Note, ...] = ()
    cosines: dict[str, float] = {}


def gather(settings: Settings, note: Note, *, by_meaning: bool = True) -> Candidates:
    """Notes of the note's realm and of `global` that are most like it. Starts no daemon and loads no model.

    Without ``by_meaning`` only the index is asked.
    """
    from chitta.index.snapshot import open_snapshot
    from chitta.index.terms import analyse

    snapshot = open_snapshot(settings.index_dir)
    if snapshot is None:
        return Candidates()
    realms = tuple(dict.fromkeys((note.realm, GLOBAL)))
    try:
        cosines = _near(settings, note, realms) if by_meaning else {}
        terms = analyse(f"{note.title}\n{note.text}")
        by_words = [hit.id for realm in realms for hit in snapshot.keyword.search(terms, realm=realm, limit=MOST)]
        found = snapshot.catalog.notes(list(dict.fromkeys((*cosines, *by_words))))
        return Candidates(tuple(one for one in found.values() if one.realm in realms), cosines)
    finally:
        snapshot.close()


def _near(settings: Settings, note: Note, realms: tuple[str, ...]) -> dict[str, float]:
    """Cosines by id from the daemon; none where it does not run, or its model is not loaded."""
    from chitta import daemon_client
    from chitta.index.ledger import embedded_text

    if settings.flag("CHITTA_NO_DAEMON") or not daemon_client.running(settings):
        return {}
    asked = {"text": embedded_text(note.title, note.text), "realms": list(realms), "limit": MOST}
    try:
        answer = daemon_client.call(settings, "similar", asked, timeout=WAIT_S)
    except (OSError, daemon_client.DaemonAway, daemon_client.DaemonRefused):
        return {}
    found = answer.get("cosines")
    return {str(name): float(value) for name, value in found.items()} if isinstance(found, dict) else {}
