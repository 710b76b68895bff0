"""`chitta evaluate` from end to end, over twelve notes."""

from __future__ import annotations

import fcntl
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from chitta import settings as table
from chitta.cli import checkout
from chitta.daemon import lifecycle
from chitta.evaluate import ablation
from chitta.evaluate.bench_store import COPY_PREFIX
from chitta.models import registry

Run = Callable[..., Any]

DATA = Path(__file__).resolve().parents[1] / "evaluate" / "data"
SAMPLE, GOLDEN = str(DATA / "sample"), str(DATA / "golden")


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("cache")


@pytest.fixture
def evaluate(chitta: Run, cache: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Runs `chitta evaluate …` with the shipped models, whatever it forgets of the environment."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(cache))
    monkeypatch.delenv("CHITTA_EMBED_MODEL")
    problems = [fact.problem for fact in registry.describe(table.load()) if fact.problem]
    if problems:
        pytest.skip("; ".join(problems))
    return lambda *words: chitta("evaluate", *words)


needs_hook = pytest.mark.skipif(checkout.root() is None, reason="the hook is not here")


# Retrieval


def test_the_same_twice_and_against_itself(evaluate: Run, tmp_path: Path) -> None:
    first, second = tmp_path / "first", tmp_path / "second"
    words = ["retrieval", SAMPLE, "--system", "keyword", "--json"]
    one = evaluate(*words, "--runs", str(first))
    two = evaluate(*words, "--runs", str(second), "--against", str(first))
    assert one.code == two.code == 0 and one.err == ""
    assert [file.name for file in first.iterdir()] == ["sample.keyword.run"]
    assert (first / "sample.keyword.run").read_bytes() == (second / "sample.keyword.run").read_bytes()
    (facts,), (again,) = one.value, two.value
    assert (facts["dataset"], facts["system"], facts["queries"]) == ("sample", "keyword", 6)
    assert facts["scores"] == again["scores"] and "changes" not in facts
    nothing = {"mean": 0.0, "low": 0.0, "high": 0.0}
    assert again["changes"] == dict.fromkeys(facts["scores"], nothing)


def test_retrieval_for_people_and_as_a_report(evaluate: Run, tmp_path: Path) -> None:
    runs, report = tmp_path / "runs", tmp_path / "report"
    ran = evaluate("retrieval", SAMPLE, "--system", "semantic", "--system", "semantic", "--runs", str(runs))
    assert ran.code == 0 and ran.out.count("semantic") == 2, "a row of scores and one of times"
    ran = evaluate("retrieval", SAMPLE, "--system", "semantic", "--against", str(runs), "--report", str(report))
    assert ran.code == 0 and "Against the recorded runs:" in ran.out and f"the report is in {report}" in ran.err
    text = (report / "retrieval.md").read_text()
    assert "| sample | semantic | same | same | same | same | same | same |" in text and "bge-small-en" in text
    assert (report / "retrieval.svg").is_file()


def test_runs_of_something_else_are_no_comparison(evaluate: Run, tmp_path: Path) -> None:
    ran = evaluate("retrieval", SAMPLE, "--system", "keyword", "--against", str(tmp_path))
    assert ran.code == 0 and "has no run of these data sets and systems" in ran.err


def test_a_run_of_other_queries_is_left_out(evaluate: Run, tmp_path: Path) -> None:
    kept = tmp_path / "sample.keyword.run"
    kept.write_text("other Q0 stripe-raw-body 1 1 chitta-keyword\n")
    words = ["retrieval", SAMPLE, "--system", "keyword", "--against", str(tmp_path)]
    ran = evaluate(*words)
    told = " ".join(ran.out.split())
    assert ran.code == 0 and "knows none of these queries and was left out." in told
    assert "Against the recorded runs:" not in ran.out and "has no run of these data sets" in ran.err
    (facts,) = evaluate(*words, "--json").value
    assert "changes" not in facts

    query = json.loads((DATA / "sample" / "queries.jsonl").read_text().splitlines()[0])["id"]
    kept.write_text(f"{query} Q0 stripe-raw-body 1 1 chitta-keyword\n")
    ran = evaluate(*words)
    told = " ".join(ran.out.split())
    assert "lacks 5 of these queries; they count 0 there." in told and "Against the recorded runs:" in ran.out


def test_a_setting_to_measure_with(evaluate: Run) -> None:
    def fused(*words: str) -> Any:
        (facts,) = evaluate("retrieval", SAMPLE, "--system", "fused", "--json", *words).value
        return facts["scores"]

    (semantic,) = evaluate("retrieval", SAMPLE, "--system", "semantic", "--json").value
    assert fused("--set", "CHITTA_FUSION_ALPHA=1") == semantic["scores"], "fusion by meaning alone"


def test_a_folder_without_documents_is_asked_of_the_persons_own_store(
    chitta: Run, evaluate: Run, tmp_path: Path
) -> None:
    folder = tmp_path / "mine"
    folder.mkdir()
    (folder / "queries.jsonl").write_text('{"id": "q", "text": "how do we deploy?"}\n{"id": "x", "text": "other"}\n')
    (folder / "qrels.tsv").write_text("query-id\tcorpus-id\tscore\nq\tdeploy\t1\n")
    chitta("remember", "We deploy with make ship.", "--id", "deploy")
    ran = evaluate("retrieval", str(folder), "--system", "keyword")
    assert ran.code == 0 and "mine: 1 queries without a judgement were left out." in ran.out
    assert "1.000 [1.000, 1.000]" in ran.out


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["retrieval", SAMPLE, "--system", "best"], "'best' is no system"),
        (["retrieval", "/no/such/folder"], "/no/such/folder is no folder"),
        (["retrieval", f"{SAMPLE}:dev"], "has no split 'dev'"),
        (["retrieval", SAMPLE, "--set", "CHITTA_NOTHING=1"], "is no setting and value"),
        (["retrieval", SAMPLE, "--set", "CHITTA_HOME=x"], "CHITTA_HOME is not for trying"),
        (["retrieval", SAMPLE, "--report", "/dev/null/x"], "/dev/null/x cannot be made"),
        (["retrieval"], "missing argument"),
        (["admission", GOLDEN, "--notes", "/no/such/file"], "/no/such/file is not there"),
        (["admission", SAMPLE], "has none of answerable"),
        (["ablation", "/no/such/folder"], "/no/such/folder"),
    ],
)
def test_misuse(chitta: Run, words: list[str], said: str) -> None:
    ran = chitta("evaluate", *words)
    assert (ran.code, ran.out) == (2, "") and said in ran.err and "hint: " in ran.err


