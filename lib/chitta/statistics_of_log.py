"""What the recall log adds up to: prompts, notes, lanes, realms, times. Pure; `chitta stats` prints it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from datetime import date, datetime, timedelta
from typing import Any, NamedTuple

from chitta.feedback import UP, Judgement
from chitta.recall.budget import CHARS_PER_TOKEN
from chitta.sessions import TRIAL

#: Lane states in which a lane did not answer.
LATE, FAILED = "late", ("crash", "unavailable", "misuse")
#: States of a lane that was asked nothing.
_NOT_ASKED = ("ablated",)


class Span(NamedTuple):
    """A day or a week, from ``begins`` (ISO date) on: prompts seen and answered, and notes shown."""

    begins: str
    prompts: int
    answered: int
    notes: int


class Lane(NamedTuple):
    """One lane: prompts that asked it, how many of them it was late for or failed, and notes that it brought in."""

    tag: str
    asked: int
    late: int
    failed: int
    notes: int


class Realm(NamedTuple):
    """Where prompts were typed, how many were answered there, and the notes they were shown."""

    realm: str
    prompts: int
    answered: int
    notes: int


class Shown(NamedTuple):
    """A note, how often it was shown, and what people said of it."""

    id: str
    times: int
    up: int
    down: int


class Statistics(NamedTuple):
    """All of it. ``tokens`` of the blocks are characters / 4 (reflect), of the ``measured`` prompts whose line has
    them; times are in milliseconds, of the whole hook, None without prompts. ``starts`` of sessions and subagents
    were given ``start_notes`` notes; they count in nothing else, nor do trials."""

    prompts: int
    answered: int
    degraded: int
    notes: int
    tokens: int
    measured: int
    p50_ms: float | None
    p95_ms: float | None
    up: int
    down: int
    spans: tuple[Span, ...]
    realms: tuple[Realm, ...]
    lanes: tuple[Lane, ...]
    shown: tuple[Shown, ...]
    starts: int = 0
    start_notes: int = 0
    start_tokens: int = 0

    @property
    def silent(self) -> int:
        return self.prompts - self.answered


def summarise(
    lines: Iterable[Mapping[str, Any]],
    judgements: Iterable[Judgement],
    *,
    first: date,
    last: date,
    step: int,
    realm: str = "",
    tags: Mapping[str, str] | None = None,
) -> Statistics:
    """The lines of the days from ``first`` to ``last``, of one realm or all, in spans of ``step`` days that end with
    ``last``. ``tags`` gives lanes their tags. Lines that are no prompt's are passed over."""
    counted = [(day, line) for line in lines if (day := _day(line)) and first <= day <= last and _is_whole(line)]
    there = [(day, line) for day, line in counted if not realm or line.get("realm") == realm]
    chosen = [(day, line) for day, line in there if is_prompt(line)]
    starts = [line for _, line in there if "event" in line]
    prompts = [line for _, line in chosen]
    blocks = {str(line["block"]) for line in prompts if line.get("block")}
    said = [one for one in judgements if one.block in blocks]
    spans = sorted(float(line["total_ms"]) for line in prompts if isinstance(line.get("total_ms"), (int, float)))
    sizes = _sizes(prompts)
    return Statistics(
        prompts=len(prompts),
        answered=sum(bool(_admitted(line)) for line in prompts),
        degraded=sum(bool(line.get("degraded")) for line in prompts),
        notes=sum(len(_admitted(line)) for line in prompts),
        tokens=_tokens(sizes),
        measured=len(sizes),
        p50_ms=_quantile(spans, 0.5),
        p95_ms=_quantile(spans, 0.95),
        up=sum(one.verdict == UP for one in said),
        down=sum(one.verdict != UP for one in said),
        spans=_spans(chosen, first, last, step),
        realms=_realms(prompts),
        lanes=lanes_of(prompts, tags),
        shown=_shown(prompts, said),
        starts=len(starts),
        start_notes=sum(len(_admitted(line)) for line in starts),
        start_tokens=_tokens(_sizes(starts)),
    )


