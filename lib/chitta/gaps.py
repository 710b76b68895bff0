"""Knowledge gaps: what people asked and the store did not know.

One line a prompt in ``$CHITTA_HOME/state/gaps.jsonl``: the realm, the session and the prompt's content terms, sorted.
Terms are the person's words, so the log is kept only with CHITTA_GAP_LOG, which is on; the prompt itself is in it
only with CHITTA_LOG_PROMPTS. Trouble (a lane that was late, a model that was loading, no index, no notes) is never a
gap. Most prompts that find nothing are no question to a memory, so a gap counts from the second session that asks it.
"""

from __future__ import annotations

import os
import time
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from chitta import bounded_log
from chitta.admission import policy
from chitta.admission.tokens import clean_prompt, distinctive
from chitta.admission.verdict import Verdict
from chitta.safety.screen import keepable, screened
from chitta.sessions import TRIAL
from chitta.settings import Settings
from chitta.wire.request import Request
from chitta.wire.rows import LaneResult

NAME = "gaps.jsonl"
#: Most terms of one line; a prompt with more is a task with its material rather than a question.
MOST_TERMS = 24
#: Fewer terms say no subject.
LEAST_TERMS = 2
#: Longest term, and most digits in one: what is longer or has more is a path, a hash or a secret, and nobody's subject.
MOST_TERM_CHARS, MOST_DIGITS = 28, 4
#: Share of common terms (Jaccard) from which two prompts ask the same, and sessions that have to (reflect: 2).
SAME_FROM = 0.5
LEAST_SESSIONS = 2
_MOST_PROMPT_CHARS = 200
#: Variables in which clients name their session to what they start.
_SESSION_VARIABLES = ("CLAUDE_CODE_SESSION_ID", "GEMINI_SESSION_ID", "CHITTA_SESSION")

#: What people say to an agent about the work itself, whatever it is on: no subject that a memory could lack.
_WORK_WORDS = frozenset(
    """
    acceptance archive backlog branch build change changed changes check clean close code comment comments commit
    commits complete completed diff document edit entire file files final finish finished github implement improve
    issue issues line lines merge move note notes number open phase plan please polish problem problems project pull
    push question ready rebase refactor remaining remove rename repo report request resolve review round ship
    skip solve solving step steps strict summarize task tasks test tested testing tests ticket todo update updated
    verify version work working works write yes
    """.split()
)


class Gap(NamedTuple):
    """Prompts of one realm that asked mostly the same: their common terms, how often, in how many sessions, and when
    first and last (ISO, UTC)."""

    terms: tuple[str, ...]
    realm: str
    times: int
    sessions: int
    first: str
    last: str


def terms_of(tokens: Iterable[str]) -> tuple[str, ...]:
    """The content terms among distinctive tokens, sorted, at most :data:`MOST_TERMS` of the first ones."""
    kept = [token for token in dict.fromkeys(tokens) if token not in _WORK_WORDS and _is_subject(token)]
    return tuple(sorted(kept[:MOST_TERMS]))


def of_prompt(
    request: Request, results: Sequence[LaneResult], verdict: Verdict, seen: Collection[str] = ()
) -> tuple[str, ...]:
    """The terms of the gap that this prompt shows; none where it shows none.

    Nothing was admitted, nothing was known but shown before or short of room, every lane that was asked answered
    with all it can, and the store was measured and holds notes. ``seen`` are ids that the session was shown, at its
    start or since: a candidate of these that shares two words with the prompt was its answer, whatever the gate's
    first reason against showing it again.
    """
    if any(row.id in seen and len(row.shared) >= LEAST_TERMS for _, row, _ in verdict.trace):
        return ()
    if verdict.admitted or any(cause in ("dup", "cap") for _, cause in verdict.dropped):
        return ()
    if any(result.state in policy.FAILED_STATES or (result.header and result.header.warming) for result in results):
        return ()
    headers = [result.header for result in results if result.lane in policy.MEASURING_LANES.values() and result.header]
    if not any(header.lane == policy.MEASURING_LANE and header.maxrel is not None for header in headers):
        return ()
    if not any(header.size or header.n for header in headers):
        return ()
    terms = terms_of(distinctive(screened(request.prompt)))
    return terms if len(terms) >= LEAST_TERMS else ()


def note_prompt(
    request: Request,
    results: Sequence[LaneResult],
    verdict: Verdict,
    *,
    settings: Settings,
    now: float,
    seen: Collection[str] = (),
) -> bool:
    """Keep the gap that a prompt shows, if it shows one; whether it did. Raises ``OSError``."""
    if verdict.admitted or not request.tokens or not settings.flag("CHITTA_GAP_LOG"):
        return False
    if request.session.startswith(TRIAL):  # `chitta try`: nobody asked an agent
        return False
    terms = of_prompt(request, results, verdict, seen)
    if terms:
        _keep(settings, terms, request.realm, request.session, request.prompt, now)
    return bool(terms)


