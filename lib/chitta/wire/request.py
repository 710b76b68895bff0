"""The request: one JSON object that the hook gives to every lane on its standard input."""

from __future__ import annotations

from typing import Any, NamedTuple

from chitta.wire import codec

VERSION = 1
MAX_PROMPT_CHARS = 200_000
_MAX_TOKENS = 256
_MAX_TURNS = 3
_MAX_RUN = 64


class Request(NamedTuple):
    """What a lane is asked. docs/lane-contract.md says what each field means.

    ``prompt`` is what the person typed, cleaned of system markup; ``query`` is the text to
    recall on; ``anchor`` is the last turn's words where this one leans on it ("do the same for
    staging"), and the query begins with them then; ``context_query`` is the recency-weighted bag
    of this and the last two turns, ``context_turns`` the same turns, latest first, or both empty on
    a session's first turn; ``deadline_ms`` counts from the lane's start; ``run`` names this run of
    the hook, so that what is merged twice counts once.
    """

    prompt: str
    query: str
    context_query: str = ""
    context_turns: tuple[str, ...] = ()
    tokens: tuple[str, ...] = ()
    anchor: str = ""
    session: str = ""
    turn: int = 1
    cwd: str = ""
    realm: str = "global"
    k: int = 10
    deadline_ms: int = 2000
    harness: str = "claude"
    event: str = "UserPromptSubmit"
    run: str = ""
    v: int = VERSION


def encode_request(request: Request) -> bytes:
    """The request as one line of JSON with a newline."""
    lists = {"tokens": list(request.tokens), "context_turns": list(request.context_turns)}
    return codec.dumps({**request._asdict(), **lists}) + b"\n"


def parse_request(raw: bytes) -> Request:
    """Read a request. Raises ``ValueError`` with a sentence when it cannot be one.

    Missing optional keys take their defaults and unknown keys are ignored, so that a person can
    type ``{"prompt": "…"}`` by hand.
    """
    value = codec.loads(raw)
    if not isinstance(value, dict):
        raise ValueError("a request is a JSON object")
    version = value.get("v", VERSION)
    if version != VERSION:
        raise ValueError(f"a request of version {version!r}, this is version {VERSION}")
    prompt, query = value.get("prompt"), value.get("query")
    if not isinstance(prompt, str) and not isinstance(query, str):
        raise ValueError("a request holds a prompt or a query as text")
    words = prompt if isinstance(prompt, str) else str(query)
    return Request(
        prompt=words[:MAX_PROMPT_CHARS],
        query=(query if isinstance(query, str) else words)[:MAX_PROMPT_CHARS],
        context_query=_text(value, "context_query", "")[:MAX_PROMPT_CHARS],
        context_turns=tuple(turn[:MAX_PROMPT_CHARS] for turn in _texts(value, "context_turns")[:_MAX_TURNS]),
        tokens=_texts(value, "tokens")[:_MAX_TOKENS],
        anchor=_text(value, "anchor", "")[:MAX_PROMPT_CHARS],
        session=_text(value, "session", ""),
        turn=_whole(value, "turn", 1, 1, 1_000_000),
        cwd=_text(value, "cwd", ""),
        realm=_text(value, "realm", "") or "global",
        k=_whole(value, "k", 10, 1, 100),
        deadline_ms=_whole(value, "deadline_ms", 2000, 1, 600_000),
        harness=_text(value, "harness", "claude"),
        event=_text(value, "event", "UserPromptSubmit"),
        run=_text(value, "run", "")[:_MAX_RUN],
    )


def _text(value: dict[str, Any], key: str, default: str) -> str:
    found = value.get(key)
    return found if isinstance(found, str) else default


def _texts(value: dict[str, Any], key: str) -> tuple[str, ...]:
    found = value.get(key)
    return tuple(text for text in found if isinstance(text, str)) if isinstance(found, list) else ()


def _whole(value: dict[str, Any], key: str, default: int, low: int, high: int) -> int:
    found = value.get(key)
    if isinstance(found, bool) or not isinstance(found, (int, float)) or found != found:
        return default
    return int(min(max(found, low), high))
