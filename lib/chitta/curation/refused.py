"""What a person does not want to be remembered again: digests in ``$CHITTA_HOME/state/refused.jsonl``.

Capture looks here before it writes. A captured note's id is made from what it says, so a refused one stays out
whichever session brings it; and as the id says what was forgotten, only a digest of realm and id is kept. The log is
put aside at a megabyte and the one before it is read too, so some ten thousand refusals hold.
"""

from __future__ import annotations

import hashlib
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
    return key_of(realm, note_id) in refused_keys(state_dir)


def refused_keys(state_dir: str) -> frozenset[str]:
    """:func:`key_of` every note that is refused; older lines hold the id itself."""
    last: dict[str, bool] = {}
    for line in bounded_log.read(state_dir, NAME):
        realm, name, key = line.get("realm"), line.get("id"), line.get("key")
        if isinstance(realm, str) and isinstance(name, str):
            key = key_of(realm, name)
        if isinstance(key, str):
            last[key] = line.get("refused") is not False
    return frozenset(key for key, refused in last.items() if refused)


def key_of(realm: str, note_id: str) -> str:
    """32 hex characters that stand for a note without naming it."""
    return hashlib.sha256(f"{realm}\n{note_id}".encode("utf-8", "surrogatepass")).hexdigest()[:32]


def _append(state_dir: str, realm: str, note_id: str, *, refused: bool) -> None:
    when = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
    line: dict[str, object] = {"time": when, "key": key_of(realm, note_id)}
    bounded_log.append(state_dir, NAME, line if refused else {**line, "refused": False})
