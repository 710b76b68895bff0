from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from chitta import settings as table
from chitta.cli import checkout, trial
from chitta.cli.failure import Failure

Run = Callable[..., Any]

pytestmark = pytest.mark.skipif(checkout.root() is None, reason="the hook is not here")


def a_hook(folder: Path, monkeypatch: pytest.MonkeyPatch, body: str) -> None:
    """A checkout whose hook does ``body``."""
    path = folder / "hooks" / "prompt-core.sh"
    path.parent.mkdir()
    path.write_text(f"#!/bin/sh\n{body}\n")
    path.chmod(0o755)
    monkeypatch.setenv("CHITTA_ROOT", str(folder))


def go(prompt: str = "a prompt", cwd: str = "/", realm: str = "", session: str = "") -> trial.Trial:
    return trial.run(table.load(), prompt, cwd=cwd, realm=realm, session=session)


def envelope(text: str) -> str:
    return json.dumps({"hookSpecificOutput": {"hookEventName": "UserPromptSubmit", "additionalContext": text}})


def test_the_hook_gets_what_a_harness_would_send(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    a_hook(folder, monkeypatch, f'cat >"{folder}/payload"; env >"{folder}/env"; echo "$1" >"{folder}/harness"')
    go("words \U0001f600 \ud800", cwd="/some/where", realm="project:x", session="s1")
    assert json.loads((folder / "payload").read_text()) == {
        "session_id": "s1",
        "cwd": "/some/where",
        "hook_event_name": "UserPromptSubmit",
        "prompt": "words \U0001f600 \ufffd",
    }
    environ = (folder / "env").read_text().splitlines()
    assert "CHITTA_REALM=project:x" in environ and f"CHITTA_HOME={os.environ['CHITTA_HOME']}" in environ
    assert (folder / "harness").read_text() == "claude\n"


def test_a_large_prompt_goes_through_standard_input(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    a_hook(folder, monkeypatch, f'wc -c >"{folder}/size"')
    go("x" * 1_000_000)
    assert int((folder / "size").read_text()) > 1_000_000


def test_the_block_is_what_the_harness_reads(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    a_hook(folder, monkeypatch, f"cat >/dev/null; cat <<'END'\n{envelope('<notes>one two')}\nEND")
    result = go()
    assert result.block == "<notes>one two" and result.reason == "" and result.wall_ms > 0


@pytest.mark.parametrize("body", ["echo not json", "echo '{}'", "echo '[1]'", "exit 3"])
def test_a_hook_that_breaks_its_contract_is_told_so(folder: Path, monkeypatch: pytest.MonkeyPatch, body: str) -> None:
    a_hook(folder, monkeypatch, f"cat >/dev/null; {body}")
    with pytest.raises(Failure):
        go()


def test_a_hook_that_cannot_be_run_is_told_so(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    a_hook(folder, monkeypatch, "true")
    (folder / "hooks" / "prompt-core.sh").chmod(0o644)
    with pytest.raises(Failure, match="cannot be run"):
        go()


def silent(record: dict[str, Any]) -> str:
    return trial.why_silent(b"{}", record, table.load())


def lane(state: str = "ok", rows: int = 0) -> dict[str, Any]:
    return {"state": state, "rows": rows}


def test_silence_is_explained_from_the_log() -> None:
    assert "single candidate" in silent({"lanes": {"keyword": lane(), "semantic": lane("late")}})
    assert "semantic late" in silent({"lanes": {"keyword": lane(), "semantic": lane("late")}})
    crashed = {"lanes": {"keyword": lane("crash"), "hybrid": lane("ablated")}}
    assert silent(crashed) == "no lane could answer: keyword crash"
    record = {"lanes": {"hybrid": lane(rows=4)}, "dropped": {"conf": 3, "unk": 1}, "band": "UNKNOWN", "percent": 3}
    assert "none of the 4 candidates passed (conf 3, unk 1)" in silent(record) and "UNKNOWN 3%" in silent(record)


def test_silence_without_a_log_line_is_explained_from_the_payload() -> None:
    payload = json.dumps({"prompt": "/clear"}).encode()
    assert trial.why_silent(payload, {}, table.load()) == "nothing was asked of the store: a command to the client"
    assert "chitta doctor" in trial.why_silent(json.dumps({"prompt": "words"}).encode(), {}, table.load())


LINE = "chitta: UNKNOWN sem 'stripe-webhook' conf=0.14 cos=0.71 bm25=0.0 shared=stripe,api+3 small=no dropped conf"


def test_what_the_hook_says_of_candidates_is_read_as_merge_writes_it() -> None:
    from chitta.admission.verdict import Judged, Terms, Verdict
    from chitta.merge import debug_lines
    from chitta.wire.rows import Row

    names = ["plain", "it's", "a \"b\" 'c'", "ü 家"]
    verdict = Verdict((), {}, trace=tuple(Judged("sem", Row(name, 1.0, conf=0.25), "floor") for name in names))
    verdict = verdict._replace(trace=(*verdict.trace, Judged("kw", Row("in", 1.0, shared=("words",)), "admitted")))
    verdict = verdict._replace(terms=Terms(lone=True, small=frozenset({"scoped"})))
    for tokens in ((), ("words",)):
        found = trial.candidates_in("".join(f"{line}\n" for line in debug_lines(verdict, tokens)))
        assert found[:-1] == [trial.Candidate(name, 0.25, "floor") for name in names]
        assert found[-1] == trial.Candidate("in", -1.0, "admitted")


def test_silence_names_the_best_candidate_unless_nothing_is_near() -> None:
    def said(percent: int, conf: float, band: str = "UNKNOWN") -> str:
        record = {"lanes": {"hybrid": lane(rows=1)}, "dropped": {"conf": 1}, "band": band, "percent": percent}
        return trial.why_silent(b"{}", record, table.load(), [trial.Candidate("a", conf, "conf")])

    assert "looks near" in said(5, 0.09)
    for words in (said(6, 0.09), said(5, 0.1), said(3, 0.0, "KNOWN")):
        assert "looks near" not in words and "not sure enough: best candidate a (conf 0." in words
        assert "dropped for conf" in words


def test_silence_names_what_was_withheld_only_where_there_is_nothing_else() -> None:
    def said(*candidates: trial.Candidate) -> str:
        record = {"lanes": {"hybrid": lane(rows=2)}, "dropped": {"sup": 1}, "band": "KNOWN", "percent": 99}
        return trial.why_silent(b"{}", record, table.load(), candidates)

    old, weak = trial.Candidate("old", 0.99, "sup"), trial.Candidate("weak", 0.05, "conf")
    assert "only notes that others replace, or that have expired: best candidate old (conf 0.99)" in said(old)
    assert "not sure enough: best candidate weak (conf 0.05), dropped for conf" in said(old, weak)
    assert "nothing new: best candidate a" in said(trial.Candidate("a", 0.9, "dup"))


@pytest.mark.parametrize("asked", [True, False])
def test_lines_on_candidates_are_shown_where_the_person_asked(
    folder: Path, monkeypatch: pytest.MonkeyPatch, asked: bool
) -> None:
    a_hook(folder, monkeypatch, f'cat >/dev/null; echo "{LINE}" >&2; echo other >&2')
    if asked:
        monkeypatch.setenv("CHITTA_ADMIT_DEBUG", "1")
    assert go().stderr == (f"{LINE}\n" if asked else "") + "other\n"
