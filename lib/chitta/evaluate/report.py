"""Reports: Markdown with tables and figures, one page for each kind of measurement."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import chitta
from chitta.evaluate import ablation, admission, figures, retrieval, switches
from chitta.evaluate.admission import Scores
from chitta.evaluate.fitting import Quality, without_display
from chitta.evaluate.own_feedback import Refit
from chitta.evaluate.replay import Point
from chitta.evaluate.retrieval import SYSTEMS, Measured
from chitta.evaluate.scores import MEASURES

Table = Sequence[Sequence[str]]

#: A report is for showing around; what people typed stays in the golden set.
_BY_ID = "Every prompt that did not go as it should, by its id in the golden set."


def retrieval_page(
    folder: Path, measured: Sequence[Measured], *, model: str, remarks: Sequence[str], changes: Table = ()
) -> Path:
    """``retrieval.md``; ``changes`` is the table of paired differences where there was a recorded run."""
    figures.ranking_dots(folder / "retrieval.svg", measured, "nDCG@10")
    parts = [
        "# Retrieval: how well each strategy ranks",
        f"{_by(model)} Means with 95 % bootstrap intervals over queries; a query that finds nothing counts 0.",
        _markdown([["system", "what it is"], *([name, SYSTEMS[name]] for name in _systems(measured))]),
        _markdown(retrieval.table(measured)),
        "![nDCG@10 of each system on each data set, with intervals](retrieval.svg)",
        *remarks,
    ]
    if changes:
        parts += ["## Against the recorded run", "Paired differences, with intervals.", _markdown(changes)]
    parts += [
        "## Speed",
        "On the machine of this run; never the same twice.",
        _markdown(retrieval.speed_table(measured)),
    ]
    return _write(folder / "retrieval.md", parts)


def switches_page(folder: Path, rows: Sequence[switches.Row], *, model: str) -> Path:
    """``switches.md``: every switch of ranking over every data set."""
    used = [["switch", "settings"]]
    used += [[name, ", ".join(f"`{k}={v}`" for k, v in changes.items())] for name, changes in switches.SWITCHES.items()]
    parts = [
        "# Switches: what each part of ranking is worth",
        f"{_by(model)} The first row of a data set has its scores, the others the change when one switch is turned, "
        "with 95 % bootstrap intervals of paired differences. Before the reranker. *same*: no query changed.",
    ]
    for name in dict.fromkeys(row.dataset for row in rows):
        cells = switches.table([row for row in rows if row.dataset == name])
        parts += [f"## {name}", _markdown([line[1:] for line in cells])]
    return _write(folder / "switches.md", [*parts, "## The switches", _markdown(used)])


def admission_page(
    folder: Path, name: str, scores: Scores, points: Sequence[Point], *, threshold: float, model: str
) -> Path:
    """``admission.md``: what entered the context, the curve over thresholds and the hook's times."""
    median, high = admission.times(scores)
    figures.threshold_curve(folder / "thresholds.svg", points, threshold)
    figures.latency_histogram(folder / "latency.svg", [answer.wall_ms for answer in scores.answers], median, high)
    swept = [["threshold", "hit", "precision", "false injection"]]
    for p in points:
        row = [f"{p.hit:.3f}", f"{p.precision:.3f}", f"{p.false_injection:.3f}"]
        if swept[-1][1:] != row:
            swept.append([f"{p.threshold:.3f}", *row])
    parts = [
        f"# Admission: what enters the context ({name})",
        f"{_by(model)} Every prompt went through the hook as a process, each in a session of its own. "
        "*hit*: answerable prompts with a gold note among those shown. *precision*: notes shown that are gold "
        "(`maybe` notes count neither way). *false injection*: unanswerable prompts for which anything was shown.",
        _markdown(admission.table(scores)),
        *_section("## Hits by kind of prompt", "", admission.hits_table(scores)),
        "## The band threshold moved",
        f"All other rules as they are; in use is {threshold:g}. Rows equal to the one above are left out.",
        "![hit, precision and false injection over the band threshold](thresholds.svg)",
        _markdown(swept),
        *_section(
            "## What went wrong", _BY_ID, [[row[0], row[1], *row[3:]] for row in admission.failures_table(scores)]
        ),
        "## Time",
        f"Whole hook as a process, on the machine of this run: p50 {median:.0f} ms, p95 {high:.0f} ms over "
        f"{len(scores.answers)} prompts. Never the same twice.",
        "![histogram of the hook's times](latency.svg)",
    ]
    return _write(folder / "admission.md", parts)


