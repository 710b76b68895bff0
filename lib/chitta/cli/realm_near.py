"""A realm that was typed and that no note is in: which one may have been meant. What was asked is done all the same."""

from __future__ import annotations

import re
from collections.abc import Iterable

from chitta.cli import bookshelf, output
from chitta.cli.realm_options import GLOBAL, current_realm
from chitta.importing.doubts import usual_realm
from chitta.settings import Settings

#: Letters that may be wrong in a realm, and in one of a few letters.
_MOST_WRONG, _SHORT = 2, 8
_DIGEST = re.compile(r"-[0-9a-f]{8}\Z")
_SHOWN_CHARS = 120


def remark(settings: Settings, given: str) -> None:
    """Say on standard error where a realm that was ``given`` to write to may be mistyped; nothing for a known one."""
    if not given or given in (GLOBAL, current_realm(settings)):
        return
    known = _realms(settings)
    meant = near(given, (realm for realm in known if realm != given))
    realm = output.one_line(given, _SHOWN_CHARS)
    if meant and (given not in known or not usual_realm(given)):
        asked = f"did you mean {output.one_line(meant, _SHOWN_CHARS)}?"
        output.tell(f"chitta: realm {realm} is {'new' if given not in known else 'no project'}; {asked}")
    elif given not in known and not usual_realm(given):
        output.tell(
            f"chitta: realm {realm} is new, and neither global nor a project's: no folder's prompts ask it first"
        )


def offer(given: str, known: Iterable[str]) -> str:
    """``did you mean REALM?`` for a realm without notes; "" where none is near."""
    meant = near(given, known)
    return f"did you mean {output.one_line(meant, _SHOWN_CHARS)}?" if meant else ""


def near(given: str, known: Iterable[str]) -> str:
    """The realm that was likely meant: one that ends in what was given, is it but for case and spaces, or has a letter
    or two that differ; "" for none. Ties by name.
    """
    wanted = _plain(given)
    best: tuple[int, str] | None = None
    for realm in sorted(known):
        wrong = min(_wrong(wanted, name) for name in _names(realm, whole="/" in wanted or ":" in wanted))
        if realm != given and wrong <= _allowed(wanted) and (best is None or wrong < best[0]):
            best = (wrong, realm)
    return best[1] if best is not None else ""


def _realms(settings: Settings) -> set[str]:
    """Realms that hold notes, and this folder's."""
    with bookshelf.opened(settings) as snapshot:
        held = snapshot.catalog.realms() if snapshot is not None else {}
    return {*held, current_realm(settings), GLOBAL}


def _plain(realm: str) -> str:
    return "".join(realm.split()).casefold().removesuffix(".git").strip("/")


def _names(realm: str, *, whole: bool) -> list[str]:
    """How a person may call a realm: by its whole name or the end of it, without the digest of one without a remote."""
    plain = _plain(realm)
    path = plain.partition(":")[2] or plain
    parts = path.split("/")
    ends = ["/".join(parts[at:]) for at in range(len(parts))]
    found = [plain, *ends, *(f"project:{end}" for end in ends)] if whole else [plain, *ends[-1:]]
    return list(dict.fromkeys([*found, *(_DIGEST.sub("", name) for name in found)]))


def _allowed(name: str) -> int:
    return _MOST_WRONG if len(name) > _SHORT else 1 if len(name) > _MOST_WRONG + 1 else 0


def _wrong(one: str, other: str) -> int:
    """Letters to put in, leave out, exchange or swap with their neighbour to make the one into the other; where that is
    more than can be allowed, some number above it.
    """
    if abs(len(one) - len(other)) > _MOST_WRONG:
        return _MOST_WRONG + 1
    before, above = [0] * (len(other) + 1), list(range(len(other) + 1))
    for at, letter in enumerate(one, start=1):
        row = [at]
        for place, its in enumerate(other, start=1):
            cost = min(above[place] + 1, row[place - 1] + 1, above[place - 1] + (letter != its))
            if at > 1 and place > 1 and letter == other[place - 2] and one[at - 2] == its:
                cost = min(cost, before[place - 2] + 1)
            row.append(cost)
        before, above = above, row
    return above[-1]
