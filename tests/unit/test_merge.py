"""From the lanes' answers to what the hook prints."""

import json
from pathlib import Path
from typing import Any, NamedTuple

from chitta import merge, recall_log, sessions, settings
from chitta.wire.request import Request
from chitta.wire.rows import Header, LaneResult, Row

ASKED = Request(
    prompt="add an index on orders", query="q", tokens=("index", "orders"), session="s", realm="project:h/o/n"
)
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
    assert kept == sessions.Session((ASKED.prompt,), 1, ("a",))
    (line,) = log(tmp_path)
    assert line["admitted"] == [{"id": "a", "tag": "sem", "conf": 0.9}]
    assert line["block"] == recall_log.block_id(ASKED, 1_800_000_000.0)
    assert line["dropped"] == {"conf": 1}
    assert line["time"] == "2027-01-15T08:00:00Z"


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
    assert sessions.read(str(tmp_path / "state"), "s") == sessions.Session((), 1, ())


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
    assert "sem 'a' conf=0.90 cos=0.90" in lines[0]


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
