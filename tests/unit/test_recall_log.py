"""The recall log: what a line says, and how it is written."""

import fcntl
import json
import multiprocessing
import os
import re
import stat
import subprocess
import sys
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from chitta import recall_log, settings
from chitta.admission import policy
from chitta.admission.gate import admit
from chitta.admission.verdict import Admitted, Judged, Terms, Verdict
from chitta.wire.request import Request
from chitta.wire.rows import Header, LaneResult, Row

ASKED = Request(prompt="my words", query="my words", tokens=("words",), session="s", turn=3, realm="project:h/o/n")
VERDICT = Verdict(
    admitted=(Admitted(Row("a", 1.0), "kw", "conf 0.90"),),
    dropped={("kw", "conf"): 2, ("sem", "conf"): 1, ("sem", "dup"): 1, ("temporal", "shadow"): 3},
    band="KNOWN",
    maxrel=0.8,
    percent=70,
    terms=Terms(True, frozenset({"beyond"}), frozenset({"scoped", "correction"}), 4.5, frozenset({"correction"})),
)
RESULTS = (
    LaneResult("temporal", "ok", 2.0, Header("temporal"), (Row("x", 1.0),) * 3),
    LaneResult("semantic", "ok", 30.04, Header("semantic"), (Row("b", 1.0), Row("a", 0.5)), 4),
    LaneResult("keyword", "ok", 4.0, Header("keyword"), (Row("a", 1.0),) * 3),
    LaneResult("hybrid", "ok", 9.0, Header("hybrid", note="no model is loaded")),
    LaneResult("correction", "ok", 9.0, Header("correction", warming=True)),
    LaneResult("context", "late", 2000.0),
    LaneResult("cross-realm", "ablated"),
)


def line(**environ: str) -> dict[str, Any]:
    return recall_log.entry(
        ASKED,
        RESULTS,
        VERDICT,
        settings=settings.load(environ),
        total_ms=88.44,
        now=0.0,
        threshold=0.7,
        problems=["disk full"],
    )


def test_a_line_says_what_happened() -> None:
    found = line()
    lanes = found.pop("lanes")
    assert found == {
        "time": "1970-01-01T00:00:00Z",
        "block": recall_log.block_id(ASKED, 0.0),
        "session": "s",
        "realm": "project:h/o/n",
        "harness": "claude",
        "turn": 3,
        "tokens": 1,
        "band": "KNOWN",
        "maxrel": 0.8,
        "threshold": 0.7,
        "percent": 70,
        "admitted": [{"id": "a", "tag": "kw", "conf": None}],
        "dropped": {"conf": 3, "dup": 1, "shadow": 3},
        "lone": True,
        "least_bm25": 4.5,
        "silent": ["beyond"],
        "small": ["correction", "scoped"],
        "unmeasured": ["correction"],
        "trace": [],
        "degraded": ["context late", "correction warming", "hybrid: no model is loaded", "disk full"],
        "total_ms": 88.4,
    }
    assert lanes["semantic"] == {
        "state": "ok",
        "ms": 30.0,
        "rows": 2,
        "bad": 4,
        "admitted": 0,
        "dropped": {"conf": 1, "dup": 1},
    }
    assert lanes["keyword"]["admitted"] == 1
    assert lanes["temporal"]["dropped"] == {"shadow": 3}
    assert lanes["cross-realm"]["state"] == "ablated"
    assert lanes["hybrid"]["note"] == "no model is loaded"


def traced(*judged: Judged, **environ: str) -> list[list[Any]]:
    verdict = VERDICT._replace(trace=judged)
    found = recall_log.entry(ASKED, RESULTS, verdict, settings=settings.load(environ), total_ms=1.0, now=0.0)
    return list(found["trace"])


