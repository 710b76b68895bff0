"""From a hook's payload to the request."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from chitta import settings, turn
from chitta.recall.context import bag
from chitta.recall.paste import LEAST_LINES
from chitta.sessions import Held
from chitta.wire.request import Request, encode_request, parse_request

PAYLOADS = Path(__file__).resolve().parents[3] / "shared/data/payloads"
CAPTURED = Path(__file__).resolve().parents[3] / "shared/reference/hook-schemas/captured"
CLAUDE = {"session_id": "s", "transcript_path": "/t", "cwd": "/", "hook_event_name": "UserPromptSubmit"}


def prepare(payload: object, harness: str = "", cwd: str = "/", **environ: str) -> turn.Turn:
    raw = payload if isinstance(payload, bytes) else json.dumps(payload).encode()
    return turn.prepare(
        raw, settings=settings.load({"CHITTA_HOME": "/nonexistent", **environ}), harness=harness, cwd=cwd
    )


def asked(payload: object, harness: str = "", **environ: str) -> Request:
    found = prepare(payload, harness, **environ).request
    assert found is not None
    return found


# Whose payload


@pytest.mark.parametrize(
    ("payload", "harness", "event"),
    [
        (CLAUDE, "claude", "UserPromptSubmit"),
        ({}, "claude", "UserPromptSubmit"),
        ({**CLAUDE, "prompt_id": "p", "model": "m"}, "claude", "UserPromptSubmit"),
        ({**CLAUDE, "turn_id": "t", "model": "m"}, "codex", "UserPromptSubmit"),
        ({**CLAUDE, "hook_event_name": "BeforeAgent", "timestamp": "now"}, "gemini", "BeforeAgent"),
        ({"sessionId": "s", "timestamp": 1, "cwd": "/"}, "copilot", "userPromptSubmitted"),
        (
            {"session_id": "s", "timestamp": "now", "hook_event_name": "UserPromptSubmit"},
            "copilot",
            "UserPromptSubmit",
        ),
        ({"conversation_id": "c", "hook_event_name": "beforeSubmitPrompt"}, "cursor", "beforeSubmitPrompt"),
        ({"sessionId": "s", "hookEventName": "user_prompt_submit"}, "grok", "user_prompt_submit"),
    ],
)
def test_detection(payload: dict[str, Any], harness: str, event: str) -> None:
    request = asked({**payload, "prompt": "deploy"})
    assert (request.harness, request.event) == (harness, event)


@pytest.mark.parametrize(
    ("told", "harness"),
    [("codex", "codex"), ("Claude-Code", "claude"), ("gemini-cli", "gemini"), ("", "claude"), ("no such\n", "claude")],
)
def test_what_the_hook_was_told_wins(told: str, harness: str) -> None:
    assert asked({**CLAUDE, "prompt": "deploy"}, told).harness == harness


@pytest.mark.parametrize("key", turn.PROMPT_KEYS)
def test_prompt_keys(key: str) -> None:
    assert asked({key: "deploy"}).prompt == "deploy"


def test_prompts_in_parts() -> None:
    assert asked({"prompt": {"text": "deploy"}}).prompt == "deploy"
    assert asked({"prompt": [{"type": "text", "text": "one"}, {"type": "image"}, "two"]}).prompt == "one\ntwo"


@pytest.mark.parametrize("key", turn.SESSION_KEYS)
def test_session_keys(key: str) -> None:
    assert asked({key: "abc", "prompt": "deploy"}).session == "abc"
    assert asked({key: 7, "prompt": "deploy"}).session == "7"
    long = [asked({key: "p" * 200 + end, "prompt": "deploy"}).session for end in "12"]
    assert long[0] != long[1] and max(map(len, long)) <= turn.MAX_SESSION_CHARS


def test_the_folder(tmp_path: Path) -> None:
    assert asked({"cwd": "/a", "workspaceRoot": "/b", "prompt": "deploy"}).cwd == "/a"
    assert asked({"workspace_roots": ["/c", "/d"], "prompt": "deploy"}).cwd == "/c"
    found = prepare({"cwd": None, "prompt": "deploy"}, cwd=str(tmp_path)).request
    assert found is not None and found.cwd == str(tmp_path)


def test_realm_comes_from_the_folder_or_the_setting(tmp_path: Path) -> None:
    for name in ("objects", "refs"):
        (tmp_path / ".git" / name).mkdir(parents=True)
    (tmp_path / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
    (tmp_path / ".git" / "config").write_text('[remote "origin"]\n\turl = git@github.com:acme/app.git\n')
    payload = {"cwd": str(tmp_path), "prompt": "deploy"}
    assert asked(payload).realm == "project:github.com/acme/app"
    assert asked(payload, CHITTA_REALM="project:mine").realm == "project:mine"
    assert asked({"cwd": "/nonexistent", "prompt": "deploy"}).realm == "global"


# What is no prompt


@pytest.mark.parametrize(
    "payload",
    [
        b"",
        b"hello",
        b"null",
        b"[]",
        b'["prompt"]',
        b"{}",
        b'{"prompt": 3}',
        b'{"prompt": "cut',
        b'{"prompt": "a"} {}',
        b"\xff\xfe\x00",
        {"prompt": "  \n"},
        {"prompt": "/init "},
        {"prompt": "/model opus"},
        {"prompt": "<task-notification>\n<task-id>1</task-id>\n</task-notification>\nFull output at /tmp/x"},
        {"prompt": "<system-reminder>be nice</system-reminder>"},
        {"prompt": "check the mail", "source": "loop_wakeup"},
        {"prompt": "check the mail", "source": "schedule_wakeup"},
        {"prompt": "check the mail", "source": "poll_event"},
        {"prompt": "check the mail", "source": "some_new_machine"},
        {"prompt": "This session is being continued from a previous conversation that ran out of context. Summary: x"},
        {"prompt": "[Request interrupted by user for tool use]"},
        {"prompt": "Stop hook feedback:\n- the tests fail"},
        {"prompt": "<turn_aborted>\nThe user interrupted the previous turn\n</turn_aborted>"},
        {"prompt": "/deploy-all"},
        b"[" * 100_000,
    ],
)
def test_fault_34_nothing_to_do(payload: object) -> None:
    found = prepare(payload)
    assert found.request is None
    assert found.facts == {"go": "0"}
    assert found.reason


@pytest.mark.parametrize("prompt", ["/review the auth flow", "/etc/hosts", "/usr/bin/env is missing", "fix /init"])
def test_a_command_with_words_and_a_path_are_prompts(prompt: str) -> None:
    assert asked({"prompt": prompt}).prompt == prompt


@pytest.mark.parametrize(
    ("payload", "prompt"),
    [
        (b'\xef\xbb\xbf{"prompt": "marked"}', "marked"),
        ('{"prompt": "utf-16"}'.encode("utf-16"), "utf-16"),
        (b'{"prompt": "half \\ud83d pair"}', "half \ufffd pair"),
        (b'{"prompt": "\\ud83d\\ude00"}', "\U0001f600"),
        (b'{"prompt": "caf\xe9"}', "caf\ufffd"),
        (b'{"prompt": "a\x01raw\tb"}', "araw\tb"),
    ],
)
def test_fault_16_odd_text_is_read(payload: bytes, prompt: str) -> None:
    assert asked(payload).prompt == prompt


# The request


def test_cleaned_prompt_query_and_tokens() -> None:
    request = asked({"prompt": "<ide_selection>x = secret</ide_selection>\nDeploy the Billing service"})
    assert request.prompt == request.query == "Deploy the Billing service"
    assert request.tokens == ("deploy", "billing", "service")
    assert request.k == 10


def test_turns_of_a_session_make_the_context(tmp_path: Path) -> None:
    home = str(tmp_path)
    payload = {"session_id": "s", "prompt": "third turn"}
    first = asked(payload, CHITTA_HOME=home)
    assert (first.context_query, first.context_turns) == ("", ())
    for number, words in enumerate(("zeroth turn", "first turn", "second turn" * 100), 1):
        with Held(str(tmp_path / "state"), "s") as held:
            held.record(turn=number, topic=words, injected=["n"])
    request = asked(payload, CHITTA_HOME=home)
    assert request.turn == 4
    assert request.context_turns == ("third turn", "second turn" * 100, "first turn")
    assert request.context_query == bag(request.context_turns)


# A turn that leans on the last one

LAST = "move the orders queue to redis"


def after(home: Path, prompt: str, *earlier: str) -> turn.Turn:
    """The turn that ``prompt`` makes in a session of these topics."""
    for number, words in enumerate(earlier, 1):
        with Held(str(home / "state"), "s") as held:
            held.record(turn=number, topic=words, injected=[])
    return prepare({"session_id": "s", "prompt": prompt}, CHITTA_HOME=str(home))


def request_after(home: Path, prompt: str, *earlier: str) -> Request:
    found = after(home, prompt, *earlier).request
    assert found is not None
    return found


def test_a_turn_that_leans_on_the_last_one_recalls_on_both(tmp_path: Path) -> None:
    prompt = "do the same for staging"
    request = request_after(tmp_path, prompt, "the first of all", LAST)
    assert (request.query, request.anchor, request.prompt) == (f"{LAST}\n{prompt}", LAST, prompt)
    assert request.tokens == ("staging",), "its tokens are what the person typed now"


@pytest.mark.parametrize(
    ("prompt", "earlier"),
    [
        ("do the same for staging", ()),
        ("do the same", (LAST,)),
        ("yes", (LAST,)),
        ("add an index on invoices", (LAST,)),
        ("why does the postgres migration lock the orders table when it runs", (LAST,)),
    ],
    ids=["no earlier turn", "no telling word", "an answer", "a new subject", "a late pronoun"],
)
def test_any_other_turn_recalls_on_its_own_words(tmp_path: Path, prompt: str, earlier: tuple[str, ...]) -> None:
    request = request_after(tmp_path, prompt, *earlier)
    assert (request.query, request.anchor) == (prompt, "")


def test_of_a_long_last_turn_the_end_is_taken_along(tmp_path: Path) -> None:
    request = request_after(tmp_path, "do the same for staging", "redis " * 300)
    assert request.anchor == ("redis " * 300)[-turn.ANCHOR_CHARS :]
    assert request.query == f"{request.anchor}\ndo the same for staging"


@pytest.mark.parametrize("prompt", ["is not sqlite", "no, not that queue", "that's not redis"])
def test_what_only_takes_something_back_launches_the_correction_key_alone(tmp_path: Path, prompt: str) -> None:
    found = after(tmp_path, prompt, LAST)
    assert found.request is not None and found.request.tokens
    assert found.facts["only"] == "correction-key"
    assert "only" not in after(tmp_path, "do the same for sqlite").facts


def test_preparing_writes_nothing(tmp_path: Path) -> None:
    home = tmp_path / "home"
    asked({"session_id": "s", "prompt": "deploy"}, CHITTA_HOME=str(home))
    assert not home.exists()


def test_a_long_prompt_keeps_head_errors_and_tail() -> None:
    log = "\n".join(f"step {n} went well, nothing to see" for n in range(3_000))
    text = f"Why does the build break?\n{log}\nTypeError: x is undefined\n{log}\nPlease look at the end."
    query = turn.focus(text)
    assert len(query) <= turn.MAX_QUERY_CHARS
    assert query.startswith("Why does the build break?")
    assert query.index("Please look at the end.") < query.index("TypeError: x is undefined")
    assert turn.focus("short") == "short"


def test_a_prompt_of_too_few_lines_for_a_paste_is_told_in_one_way() -> None:
    assert turn._FEW_LINES == LEAST_LINES - 1


@given(st.text(max_size=200), st.integers(0, 60))
def test_focus_is_bounded(text: str, times: int) -> None:
    assert len(turn.focus(f"{text} error\n" * times * 10)) <= turn.MAX_QUERY_CHARS


# The facts


def test_facts() -> None:
    assert prepare({"prompt": "deploy billing"}).facts == {
        "go": "1",
        "budget_ms": "6000",
        "limit_ms": "2000",
        "limit.hybrid": "3000",
        "limit.cross-realm": "3000",
        "skip": "",
    }


def test_fault_04_no_limit_outlasts_the_budget() -> None:
    facts = prepare({"prompt": "deploy billing"}, CHITTA_HOOK_BUDGET_MS="1000").facts
    assert facts == {"go": "1", "budget_ms": "1000", "limit_ms": "1000", "skip": ""}


def test_ablated_lanes_are_skipped() -> None:
    assert prepare({"prompt": "deploy"}, CHITTA_ABLATE_LANES="sem,ctx,corrk").facts["skip"] == "semantic context"


@pytest.mark.parametrize("prompt", ["yes", "go on", "no not like that", "👍", "PR pls"])
def test_a_terse_turn_asks_no_topic(prompt: str) -> None:
    assert prepare({"prompt": prompt}).facts["only"] == "correction-key"


@pytest.mark.parametrize("source", ["user", "sdk", "User", "", None, 7])
def test_a_person_or_a_program_for_one_is_answered(source: object) -> None:
    assert asked({"prompt": "where does billing run", "source": source}).tokens


@pytest.mark.parametrize("before", ["", "\u200b", " \u2060\n"])
@pytest.mark.parametrize("tag", ["task-notification", "teammate-message"])
def test_fault_34_what_an_agent_made_is_no_prompt(tag: str, before: str) -> None:
    assert prepare({"prompt": f'{before}<{tag} id="x">where does billing run</{tag}>'}).request is None


@pytest.mark.parametrize("key", ["agent_id", "agentId"])
def test_a_subagents_prompt_is_no_persons(key: str) -> None:
    found = prepare({"prompt": "where does billing run", key: "agent-1"})
    assert found.request is None and found.facts.get("go", "0") == "0"
    assert asked({"prompt": "where does billing run", key: ""}).tokens


@pytest.mark.parametrize("prompt", ["deploy", "psql socket", "/deploy staging", "yes, nginx!", "x" * 11, "部署到哪里"])
def test_a_short_prompt_asks_the_correction_key_alone(prompt: str) -> None:
    assert turn.is_short(prompt)
    assert prepare({"prompt": prompt}).facts["only"] == "correction-key"


@pytest.mark.parametrize("prompt", ["psql sockets", "/deploy billing to prod", "生产数据库密码在哪里", "x" * 12])
def test_from_twelve_characters_on_every_lane_is_asked(prompt: str) -> None:
    assert not turn.is_short(prompt)
    assert "only" not in prepare({"prompt": prompt}).facts


def test_markup_does_not_make_a_prompt_longer() -> None:
    wrapped = "<system-reminder>" + "be nice " * 20 + "</system-reminder>deploy"
    assert prepare({"prompt": wrapped}).facts["only"] == "correction-key"


@given(
    st.dictionaries(
        st.sampled_from([*turn.PROMPT_KEYS, *turn.SESSION_KEYS, *turn.EVENT_KEYS, *turn.CWD_KEYS, "source", "model"]),
        st.recursive(
            st.one_of(st.none(), st.booleans(), st.integers(), st.text(), st.floats()),
            lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["text", "x"]), inner),
            max_leaves=5,
        ),
    ),
    st.text(max_size=10),
)
@hypothesis_settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_payload_is_met_and_its_request_travels(payload: dict[str, Any], harness: str) -> None:
    found = prepare(payload, harness)
    plain = set("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._- ")
    assert all(set(key + value) <= plain for key, value in found.facts.items())
    if found.request is not None:
        assert parse_request(encode_request(found.request)) == found.request


@given(st.binary(max_size=300))
@hypothesis_settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_fault_25_any_bytes_are_met(raw: bytes) -> None:
    prepare(raw)


# Recorded payloads

NAMES = sorted(path.name for path in PAYLOADS.glob("*.json")) if PAYLOADS.is_dir() else []
SILENT = ("slash-command", "system-injected")


@pytest.mark.skipif(not NAMES, reason="the recorded payloads are not here")
@pytest.mark.parametrize("name", NAMES)
def test_fault_34_recorded_payloads(name: str) -> None:
    raw = (PAYLOADS / name).read_bytes()
    found = prepare(raw)
    assert (found.request is None) == any(kind in name for kind in SILENT)
    if found.request is not None:
        assert found.request.session and found.request.cwd.startswith("/")
        assert "<ide_" not in found.request.prompt and "<user_query>" not in found.request.prompt
        expected = next((h for h in ("codex", "cursor", "grok") if h in name), "claude")
        assert found.request.harness == expected


@pytest.mark.skipif(not PAYLOADS.is_dir(), reason="the recorded payloads are not here")
def test_recorded_edge_shapes() -> None:
    for line in (PAYLOADS / "edge_shapes.jsonl").read_text(encoding="utf-8").splitlines():
        prepare(json.loads(line)["stdin"].encode())


@pytest.mark.skipif(not CAPTURED.is_dir(), reason="the captured hook inputs are not here")
@pytest.mark.parametrize(
    ("name", "harness"),
    [
        ("gemini-0.61.0.BeforeAgent.json", "gemini"),
        ("copilot-1.0.102.userPromptSubmitted.json", "copilot"),
        ("copilot-1.0.102.UserPromptSubmit.json", "copilot"),
    ],
)
def test_captured_inputs_show_their_harness(name: str, harness: str) -> None:
    assert asked((CAPTURED / name).read_bytes()).harness == harness
