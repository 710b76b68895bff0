"""The options of `chitta recall`, and the question that they make."""

from __future__ import annotations

import math
from datetime import datetime
from typing import TYPE_CHECKING, Annotated, NamedTuple

import typer

from chitta.cli.failure import Misuse
from chitta.gateway.question import STRATEGIES

if TYPE_CHECKING:
    from chitta.gateway.question import Question
    from chitta.recall.validity import Edge

#: The words for a note's own confidence (reflect).
CONFIDENCES = {"HIGH": 0.9, "MEDIUM": 0.6, "LOW": 0.3}
#: The three steps of an agent, and how much of a note each shows.
INDEX, TIMELINE, HYDRATE = "index", "timeline", "hydrate"
STAGES = {INDEX: 0, TIMELINE: 0, HYDRATE: 2}
FULL = 1

_WHICH, _WHEN, _SHAPE = "Which notes", "Which time", "How it is shown"
_TIME = "TIME"

Words = Annotated[list[str] | None, typer.Argument(metavar="QUERY", help="What you want to know.", show_default=False)]
Strategy = Annotated[str, typer.Option("--strategy", help="hybrid, semantic (meaning) or keyword (words).")]
Limit = Annotated[int, typer.Option("--limit", min=1, max=1000, help="Most notes of this project, and of others.")]
ShowWeak = Annotated[bool, typer.Option("--show-weak", "--all", help="Also notes that only happen to be nearest.")]
AnalogyOption = Annotated[
    str,
    typer.Option(
        "--analogy", metavar="'a:b::c:?'", help="Instead of a QUERY: what c is to as a is to b, if notes say."
    ),
]

Kinds = Annotated[
    list[str] | None,
    typer.Option("--kind", metavar="KIND", help="Only this kind; may be repeated.", rich_help_panel=_WHICH),
]
Tags = Annotated[
    list[str] | None,
    typer.Option("--tag", metavar="TAG", help="Prefer this tag; may be repeated.", rich_help_panel=_WHICH),
]
Domain = Annotated[str, typer.Option("--domain", metavar="NAME", help="Prefer this domain.", rich_help_panel=_WHICH)]
MinConfidence = Annotated[
    str,
    typer.Option(
        "--min-confidence",
        metavar="LEVEL",
        help="Only notes whose author trusts them so far: 0 to 1, or HIGH (0.9), MEDIUM (0.6), LOW (0.3). "
        "A note that says nothing of it has 0.6.",
        rich_help_panel=_WHICH,
    ),
]
MinOverlap = Annotated[
    float | None,
    typer.Option(
        "--min-overlap",
        metavar="SHARE",
        min=0.0,
        max=1.0,
        help="Nothing, unless the best notes hold this share (0 to 1) of the question's words.",
        rich_help_panel=_WHICH,
    ),
]
Superseded = Annotated[
    bool, typer.Option("--include-superseded", help="Also notes that others replaced.", rich_help_panel=_WHICH)
]
Quarantined = Annotated[
    bool, typer.Option("--include-quarantined", help="Also notes in quarantine.", rich_help_panel=_WHICH)
]

Since = Annotated[
    str,
    typer.Option(
        "--since", metavar=_TIME, help="Written or changed since 2026-03-01, yesterday…", rich_help_panel=_WHEN
    ),
]
Until = Annotated[
    str,
    typer.Option("--until", metavar=_TIME, help="Written or changed up to and with this day.", rich_help_panel=_WHEN),
]
Window = Annotated[
    str,
    typer.Option(
        "--window",
        metavar="SPAN",
        help="The last 24h, 7d, 2w, 1m or 1y, or 2026-03-01..2026-03-31.",
        rich_help_panel=_WHEN,
    ),
]
AsOf = Annotated[
    str, typer.Option("--as-of", metavar=_TIME, help="With what had not been replaced by then.", rich_help_panel=_WHEN)
]
KnownAsOf = Annotated[
    str,
    typer.Option(
        "--known-as-of", metavar=_TIME, help="What was known then: written by that time.", rich_help_panel=_WHEN
    ),
]
ValidAt = Annotated[
    str,
    typer.Option("--valid-at", metavar=_TIME, help="What was true then: valid from and until.", rich_help_panel=_WHEN),
]