def lanes_of(prompts: Sequence[Mapping[str, Any]], tags: Mapping[str, str] | None = None) -> tuple[Lane, ...]:
    """How each lane did, in the order of ``tags`` and then by name; ``tags`` gives a lane's name its tag."""
    known = dict(tags or {})
    brought = Counter(str(item.get("tag")) for line in prompts for item in _admitted(line))
    states: dict[str, Counter[str]] = {}
    for line in prompts:
        for name, facts in line.get("lanes", {}).items():
            if isinstance(facts, dict) and facts.get("state") not in _NOT_ASKED:
                states.setdefault(name, Counter())[str(facts.get("state"))] += 1
    names = [name for name in known if name in states] + sorted(set(states) - set(known))
    return tuple(
        Lane(
            tag := known.get(name, name),
            sum(states[name].values()),
            states[name][LATE],
            sum(states[name][state] for state in FAILED),
            brought[tag],
        )
        for name in names
    )


def _sizes(lines: Sequence[Mapping[str, Any]]) -> list[int]:
    return [int(line["chars"]) for line in lines if isinstance(line.get("chars"), int)]


def _tokens(sizes: Sequence[int]) -> int:
    return sum(-(-size // CHARS_PER_TOKEN) for size in sizes)


def is_prompt(line: Mapping[str, Any]) -> bool:
    """Whether a line is of a prompt that a person sent: no start of a session, no trial."""
    return "event" not in line and _is_whole(line) and not str(line.get("session", "")).startswith(TRIAL)


def _is_whole(line: Mapping[str, Any]) -> bool:
    return isinstance(line.get("lanes"), dict) and isinstance(line.get("admitted"), list)


def _admitted(line: Mapping[str, Any]) -> list[dict[str, Any]]:
    return [item for item in line["admitted"] if isinstance(item, dict)]


def _day(line: Mapping[str, Any]) -> date | None:
    try:
        return datetime.fromisoformat(str(line.get("time"))[:10]).date()
    except ValueError:
        return None


def _quantile(ordered: Sequence[float], share: float) -> float | None:
    return ordered[min(int(len(ordered) * share), len(ordered) - 1)] if ordered else None


def _spans(chosen: Sequence[tuple[date, Mapping[str, Any]]], first: date, last: date, step: int) -> tuple[Span, ...]:
    count = -(-((last - first).days + 1) // step)
    begins = [last - timedelta(days=step * (count - place) - 1) for place in range(count)]
    grouped: list[list[Mapping[str, Any]]] = [[] for _ in begins]
    for day, line in chosen:
        grouped[count - 1 - (last - day).days // step].append(line)
    return tuple(
        Span(
            begin.isoformat(),
            len(lines),
            sum(bool(_admitted(line)) for line in lines),
            sum(len(_admitted(line)) for line in lines),
        )
        for begin, lines in zip(begins, grouped, strict=True)
    )


def _realms(prompts: Sequence[Mapping[str, Any]]) -> tuple[Realm, ...]:
    grouped: dict[str, list[Mapping[str, Any]]] = {}
    for line in prompts:
        grouped.setdefault(str(line.get("realm") or "global"), []).append(line)
    found = [
        Realm(
            name,
            len(lines),
            sum(bool(_admitted(line)) for line in lines),
            sum(len(_admitted(line)) for line in lines),
        )
        for name, lines in grouped.items()
    ]
    return tuple(sorted(found, key=lambda one: (-one.notes, -one.prompts, one.realm)))


def _shown(prompts: Sequence[Mapping[str, Any]], said: Sequence[Judgement]) -> tuple[Shown, ...]:
    times = Counter(str(item.get("id")) for line in prompts for item in _admitted(line))
    up = Counter(one.id for one in said if one.verdict == UP)
    down = Counter(one.id for one in said if one.verdict != UP)
    found = [Shown(name, count, up[name], down[name]) for name, count in times.items()]
    return tuple(sorted(found, key=lambda one: (-one.times, one.id)))
