"""Pages of a report: their tables, their figures, and what would break a table."""

from __future__ import annotations

from pathlib import Path

import pytest

import chitta
from chitta.evaluate import report
from chitta.evaluate.ablation import ALL, Row
from chitta.evaluate.admission import Scores
from chitta.evaluate.fitting import Judged, Quality
from chitta.evaluate.golden import ANSWERABLE, UNANSWERABLE, Case
from chitta.evaluate.prompting import Answered
from chitta.evaluate.replay import Point
from chitta.evaluate.retrieval import Measured
from chitta.evaluate.scores import MEASURES, Interval

MEASURED = Measured("a|set", "keyword", {"q": ["a"]}, {name: {"q": 1.0, "r": 0.0} for name in MEASURES}, 9.87)


def figures_of(page: Path) -> set[str]:
    """The figures that a page shows; all of them must lie beside it."""
    text = page.read_text()
    found = {part.partition(")")[0] for part in text.split("](")[1:]}
    assert all((page.parent / name).read_text().startswith("<?xml") for name in found)
    return found


def test_a_cell_cannot_break_its_table() -> None:
    text = report._markdown([["a", "b"], ["x|y", "z"]])
    assert text == "| a | b |\n| --- | --- |\n| x\\|y | z |"


def test_retrieval(tmp_path: Path) -> None:
    page = report.retrieval_page(tmp_path / "new", [MEASURED], model="a-model", remarks=["a remark", ""])
    text = page.read_text()
    assert page.name == "retrieval.md" and figures_of(page) == {"retrieval.svg"}
    assert f"chitta {chitta.__version__} and the embedder a-model" in text and "\n\na remark\n\n" in text
    assert "| a\\|set | 1 | keyword | " in text and "| a\\|set | keyword | 9.9 |" in text
    assert "the words' arm alone" in text and "the meaning's arm alone" not in text
    assert "Against the recorded run" not in text
    assert text.endswith("\n") and not text.endswith("\n\n")


def test_retrieval_against_a_recorded_run(tmp_path: Path) -> None:
    changes = report.change_table([MEASURED, MEASURED], [None, MEASURED.values])
    assert changes == [["data set", "system", *MEASURES], ["a|set", "keyword", *["same"] * len(MEASURES)]]
    text = report.retrieval_page(tmp_path, [MEASURED], model="m", remarks=[], changes=changes).read_text()
    assert "## Against the recorded run" in text and "| a\\|set | keyword | same | same |" in text
    assert report.change_table([MEASURED], [None]) == []


def test_admission(tmp_path: Path) -> None:
    good, other = (Case("c", part, "kind", ("?",), frozenset({"n"})) for part in (ANSWERABLE, UNANSWERABLE))
    scores = Scores((Answered(good, ("n",), 90, 80.0, 0.9, 90, ()), Answered(other, (), 0, 100.0, 0.1, 9, ())))
    points = [Point(step / 4, 0.5, 0.25, 0.125 if step < 3 else 0.0) for step in range(5)]
    page = report.admission_page(tmp_path, "a set", scores, points, threshold=0.5, model="m")
    text = page.read_text()
    assert page.name == "admission.md" and figures_of(page) == {"thresholds.svg", "latency.svg"}
    assert "(a set)" in text and "p50 90 ms" in text and "2 prompts" in text
    rows = [line for line in text.splitlines() if "| 0.500 | 0.250 | 0." in line]
    assert [row.split()[1] for row in rows] == ["0.000", "0.750"], "rows equal to the one above are left out"


def test_ablation(tmp_path: Path) -> None:
    change = Interval(-0.1, -0.2, 0.05)
    answer = Answered(Case("c", ANSWERABLE, "", ("?",)), (), 0, 80.0, None, None, ())
    rows = [Row(name, Scores((answer,)), *[change] * 6) for name in (ALL, "without kw")]
    page = report.ablation_page(tmp_path, "a set", rows, model="m")
    assert page.name == "ablation.md" and figures_of(page) == {"ablation.svg"}
    assert "| without kw | -0.100 [-0.200, +0.050] |" in page.read_text()


@pytest.mark.parametrize("with_before", [True, False])
def test_calibration(tmp_path: Path, with_before: bool) -> None:
    judged = (Judged(0.9, 0.8, True, True, True, 0), Judged(0.1, 0.2, False, False, False, 0))
    quality = Quality(0.1, 0.2, 0.3, 0.4, 1, 1, judged)
    page = report.calibration_page(
        tmp_path, "a set", quality if with_before else None, quality, [["measure", "new"], ["ECE", "0.100"]], model="m"
    )
    assert page.name == "calibration.md" and figures_of(page) == {"reliability.svg"}
    assert "| ECE | 0.100 |" in page.read_text()
