"""The realm options that several commands share, and what they mean.

``--realm R`` is exactly that realm. ``--global`` is the realm ``global`` for a command that
writes and every realm for one that looks. Without either it is the realm of the current folder.
"""

from __future__ import annotations

import os
from typing import Annotated

import typer

from chitta.cli.failure import Misuse
from chitta.settings import Settings

GLOBAL = "global"

RealmOption = Annotated[
    str, typer.Option("--realm", metavar="REALM", help="This realm instead of the current folder's.")
]
WriteGlobally = Annotated[bool, typer.Option("--global", help="The realm `global`: for notes that hold everywhere.")]
LookEverywhere = Annotated[bool, typer.Option("--global", help="All realms.")]
AsJson = Annotated[bool, typer.Option("--json", help="JSON on standard output.")]


def current_realm(settings: Settings, cwd: str = "") -> str:
    """The realm of a folder (the current one by default); ``CHITTA_REALM`` overrides it."""
    from chitta.notes.realms import realm_of

    return realm_of(cwd or _here(), settings.text("CHITTA_REALM"))


def chosen_realm(realm: str, everywhere: bool) -> str:
    """What the options name for a writing command; empty when neither was given. Raises ``Misuse``."""
    from chitta.notes.realms import valid_realm

    if realm and everywhere:
        raise Misuse("--realm and --global exclude each other", "give one of them")
    if realm and not valid_realm(realm):
        raise Misuse(f"{realm!r} is no realm", "a realm looks like `global` or `project:github.com/owner/name`")
    return GLOBAL if everywhere else realm


def writing_realm(settings: Settings, realm: str, everywhere: bool) -> str:
    """The realm that a command writes to. Raises ``Misuse``."""
    refuse_telling(settings, realm)
    return chosen_realm(realm, everywhere) or current_realm(settings)


def refuse_telling(settings: Settings, realm: str) -> None:
    """Raises ``Misuse`` for a realm given by hand that holds a secret: it names a folder, and stands beside its notes
    wherever they are shown.
    """
    given = realm or settings.text("CHITTA_REALM")
    if not given:
        return
    from chitta.safety.names import masked

    if kinds := masked(given).found:
        said = f"the realm holds what looks like a secret ({', '.join(kinds)})"
        raise Misuse(said, "give --realm (or CHITTA_REALM) another name")


def looking_realm(settings: Settings, realm: str, everywhere: bool) -> str | None:
    """The realm that a command looks in; ``None`` is every realm."""
    chosen = chosen_realm(realm, everywhere)
    if everywhere:
        return None
    return chosen or current_realm(settings)


def _here() -> str:
    try:
        return os.getcwd()
    except OSError:  # the folder is gone
        return ""
