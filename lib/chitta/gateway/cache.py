"""Candidates that were fetched a moment ago, so that asking again in almost the same words fetches nothing.

What is kept is what the arms found, before any filter: filters, scores and limits are applied again on every call.
Kept in memory only, and of complete answers only: the caller stores nothing after an error or a timeout.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from threading import Lock
from typing import Generic, Literal, NamedTuple, TypeVar

from chitta.index.terms import analyse
from chitta.notes.note import without_surrogates

Value = TypeVar("Value")

#: Least Jaccard of two queries' terms, least terms of a query, entries kept, and seconds they live (reflect).
LEAST_JACCARD, LEAST_TERMS, MOST_ENTRIES, LIFE_SECONDS = 0.85, 2, 200, 3600.0

_WORD = re.compile(r"\d+|[^\W\d_]+(?:'t)?")
# Stop words and digits that no index holds, yet that turn a question round: queries that differ in them are different.
_DECIDING = frozenset(
    """
    no not never without nor don't doesn't didn't isn't aren't can't cannot won't shouldn't before after since until
    till during between above below over under more less most least first last now
    """.split()
)


class Fetch(NamedTuple):
    """What was asked of the arms. ``version`` is that of the index: another one makes another fetch."""

    version: str
    query: str
    mode: str
    fetched_limit: int
    realm: str | None


@dataclass(frozen=True)
class CacheHit(Generic[Value]):
    """A kept value, how it was found, and the query that it was fetched for."""

    value: Value
    tier: Literal["exact", "fuzzy"]
    query: str


class _Wording(NamedTuple):
    """What two queries are compared by."""

    terms: frozenset[str]
    deciding: tuple[str, ...]


@dataclass(frozen=True)
class _Entry(Generic[Value]):
    value: Value
    stored_at: float
    wording: _Wording


class CandidateCache(Generic[Value]):
    """At most :data:`MOST_ENTRIES` of the newest values. Safe to share between threads.

    ``clock`` gives seconds; an entry from its future counts as expired. Values are handed out as they were stored,
    not copied: nobody may change them.
    """

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._lock = Lock()
        self._entries: dict[Fetch, _Entry[Value]] = {}  # oldest first

    def __len__(self) -> int:
        return len(self._entries)

    def look_up(self, fetch: Fetch) -> CacheHit[Value] | None:
        """What was kept for ``fetch``, else for the query nearest to it in wording; None where it must be fetched.

        A query in other words counts with a Jaccard of :data:`LEAST_JACCARD` or more over its terms, the same version,
        mode, limit and realm, and the same numbers and deciding words (not, before, after…). The newest of equals.
        """
        wording = _wording(fetch.query)
        with self._lock:
            self._drop_expired()
            exact = self._entries.get(fetch)
            if exact is not None:
                return CacheHit(exact.value, "exact", fetch.query)
            if len(wording.terms) < LEAST_TERMS:
                return None
            best, best_likeness = None, LEAST_JACCARD
            for asked, entry in self._entries.items():
                likeness = _likeness(wording, entry.wording)
                if likeness >= best_likeness and asked._replace(query=fetch.query) == fetch:
                    best, best_likeness = CacheHit(entry.value, "fuzzy", asked.query), likeness
            return best

    def store(self, fetch: Fetch, value: Value) -> None:
        """Keep the complete answer to ``fetch``, in place of an earlier one."""
        wording = _wording(fetch.query)
        with self._lock:
            self._drop_expired()
            self._entries.pop(fetch, None)
            self._entries[fetch] = _Entry(value, self._clock(), wording)
            while len(self._entries) > MOST_ENTRIES:
                del self._entries[next(iter(self._entries))]

    def invalidate(self) -> None:
        """Forget everything."""
        with self._lock:
            self._entries.clear()

    def _drop_expired(self) -> None:
        now = self._clock()
        gone = [fetch for fetch, entry in self._entries.items() if not 0 <= now - entry.stored_at < LIFE_SECONDS]
        for fetch in gone:
            del self._entries[fetch]


def _wording(query: str) -> _Wording:
    text = without_surrogates(query)
    words = _WORD.findall(text.lower().replace("’", "'"))
    deciding = tuple(word for word in words if word.isdigit() or word in _DECIDING)
    return _Wording(frozenset(analyse(text).all), deciding)


def _likeness(left: _Wording, right: _Wording) -> float:
    """Jaccard of the terms, 0–1; 0 where the deciding words are not the same."""
    if left.deciding != right.deciding or not left.terms or not right.terms:
        return 0.0
    return len(left.terms & right.terms) / len(left.terms | right.terms)
