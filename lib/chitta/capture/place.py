"""Which realm belongs to a session's folder, also where the folder is gone by now."""

from __future__ import annotations

import os

from chitta import sessions
from chitta.notes.realms import GLOBAL, named_realm, realm_of
from chitta.settings import Settings


def realm_for(settings: Settings, cwd: str, session: str = "") -> str:
    """The realm of a folder. Of one that is gone, the realm in which the session typed last, else that of the nearest
    folder above it that still is, else the one that a repository without a remote would have there.

    ``global`` for no folder, the home folder and the root.
    """
    override = settings.text("CHITTA_REALM")
    found = realm_of(cwd, override)
    if found != GLOBAL or override or not os.path.isabs(cwd) or os.path.isdir(cwd):
        return found
    known = sessions.read(settings.state_dir, session).realm
    if known and known != GLOBAL:
        return known
    path = os.path.realpath(cwd)
    if path in (os.path.realpath(os.path.expanduser("~")), "/"):
        return GLOBAL
    above = os.path.dirname(path)
    while above != os.path.dirname(above) and not os.path.isdir(above):
        above = os.path.dirname(above)
    near = realm_of(above)
    return near if near != GLOBAL else named_realm(os.path.join(path, ".git"))