CANDIDATES = (
    Judged("kw", Row("a", 1.0, conf=0.98765, bm25=7.66, shared=("words", "strange")), "admitted"),
    Judged("sem", Row("b", 1.0, conf=0.0, cos=0.61234), "conf"),
    Judged("sem", Row("a", 0.9, conf=0.5, cos=1.0, shared=("words",)), "dup"),
)


def test_each_candidate_is_kept_in_short_and_an_id_only_once() -> None:
    assert traced(*CANDIDATES) == [
        ["kw", "a", 0.9877, -1, 7.7, 1, "admitted"],
        ["sem", "b", 0, 0.6123, 0, 0, "conf"],
        ["sem", 0, 0.5, 1, 0, 1, "dup"],
    ]


def test_the_shared_words_are_kept_only_when_asked_and_only_the_persons_own() -> None:
    assert "words" not in json.dumps(traced(*CANDIDATES))
    assert [entry[7] for entry in traced(*CANDIDATES, CHITTA_LOG_PROMPTS="1")] == [["words"], [], ["words"]]


def test_of_a_flood_of_candidates_the_admitted_and_the_best_are_kept() -> None:
    flood = [Judged("xr", Row(f"n{n}", 1.0, conf=n / 1000), "conf") for n in range(900)]
    entries = traced(*flood, Judged("kw", Row("in", 1.0, conf=0.0), "admitted"))
    assert len(entries) == recall_log.MOST_TRACED and entries[0][1] == "in" and entries[1][1] == "n899"


def test_a_line_of_a_common_prompt_is_small() -> None:
    names = [f"a-note-of-common-size-{n}" for n in range(25)]
    trace = tuple(
        Judged(tag, Row(names[(place * 5 + n) % 25], 1.0, conf=0.012, cos=0.5432, bm25=3.2), "conf")
        for place, tag in enumerate(("corr", "kw", "sem", "ctx", "hyb", "xr"))
        for n in range(10)
    )
    verdict = VERDICT._replace(trace=trace)
    found = recall_log.entry(ASKED, RESULTS, verdict, settings=settings.load({}), total_ms=1.0, now=0.0, threshold=0.7)
    assert len(json.dumps(found, separators=(",", ":"))) < 4_000


class Bands(NamedTuple):
    threshold: float = 0.7

    def percent(self, maxrel: float) -> int:
        return round(100 * maxrel)


@pytest.mark.parametrize("silence", ["1", "0"])
@pytest.mark.parametrize("beyond", [None, 0.2, 0.9])
@pytest.mark.parametrize("scoped", [None, 0.2, 0.9])
def test_the_silent_roles_are_those_whose_rows_the_gate_silenced(
    scoped: float | None, beyond: float | None, silence: str
) -> None:
    row = Row("a", 1.0, "correction", ASKED.realm, "t", "t", conf=0.6, cos=0.9, bm25=1.0)
    results = [
        LaneResult(lane, "ok", 1.0, Header(lane, maxrel=maxrel, size=9_000), (row._replace(id=lane),))
        for lane, maxrel in (("hybrid", scoped), ("cross-realm", beyond), ("correction", None))
    ]
    asked, chosen = ASKED._replace(tokens=("words", "more")), settings.load({"CHITTA_UNKNOWN_SILENCE": silence})
    verdict = admit(asked, results, seen=(), settings=chosen, calibration=Bands())
    found = recall_log.entry(asked, results, verdict, settings=chosen, total_ms=1.0, now=0.0, threshold=0.7)
    silenced = {policy.BY_TAG[judged.tag].role for judged in verdict.trace if judged.outcome == "unk"}
    assert set(found["silent"]) == silenced and found["lone"] is False


MOST = int(settings.BY_NAME["CHITTA_C2_SMALL_REALM_MAXN"].default)


