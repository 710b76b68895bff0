"""A harness's payload: to a request that every lane reads, or to none, and never to a fault."""

from __future__ import annotations

import json
import re
from functools import cache

from tests.fuzz.kind import Target, choice, must, text_of
from tests.fuzz.places import samples, scratch

from chitta import settings, turn
from chitta.admission.tokens import clean_prompt, distinctive
from chitta.recall.query_class import asking_part, classify
from chitta.session_hooks import occasion
from chitta.settings import Settings
from chitta.wire.request import MAX_PROMPT_CHARS, encode_request, parse_request

_FACT = re.compile(r"[A-Za-z0-9._= -]*")
_HARNESSES = ("", "claude", "codex", "gemini", "copilot", "cursor", "grok", "Odd One")
_FIELDS: tuple[dict[str, str], ...] = (
    {"hook_event_name": "UserPromptSubmit", "session_id": "s", "transcript_path": "/t", "prompt_id": "p"},
    {"hook_event_name": "UserPromptSubmit", "session_id": "s", "turn_id": "1", "model": "m"},
    {"hook_event_name": "BeforeAgent", "session_id": "s", "timestamp": "t"},
    {"sessionId": "s", "timestamp": "1"},
    {"conversation_id": "c", "cursor_version": "1", "hook_event_name": "beforeSubmitPrompt"},
    {"hookEventName": "UserPromptSubmit", "sessionId": "g"},
)


@cache
def _settings() -> Settings:
    return settings.load({"CHITTA_HOME": str(scratch("turns"))})


def payloads(data: bytes) -> None:
    """The bytes as the payload, or as the prompt in the payload of a harness."""
    which, data = choice(data, 2 * len(_FIELDS))
    if which >= len(_FIELDS):
        fields = {**_FIELDS[which - len(_FIELDS)], "prompt": text_of(data), "cwd": "/nowhere"}
        data = json.dumps(fields, ensure_ascii=which % 2 == 0).encode("utf-8", "surrogatepass")
    harness = _HARNESSES[(which + len(data)) % len(_HARNESSES)]
    value = turn.parse_payload(data)
    must(value is None or isinstance(value, dict), "a payload that is no object", value)
    made = turn.prepare(data, settings=_settings(), harness=harness, cwd="/nowhere", run="r")
    must(all(_FACT.fullmatch(part) for fact in made.facts.items() for part in fact), "a fact with odd letters", made)
    must((made.request is None) == (made.facts["go"] == "0") == bool(made.reason), "facts that do not agree", made)
    request = made.request
    if request is not None:
        must(len(request.prompt) <= MAX_PROMPT_CHARS, "a prompt too long", len(request.prompt))
        must(len(request.query) <= turn.MAX_QUERY_CHARS + turn.ANCHOR_CHARS + 1, "a query too long", len(request.query))
        must(len(request.session) <= turn.MAX_SESSION_CHARS, "a session's name too long", request.session)
        must(parse_request(encode_request(request)) == request, "a request that changes on its way", request)
    for part in ("start", "subagent", "flush"):
        occasion.read(data, part, harness, "/nowhere")


def prompts(data: bytes) -> None:
    text = text_of(data)
    cleaned = clean_prompt(text)
    must(len(cleaned) <= len(text), "a prompt grows by being cleaned", text)
    must(len(turn.focus(text)) <= turn.MAX_QUERY_CHARS, "a query too long", len(turn.focus(text)))
    found = distinctive(text)
    must(len(found) == len(set(found)), "a token twice", found)
    must(classify(text) == classify(text), "two classes of one text", text)
    asking_part(text)


def _payload_seeds() -> list[bytes]:
    plain = [
        json.dumps({**fields, "prompt": "how do we deploy to staging?", "cwd": "/x"}).encode() for fields in _FIELDS
    ]
    odd = [
        b"{}",
        b"[]",
        b"null",
        b"",
        b'{"prompt":[{"type":"text","text":"hello there you"}]}',
        b'{"prompt":{"text":1}}',
    ]
    utf16 = json.dumps({"prompt": "long enough to ask"}).encode("utf-16")
    hooks = [line for file in samples("tests/unit/capture/data/*-hooks.jsonl") for line in file.split(b"\n")[:4]]
    wrapped = [bytes([len(_FIELDS) + n]) + b"how do we deploy? see src/app.py::run" for n in range(len(_FIELDS))]
    return [*(b"\0" + one for one in (*plain, *odd, utf16, *hooks)), *wrapped]


TARGETS = (
    Target(
        "payloads",
        payloads,
        _payload_seeds,
        (
            b'"prompt":',
            b'"session_id":',
            b'"cwd":',
            b'"/\\u0000"',
            b'"source":"user"',
            b'"agent_id":"a"',
            b"/model x",
            b"<system-reminder>",
            b"</system-reminder>",
            b"<task-notification",
            b'{"text":',
            b'"\\ud83d"',
            b"\xff\xfe",
        ),
    ),
    Target(
        "prompts",
        prompts,
        lambda: [
            b"fix the flaky test in tests/test_app.py::test_run, error: cannot import name 'x'",
            b"<system-reminder>be kind</system-reminder>\n<ide_selection>x</ide_selection> why does this fail?",
            "为什么 deploy 失败了？ use `make ship`\n```\nTraceback (most recent call last):\n```\n".encode(),
            b"error: line\nwarning: other\n" * 200,
        ],
        (
            b"<system-reminder>",
            b"</system-reminder>",
            b"<ide_opened_file>",
            b"</",
            b"```\n",
            b"error: ",
            b"::",
            b"_a",
            b"when did ",
            b"why ",
            b"? ",
            b"the first ",
            b"@file.py",
            b"/command ",
            b"https://a.b/c?d=e",
        ),
    ),
)
