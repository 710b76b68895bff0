"""From the lanes' answers to what the hook prints."""

import json
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from chitta import merge, recall_log, sessions, settings
from chitta.admission import policy
from chitta.admission.verdict import Judged, Terms, Verdict
from chitta.render.block import POINTER
from chitta.turn import prepare
from chitta.wire.request import Request
from chitta.wire.rows import Header, LaneResult, Row

WORDS = "add an index on orders"
ASKED = Request(prompt=WORDS, query=WORDS, tokens=("index", "orders"), session="s", realm="project:h/o/n")
SEMANTIC = LaneResult(
    "semantic",
    "ok",
    20.0,
    Header("semantic"),
    (
        Row("a", 1.0, "insight", ASKED.realm, "Locks", "Use CONCURRENTLY.", conf=0.9, cos=0.9),
        Row("b", 0.9, "insight", ASKED.realm, "Weak", "Text.", conf=0.1, cos=0.9),
    ),
)


class Bands(NamedTuple):
    threshold: float = 0.5

    def percent(self, maxrel: float) -> int:
        return round(100 * maxrel)


def finish(*results: LaneResult, request: Request = ASKED, **environ: str) -> merge.Finished:
    return merge.finish(
        request, results, settings=settings.load(environ), total_ms=80.0, calibration=Bands(), now=1_800_000_000.0
    )


def context(finished: merge.Finished) -> str:
    return str(json.loads(finished.stdout)["hookSpecificOutput"]["additionalContext"])


def log(home: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (home / "state" / "recall-log.jsonl").read_text().splitlines()]


def test_what_is_admitted_is_printed_kept_and_logged(tmp_path: Path) -> None:
    finished = finish(SEMANTIC, CHITTA_HOME=str(tmp_path))
    assert "- [sem] Locks (insight, no date, a)" in context(finished)
    assert finished.stderr == b""
    kept = sessions.read(str(tmp_path / "state"), "s")
    assert kept == sessions.Session((ASKED.prompt,), 1, ("a",), ("a",), ASKED.realm)
    (line,) = log(tmp_path)
    assert line["admitted"] == [{"id": "a", "tag": "sem", "conf": 0.9}]
    assert line["block"] == recall_log.block_id(ASKED, 1_800_000_000.0)
    assert line["dropped"] == {"conf": 1}
    assert line["time"] == "2027-01-15T08:00:00Z"


def test_a_paste_is_remembered_by_what_it_is_about(tmp_path: Path) -> None:
    finish(SEMANTIC, request=ASKED._replace(prompt=f"{WORDS}\n" + "a line of a log\n" * 99), CHITTA_HOME=str(tmp_path))
    assert sessions.read(str(tmp_path / "state"), "s").turns == (WORDS,)


def test_the_same_prompt_again_says_nothing_new(tmp_path: Path) -> None:
    finish(SEMANTIC, CHITTA_HOME=str(tmp_path))
    again = finish(SEMANTIC, CHITTA_HOME=str(tmp_path))
    assert again.stdout == b""
    assert log(tmp_path)[1]["dropped"] == {"conf": 1, "dup": 1}
    assert finish(SEMANTIC, request=ASKED._replace(session="t"), CHITTA_HOME=str(tmp_path)).stdout


def test_without_a_session_nothing_is_deduped(tmp_path: Path) -> None:
    nameless = ASKED._replace(session="")
    first = finish(SEMANTIC, request=nameless, CHITTA_HOME=str(tmp_path))
    assert first == finish(SEMANTIC, request=nameless, CHITTA_HOME=str(tmp_path))
    assert first.stdout


def test_what_found_no_room_may_still_be_shown_later(tmp_path: Path) -> None:
    rows = tuple(
        Row(f"n{n}", 1.0 - n / 10, "insight", ASKED.realm, f"T{n}", "A sentence here. " * 60, conf=0.9, cos=0.9)
        for n in range(3)
    )
    finish(SEMANTIC._replace(rows=rows), CHITTA_HOME=str(tmp_path), CHITTA_MAX_OUTPUT_CHARS="600")
    kept = sessions.read(str(tmp_path / "state"), "s").injected
    assert kept == tuple(item["id"] for item in log(tmp_path)[0]["admitted"])
    assert 0 < len(kept) < 3
    assert log(tmp_path)[0]["dropped"] == {"cap": 3 - len(kept)}


