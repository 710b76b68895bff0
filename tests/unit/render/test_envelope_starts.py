"""The JSON of a session's start and a subagent's, for each harness."""

import json
from pathlib import Path

import jsonschema
import pytest

from chitta.render.envelope import NO_SUBAGENT_CONTEXT, SHAPES, session_envelope, subagent_envelope

SCHEMAS = Path(__file__).resolve().parents[4] / "shared/reference/hook-schemas/codex-0.171.0"


@pytest.mark.parametrize("harness", ["claude", "codex", "gemini", "unheard-of"])
def test_nested_shapes_name_their_event(harness: str) -> None:
    for event in ("", "SessionStart"):
        assert json.loads(session_envelope("text", harness, event)) == {
            "hookSpecificOutput": {"hookEventName": "SessionStart", "additionalContext": "text"}
        }


def test_flat_shapes() -> None:
    assert json.loads(session_envelope("text", "copilot", "")) == {"additionalContext": "text"}
    assert json.loads(subagent_envelope("text", "copilot", "")) == {"additionalContext": "text"}
    assert json.loads(session_envelope("text", "cursor", "sessionStart")) == {"additional_context": "text"}


@pytest.mark.parametrize("harness", SHAPES)
def test_a_subagent_is_told_where_its_harness_can(harness: str) -> None:
    raw = subagent_envelope("text", harness, "")
    assert (raw == b"") == (harness in NO_SUBAGENT_CONTEXT)
    if harness in ("claude", "codex"):
        assert json.loads(raw)["hookSpecificOutput"]["hookEventName"] == "SubagentStart"


@pytest.mark.parametrize("harness", SHAPES)
def test_nothing_for_nothing(harness: str) -> None:
    assert session_envelope("", harness, "SessionStart") == subagent_envelope("", harness, "SubagentStart") == b""


@pytest.mark.skipif(not SCHEMAS.is_dir(), reason="the harness's schemas are not here")
def test_codex_takes_both() -> None:
    for name, raw in (
        ("session", session_envelope("text", "codex", "SessionStart")),
        ("subagent", subagent_envelope("text", "codex", "SubagentStart")),
    ):
        schema = json.loads((SCHEMAS / f"{name}-start.command.output.schema.json").read_text(encoding="utf-8"))
        jsonschema.validate(json.loads(raw), schema)
