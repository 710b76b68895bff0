"""The recall log: what a line says, and how it is written."""

import json
import multiprocessing
import re
import stat
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from chitta import recall_log, settings
from chitta.admission.gate import Admitted, Verdict
from chitta.wire.request import Request
from chitta.wire.rows import Header, LaneResult, Row

ASKED = Request(prompt="my words", query="my words", tokens=("words",), session="s", turn=3, realm="project:h/o/n")
VERDICT = Verdict(
    admitted=(Admitted(Row("a", 1.0), "kw", "conf 0.90"),),
    dropped={("kw", "conf"): 2, ("sem", "conf"): 1, ("sem", "dup"): 1, ("temporal", "shadow"): 3},
    band="KNOWN",
    maxrel=0.8,
    percent=70,
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
        ASKED, RESULTS, VERDICT, settings=settings.load(environ), total_ms=88.44, now=0.0, problems=["disk full"]
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
        "percent": 70,
        "admitted": [{"id": "a", "tag": "kw", "conf": None}],
        "dropped": {"conf": 3, "dup": 1, "shadow": 3},
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