@pytest.mark.parametrize(("size", "small"), [(0, False), (1, True), (MOST, True), (MOST + 1, False)])
def test_the_small_roles_are_those_whose_lane_looked_among_few(size: int, small: bool) -> None:
    results, chosen = [LaneResult("hybrid", "ok", 1.0, Header("hybrid", size=size))], settings.load({})
    verdict = admit(ASKED, results, seen=(), settings=chosen, calibration=Bands())
    found = recall_log.entry(ASKED, results, verdict, settings=chosen, total_ms=1.0, now=0.0)
    of_hybrid = sorted(role for role, lane in policy.MEASURING_LANES.items() if lane == "hybrid")
    assert found["small"] == (of_hybrid if small else [])


def test_what_a_lone_turn_asks_of_words_is_said_of_a_lone_turn_alone() -> None:
    for terms, least in ((Terms(lone=True, least_bm25=9.0), 9.0), (Terms(least_bm25=9.0), None)):
        verdict = VERDICT._replace(terms=terms)
        found = recall_log.entry(ASKED, RESULTS, verdict, settings=settings.load({}), total_ms=1.0, now=0.0)
        assert (found["lone"], found.get("least_bm25")) == (terms.lone, least)


@pytest.mark.parametrize("beyond", [None, 0.9])
@pytest.mark.parametrize("scoped", [None, 0.9])
def test_the_unmeasured_roles_are_those_that_no_lane_measured_for(scoped: float | None, beyond: float | None) -> None:
    results = [
        LaneResult(lane, "ok", 1.0, Header(lane, maxrel=maxrel))
        for lane, maxrel in (("hybrid", scoped), ("cross-realm", beyond))
    ]
    verdict = admit(ASKED, results, seen=(), settings=settings.load({}), calibration=Bands())
    found = recall_log.entry(ASKED, results, verdict, settings=settings.load({}), total_ms=1.0, now=0.0)
    of_hybrid = [] if scoped else [policy.CORRECTION, policy.SCOPED]
    assert found["unmeasured"] == sorted([*of_hybrid, *([] if scoped or beyond else [policy.BEYOND])])


@pytest.mark.parametrize(("conf", "logged"), [(0.123456, 0.1235), (0.0, 0.0), (1.0, 1.0), (-1.0, None)])
def test_an_admitted_note_stands_with_its_probability(conf: float, logged: float | None) -> None:
    verdict = VERDICT._replace(admitted=(Admitted(Row("a", 1.0, conf=conf), "kw", ""),))
    found = recall_log.entry(ASKED, RESULTS, verdict, settings=settings.load({}), total_ms=1.0, now=0.0)
    assert found["admitted"] == [{"id": "a", "tag": "kw", "conf": logged}]


def test_blocks_have_names_of_their_own() -> None:
    sessions = ["", "s", "s2", "half \ud800", "x" * 100_000]
    times = [0.0, 1_767_323_045.25, 1_767_323_045.250001]
    prompts = [(ASKED._replace(session=s, turn=n), now) for s in sessions for n in range(1, 60) for now in times]
    names = {recall_log.block_id(request, now) for request, now in prompts}
    assert len(names) == len(prompts) and all(re.fullmatch("[0-9a-f]{12}", name) for name in names)
    assert recall_log.block_id(ASKED, 1.5) == recall_log.block_id(ASKED._replace(prompt="other words"), 1.5)


def test_the_log_brings_no_digest_into_the_process_that_a_person_waits_for() -> None:
    code = (
        "import sys\n"
        "from chitta import recall_log\n"
        "from chitta.wire.request import Request\n"
        "recall_log.block_id(Request('p', 'q', session='s'), 1.5)\n"
        "print([name for name in ('hashlib', 'zlib', 'binascii', 'random', 'uuid') if name in sys.modules])\n"
    )
    library = str(Path(recall_log.__file__).parents[1])
    command = [sys.executable, "-I", "-S", "-c", f"import sys; sys.path.insert(0, {library!r})\n{code}"]
    assert subprocess.run(command, capture_output=True, text=True, check=True).stdout == "[]\n"


