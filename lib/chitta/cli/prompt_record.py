"""A line of the recall log as people ask about it: found by what they call it, with its candidates read back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from chitta.admission import policy
from chitta.admission.verdict import ADMITTED, Terms
from chitta.admission.why import Company, Evidence, why
from chitta.cli import output
from chitta.cli.failure import Misuse, Nothing
from chitta.render.neutral import neutral
from chitta.wire.rows import MAX_ID_CHARS

#: Stand for the last prompt, and for the last start of a session or subagent.
LAST, START = "last", "start"
#: Blocks named of those that begin alike.
_NAMED = 10
#: Fewer characters of a block's name may be any word.
_LEAST_PREFIX = 4
_FIELDS = 7

Record = Mapping[str, Any]


class Seen(NamedTuple):
    """A candidate as the log has it: :func:`chitta.recall_log._trace` says what the fields are."""

    tag: str
    id: str
    conf: float
    cos: float
    bm25: float
    shared: int
    outcome: str
    words: tuple[str, ...] = ()

    @property
    def admitted(self) -> bool:
        return self.outcome == ADMITTED


def candidates(record: Record) -> list[Seen]:
    """The candidates of a line, in the gate's order; what cannot be read is passed over."""
    trace = record.get("trace")
    entries: list[Any] = trace if isinstance(trace, list) else []
    found: list[Seen] = []
    for entry in entries:
        if isinstance(entry, list) and len(entry) >= _FIELDS:
            one = _seen(entry, _name(entry[1], entries))
            found += [one] if one is not None else []
    return found


def terms(record: Record) -> Terms:
    """On what terms the prompt's candidates were judged."""
    least = record.get("least_bm25")
    return Terms(
        record.get("lone") is True,
        frozenset(_texts(record, "silent")),
        frozenset(_texts(record, "small")),
        float(least) if isinstance(least, (int, float)) else 0.0,
        frozenset(_texts(record, "unmeasured")),
    )


def reasons(record: Record, seen: Sequence[Seen], realms: Mapping[str, str]) -> list[str]:
    """A phrase for each candidate; ``realms`` gives the realm of each note that is still there."""
    judged_on = terms(record)
    held: dict[str, Seen] = {}
    for one in seen:  # the slots are given by note: whichever row came that far holds it
        if one.admitted or (one.outcome == "cap" and _role(one) != policy.BEYOND):
            held.setdefault(one.id, one)
    pointed = {item.get("id") for item in record.get("admitted", []) if item.get("pointer") is True}
    scoped = any(_role(one) == policy.SCOPED and one.outcome in (ADMITTED, "dup", "cap") for one in seen)
    found = []
    for one in seen:
        holder = held.get(one.id)
        company = Company(holder.tag, holder.outcome, scoped) if holder else Company(scoped=scoped)
        row = Evidence(one.conf, one.cos, one.bm25, one.shared, realms.get(one.id, ""))
        phrase = why(one.tag, one.outcome, row, judged_on, company)
        found.append(
            f"only pointed to, since the last turn was shown its text; {phrase}"
            if one.id in pointed and one.admitted
            else phrase
        )
    return found


def find(records: Sequence[Record], name: str) -> Record:
    """The line that ``name`` means: the last prompt, the last start of a session, a block, the last of a session, the
    last with a note as candidate.

    Raises ``Misuse`` where several blocks begin so, ``Nothing`` where there is none.
    """
    if name in (LAST, START):
        wanted = [record for record in records if ("event" in record) == (name == START)]
        if not wanted:
            what = "prompt" if name == LAST else "start of a session"
            raise Nothing(f"no {what} is in the log yet", "`chitta doctor` says whether the agent's hooks run")
        return wanted[-1]
    for matches in (_is_block, _is_session, _has_note):
        for record in reversed(records):
            if matches(record, name):
                return record
    begun = [str(r.get("block")) for r in records if str(r.get("block", "")).startswith(name)]
    if len(name) < _LEAST_PREFIX or not begun:
        raise Nothing(
            f"no block, session or candidate {name!r} in the last {output.plural(len(records), 'prompt')} of the log",
            "`chitta explain` takes the last prompt, `chitta explain --session ID` the last of one session",
        )
    if len(begun) > 1:
        some = ", ".join(output.one_line(block, MAX_ID_CHARS) for block in begun[-_NAMED:])
        raise Misuse(f"{len(begun):,} blocks begin with {name!r}", f"give more of the one you mean: {some}")
    return next(record for record in records if record.get("block") == begun[0])


def as_read(name: str) -> str:
    """An id as the block spells it, which is what a person copies."""
    return output.one_line(neutral(name), MAX_ID_CHARS + 8)


def _is_block(record: Record, name: str) -> bool:
    return record.get("block") == name


def _is_session(record: Record, name: str) -> bool:
    return record.get("session") == name


def _has_note(record: Record, name: str) -> bool:
    shown = record.get("admitted")
    ids = [one.id for one in candidates(record)]
    ids += [str(item.get("id")) for item in shown if isinstance(item, dict)] if isinstance(shown, list) else []
    return name in ids or any(as_read(one) == name for one in ids)


def _role(one: Seen) -> str:
    lane = policy.BY_TAG.get(one.tag)
    return lane.role if lane else ""


def _texts(record: Record, key: str) -> list[str]:
    value = record.get(key)
    return [text for text in value if isinstance(text, str)] if isinstance(value, list) else []


def _name(value: object, entries: Sequence[Any]) -> str:
    """The id itself, or that of the entry whose place is named."""
    if isinstance(value, int) and 0 <= value < len(entries):
        first = entries[value]
        value = first[1] if isinstance(first, list) and len(first) > 1 else None
    return value if isinstance(value, str) else ""


def _seen(entry: Sequence[Any], name: str) -> Seen | None:
    tag, outcome, numbers = entry[0], entry[6], entry[2:6]
    if not (name and isinstance(tag, str) and isinstance(outcome, str)):
        return None
    if not all(isinstance(number, (int, float)) for number in numbers):
        return None
    words = entry[_FIELDS] if len(entry) > _FIELDS and isinstance(entry[_FIELDS], list) else []
    conf, cos, bm25 = (float(number) for number in numbers[:3])
    return Seen(tag, name, conf, cos, bm25, int(numbers[3]), outcome, tuple(map(str, words)))
