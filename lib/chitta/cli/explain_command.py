"""`chitta explain`: why a prompt got what it got, from the recall log."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any

import typer

from chitta import settings as table
from chitta.cli import bookshelf, output, prompt_record, recall_history, trial
from chitta.cli.failure import Nothing
from chitta.cli.prompt_record import LAST, Record, Seen
from chitta.cli.realm_options import AsJson
from chitta.cli.try_command import lane_table
from chitta.index import IndexFault
from chitta.notes.note import Note
from chitta.settings import Settings

#: Lines of the log that are looked through, the one before it included: all that there usually are.
LOG_LINES = 5_000
#: Candidates shown beside those that were admitted.
_BEST = 12
_TITLE_CHARS, _WORD_CHARS, _SENTENCE_CHARS = 48, 120, 400
_HINT = "`chitta try PROMPT` sends a prompt through the hook; `chitta doctor` says whether the agent's hook runs"


def explain(
    what: Annotated[
        str,
        typer.Argument(
            metavar="[ID|last|start]",
            help="The last prompt, the last session start; or a block (or how it begins), a session, a note.",
        ),
    ] = LAST,
    session: Annotated[str, typer.Option("--session", help="Only prompts of this session.")] = "",
    everything: Annotated[
        bool, typer.Option("--all", help="Every candidate; by default the best dozen and all that were let in.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Say why a prompt got what it got: what each lane answered, what became of each note that it found, and what
    would have changed that. It is read from the recall log; nothing is recalled again.

    Example: chitta explain last --all
    """
    settings = table.load()
    records: Sequence[Record] = recall_history.read_last(settings, LOG_LINES)
    if session:
        records = [record for record in records if record.get("session") == session]
    if not records:
        raise Nothing(
            f"session {session!r} has no prompt in the log" if session else "no prompt is in the log yet", _HINT
        )
    record = prompt_record.find(records, what)
    seen = prompt_record.candidates(record)
    notes = _notes(settings, [one.id for one in seen])
    realms = {name: note.realm for name, note in (notes or {}).items()}
    reasons = prompt_record.reasons(record, seen, realms)
    started = "event" in record
    silent = "" if started else _why_silent(record, seen, settings)
    if as_json:
        output.as_json({**record, "silent_because": silent, "trace": _facts(seen, reasons, notes)})
        return
    if silent and not started:
        output.wrapped(f"Silent: {output.one_line(silent, _SENTENCE_CHARS)}", style="bold")
        output.say()
    if started:
        output.wrapped(_start_words(record), style="bold")
        output.say()
    output.pairs(_start_head(record) if started else _head(record))
    if record.get("lanes"):
        output.say()
        lane_table(dict(record))
    _print_candidates(record, seen, reasons, notes, everything)


def _notes(settings: Settings, ids: Sequence[str]) -> dict[str, Note] | None:
    """The notes that are still there, by id; None where the index cannot tell."""
    try:
        with bookshelf.opened(settings) as snapshot:
            return None if snapshot is None else snapshot.catalog.notes(list(dict.fromkeys(ids)))
    except IndexFault:
        return None


def _why_silent(record: Record, seen: Sequence[Seen], settings: Settings) -> str:
    """A sentence on why nothing was shown; nothing where something was."""
    if record.get("admitted"):
        return ""
    if not record.get("lanes"):
        said = record.get("degraded")
        return "; ".join(map(str, said)) if isinstance(said, list) and said else "no lane was asked"
    best = [trial.Candidate(one.id, one.conf, one.outcome) for one in seen]
    return trial.why_silent(b"", dict(record), settings, best)


def _start_words(record: Record) -> str:
    """What a start of a session or subagent was given, in a sentence."""
    what = "A subagent" if record.get("event") == "SubagentStart" else "A session"
    admitted = record.get("admitted")
    given = len(admitted) if isinstance(admitted, list) else 0
    if not given:
        return f"{what} began, and was given no notes: none was for it."
    size = record.get("chars")
    room = f", {size:,} characters" if isinstance(size, int) else ""
    return f"{what} began, and was given {output.plural(given, 'note')}{room}. No prompt was asked about."


def _start_head(record: Record) -> list[tuple[str, str]]:
    """The facts about a start: no band and no turn, for no prompt was measured."""
    return [(name, words) for name, words in _head(record) if name not in ("prompt", "band", "turn")]