def test_the_prompt_is_kept_only_when_asked() -> None:
    assert "my words" not in json.dumps(line())
    assert line(CHITTA_LOG_PROMPTS="1")["prompt"] == "my words"


def test_lines_are_appended_to_a_private_file(tmp_path: Path) -> None:
    state = tmp_path / "state"
    recall_log.append(str(state), {"n": 1})
    recall_log.append(str(state), {"n": "half \ud800\nline"})
    path = state / recall_log.NAME
    assert [json.loads(text)["n"] for text in path.read_text().splitlines()][0] == 1
    assert len(path.read_bytes().splitlines()) == 2
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def _writer(state: str, number: int) -> None:
    for step in range(50):
        recall_log.append(state, {"writer": number, "step": step, "filler": "x" * 3_000})


def test_lines_of_parallel_writers_never_mix(tmp_path: Path) -> None:
    context = multiprocessing.get_context("fork")
    workers = [context.Process(target=_writer, args=(str(tmp_path), number)) for number in range(4)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    found = [json.loads(text) for text in (tmp_path / recall_log.NAME).read_text().splitlines()]
    assert sorted((one["writer"], one["step"]) for one in found) == [(w, s) for w in range(4) for s in range(50)]


def _filler(state: str, number: int, start: Any) -> None:
    start.wait()
    for step in range(60):
        recall_log.append(state, {"writer": number, "step": step})


def test_a_log_that_has_grown_is_put_aside_and_no_line_is_lost(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recall_log, "MOST_BYTES", 60_000)
    path, previous = tmp_path / recall_log.NAME, tmp_path / recall_log.PREVIOUS
    previous.write_text('{"old": 1}\n')
    path.write_text(json.dumps({"filler": "x" * (60_000 - 2_000)}) + "\n")  # all that is written fits into one more
    context = multiprocessing.get_context("fork")
    start = context.Barrier(8)
    workers = [context.Process(target=_filler, args=(str(tmp_path), number, start)) for number in range(8)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    # A writer that looks while another one writes may take its line for half of one, and begin anew: an empty line.
    aside, fresh = ([json.loads(text) for text in file.read_text().split("\n") if text] for file in (previous, path))
    assert "filler" in aside[0] and fresh
    found = [(one["writer"], one["step"]) for one in [*aside[1:], *fresh]]
    assert sorted(found) == [(w, s) for w in range(8) for s in range(60)]
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_while_another_puts_the_log_aside_lines_still_go_into_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(recall_log, "MOST_BYTES", 10)
    path = tmp_path / recall_log.NAME
    path.write_text('{"n": "a long line"}\n')
    with open(tmp_path / "recall-log.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        recall_log.append(str(tmp_path), {"n": 2})
        assert len(path.read_text().splitlines()) == 2 and not (tmp_path / recall_log.PREVIOUS).exists()
    recall_log.append(str(tmp_path), {"n": 3})
    assert path.read_text() == '{"n":3}\n' and len((tmp_path / recall_log.PREVIOUS).read_text().splitlines()) == 2


def test_a_log_that_cannot_be_put_aside_goes_on_growing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recall_log, "MOST_BYTES", 10)
    (tmp_path / recall_log.PREVIOUS).mkdir()
    for number in range(3):
        recall_log.append(str(tmp_path), {"number": number})
    assert len((tmp_path / recall_log.NAME).read_text().splitlines()) == 3


def test_a_lane_that_found_nothing_is_empty_and_one_that_failed_is_not() -> None:
    lanes = line()["lanes"]
    assert {name: facts["state"] for name, facts in lanes.items()} == {
        "temporal": "ok",
        "semantic": "ok",
        "keyword": "ok",
        "hybrid": "empty",
        "correction": "empty",
        "context": "late",
        "cross-realm": "ablated",
    }


def test_fault_02_a_pipe_in_the_logs_place_holds_nobody(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / recall_log.NAME)
    with pytest.raises(OSError):
        recall_log.append(str(tmp_path), {"a": 1})
