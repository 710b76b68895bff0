"""What a prompt leaves behind: neither what its person marked as private nor a secret typed in passing."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from chitta import merge, searches, sessions, settings
from chitta.turn import prepare
from chitta.wire.rows import LaneResult, parse_rows

SECRET = "ghp_" + "Zx81kQw0Lr7Tn3Vb5Yc9Md2Hs6Pf4Jg0EuAi"
PROMPT = f"Why is deploy of zanzibar refused with {SECRET}? <private>my salary is 4711 yen</private> Please look"
HEADER = b'{"v":1,"lane":"hybrid","n":0,"k":10,"maxrel":0.01,"size":5}\n'


def payload(prompt: str) -> bytes:
    return json.dumps({"session_id": "s", "hook_event_name": "UserPromptSubmit", "cwd": "/", "prompt": prompt}).encode()


def kept(home: str) -> str:
    return "\n".join(
        Path(folder, name).read_text(encoding="utf-8", errors="replace")
        for folder, _, names in os.walk(home)
        for name in names
    )


def test_fault_38_no_secret_and_no_private_span_of_a_prompt_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CHITTA_LOG_PROMPTS", "1")
    chosen = settings.load()
    results: list[LaneResult] = [parse_rows("hybrid", "ok", 5.0, HEADER)]
    for _ in range(2):
        request = prepare(payload(PROMPT), settings=chosen).request
        assert request is not None and "4711" not in "\n".join(
            (request.prompt, request.query, request.context_query, *request.context_turns, *request.tokens)
        )
        merge.finish(request, results, settings=chosen, total_ms=5.0)
    searches.note(chosen, PROMPT, "global", [], 1e9)
    everything = kept(chosen.home).lower()
    assert "zanzibar" in everything and '"refused"' in everything, "the words themselves are kept"
    for piece in (SECRET.lower(), "zx81kqw0", "4711", "salary"):
        assert piece not in everything
    assert "zanzibar" in sessions.read(chosen.state_dir, "s").turns[-1]


def test_unseen_characters_hide_neither_a_secret_nor_a_private_span(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CHITTA_LOG_PROMPTS", "1")
    chosen = settings.load()
    secret = f"{SECRET[:12]}\u200b{SECRET[12:]}"
    prompt = f"Why is zanzibar refused with {secret}? <pri\u200bvate>my salary is 4711 yen</private> Please look"
    request = prepare(payload(prompt), settings=chosen).request
    assert request is not None and "4711" not in request.prompt + request.query
    merge.finish(request, [parse_rows("hybrid", "ok", 5.0, HEADER)], settings=chosen, total_ms=5.0)
    searches.note(chosen, prompt, "global", [], 1e9)
    everything = kept(chosen.home).lower()
    assert "zanzibar" in everything
    for piece in (SECRET[12:].lower(), SECRET[:12].lower(), "4711"):
        assert piece not in everything


def test_a_prompt_of_private_words_alone_asks_nothing() -> None:
    assert prepare(payload("<private>what did I earn in 2019</private>"), settings=settings.load()).request is None


def test_a_long_prompt_is_cut_after_its_private_part_is_gone() -> None:
    prompt = f"before <private>{'hidden words ' * 40_000}</private> after the cut"
    request = prepare(payload(prompt), settings=settings.load()).request
    assert request is not None and request.prompt == "before  after the cut"


def test_fault_38_what_runs_at_a_prompt_does_not_load_the_library_of_detectors() -> None:
    code = "import chitta.turn, chitta.merge, chitta.gateway.inprocess, chitta.lane, sys; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert not {"kingfisher_sdk", "chitta.safety.secrets", "chitta.safety.instructions"} & set(done.stdout.split())
