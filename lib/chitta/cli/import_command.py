"""`chitta import`: its options. What it does is in :mod:`chitta.cli.import_run`, which is loaded when it is called."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from chitta.cli.realm_options import AsJson, RealmOption, WriteGlobally


def import_notes(
    paths: Annotated[
        list[Path] | None, typer.Argument(metavar="[PATH]...", help="Files and folders; --sources lists what is read.")
    ] = None,
    origin: Annotated[
        str, typer.Option("--from", metavar="NAME", help="Read them as this source; without PATH, at its usual places.")
    ] = "",
    realm: RealmOption = "",
    everywhere: WriteGlobally = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Say what would be done and write nothing.")] = False,
    overwrite: Annotated[
        bool, typer.Option("--overwrite", help="Take the file's also where a note was edited.")
    ] = False,
    supersede: Annotated[
        bool,
        typer.Option("--supersede/--no-supersede", help="Keep what an updated note said before (the default), or not."),
    ] = True,
    quarantine: Annotated[
        bool, typer.Option("--quarantine", help="Keep what is brought out of prompts until `chitta review` lets it in.")
    ] = False,
    keep_gone: Annotated[
        bool, typer.Option("--keep-gone", help="Leave notes whose rule is no longer in its file as they are.")
    ] = False,
    list_sources: Annotated[
        bool, typer.Option("--sources", help="List what can be imported, and what of it is on this machine.")
    ] = False,
    verbose: Annotated[bool, typer.Option("--verbose", "-v", help="A line for every note and every problem.")] = False,
    as_json: AsJson = False,
) -> None:
    """Bring notes into the store and index them. What a path holds is found by looking at it, unless --from says it.
    A note that is there already (same id, same realm) is updated, or left alone when its source has not changed, so
    importing again is safe. What an updated note said before stays as id.<8 hex>, unless --no-supersede. A note that
    was edited in the store since, and whose source has changed too, is kept unless --overwrite. Notes that name no
    realm get the current folder's; with --realm or --global all of them get that one. Private spans are left out, and
    secrets are replaced.

    Example: chitta import CLAUDE.md docs/notes lessons.jsonl --dry-run
    """
    from chitta.cli import import_report, import_run

    if list_sources:
        import_report.list_sources(as_json=as_json)
        return
    wishes = import_run.Wishes(
        realm,
        everywhere,
        dry_run=dry_run,
        overwrite=overwrite,
        quarantine=quarantine,
        supersede=supersede,
        keep_gone=keep_gone,
        verbose=verbose,
        as_json=as_json,
    )
    import_run.run(paths or [], origin, wishes)