def note_question(settings: Settings, question: str, realm: str, now: float) -> bool:
    """Keep a question of `chitta recall` that found nothing; the caller knows that it was answered in full."""
    terms = terms_of(distinctive(clean_prompt(keepable(question))))
    if len(terms) < LEAST_TERMS or not settings.flag("CHITTA_GAP_LOG"):
        return False
    _keep(settings, terms, realm, session_here(), question, now)
    return True


def session_here() -> str:
    """The session of the client that this process was started by; "" where no variable names one."""
    return next((os.environ[name][:200] for name in _SESSION_VARIABLES if os.environ.get(name)), "")


def read(state_dir: str) -> list[dict[str, Any]]:
    """The log's well-formed lines, oldest first."""
    return [line for line in bounded_log.read(state_dir, NAME) if _is_line(line)]


def surfaced(lines: Iterable[Mapping[str, Any]], least_sessions: int = LEAST_SESSIONS) -> list[Gap]:
    """What several sessions asked, the most frequent first, then the latest. Pure.

    A line joins the group of its realm whose first line it has most in common with, from :data:`SAME_FROM` on.
    """
    groups: list[list[Mapping[str, Any]]] = []
    firsts: list[frozenset[tuple[str, str]]] = []  # realm and term of each group's first line
    by_term: dict[tuple[str, str], list[int]] = {}  # groups that have it there
    for line in lines:
        keys = frozenset((str(line["realm"]), str(term)) for term in line["terms"])
        # What is alike has half of these in common, so any half and one more of them finds it: the rarest do.
        rarest = sorted(keys, key=lambda key: len(by_term.get(key, ())))[: len(keys) // 2 + 1]
        candidates = {number for key in rarest for number in by_term.get(key, ())}
        alike = {number: jaccard(firsts[number], keys) for number in candidates}
        near = min(alike, key=lambda number: (-alike[number], number), default=None)
        if near is not None and alike[near] >= SAME_FROM:
            groups[near].append(line)
            continue
        for key in keys:
            by_term.setdefault(key, []).append(len(groups))
        groups.append([line])
        firsts.append(keys)
    gaps = [_gap(group) for group in groups if len({str(line["session"]) for line in group}) >= least_sessions]
    gaps.sort(key=lambda gap: gap.terms)
    gaps.sort(key=lambda gap: gap.last, reverse=True)
    gaps.sort(key=lambda gap: (gap.sessions, gap.times), reverse=True)
    return gaps


def matching(gaps: Iterable[Gap], words: Collection[str]) -> list[Gap]:
    """The gaps that have each of these words among their terms, or as a part of one."""
    asked = [word.lower() for word in words]
    return [gap for gap in gaps if all(any(word in term for term in gap.terms) for word in asked)]


def forget(state_dir: str, gaps: Collection[Gap] | None = None) -> int:
    """Remove the lines of these gaps, or every line; how many went. Raises ``OSError``."""
    lines = read(state_dir)
    kept = [] if gaps is None else [line for line in lines if not any(_belongs(line, gap) for gap in gaps)]
    bounded_log.replace(state_dir, NAME, kept)
    return len(lines) - len(kept)


def jaccard(one: Collection[object], other: Collection[object]) -> float:
    """Common members of two sets as a share of all of them; 0 for two empty ones."""
    a, b = frozenset(one), frozenset(other)
    return len(a & b) / len(a | b) if a | b else 0.0


def _keep(settings: Settings, terms: Sequence[str], realm: str, session: str, prompt: str, now: float) -> None:
    moment = time.gmtime(now)
    line: dict[str, Any] = {
        "ts": time.strftime("%Y-%m-%dT%H:%M:%SZ", moment),
        "realm": realm,
        "terms": list(terms),
        "session": session or time.strftime("unknown-%Y-%m-%d", moment),
    }
    if settings.flag("CHITTA_LOG_PROMPTS"):
        line["prompt"] = keepable(prompt)[:_MOST_PROMPT_CHARS]
    bounded_log.append(settings.state_dir, NAME, line)


def _is_subject(token: str) -> bool:
    return len(token) <= MOST_TERM_CHARS and sum(map(str.isdigit, token)) < MOST_DIGITS


def _is_line(line: Mapping[str, Any]) -> bool:
    texts = all(isinstance(line.get(key), str) for key in ("ts", "realm", "session"))
    terms = line.get("terms")
    return texts and isinstance(terms, list) and bool(terms) and all(isinstance(term, str) for term in terms)


def _belongs(line: Mapping[str, Any], gap: Gap) -> bool:
    return line["realm"] == gap.realm and jaccard(line["terms"], gap.terms) >= SAME_FROM


def _gap(group: Sequence[Mapping[str, Any]]) -> Gap:
    counts = Counter(term for line in group for term in line["terms"])
    common = tuple(sorted(term for term, count in counts.items() if 2 * count > len(group)))
    moments = [str(line["ts"]) for line in group]
    return Gap(
        common or tuple(group[0]["terms"]),
        str(group[0]["realm"]),
        len(group),
        len({str(line["session"]) for line in group}),
        min(moments),
        max(moments),
    )