Depth = Annotated[
    int | None,
    typer.Option(
        "--depth",
        min=0,
        max=2,
        metavar="0|1|2",
        help="0: a line each; 1: the beginning of each (default); 2: whole, with what is around each.",
        rich_help_panel=_SHAPE,
        show_default=False,
    ),
]
Stage = Annotated[
    str,
    typer.Option("--stage", metavar="STEP", help="index, timeline or hydrate, as told above.", rich_help_panel=_SHAPE),
]
MaxTokens = Annotated[
    int | None,
    typer.Option(
        "--max-tokens",
        min=1,
        metavar="N",
        help="Print no more than this (4 characters a token); says what it left out.",
        rich_help_panel=_SHAPE,
    ),
]
Explain = Annotated[
    bool,
    typer.Option(
        "--explain", help="Each note's ranks and scores at every step, and how the arms did.", rich_help_panel=_SHAPE
    ),
]


class Filters(NamedTuple):
    """The options that choose notes, as they were typed."""

    kinds: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    domain: str = ""
    min_confidence: str = ""
    min_overlap: float | None = None
    since: str = ""
    until: str = ""
    window: str = ""
    as_of: str = ""
    known_as_of: str = ""
    valid_at: str = ""
    include_superseded: bool = False
    include_quarantined: bool = False


def question_of(words: str, strategy: str, limit: int, realm: str | None, depth: int, filters: Filters) -> Question:
    """The question that the options make. Raises :class:`Misuse` with a sentence for what cannot be read."""
    from chitta.gateway.question import Question

    if strategy not in STRATEGIES:
        raise Misuse(f"{strategy!r} is no strategy", f"strategies are {', '.join(STRATEGIES)}")
    now = datetime.now().astimezone()
    since, until = _span(filters, now)
    return Question(
        query=words,
        strategy=strategy,
        limit=limit,
        realm=realm,
        kinds=tuple(dict.fromkeys(filters.kinds)),
        tags=tuple(dict.fromkeys(filters.tags)),
        domain=filters.domain,
        min_confidence=confidence_of(filters.min_confidence),
        min_overlap=filters.min_overlap,
        since=since,
        until=until,
        as_of=_moment("--as-of", filters.as_of, now, "at"),
        known_as_of=_moment("--known-as-of", filters.known_as_of, now, "at"),
        valid_at=_moment("--valid-at", filters.valid_at, now, "at"),
        include_superseded=filters.include_superseded,
        include_quarantined=filters.include_quarantined,
        depth=depth,
    )


def depth_of(depth: int | None, stage: str) -> int:
    """How much of each note to show. Raises :class:`Misuse` for an unknown stage, or one beside a depth."""
    if stage and stage not in STAGES:
        raise Misuse(f"{stage!r} is no stage", f"stages are {', '.join(STAGES)}")
    if stage and depth is not None:
        raise Misuse("--stage and --depth exclude each other", "a stage has its own depth")
    return STAGES[stage] if stage else FULL if depth is None else depth


def confidence_of(text: str) -> float:
    """A confidence as a number or a word; 0 for none. Raises :class:`Misuse`."""
    if not text.strip():
        return 0.0
    if (level := CONFIDENCES.get(text.strip().upper())) is not None:
        return level
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not 0.0 <= value <= 1.0:
        raise Misuse(f"--min-confidence: {text!r} is no confidence", "give a number from 0 to 1, or HIGH, MEDIUM, LOW")
    return value


def _span(filters: Filters, now: datetime) -> tuple[datetime | None, datetime | None]:
    from chitta.recall.validity import parse_span

    if filters.window:
        if filters.since or filters.until:
            raise Misuse("--window and --since or --until exclude each other", "--window a..b has both ends")
        try:
            return parse_span(filters.window, now)
        except ValueError as problem:
            raise _misuse("--window", problem) from None
    since = _moment("--since", filters.since, now, "since")
    until = _moment("--until", filters.until, now, "until")
    if since is not None and until is not None and since >= until:
        raise Misuse("--since is after --until", "give the earlier time to --since")
    return since, until


def _moment(option: str, text: str, now: datetime, edge: Edge) -> datetime | None:
    from chitta.recall.validity import parse_moment

    if not text:
        return None
    try:
        return parse_moment(text, now, edge)
    except ValueError as problem:
        raise _misuse(option, problem) from None


def _misuse(option: str, problem: ValueError) -> Misuse:
    """What is wrong, and as the hint what to write instead."""
    wrong, _, instead = str(problem).rpartition(". ")
    if not wrong:
        return Misuse(f"{option}: {problem}")
    return Misuse(f"{option}: {wrong}", instead[:1].lower() + instead[1:].removesuffix("."))
