"""`chitta gaps`: what the person keeps asking and the store does not know."""

from __future__ import annotations

from typing import Annotated

import typer

from chitta import gaps
from chitta import settings as table
from chitta.cli import output
from chitta.cli.failure import Misuse, Nothing, Unavailable
from chitta.cli.realm_options import AsJson

_TERMS_SHOWN = 8


def show_gaps(
    words: Annotated[list[str] | None, typer.Argument(metavar="[WORD]...", help="Only gaps with these terms.")] = None,
    every: Annotated[bool, typer.Option("--all", help="Also what only one session has asked.")] = False,
    realm: Annotated[str, typer.Option("--realm", metavar="REALM", help="Only this realm's.")] = "",
    limit: Annotated[int, typer.Option("--limit", min=1, max=1_000, help="Most gaps to show.")] = 20,
    forget: Annotated[bool, typer.Option("--forget", help="Remove them from the log: all, or those of WORD.")] = False,
    as_json: AsJson = False,
) -> None:
    """List what prompts and questions asked for and no note answered, once two sessions have asked mostly the same.
    Only telling words are kept, sorted, never the prompt (CHITTA_GAP_LOG=0 keeps nothing).

    Example: chitta gaps
    """
    settings = table.load()
    if forget and as_json:
        raise Misuse("--forget prints no JSON", "leave --json out")
    lines = gaps.read(settings.state_dir)
    everything = not (words or realm)
    found = gaps.surfaced(lines, 1 if every or forget else gaps.LEAST_SESSIONS)
    found = [gap for gap in gaps.matching(found, words or ()) if realm in ("", gap.realm)]
    if forget:
        try:
            gone = gaps.forget(settings.state_dir, None if everything else found)
        except OSError as problem:
            raise Unavailable(f"the gaps cannot be forgotten: {problem.strerror}") from None
        output.say(f"forgot {output.plural(gone, 'prompt')} that found nothing")
        return
    if as_json:
        output.as_json([{**gap._asdict(), "terms": list(gap.terms)} for gap in found[:limit]])
    elif found:
        _print(found[:limit])
        if len(found) > limit:
            output.tell(f"chitta: {len(found) - limit:,} more; --limit {len(found)} shows them")
        output.tell('chitta: `chitta remember "…"` closes a gap; `chitta gaps WORD --forget` takes it off this list')
    if not found:
        raise Nothing(_nothing(len(lines), everything), _hint(len(lines), settings.flag("CHITTA_GAP_LOG"), every))


def _print(found: list[gaps.Gap]) -> None:
    rows = []
    for gap in found:
        terms = " ".join(gap.terms[:_TERMS_SHOWN]) + (" …" if len(gap.terms) > _TERMS_SHOWN else "")
        rows.append([terms, gap.times, gap.sessions, gap.last[:10], gap.realm])
    output.table(
        ["asked about", "times", "sessions", "last", "realm"], rows, right=("times", "sessions"), cut="asked about"
    )


def _nothing(lines: int, everything: bool) -> str:
    if not lines:
        return "no prompt has shown a gap yet"
    return "nothing was asked in two sessions and found nothing" if everything else "no such gap"


def _hint(lines: int, kept: bool, every: bool) -> str:
    if not kept:
        return "CHITTA_GAP_LOG=0 keeps no gaps"
    return "--all shows what one session asked" if lines and not every else ""
