"""``a : b :: c : ?`` answered by relations that notes state, and by nothing else.

Explicit transfer after the chitta paper: the relations stated from a to b are followed from c.
Nothing is ranked by likeness; where no relation is stated there is no answer, and the reason is given.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import NamedTuple

from chitta.notes.triplet import Edge, name_key

#: Characters of an analogy; more is no analogy but a text.
LONGEST = 1_000

_NAME = r"""\s*"[^"]+"\s*|\s*'[^']+'\s*|[^:"]+"""
_FORM = re.compile(rf"({_NAME}):({_NAME})::({_NAME}):\s*\?\s*")
_HOW = "an analogy is written a : b :: c : ?, with names that hold a colon in quotes"


class Analogy(NamedTuple):
    """What stands to what, and for whom the same is asked."""

    a: str
    b: str
    c: str


class Solution(NamedTuple):
    """One answer: ``target``, the edges from a to b that name the relation, and those from c to the target."""

    relation: str
    target: str
    given: tuple[Edge, ...]
    found: tuple[Edge, ...]


class Answer(NamedTuple):
    """The solutions by relation, then target; or none, and why."""

    solutions: tuple[Solution, ...]
    reason: str = ""


def parse(text: str) -> Analogy:
    """The analogy that ``text`` writes. Names may hold spaces and stand in quotes.

    Raises ``ValueError`` with a sentence for people when it is none.
    """
    if len(text) > LONGEST:
        raise ValueError(f"an analogy has at most {LONGEST} characters")
    form = _FORM.fullmatch(text)
    if form is None:
        raise ValueError(_HOW)
    names = [_bare(name) for name in form.groups()]
    if any(not name or name == "?" for name in names):
        raise ValueError(f"only the last name may be left open: {_HOW}")
    return Analogy(*names)


def solve(analogy: Analogy, triplets: Callable[[str], Iterable[Edge]]) -> Answer:
    """What stands to c as b stands to a, with the notes that say so.

    ``triplets`` gives the edges that begin or end at a name. Names are compared without case and
    white space. An answer is a neighbour of c by a relation that is stated from a to b.
    """
    a, b, c = (name_key(name) for name in analogy)
    given: dict[str, list[Edge]] = {}
    for edge in sorted(set(triplets(analogy.a))):
        if name_key(edge.source) == a and name_key(edge.target) == b:
            given.setdefault(edge.relation, []).append(edge)
    if not given:
        return Answer((), f"no edge from {analogy.a} to {analogy.b}")
    around = [edge for edge in sorted(set(triplets(analogy.c))) if c in (name_key(edge.source), name_key(edge.target))]
    if not around:
        return Answer((), f"{analogy.c} is not known")
    found: dict[tuple[str, str], list[Edge]] = {}
    for edge in around:
        if name_key(edge.source) == c and edge.relation in given:
            found.setdefault((edge.relation, name_key(edge.target)), []).append(edge)
    if not found:
        return Answer((), f"{analogy.c} has no outgoing {' or '.join(sorted(given))}")
    solutions = [
        Solution(relation, found[relation, key][0].target, tuple(given[relation]), tuple(found[relation, key]))
        for relation, key in sorted(found)
    ]
    return Answer(tuple(solutions))


def _bare(name: str) -> str:
    name = name.strip()
    if len(name) > 2 and name[0] == name[-1] and name[0] in "\"'":
        name = name[1:-1]
    return " ".join(name.split())