def test_a_terse_turn_counts_but_is_no_topic(tmp_path: Path) -> None:
    finish(request=ASKED._replace(prompt="yes", tokens=()), CHITTA_HOME=str(tmp_path))
    assert sessions.read(str(tmp_path / "state"), "s") == sessions.Session((), 1, (), realm=ASKED.realm)


LEANS = "do the same for staging"
ANCHORED = ASKED._replace(prompt=LEANS, query=f"{WORDS}\n{LEANS}", tokens=("staging",), anchor=WORDS, turn=2)


def test_a_turn_that_leans_on_the_last_one_is_one_topic_with_it(tmp_path: Path) -> None:
    finish(SEMANTIC, CHITTA_HOME=str(tmp_path))
    finish(SEMANTIC, request=ANCHORED, CHITTA_HOME=str(tmp_path))
    turns = sessions.read(str(tmp_path / "state"), "s").turns
    assert turns == (ASKED.prompt, f"{ASKED.prompt}\n{ANCHORED.prompt}")
    payload = json.dumps({"session_id": "s", "prompt": "and also for production"}).encode()
    here = {"CHITTA_HOME": str(tmp_path), "CHITTA_REALM": ASKED.realm}
    third = prepare(payload, settings=settings.load(here), cwd="/").request
    assert third is not None and third.query == f"{turns[-1]}\nand also for production"


def test_another_realm_is_another_subject(tmp_path: Path) -> None:
    finish(SEMANTIC, CHITTA_HOME=str(tmp_path))
    payload = json.dumps({"session_id": "s", "prompt": "do the same for staging"}).encode()
    for realm, leans in ((ASKED.realm, True), ("project:x/y/z", False)):
        here = settings.load({"CHITTA_HOME": str(tmp_path), "CHITTA_REALM": realm})
        request = prepare(payload, settings=here, cwd="/").request
        assert request is not None and bool(request.anchor) == bool(request.context_query) == leans


def test_what_is_merged_twice_counts_once(tmp_path: Path) -> None:
    """Whoever waits too long for the daemon merges again, while the daemon goes on."""
    once = ASKED._replace(run="r1")
    first = finish(SEMANTIC, request=once, CHITTA_HOME=str(tmp_path))
    assert finish(SEMANTIC, request=once, CHITTA_HOME=str(tmp_path)).stdout == first.stdout != b""
    assert len(log(tmp_path)) == 1 and sessions.read(str(tmp_path / "state"), "s").turn == 1
    assert finish(SEMANTIC, request=once._replace(run="r2"), CHITTA_HOME=str(tmp_path)).stdout == b""
    assert len(log(tmp_path)) == 2


def test_what_the_last_turn_was_shown_is_pointed_to_once(tmp_path: Path) -> None:
    finish(SEMANTIC, CHITTA_HOME=str(tmp_path))
    again = context(finish(SEMANTIC, request=ANCHORED, CHITTA_HOME=str(tmp_path)))
    assert "- [sem] Locks (insight, no date, a)" in again
    assert POINTER in again and "CONCURRENTLY" not in again
    kept = sessions.read(str(tmp_path / "state"), "s")
    assert kept.injected == ("a",) and kept.recent == ()
    assert finish(SEMANTIC, request=ANCHORED._replace(turn=3), CHITTA_HOME=str(tmp_path)).stdout == b""


@pytest.mark.parametrize(("harness", "told"), [("claude", True), ("codex", True), ("gemini", False), ("cursor", False)])
def test_the_person_is_told_of_a_correction_made_before_where_the_harness_can(
    tmp_path: Path, harness: str, told: bool
) -> None:
    fired = Row("c", 1.0, "correction", ASKED.realm, "pnpm,\nnot npm", "Text.", conf=1.0, why="npm install")
    request = ASKED._replace(harness=harness, session="")
    key = LaneResult("correction-key", "ok", 1.0, Header("correction-key"), (fired,))
    said = json.loads(finish(SEMANTIC, key, request=request, CHITTA_HOME=str(tmp_path)).stdout)
    assert said.get("systemMessage") == ("chitta: corrected before: pnpm, not npm" if told else None)
    alike = key._replace(lane="correction", rows=(fired._replace(cos=0.9),))
    assert "systemMessage" not in json.loads(finish(alike, request=request, CHITTA_HOME=str(tmp_path)).stdout)


def test_a_store_that_cannot_be_written_still_answers(tmp_path: Path) -> None:
    (tmp_path / "state").write_text("a file is in the way")
    assert "Locks" in context(finish(SEMANTIC, CHITTA_HOME=str(tmp_path)))


