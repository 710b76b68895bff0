"""What a person may ask of the store, and how a question travels as JSON."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any, NamedTuple

from chitta.recall.temporal import in_utc

#: How a person may have the store searched.
STRATEGIES = ("hybrid", "semantic", "keyword")
#: Depths of an answer: a line each, whole notes, notes with what is around them.
GLANCE, FULL, CONTEXT = 0, 1, 2
MOST_ROWS = 1000

_MOMENTS = ("since", "until", "as_of", "known_as_of", "valid_at")


class Question(NamedTuple):
    """A question and how it is to be answered. ``realm`` None asks all.

    Moments are naive and mean UTC (:mod:`chitta.recall.validity`); None was not asked for.
    ``min_overlap`` None is the setting's. ``home`` is the realm that the person is in, for a question to all.
    """

    query: str
    strategy: str = "hybrid"
    limit: int = 10
    realm: str | None = None
    kinds: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    domain: str = ""
    min_confidence: float = 0.0
    min_overlap: float | None = None
    since: datetime | None = None
    until: datetime | None = None
    as_of: datetime | None = None
    known_as_of: datetime | None = None
    valid_at: datetime | None = None
    include_superseded: bool = False
    include_quarantined: bool = False
    depth: int = FULL
    home: str = ""

    @property
    def filtered(self) -> bool:
        """Whether something is asked for that most notes may not meet."""
        return bool(self.kinds or self.min_confidence > 0.0 or any(getattr(self, name) for name in _MOMENTS))


def as_fields(question: Question) -> dict[str, Any]:
    """The question as JSON holds it; what is at its default is left out."""
    fields = question._asdict()
    for name in _MOMENTS:
        fields[name] = fields[name].isoformat() if fields[name] is not None else None
    return {name: value for name, value in fields.items() if value != Question._field_defaults.get(name)}


def from_fields(fields: Mapping[str, Any]) -> Question:
    """The question that :func:`as_fields` wrote. Raises ``ValueError``, with a sentence, for one that is none."""
    query, realm, strategy = fields.get("query"), fields.get("realm"), fields.get("strategy", "hybrid")
    if not isinstance(query, str) or not isinstance(realm, (str, type(None))):
        raise ValueError("a question has a query, and maybe a strategy, a limit, a realm and filters")
    if strategy not in STRATEGIES:
        raise ValueError(f"no strategy {str(strategy)[:40]!r}; there are {', '.join(STRATEGIES)}")
    overlap, domain, home = fields.get("min_overlap"), fields.get("domain", ""), fields.get("home", "")
    for name, word in (("domain", domain), ("home", home)):
        if not isinstance(word, str):
            raise ValueError(f"{name} is a word")
    return Question(
        query=query,
        strategy=strategy,
        limit=int(min(max(_number(fields, "limit", 10), 1), MOST_ROWS)),
        realm=realm,
        kinds=_words(fields, "kinds"),
        tags=_words(fields, "tags"),
        domain=domain,
        min_confidence=_number(fields, "min_confidence", 0.0),
        min_overlap=None if overlap is None else _number(fields, "min_overlap", 0.0),
        **{name: _moment(fields, name) for name in _MOMENTS},
        include_superseded=fields.get("include_superseded") is True,
        include_quarantined=fields.get("include_quarantined") is True,
        depth=int(min(max(_number(fields, "depth", FULL), GLANCE), CONTEXT)),
        home=home,
    )


def _number(fields: Mapping[str, Any], name: str, default: float) -> float:
    value = fields.get(name, default)
    if isinstance(value, bool) or not isinstance(value, (int, float)) or value != value or abs(value) > 1e15:
        raise ValueError(f"{name} is a number")
    return float(value)


def _words(fields: Mapping[str, Any], name: str) -> tuple[str, ...]:
    value = fields.get(name, ())
    if not isinstance(value, (list, tuple)) or not all(isinstance(word, str) for word in value):
        raise ValueError(f"{name} is a list of words")
    return tuple(value)


def _moment(fields: Mapping[str, Any], name: str) -> datetime | None:
    value = fields.get(name)
    if value is None:
        return None
    try:
        return in_utc(datetime.fromisoformat(value))
    except (TypeError, ValueError):
        raise ValueError(f"{name} is a date and time") from None
