"""What a note is worth beside its relevance: bounded boosts, priors of kinds, and no more than n of one source.

Each boost is ``1 + alpha · (norm − 0.5)`` with norm in 0–1, so it stays within ``1 ± alpha / 2`` and
a note of which nothing is known has exactly 1. Relevance leads; boosts settle what is close.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from datetime import date
from typing import NamedTuple

from chitta.notes.note import Note
from chitta.recall.filters import content_hash, is_set, touched
from chitta.recall.fuse import Ranking

NEUTRAL = 0.5
#: Confidence from which the norm rises from 0, and the span to 1: LOW is 0.3, MEDIUM 0.6, HIGH 0.9 (reflect).
LOW_CONFIDENCE, CONFIDENCE_SPAN = 0.3, 0.6
#: Days over which recency falls, and the norm it never falls under (reflect).
RECENCY_DAYS, OLDEST = 365, 0.1
#: Norm by the note's ``authority``; any other value is neutral (reflect). What was captured and nobody has looked at,
#: and what people said does not help, counts as little as what was archived.
AUTHORITY = {"law": 1.0, "promoted": 1.0, "advisory": NEUTRAL, "captured": 0.0, "doubted": 0.0, "archived": 0.0}
#: How a kind is preferred where the reranker has judged (chitta's paper); kinds not here have 1.
KIND_PRIORS: dict[str, float] = {
    "correction": 1.3,
    "preference": 1.3,
    "wisdom": 1.1,
    "insight": 1.05,
    "operational": 0.8,
    "episode": 0.7,
}
#: Share of a reranked score that the prior leaves alone, and the share that it scales (chitta's paper).
BASE_SHARE, PRIOR_SHARE = 0.7, 0.3
#: Best notes that boosts may reorder (reflect's window).
WINDOW = 20
#: Largest prior and largest alpha (reflect clamps its alphas so).
MOST = 2.0


class Alphas(NamedTuple):
    """How far each boost may swing, 0 to 2; 0 turns it off. Defaults are reflect's."""

    confidence: float = 0.2
    recency: float = 0.2
    tags: float = 0.2
    proof: float = 0.1
    project: float = 0.2
    domain: float = 0.2
    authority: float = 0.1
    speculative: float = 0.2


ALPHAS = Alphas()


class Asked(NamedTuple):
    """What is known about the question: today, tags, realm and domain ("" for none).

    ``one_realm``: every candidate is of one realm, so that the realm tells nothing.
    """

    now: date
    tags: tuple[str, ...] = ()
    realm: str = ""
    domain: str = ""
    one_realm: bool = False


def boost(note: Note, asked: Asked, alphas: Alphas = ALPHAS) -> float:
    """The product of the factors; within :func:`bounds`."""
    return math.prod(factors(note, asked, alphas).values())


def factors(note: Note, asked: Asked, alphas: Alphas = ALPHAS) -> dict[str, float]:
    """Each boost by its name (the fields of :class:`Alphas`)."""
    norms = {
        "confidence": (note.confidence - LOW_CONFIDENCE) / CONFIDENCE_SPAN,
        "recency": OLDEST if _is_captured(note) else _recency(note, asked.now),
        "tags": _tags(note, asked.tags),
        "proof": NEUTRAL + math.log(max(1, note.proof_count)) / 10,
        "project": 1.0 if asked.realm and asked.realm == note.realm and not asked.one_realm else NEUTRAL,
        "domain": 1.0 if asked.domain and _extra(note, "domain") == _folded(asked.domain) else NEUTRAL,
        "authority": AUTHORITY.get(_folded(note.authority), NEUTRAL),
        "speculative": 0.0 if _is_speculative(note) else NEUTRAL,
    }
    return {name: _factor(norm, getattr(alphas, name)) for name, norm in norms.items()}


def boosted(
    ranking: Ranking, notes: Mapping[str, Note], asked: Asked, alphas: Alphas = ALPHAS, window: int = WINDOW
) -> list[tuple[str, float]]:
    """The ranking with its first ``window`` scores (none negative) times their boost, ties in ranked order.

    What lies past the window keeps its order and stays below. An id that is not in ``notes`` is neutral.
    """
    factor = {name: boost(notes[name], asked, alphas) for name, _ in ranking[:window] if name in notes}
    raised = [(name, score * factor.get(name, 1.0)) for name, score in ranking[:window]]
    head = sorted(raised, key=lambda item: -item[1])
    floor = min((score for _, score in head), default=0.0)
    return head + [(name, min(score, floor)) for name, score in ranking[window:]]


def bounds(alphas: Alphas = ALPHAS) -> tuple[float, float]:
    """Least and greatest boost. With the defaults 0.637 and 1.776.

    So a note whose relevance is over ``greatest / least`` (2.79) times another's is above it whatever
    the boosts. Proof, project and domain only raise; speculative only lowers.
    """
    lowest = {"recency": OLDEST, "proof": NEUTRAL, "project": NEUTRAL, "domain": NEUTRAL}
    highest = {"speculative": NEUTRAL}
    swings = alphas._asdict()
    least = math.prod(_factor(lowest.get(name, 0.0), alpha) for name, alpha in swings.items())
    return least, math.prod(_factor(highest.get(name, 1.0), alpha) for name, alpha in swings.items())


