"""Recorded measurements of data that ships with the tests: made, kept and compared.

``python tests/eval/recorded.py`` records anew, after a change that is meant to change them.
"""

from __future__ import annotations

import json
from pathlib import Path

from chitta.evaluate import admission, retrieval
from chitta.evaluate.admission import Scores, is_hit, is_injected, is_there
from chitta.evaluate.bench_store import build_store
from chitta.evaluate.dataset import read_dataset
from chitta.evaluate.golden import ANSWERABLE, FIRE, QUIET, TWO_TURN, UNANSWERABLE, read_golden, read_notes
from chitta.evaluate.retrieval import Measured
from chitta.evaluate.runs import write_run

HERE = Path(__file__).resolve().parent
RECORDED = HERE / "recorded"
#: Which way each part of the golden set is better, and what is asked of each of its prompts.
PARTS = {ANSWERABLE: is_hit, TWO_TURN: is_there, FIRE: is_hit, UNANSWERABLE: is_injected, QUIET: is_hit}
WANTED = {ANSWERABLE: True, TWO_TURN: True, FIRE: True, UNANSWERABLE: False, QUIET: False}


def measure_retrieval() -> list[Measured]:
    dataset = read_dataset(str(HERE / "til"))
    return retrieval.measure(build_store(dataset.name, dataset.notes), dataset, list(retrieval.USUAL))


def measure_admission() -> Scores:
    store = build_store("til-with-titles", read_notes(HERE / "til" / "notes.jsonl"))
    return admission.evaluate(store, read_golden(HERE / "golden"))


def run_file(system: str) -> Path:
    return RECORDED / f"til-title.{system}.run"


def outcomes(scores: Scores) -> dict[str, dict[str, bool]]:
    """By part and case: whether it was hit, or injected where silence was right."""
    return {part: {a.case.id: holds(a) for a in scores.part(part)} for part, holds in PARTS.items()}


def recorded_outcomes() -> dict[str, dict[str, bool]]:
    found: dict[str, dict[str, bool]] = json.loads((RECORDED / "admission.json").read_text(encoding="utf-8"))
    return found


def record() -> None:
    for one in measure_retrieval():
        write_run(run_file(one.system), {q: names[:20] for q, names in one.run.items()}, f"chitta-{one.system}")
    text = json.dumps(outcomes(measure_admission()), indent=1)
    (RECORDED / "admission.json").write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    record()
