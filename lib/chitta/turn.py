"""The turn: from what a harness wrote on the hook's standard input to the request for the lanes.

Reading is forgiving: key names of six clients, marks, cut or odd JSON. What is no prompt of a
person (empty, a command to the client, a machine's own message) has no request and a reason.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from chitta import sessions
from chitta.admission import policy
from chitta.admission.intent import is_terse_negation, leans_back
from chitta.admission.tokens import clean_prompt, distinctive
from chitta.notes.note import without_surrogates
from chitta.notes.realms import realm_of
from chitta.render.envelope import event_of
from chitta.settings import Settings
from chitta.wire import codec
from chitta.wire.request import MAX_PROMPT_CHARS, Request

Payload = dict[str, Any]

#: Characters of a payload's prompt that are read; markup may make up a part of them.
MAX_TYPED_CHARS = 2 * MAX_PROMPT_CHARS
MAX_QUERY_CHARS = 4_000
MAX_SESSION_CHARS = 200
#: Characters of each turn in the context query.
CONTEXT_TURN_CHARS = 400
#: Characters of the last turn that a turn which leans on it takes along.
ANCHOR_CHARS = 1_000
#: Repetitions in the context query: this turn, the last, the one before.
CONTEXT_WEIGHTS = (3, 2, 1)

PROMPT_KEYS = ("prompt", "userPrompt", "user_prompt")
SESSION_KEYS = ("session_id", "sessionId", "conversation_id")
EVENT_KEYS = ("hook_event_name", "hookEventName")
CWD_KEYS = ("cwd", "workspaceRoot", "workspace_roots")

#: Values of a payload's ``source`` that say that no person typed this prompt.
SYNTHETIC_SOURCES = frozenset({"system", "loop_wakeup", "schedule_wakeup", "poll_event"})
SYNTHETIC_START = "<task-notification"
#: Commands that a client handles itself, whatever follows them.
CLIENT_COMMANDS = frozenset(
    "add-dir agents clear compact config context cost exit export help hooks init login logout mcp memory model new "
    "permissions plugin quit resume rewind status usage".split()
)
_COMMAND = re.compile(r"/([A-Za-z][\w:.-]*)(\s+\S.*)?", re.DOTALL)

_HARNESS_NAME = re.compile(r"[a-z][a-z0-9-]{0,30}")
_HARNESS_SUFFIXES = ("-code", "-cli")
#: How a payload shows its harness where the hook was not told: the first that holds.
HARNESS_SIGNS: tuple[tuple[str, Callable[[Payload], bool]], ...] = (
    ("gemini", lambda p: p.get("hook_event_name") == "BeforeAgent"),
    ("cursor", lambda p: "conversation_id" in p or "cursor_version" in p),
    ("grok", lambda p: "hookEventName" in p),
    ("copilot", lambda p: "sessionId" in p and "hook_event_name" not in p),
    ("copilot", lambda p: "timestamp" in p and "transcript_path" not in p),
    ("claude", lambda p: "prompt_id" in p),
    ("codex", lambda p: "turn_id" in p or "model" in p),
)
DEFAULT_HARNESS = "claude"

_ERROR_LINE = re.compile(
    r"error|exception|traceback|fail|fatal|panic|abort|denied|refused|cannot|can't|not found|undefined|unexpected"
    r"|timed? ?out|warning|segfault|no such|exit(?:ed)? (?:code|with)",
    re.IGNORECASE,
)
_MAX_ERROR_CHARS = 1_600
_MAX_LINE_CHARS = 300
#: A name put together of parts: `request.body`, `app::run`, `user_id`, `sendReceipt`.
_NAME = re.compile(r"\b[A-Za-z]\w*(?:(?:::|[.:])[A-Za-z]\w+)+|\b[A-Za-z]+_\w+|\b[a-z]+[A-Z]\w+")
_RARE = 2
_MAX_NAME_CHARS = 400
#: Characters between head and tail that are read for names: a waiting person pays for them.
_NAME_READ_CHARS = 40_000


class Turn(NamedTuple):
    """The request and the launch facts, or no request, ``go=0`` and the reason in a few words."""

    request: Request | None
    facts: dict[str, str]
    reason: str = ""


def prepare(payload: bytes, *, settings: Settings, harness: str = "", cwd: str = "", run: str = "") -> Turn:
    """Make the request of one prompt. Never raises for what a payload can hold; writes nothing.

    ``harness`` is the hook's argument ("" when it was not told), ``cwd`` the folder to take when
    the payload names none, ``run`` a name that no other run of the hook has.
    """
    value = _parse(payload)
    if value is None:
        return _nothing("no JSON object")
    typed = _typed(value)
    reason = _no_prompt(value, typed)
    if reason:
        return _nothing(reason)
    prompt = ends_of(clean_prompt(ends_of(typed, MAX_TYPED_CHARS)), MAX_PROMPT_CHARS)
    reason = _no_words(prompt)
    if reason:
        return _nothing(reason)
    session = _session(value)
    folder = _first_text(value, CWD_KEYS) or cwd
    realm = realm_of(folder, settings.text("CHITTA_REALM"))
    known = sessions.read(settings.state_dir, session)
    earlier = known.turns if known.realm in ("", realm) else ()
    query = focus(prompt)
    tokens = distinctive(query)
    anchor = earlier[-1][-ANCHOR_CHARS:] if earlier and tokens and leans_back(prompt, tokens) else ""
    facts = _facts(settings, terse=not tokens or is_terse_negation(prompt))
    client = _harness(value, harness)
    request = Request(
        prompt=prompt,
        query=f"{anchor}\n{query}" if anchor else query,
        context_query=context_query(prompt, earlier),
        tokens=tokens,
        anchor=anchor,
        session=session,
        turn=known.turn + 1,
        cwd=folder,
        realm=realm,
        k=settings.integer("CHITTA_LANE_K"),
        deadline_ms=int(facts["limit_ms"]),
        harness=client,
        event=event_of(client, _first_text(value, EVENT_KEYS)),
        run=run,
    )
    return Turn(request, facts)


def ends_of(text: str, limit: int) -> str:
    """``text`` within ``limit`` characters: its head and, where people ask, its last quarter."""
    tail = limit // 4
    return text if len(text) <= limit else f"{text[: limit - tail - 1]}\n{text[-tail:]}"


def focus(prompt: str) -> str:
    """The text to recall on, at most :data:`MAX_QUERY_CHARS` characters.

    A long prompt keeps its head and its tail, where people ask; then, from between, the lines that look
    like errors, which are what a pasted log is about, and names that stand there once or twice. In that
    order, since a model reads only so far.
    """
    if len(prompt) <= MAX_QUERY_CHARS:
        return prompt
    edge = (MAX_QUERY_CHARS - _MAX_ERROR_CHARS - _MAX_NAME_CHARS) // 2
    errors: dict[str, None] = {}
    left = _MAX_ERROR_CHARS - 2
    for line in prompt[edge:-edge].split("\n"):
        line = line.strip()[:_MAX_LINE_CHARS]
        if line not in errors and len(line) < left and _ERROR_LINE.search(line):
            errors[line] = None
            left -= len(line) + 1
    names = _rare_names(prompt[edge:-edge][:_NAME_READ_CHARS])
    edge += max(left - len(names) - 1, 0) // 2
    return "\n".join((prompt[:edge], prompt[-edge:], *errors, *([names] if names else [])))


def _rare_names(text: str) -> str:
    """Names made of parts that occur once or twice, in order, within :data:`_MAX_NAME_CHARS`."""
    counts: dict[str, int] = {}
    for name in _NAME.findall(text):
        counts[name] = counts.get(name, 0) + 1
    kept: list[str] = []
    left = _MAX_NAME_CHARS
    for name, count in counts.items():
        if count <= _RARE and len(name) < left:
            kept.append(name)
            left -= len(name) + 1
    return " ".join(kept)


def context_query(prompt: str, earlier: Sequence[str]) -> str:
    """This turn and up to two earlier ones, oldest first in ``earlier``, repeated by recency.

    "" when there is no earlier turn: there is no context to add then.
    """
    if not earlier:
        return ""
    turns = (prompt, *reversed(earlier[-2:]))
    return "".join((turn[:CONTEXT_TURN_CHARS] + "\n") * n for turn, n in zip(turns, CONTEXT_WEIGHTS, strict=False))


# The payload


def _parse(payload: bytes) -> Payload | None:
    """The payload's object, or None. JSON that is strictly wrong but plain in meaning is taken."""
    try:
        value = codec.loads(payload)
    except ValueError:
        value = _parse_leniently(payload)
    return value if isinstance(value, dict) else None