def ablation_page(folder: Path, name: str, rows: Sequence[ablation.Row], *, model: str) -> Path:
    """``ablation.md``: the matrix of lanes."""
    figures.ablation_bars(folder / "ablation.svg", rows)
    parts = [
        f"# Ablation: what each lane is worth ({name})",
        f"{_by(model)} The first row has values; the others the change against it with its 95 % interval, over the "
        "same prompts. The correction key cannot be left out.",
        _markdown(ablation.table(rows)),
        "![change in hit, precision and false injection by lane](ablation.svg)",
    ]
    return _write(folder / "ablation.md", parts)


def calibration_page(
    folder: Path, name: str, before: Quality | None, after: Quality, rows: Table, *, model: str
) -> Path:
    """``calibration.md``: the reliability diagram before and after, and the numbers of both fits."""
    curves = [
        ("raw maxrel, before", without_display(after.judged)),
        ("displayed percent, after", [(one.shown, one.right) for one in after.judged]),
    ]
    if before is not None:
        curves.append(("displayed by the one in use", [(one.shown, one.right) for one in before.judged]))
    figures.reliability_diagram(folder / "reliability.svg", curves)
    parts = [
        f"# Calibration: are the numbers true ({name})",
        f"{_by(model)} New fits are judged out of fold (ten folds, dealt ten times, averaged): no prompt by a "
        "fit that has seen it. *ECE*: "
        "expected calibration error in ten bins of the displayed percent against a right memory in the top three. "
        "*Brier*: mean squared error of the same; *relevance*: of raw maxrel against an answerable prompt.",
        _markdown(rows),
        "![reliability diagram](reliability.svg)",
    ]
    return _write(folder / "calibration.md", parts)


def feedback_page(folder: Path, refitted: Refit, rows: Table) -> Path:
    """``calibration.md`` for a calibration bent to a person's own feedback."""
    curves = [("in use", refitted.points_before), ("new, out of fold", refitted.points_after)]
    figures.reliability_diagram(folder / "reliability.svg", curves)
    parts = [
        "# Calibration from your own feedback",
        f"Fitted on {refitted.blocks} judged blocks. A block is right when one of its notes helped. "
        "*ECE*: expected calibration error in ten bins; *Brier*: mean squared error.",
        _markdown(rows),
        "![reliability diagram](reliability.svg)",
    ]
    return _write(folder / "calibration.md", parts)


def change_table(measured: Sequence[Measured], recorded: Sequence[dict[str, dict[str, float]] | None]) -> Table:
    """Paired differences to recorded values, for the systems that have them."""
    rows = [["data set", "system", *MEASURES]]
    for one, before in zip(measured, recorded, strict=True):
        if before is not None:
            rows.append([one.dataset, one.system, *(one.change(name, before).signed() for name in MEASURES)])
    return rows if len(rows) > 1 else []


def _section(heading: str, words: str, rows: Table) -> list[str]:
    """A heading with its table; nothing where the table has only headings."""
    return [heading, words, _markdown(rows)] if len(rows) > 1 else []


def _by(model: str) -> str:
    return f"Measured with chitta {chitta.__version__} and the embedder {model}."


def _systems(measured: Sequence[Measured]) -> list[str]:
    return list(dict.fromkeys(one.system for one in measured))


def _markdown(rows: Table) -> str:
    head, *body = [[str(cell).replace("|", "\\|") for cell in row] for row in rows]
    lines = [head, ["---"] * len(head), *body]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _write(path: Path, parts: Sequence[str]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n\n".join(part for part in parts if part) + "\n", encoding="utf-8")
    return path