def test_without_a_model_it_says_so(chitta: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    ran = chitta("evaluate", "retrieval", SAMPLE, "--system", "keyword")
    assert (ran.code, ran.out) == (111, "") and "/no/such/model" in ran.err and "hint: " in ran.err


# The hook


@needs_hook
def test_admission_through_the_real_hook(evaluate: Run, tmp_path: Path) -> None:
    report = tmp_path / "report"
    ran = evaluate("admission", GOLDEN, "--report", str(report), "--json")
    assert ran.code == 0 and f"the report is in {report}" in ran.err
    (facts,) = ran.value
    scores = {row["measure"]: row for row in facts["scores"]}
    prompts = {prompt["id"]: prompt for prompt in facts["prompts"]}
    assert facts["golden"] == "golden" and facts["hook_ms"]["p95"] >= facts["hook_ms"]["p50"] > 0
    assert "stripe-raw-body" in prompts["a1"]["shown"] and prompts["u1"]["shown"] == []
    hits = sum(bool(set(p["shown"]) & set(p["gold"])) for p in prompts.values() if p["part"] == "answerable")
    assert scores["hit"]["value"].startswith(f"{hits / 3:.3f} [") and scores["hit"]["of"] == "3 prompts"
    assert scores["corrections fired when due"]["value"] == "1.000 [1.000, 1.000]"
    assert scores["corrections fired when innocent"]["value"] == "0.000 [0.000, 0.000]"
    assert scores["prompts with a lane late or failed"] == {
        "measure": "prompts with a lane late or failed",
        "value": "0",
        "of": "9 prompts",
    }
    assert {file.name for file in report.iterdir()} == {"admission.md", "thresholds.svg", "latency.svg"}


@needs_hook
def test_golden_folders_of_one_name_have_pages_of_their_own(evaluate: Run, tmp_path: Path) -> None:
    first = (DATA / "golden" / "answerable.jsonl").read_text().splitlines()[0]
    folders = [tmp_path / name / "golden" for name in ("one", "two")]
    for folder in folders:
        folder.mkdir(parents=True)
        (folder / "answerable.jsonl").write_text(first + "\n")
    notes, report = str(DATA / "sample" / "notes.jsonl"), tmp_path / "report"
    ran = evaluate("admission", *map(str, folders), "--notes", notes, "--report", str(report), "--json")
    assert ran.code == 0 and [facts["golden"] for facts in ran.value] == ["one/golden", "two/golden"]
    for name in ("one/golden", "two/golden"):
        assert f"({name})" in (report / name / "admission.md").read_text().splitlines()[0]


@needs_hook
def test_a_polite_kill_leaves_neither_copy_nor_daemon(evaluate: Run, tmp_path: Path) -> None:
    golden, temporary = tmp_path / "golden", tmp_path / "tmp"
    for folder in (golden, temporary):
        folder.mkdir()
    prompts = ({"id": str(number), "prompt": f"which wood is best for bow {number}?"} for number in range(500))
    (golden / "unanswerable.jsonl").write_text("".join(json.dumps(prompt) + "\n" for prompt in prompts))
    words = ["evaluate", "admission", str(golden), "--notes", str(DATA / "sample" / "notes.jsonl")]
    with subprocess.Popen(
        [sys.executable, "-m", "chitta.cli", *words],
        env={**os.environ, "TMPDIR": str(temporary)},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        try:
            copies = f"{COPY_PREFIX}{process.pid}-*"
            end = time.monotonic() + 180
            while not list(temporary.glob(f"{copies}/state/recall-log.jsonl")):
                assert process.poll() is None and time.monotonic() < end, "no prompt was sent"
                time.sleep(0.02)
            (copy,) = temporary.glob(copies)
            assert lifecycle.is_locked(str(copy / "run" / lifecycle.LOCK_NAME)), "a daemon serves the copy"
            lock = os.open(copy / "run" / lifecycle.LOCK_NAME, os.O_RDWR)
            process.terminate()
            _, said = process.communicate(timeout=120)
        finally:
            process.kill()
    try:
        fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)  # refused while the daemon lives, wherever its file is
    finally:
        os.close(lock)
    assert process.returncode == 128 + signal.SIGTERM and "Traceback" not in said
    assert not list(temporary.glob(f"{COPY_PREFIX}*"))


@needs_hook
def test_ablation_through_the_real_hook(evaluate: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    alone = "corrk alone", "corr,kw,sem,ctx,hyb,xr"
    monkeypatch.setattr(ablation, "settings_matrix", lambda: [(ablation.ALL, ""), alone])
    folder = tmp_path / "few"
    folder.mkdir()
    for name in ("answerable.jsonl", "corrections.jsonl"):
        first = (DATA / "golden" / name).read_text().splitlines()[0]
        (folder / name).write_text(first + "\n")
    notes = str(DATA / "sample" / "notes.jsonl")
    ran = evaluate("ablation", str(folder), "--notes", notes, "--report", str(tmp_path / "report"), "--json")
    assert ran.code == 0
    whole, row = ran.value
    assert (whole["lanes"], whole["hit"], whole["corrections due"]) == ("all lanes", "1.000", "1.000")
    assert row["lanes"] == "corrk alone" and row["hit"] == "-1.000 [-1.000, -1.000]"
    assert row["corrections due"] == row["corrections innocent"] == "same", "the key finds them by itself"
    assert "| corrk alone |" in (tmp_path / "report" / "ablation.md").read_text()


def test_nothing_is_written_into_the_persons_store(evaluate: Run, own_home: Path, cache: Path) -> None:
    assert evaluate("retrieval", SAMPLE, "--system", "keyword").code == 0
    assert not (own_home / ".chitta").exists() and not (own_home / ".cache").exists()
    assert [json.loads(line)["id"] for line in (DATA / "sample" / "notes.jsonl").open()][0] == "stripe-raw-body"
