"""`chitta review`: what was captured, quarantined or doubted, looked at by a person, one note after the other."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from chitta import settings as table
from chitta.cli import bookshelf, conflicts, forgetting, output, recall_ids, upkeep, waiting
from chitta.cli.failure import Misuse
from chitta.cli.realm_options import AsJson
from chitta.cli.review_walk import show_both, walk
from chitta.curation import promotion
from chitta.curation.promotion import Waiting
from chitta.curation.proof import sessions_of
from chitta.notes.note import KNOWLEDGE_KINDS
from chitta.recall.filters import contradicted
from chitta.settings import Settings

_NONE = "nothing waits for a review"


def review(
    names: Annotated[
        list[str] | None, typer.Argument(metavar="[ID...]", help="Only these notes; needed by --keep and its like.")
    ] = None,
    listed: Annotated[bool, typer.Option("--list", help="List what waits; the default without a terminal.")] = False,
    keep: Annotated[bool, typer.Option("--keep", help="Keep these notes as your own.")] = False,
    kind: Annotated[str, typer.Option("--kind", help="With --keep: the kind; else what fits.")] = "",
    forget: Annotated[bool, typer.Option("--forget", help="Remove these for good; never captured again.")] = False,
    release: Annotated[bool, typer.Option("--release", help="Take these out of quarantine.")] = False,
    right: Annotated[
        str, typer.Option("--right", metavar="this|other|both", help="For a conflict of two machines: which one stays.")
    ] = "",
    proved: Annotated[bool, typer.Option("--proved", help="What was learned most often first.")] = False,
    realm: Annotated[str, typer.Option("--realm", metavar="REALM", help="Only this realm.")] = "",
    as_json: AsJson = False,
) -> None:
    """Walk through the notes that wait for you: captured from sessions, held in quarantine, or doubted after feedback.
    Each is shown whole and can be kept, edited, merged, forgotten or skipped; leave whenever you like. Proofs are the
    sessions in which the same was learned: a note of many is surer.

    Example: chitta review --proved
    """
    settings = table.load()
    actions = [name for name, wanted in (("keep", keep), ("forget", forget), ("release", release)) if wanted]
    if len(actions) + listed > 1:
        raise Misuse("--list, --keep, --forget and --release exclude each other", "give one of them")
    if kind and kind not in (*KNOWLEDGE_KINDS, promotion.EPISODE):
        raise Misuse(f"{kind!r} is no kind of knowledge", f"kinds are {', '.join(KNOWLEDGE_KINDS)}")
    if right and (right not in (conflicts.THIS, conflicts.OTHER, conflicts.BOTH) or actions or listed):
        raise Misuse("--right stands alone, with this, other or both", "chitta review ID --right both")
    upkeep.freshen(settings)
    if right:
        _settle(settings, names or [], right)
        return
    if actions:
        _by_hand(settings, names or [], actions[0], kind, as_json=as_json)
        return
    found = waiting.all_waiting(settings, realm=realm, proved_first=proved)
    if names:
        wanted = {bookshelf.find(settings, recall_ids.typed(name)).note.id for name in names}
        found = [one for one in found if one.note.id in wanted]
    if as_json:
        output.as_json([facts_of(one) for one in found])
    elif not found:
        output.say(_NONE)
    elif listed or not output.on_terminal(sys.stdin):
        _list(settings, found)
    else:
        walk(settings, found)


def _settle(settings: Settings, names: list[str], right: str) -> None:
    items = [bookshelf.find(settings, recall_ids.typed(name)) for name in dict.fromkeys(names)]
    if not items or any(not contradicted(item.note) for item in items):
        raise Misuse("say which notes: each must contradict another one", "`chitta review --list` shows them")
    for item in items:
        upkeep.level_paths(settings, conflicts.settle(settings, item, right))
        output.say(f"settled {output.harmless(item.note.id)}: {right}")


def facts_of(one: Waiting) -> dict[str, Any]:
    """A waiting note for JSON."""
    note = one.note
    facts = {name: getattr(note, name) for name in ("id", "realm", "kind", "title", "text", "source", "created")}
    facts |= {"state": one.state, "reasons": list(one.reasons), "proof_count": note.proof_count}
    return {**facts, "sessions": sessions_of(note), "suggested_kind": promotion.suggested_kind(note)}


def _list(settings: Settings, found: list[Waiting]) -> None:
    rows = [(one.note.id, one.state, one.note.proof_count, one.note.title) for one in found]
    output.table(["id", "waits", "proofs", "title"], rows, right=["proofs"], cut="title", spare=("proofs", "waits"))
    for one in found:
        if one.state == promotion.CONFLICTING:
            show_both(settings, one.note)
            output.tell(f"hint: `chitta review {one.note.id} --right this`, or other, or both")
    output.tell("hint: `chitta review --keep ID`, `--forget ID`, `--release ID`; on a terminal `chitta review` walks")


def _by_hand(settings: Settings, names: list[str], action: str, kind: str, *, as_json: bool) -> None:
    if not names:
        raise Misuse(f"say which notes to {action}", "`chitta review --list` shows their ids")
    items = [bookshelf.find(settings, recall_ids.typed(name)) for name in dict.fromkeys(names)]
    items = [waiting.judged(item) for item in {item.path: item for item in items}.values()]
    if action != "forget" and (done := [item for item in items if promotion.as_waiting(item.note) is None]):
        raise Misuse(f"{done[0].note.id} waits for nothing", "`chitta review --list` shows what does")
    if action == "forget" and (own := [item for item in items if not _may_be_refused(item)]):
        raise Misuse(f"{own[0].note.id} waits for nothing", "`chitta forget` removes any note")
    told: list[dict[str, str]] = []
    touched: list[Path] = []
    try:
        for item in items:
            how = _done(settings, item, action, kind)
            touched.append(item.path)
            told.append({"id": item.note.id, "done": action, "how": how})
    finally:
        if touched and action == "forget":
            for problem in forgetting.finish(settings, [line["id"] for line in told]):
                output.tell(f"chitta: {problem}")
        elif touched:
            upkeep.level_paths(settings, touched)
    if as_json:
        output.as_json(told)
        return
    words = {"keep": "kept", "forget": "forgot", "release": "released"}[action]
    for line in told:
        output.say(f"{words} {line['id']} {line['how']}".rstrip())


def _done(settings: Settings, item: bookshelf.Found, action: str, kind: str) -> str:
    """Do it; what there is to say of how."""
    if action == "keep":
        return f"as {waiting.keep(settings, item, kind).kind}"
    if action == "release":
        waiting.release(settings, item)
    else:
        waiting.forget(settings, item)
    return ""


def _may_be_refused(item: bookshelf.Found) -> bool:
    return promotion.as_waiting(item.note) is not None or promotion.is_captured(item.note)