def test_a_session_that_cannot_be_kept_is_in_the_log(tmp_path: Path) -> None:
    (tmp_path / "state").mkdir()
    (tmp_path / "state" / "sessions").write_text("a file is in the way")
    assert finish(SEMANTIC, CHITTA_HOME=str(tmp_path)).stdout
    assert any(problem.startswith("session not kept") for problem in log(tmp_path)[0]["degraded"])


def test_debug_has_a_line_for_each_candidate(tmp_path: Path) -> None:
    plain = finish(SEMANTIC, request=ASKED._replace(session=""), CHITTA_HOME=str(tmp_path))
    debug = finish(SEMANTIC, request=ASKED._replace(session=""), CHITTA_HOME=str(tmp_path), CHITTA_ADMIT_DEBUG="1")
    assert debug.stdout == plain.stdout
    lines = debug.stderr.decode().splitlines()
    assert [line.rsplit(" ", 1)[1] for line in lines] == ["admitted", "conf"]
    assert lines[0] == (
        "chitta: unmeasured sem 'a' conf=0.90 cos=0.90 bm25=0.0 shared=none small=no admitted"
    ) and lines[1].endswith(" dropped conf")


def test_debug_names_the_turns_own_tokens_and_the_terms_of_a_small_realm() -> None:
    words = tuple(f"word{n}" for n in range(10))
    rows = (
        Row("a", 1.0, "insight", ASKED.realm, shared=(*words, "a stranger's\nword")),
        Row("b", 0.9, "insight", "project:other", shared=("a stranger's\nword",)),
    )
    roles = frozenset({policy.BEYOND, policy.SCOPED})
    terms = Terms(silent=roles, small=roles)
    verdict = Verdict((), {}, "UNKNOWN", trace=tuple(Judged("xr", row, "unk") for row in rows), terms=terms)
    own, other = merge.debug_lines(verdict, words)
    assert f"shared={','.join(words[:8])}+2 small=no dropped unk" in own and own.startswith("chitta: UNKNOWN xr 'a' ")
    assert other.endswith("shared=none small=no dropped unk")
    mine = verdict._replace(trace=(Judged("hyb", rows[0], "unk"),))
    assert "small=yes" in next(iter(merge.debug_lines(mine, words)))
    loud = mine._replace(terms=Terms(small=roles))
    assert "small=no" in next(iter(merge.debug_lines(loud, words)))


def test_the_log_holds_what_the_prompt_is_explained_from(tmp_path: Path) -> None:
    hybrid = LaneResult("hybrid", "ok", 1.0, Header("hybrid", maxrel=0.2, size=20))
    finish(SEMANTIC, hybrid, CHITTA_HOME=str(tmp_path))
    (line,) = log(tmp_path)
    assert line["threshold"] == Bands().threshold and policy.SCOPED in line["silent"] and policy.SCOPED in line["small"]
    assert [(entry[0], entry[1], entry[6]) for entry in line["trace"]] == [("sem", "a", "unk"), ("sem", "b", "unk")]


def test_the_harness_gets_its_own_envelope(tmp_path: Path) -> None:
    finished = finish(SEMANTIC, request=ASKED._replace(harness="copilot"), CHITTA_HOME=str(tmp_path))
    assert list(json.loads(finished.stdout)) == ["additionalContext"]


def test_the_stores_calibration_is_used_when_none_is_given(tmp_path: Path) -> None:
    flat = {"bias": 0.0, "weights": {}}
    calibration = {"version": 1, "name": "own", "model": "m", "note": flat, "note_words_only": flat, "prompt": flat}
    display = {"bias": 0.0, "slope": 1.0}
    (tmp_path / "calibration.json").write_text(json.dumps({**calibration, "threshold": 0.75, "display": display}))
    environ = settings.load({"CHITTA_HOME": str(tmp_path), "CHITTA_UNKNOWN_SILENCE": "0"})
    for maxrel, band in ((0.7, "UNKNOWN 70%"), (0.8, "KNOWN 80%")):
        hybrid = LaneResult("hybrid", "ok", 1.0, Header("hybrid", maxrel=maxrel))
        nameless = ASKED._replace(session="")
        finished = merge.finish(nameless, (hybrid, SEMANTIC), settings=environ, total_ms=1.0)
        assert f"[admit] {band}" in context(finished)