def _parse_leniently(payload: bytes) -> Any:
    """Lone surrogates, raw control characters, bytes that are no UTF-8, UTF-16 with its mark."""
    import json

    marked = payload.startswith((b"\xff\xfe", b"\xfe\xff"))
    try:
        return json.loads(payload.decode("utf-16" if marked else "utf-8-sig", "replace"), strict=False)
    except (ValueError, RecursionError):
        return None


def _first_text(value: Payload, keys: Sequence[str]) -> str:
    """The first text under ``keys``; of a list its first entry."""
    for key in keys:
        found = value.get(key)
        if isinstance(found, list) and found:
            found = found[0]
        if isinstance(found, str) and found:
            return without_surrogates(found)
    return ""


def _session(value: Payload) -> str:
    """The session's identifier; a number counts, and of one that is too long the end tells it from others."""
    for key in SESSION_KEYS:
        found = value.get(key)
        if isinstance(found, int) and not isinstance(found, bool):
            return str(found)[:MAX_SESSION_CHARS]
    name = _first_text(value, SESSION_KEYS)
    if len(name) <= MAX_SESSION_CHARS:
        return name
    from hashlib import sha256

    return name[:100] + sha256(name.encode("utf-8", "surrogatepass")).hexdigest()


def _typed(value: Payload) -> str:
    """The prompt as the payload holds it: text, or an object or a list of parts with texts."""
    for key in PROMPT_KEYS:
        found = value.get(key)
        parts = found if isinstance(found, list) else [found]
        texts = [part.get("text") if isinstance(part, dict) else part for part in parts]
        if any(isinstance(text, str) for text in texts):
            return "\n".join(text for text in texts if isinstance(text, str))
    return ""


