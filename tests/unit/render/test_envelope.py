"""The JSON that each harness takes."""

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

from chitta.render.envelope import SHAPES, envelope, event_of

SCHEMAS = Path(__file__).resolve().parents[4] / "shared/reference/hook-schemas"
FILES = {
    "claude": "own/claude-code.output.schema.json",
    "codex": "codex-0.171.0/user-prompt-submit.command.output.schema.json",
    "gemini": "own/gemini-cli.output.schema.json",
    "copilot": "own/copilot-cli.output.schema.json",
    "cursor": "own/cursor.output.schema.json",
}
NESTED = {"hookSpecificOutput": {"hookEventName": "UserPromptSubmit", "additionalContext": "text"}}


@pytest.mark.parametrize(
    ("harness", "event", "value"),
    [
        ("claude", "UserPromptSubmit", NESTED),
        ("codex", "UserPromptSubmit", NESTED),
        ("unheard-of", "UserPromptSubmit", NESTED),
        ("claude", "", NESTED),
        ("claude", 'no" name', NESTED),
        ("gemini", "", {"hookSpecificOutput": {"hookEventName": "BeforeAgent", "additionalContext": "text"}}),
        ("copilot", "userPromptSubmitted", {"additionalContext": "text"}),
        ("cursor", "beforeSubmitPrompt", {"additional_context": "text"}),
    ],
)
def test_shapes(harness: str, event: str, value: dict[str, Any]) -> None:
    assert json.loads(envelope("text", harness, event)) == value


@pytest.mark.parametrize("harness", [*SHAPES, "unheard-of"])
def test_nothing_for_nothing(harness: str) -> None:
    assert envelope("", harness, "UserPromptSubmit") == b""


@pytest.mark.parametrize("harness", [*SHAPES, "unheard-of"])
def test_only_some_harnesses_show_a_line_to_the_person(harness: str) -> None:
    plain, told = (json.loads(envelope("text", harness, "", person)) for person in ("", "corrected before"))
    assert plain == {key: value for key, value in told.items() if key != "systemMessage"}
    assert told.get("systemMessage") == ("corrected before" if harness in ("claude", "codex") else None)
    alone = envelope("", harness, "", "corrected before")
    assert alone == (b'{"systemMessage":"corrected before"}\n' if harness in ("claude", "codex") else b"")


@given(st.text(min_size=1), st.sampled_from(sorted(SHAPES)), st.text(max_size=20))
def test_always_one_line_of_json(text: str, harness: str, event: str) -> None:
    raw = envelope(text, harness, event)
    assert raw.endswith(b"\n") and raw.count(b"\n") == 1
    assert isinstance(json.loads(raw), dict)


@pytest.mark.skipif(not SCHEMAS.is_dir(), reason="the harnesses' schemas are not here")
@pytest.mark.parametrize("harness", FILES)
def test_fault_10_the_harness_schema_takes_it(harness: str) -> None:
    schema = json.loads((SCHEMAS / FILES[harness]).read_text(encoding="utf-8"))
    for person in ("", "corrected before"):
        jsonschema.validate(json.loads(envelope("text", harness, event_of(harness, ""), person)), schema)
