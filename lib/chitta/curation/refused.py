"""What a person does not want to be remembered again: ids in ``$CHITTA_HOME/state/refused.jsonl``.

Capture looks here before it writes. A captured note's id is made from what it says, so a refused one stays out
whichever session brings it. The log is put aside at a megabyte and the one before it is read too, so some ten
thousand refusals hold.
"""

from __future__ import annotations

import time

from chitta import bounded_log

NAME = "refused.jsonl"


def refuse(state_dir: str, realm: str, note_id: str) -> None:
    """Keep this note out from now on. Raises ``OSError``."""
    if not is_refused(state_dir, realm, note_id):
        _append(state_dir, realm, note_id, refused=True)


def allow(state_dir: str, realm: str, note_id: str) -> None:
    """Take a refusal back. Raises ``OSError``."""
    if is_refused(state_dir, realm, note_id):
        _append(state_dir, realm, note_id, refused=False)


def is_refused(state_dir: str, realm: str, note_id: str) -> bool:
    """Whether a person refused the note. Never raises: what cannot be read refuses nothing."""
    return (realm, note_id) in refused_ids(state_dir)


def refused_ids(state_dir: str) -> frozenset[tuple[str, str]]:
    """Realm and id of every note that is refused."""
    last: dict[tuple[str, str], bool] = {}
    for line in bounded_log.read(state_dir, NAME):
        realm, name = line.get("realm"), line.get("id")
        if isinstance(realm, str) and isinstance(name, str):
            last[realm, name] = line.get("refused") is not False
    return frozenset(key for key, refused in last.items() if refused)


def _append(state_dir: str, realm: str, note_id: str, *, refused: bool) -> None:
    when = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
    line: dict[str, object] = {"time": when, "realm": realm, "id": note_id}
    bounded_log.append(state_dir, NAME, line if refused else {**line, "refused": False})