def _no_prompt(value: Payload, typed: str) -> str:
    """Why nobody typed this, or nothing."""
    if not typed.strip():
        return "no prompt"
    source = value.get("source")
    machine = isinstance(source, str) and source in SYNTHETIC_SOURCES
    return "not typed by a person" if machine or typed.lstrip("\ufeff \t\r\n").startswith(SYNTHETIC_START) else ""


def _no_words(prompt: str) -> str:
    """Why a cleaned prompt asks nothing of a memory, or nothing."""
    if not prompt:
        return "nothing but markup"
    command = _COMMAND.fullmatch(prompt)
    bare = command is not None and (not command[2] or command[1].lower() in CLIENT_COMMANDS)
    return "a command to the client" if bare else ""


def _harness(value: Payload, told: str) -> str:
    """The harness that the hook was told, else the one that the payload shows."""
    name = told.strip().lower()
    for suffix in _HARNESS_SUFFIXES:
        name = name.removesuffix(suffix)
    if _HARNESS_NAME.fullmatch(name):
        return name
    return next((harness for harness, shows in HARNESS_SIGNS if shows(value)), DEFAULT_HARNESS)


# Launch facts


def _nothing(reason: str) -> Turn:
    return Turn(None, {"go": "0"}, reason)


def _facts(settings: Settings, *, terse: bool) -> dict[str, str]:
    """What the launcher must know, in ``[A-Za-z0-9._= -]``; docs/lane-contract.md says what each means.

    No limit is longer than the budget. ``only`` names the lanes to launch, where not all are.
    """
    budget = settings.integer("CHITTA_HOOK_BUDGET_MS")
    limits = {lane.lane: min(settings.integer(lane.limit), budget) for lane in policy.LANES}
    usual = min(settings.integer("CHITTA_LANE_LIMIT_MS"), budget)
    facts = {"go": "1", "budget_ms": str(budget), "limit_ms": str(usual)}
    facts.update({f"limit.{lane}": str(limit) for lane, limit in limits.items() if limit != usual})
    facts["skip"] = " ".join(policy.ablated(settings))
    if terse:
        facts["only"] = " ".join(policy.TERSE_LANES)
    return facts
