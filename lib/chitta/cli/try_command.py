"""`chitta try`: a prompt through the real hook, explained for people."""

from __future__ import annotations

import os
from typing import Annotated, Any

import typer

from chitta import settings as table
from chitta.admission import policy
from chitta.cli import output, trial
from chitta.cli.failure import Misuse
from chitta.cli.realm_options import AsJson, RealmOption, chosen_realm, current_realm
from chitta.cli.trial import Trial


def try_prompt(
    prompt: Annotated[list[str], typer.Argument(metavar="PROMPT", help="What you would type to the agent.")],
    realm: RealmOption = "",
    cwd: Annotated[str, typer.Option("--cwd", help="As if the agent ran in this folder.")] = "",
    session: Annotated[
        str, typer.Option("--session", help="As another turn of this session; a new one by default.")
    ] = "",
    as_json: AsJson = False,
) -> None:
    """Run a prompt through the real hook and see what the model would see, and why: what each lane found, what was
    let in, what was dropped for which cause, and how long a person would have waited.

    Example: chitta try "the stripe webhook answers 400" --cwd ~/work/shop
    """
    settings = table.load()
    words = " ".join(prompt)
    if not words.strip():
        raise Misuse("there is no prompt", 'try `chitta try "how do we deploy"`')
    folder = os.path.abspath(os.path.expanduser(cwd)) if cwd else os.getcwd()
    if cwd and not os.path.isdir(folder):
        raise Misuse(f"there is no folder {folder}", "--cwd names the folder that the agent would run in")
    place = chosen_realm(realm, False)
    result = trial.run(settings, words, cwd=folder, realm=place, session=session)
    if as_json:
        facts = {"realm": place or current_realm(settings, folder), **result._asdict()}
        output.as_json({**facts, "admitted": result.admitted})
        return
    output.wrapped(f"Prompt  {output.harmless(words)}", style="bold")
    output.say(f"Realm   {place or current_realm(settings, folder)}")
    output.say()
    output.say("What the model sees:", "bold")
    output.wrapped(output.harmless(result.block or f"(silence) {result.reason}"))
    output.say()
    print_lanes(result)
    output.say()
    output.wrapped(verdict_line(result))
    if result.stderr.strip():
        output.tell(result.stderr.rstrip())


def print_lanes(result: Trial) -> None:
    """The table of the lanes that the prompt was given to."""
    lane_table(result.record)


def lane_table(record: dict[str, Any]) -> None:
    """The table of lanes of a line of the recall log, in the policy's order; strangers after them."""
    lanes: dict[str, dict[str, Any]] = record.get("lanes", {})
    names = [row.lane for row in policy.LANES if row.lane in lanes]
    names += sorted(name for name in lanes if name not in names)
    rows = []
    for name in names:
        facts = lanes[name]
        dropped = ", ".join(f"{cause} {count}" for cause, count in facts.get("dropped", {}).items())
        tag = policy.BY_LANE[name].tag if name in policy.BY_LANE else "shadow"
        note = facts.get("note", "")
        rows.append(
            [name, tag, facts.get("state", "?"), facts.get("rows", 0), facts.get("admitted", 0), dropped or note]
        )
        rows[-1].append(f"{facts.get('ms', 0):.0f}")
    if rows:
        columns = ["lane", "tag", "state", "candidates", "admitted", "dropped", "ms"]
        output.table(columns, rows, right=["candidates", "admitted", "ms"], whole=columns[:3])


def verdict_line(result: Trial) -> str:
    """Band, raw and shown relevance, and the times."""
    record = result.record
    parts = []
    if record:
        if record.get("band") is None:
            parts.append("relevance not measured")
        else:
            parts.append(f"{record['band']} {record.get('percent')}% (maxrel {record.get('maxrel')})")
        parts += [str(phrase) for phrase in record.get("degraded", [])]
        parts.append(f"{record.get('total_ms', 0):.0f} ms in the hook")
    parts.append(f"{result.wall_ms:.0f} ms for the whole process")
    return " · ".join(parts)