def kind_prior(kind: str, priors: Mapping[str, float] | None = None) -> float:
    """A kind's prior: the one given in ``priors``, else that of :data:`KIND_PRIORS`, else 1."""
    return (priors or {}).get(kind, KIND_PRIORS.get(kind, 1.0))


def reranked_score(logit: float, prior: float) -> float:
    """``sigmoid(logit) · (0.7 + 0.3 · prior)``; a logit that is no number counts as the worst."""
    return sigmoid(logit) * prior_scale(prior)


def prior_scale(prior: float) -> float:
    """``0.7 + 0.3 · prior``: what a kind's prior makes of a judged score."""
    return BASE_SHARE + PRIOR_SHARE * prior


def sigmoid(logit: float) -> float:
    if math.isnan(logit):
        return 0.0
    if logit >= 0:
        return 1.0 / (1.0 + math.exp(-logit))
    raised = math.exp(logit)
    return raised / (1.0 + raised)


def replicated(ranking: Ranking, notes: Mapping[str, Note], replication_max: int) -> list[tuple[str, float]]:
    """The ranking with at most ``replication_max`` notes of one source, and of one content; 0 or less is off.

    A note without ``source`` counts by its content alone. An id that is not in ``notes`` stays.
    """
    if replication_max <= 0:
        return list(ranking)
    kept: list[tuple[str, float]] = []
    seen: dict[tuple[str, str], int] = {}
    for name, score in ranking:
        note = notes.get(name)
        keys = [("content", content_hash(note))] if note else []
        keys += [("source", note.source.strip())] if note and note.source.strip() else []
        if all(seen.get(key, 0) < replication_max for key in keys):
            seen.update((key, seen.get(key, 0) + 1) for key in keys)
            kept.append((name, score))
    return kept


# scoring.json


def read_priors(raw: bytes) -> tuple[dict[str, float], list[str]]:
    """The priors of a ``scoring.json`` by kind, and what is wrong with it; never raises.

    ``{"kind_priors": {kind: number}, "alphas": {name: number}}``, both optional. Numbers are clamped
    to 0–2, which is said; other values are left out by name. What is wrong inside ``alphas`` is
    :func:`read_alphas`'s to say.
    """
    whole, problems = _mapping(raw)
    problems += [f"{_shown(key)} is no key of scoring.json" for key in whole if key not in ("kind_priors", "alphas")]
    priors, more = _numbers(whole, "kind_priors")
    return {kind.strip().lower(): value for kind, value in priors.items()}, problems + more


def read_alphas(raw: bytes, default: Alphas = ALPHAS) -> tuple[Alphas, list[str]]:
    """``default`` with the alphas of a ``scoring.json``, and what is wrong with those; never raises."""
    whole, _ = _mapping(raw)
    given, problems = _numbers(whole, "alphas")
    problems += [f"alphas: {_shown(name)} is no boost" for name in given if name not in Alphas._fields]
    return default._replace(**{name: value for name, value in given.items() if name in Alphas._fields}), problems


def _mapping(raw: bytes) -> tuple[dict[str, object], list[str]]:
    try:
        whole = json.loads(raw.decode("utf-8-sig"))
    except (ValueError, RecursionError) as error:
        return {}, [f"scoring.json is not JSON: {error}"]
    return (whole, []) if isinstance(whole, dict) else ({}, ["scoring.json is not a mapping"])


def _numbers(whole: Mapping[str, object], section: str) -> tuple[dict[str, float], list[str]]:
    values, kept, problems = whole.get(section), dict[str, float](), list[str]()
    if values is None:
        return {}, []
    if not isinstance(values, dict):
        return {}, [f"{section} is not a mapping"]
    for name, value in values.items():
        # JSON as Python reads it has NaN, Infinity, true, and integers past any float.
        if isinstance(value, bool) or not isinstance(value, int | float) or value != value:
            problems.append(f"{section}: {_shown(name)} is not a number")
            continue
        kept[name] = float(min(MOST, max(0, value)))
        if kept[name] != value:
            problems.append(f"{section}: {_shown(name)} is outside 0 to 2; {kept[name]:g} is taken")
    return kept, problems


def _shown(name: str) -> str:
    return repr(name[:40])


# Norms


def _factor(norm: float, alpha: float) -> float:
    return 1.0 + alpha * (min(1.0, max(0.0, norm)) - NEUTRAL)


def _is_captured(note: Note) -> bool:
    """Whether a machine wrote it and nobody has looked: being new is then no merit over what a person saved."""
    return _folded(note.authority) == "captured"


def _recency(note: Note, today: date) -> float:
    """Linear over a year; a note dated after today is as new as can be, an undated one neutral."""
    last = touched(note)
    if last is None:
        return NEUTRAL
    return max(OLDEST, 1.0 - (today - last.date()).days / RECENCY_DAYS)


def _tags(note: Note, asked: tuple[str, ...]) -> float:
    wanted = {_folded(tag) for tag in asked} - {""}
    return len(wanted & {_folded(tag) for tag in note.tags}) / len(wanted) if wanted else NEUTRAL


def _is_speculative(note: Note) -> bool:
    words = {_folded(tag) for tag in note.tags} | {_folded(note.authority), _extra(note, "status")}
    return "speculative" in words or is_set(note, "speculative")


def _extra(note: Note, key: str) -> str:
    value = dict(note.extra).get(key)
    return _folded(value) if isinstance(value, str) else ""


def _folded(text: str) -> str:
    return text.strip().casefold()