def _head(record: Record) -> list[tuple[str, str]]:
    """The facts about the prompt as a whole."""
    kept = record.get("prompt")
    words = (
        output.one_line(kept, _SENTENCE_CHARS)
        if isinstance(kept, str)
        else "not kept; CHITTA_LOG_PROMPTS=1 keeps the next ones"
    )
    facts = [("prompt", words)]
    facts += [(name, output.one_line(str(record[name]), _WORD_CHARS)) for name in ("time", "realm") if record.get(name)]
    agent = [f"{name} {output.one_line(str(record[name]), _WORD_CHARS)}" for name in _AGENT if record.get(name)]
    facts += [("agent", ", ".join(agent).removeprefix("harness "))] if agent else []
    facts.append(("band", _band(record)))
    facts += [("turn", _turn(record))] if "lone" in record else []
    said = record.get("degraded")
    facts += (
        [("trouble", output.one_line(", ".join(map(str, said)), _SENTENCE_CHARS))]
        if isinstance(said, list) and said
        else []
    )
    return facts


_AGENT = ("harness", "session", "turn", "block")


def _band(record: Record) -> str:
    maxrel, threshold = record.get("maxrel"), record.get("threshold")
    if record.get("band") is None or not isinstance(maxrel, (int, float)):
        return "not measured, so nothing was silenced for it"
    shown = f"{record['band']} {record.get('percent')}%"
    if not isinstance(threshold, (int, float)):
        return shown
    relation = "is below" if maxrel < threshold else "reaches"
    return f"{shown}: the chance that the store knows of this, {maxrel:.3g}, {relation} the threshold {threshold:g}"


def _turn(record: Record) -> str:
    terms, tokens = prompt_record.terms(record), record.get("tokens")
    parts = [output.plural(tokens, "distinctive token")] if isinstance(tokens, int) else []
    parts += ["leans on the last turn"] if record.get("anchored") is True else []
    parts += ["only correction-key was asked"] if set(record.get("lanes", {})) == {"correction-key"} else []
    parts += ["lone, so the floors are higher"] if terms.lone else []
    parts += [f"among few notes: {', '.join(sorted(terms.small))}"] if terms.small else []
    parts += [f"silenced by UNKNOWN: {', '.join(sorted(terms.silent))}"] if terms.silent else []
    return "; ".join(parts)


def _facts(seen: Sequence[Seen], reasons: Sequence[str], notes: dict[str, Note] | None) -> list[dict[str, Any]]:
    """The candidates for a program; a title is null where the note is gone or the index cannot tell."""
    return [
        {**one._asdict(), "title": notes[one.id].title if notes and one.id in notes else None, "why": reason}
        for one, reason in zip(seen, reasons, strict=True)
    ]


def _print_candidates(
    record: Record, seen: Sequence[Seen], reasons: Sequence[str], notes: dict[str, Note] | None, everything: bool
) -> None:
    if not seen:
        if record.get("lanes") and "trace" not in record:
            output.say("\nThis line was written before the log kept candidates.")
        return
    ranked = sorted(zip(seen, reasons, strict=True), key=lambda pair: (not pair[0].admitted, -pair[0].conf))
    admitted = sum(one.admitted for one in seen)
    shown = ranked if everything else ranked[: admitted + _BEST]
    output.say()
    if output.on_terminal():
        for one, reason in shown:
            _print_stacked(one, reason, notes)
    else:
        rows = [[*_cells(one), _title(one, notes), reason] for one, reason in shown]
        columns = ["verdict", "lane", "conf", "cos", "bm25", "shared", "note", "why"]
        output.table(columns, rows, right=["conf", "cos", "bm25"])
    if len(shown) < len(ranked):
        output.say(f"and {len(ranked) - len(shown):,} more; --all shows them")


def _cells(one: Seen) -> list[str]:
    """Verdict, lane and evidence: the shared words themselves where they were kept, else how many."""
    verdict = one.outcome if one.admitted else f"dropped {one.outcome}"
    numbers = [_number(one.conf, 2), _number(one.cos, 2), _number(one.bm25, 1)]
    return [verdict, one.tag, *numbers, output.one_line(" ".join(one.words), 40) or str(one.shared)]


def _print_stacked(one: Seen, reason: str, notes: dict[str, Note] | None) -> None:
    """A candidate on lines of its own: a screen has no room for the note and the reason side by side."""
    verdict, lane, conf, cos, bm25, shared = _cells(one)
    head = output.paint(f"{output.one_line(verdict, 12):<13}", "green" if one.admitted else "yellow")
    output.say(f"{head} {output.one_line(lane, 5):<6}{output.paint(_title(one, notes), 'bold')}")
    margin = " " * 20
    output.paragraph(f"conf {conf}, cos {cos}, bm25 {bm25}, shared {shared}", margin, "dim")
    output.paragraph(reason, margin)


def _title(one: Seen, notes: dict[str, Note] | None) -> str:
    name = prompt_record.as_read(one.id)
    if notes is None:
        return output.one_line(name, _TITLE_CHARS)
    if one.id not in notes:
        return f"{output.one_line(name, _TITLE_CHARS)} (gone)"
    return output.one_line(notes[one.id].title, _TITLE_CHARS) or output.one_line(name, _TITLE_CHARS)


def _number(value: float, digits: int) -> str:
    return "–" if value < 0 else f"{value:.{digits}f}"
