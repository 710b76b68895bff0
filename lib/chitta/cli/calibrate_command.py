"""`chitta calibrate`: the numbers behind KNOWN, UNKNOWN and the percent, fitted on data."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from chitta.cli import output
from chitta.cli.failure import Failure, Misuse
from chitta.cli.measuring import (
    AskedRealm,
    NotesFile,
    OwnStore,
    ReportFolder,
    forget_own_settings,
    golden_store,
    make_ready,
    measuring,
)
from chitta.cli.progress import Meter
from chitta.cli.realm_options import AsJson
from chitta.settings import Settings

if TYPE_CHECKING:
    from chitta.evaluate.fitting import Quality
    from chitta.evaluate.own_feedback import Refit

#: How much worse than the one in use a new calibration may look: its error is out of fold, the other's may not be.
ECE_SLACK, BRIER_SLACK = 0.02, 0.01


def calibrate(
    golden: Annotated[
        Path | None,
        typer.Argument(metavar="GOLDEN", help="A folder of golden prompts.", file_okay=False, exists=True),
    ] = None,
    notes: NotesFile = None,
    own_store: OwnStore = False,
    realm: AskedRealm = "",
    from_feedback: Annotated[
        bool, typer.Option("--from-feedback", help="From what you said with `chitta feedback` instead.")
    ] = False,
    output_file: Annotated[
        Path | None, typer.Option("--output", metavar="FILE", help="Instead of calibration.json in your store.")
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Write it even if it is worse than the one in use.")] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show the numbers and write nothing.")] = False,
    report: ReportFolder = None,
    as_json: AsJson = False,
) -> None:
    """Fit what turns evidence into a probability (relevance of a prompt and of a note), the band threshold and the
    displayed percent. All figures of the new fit are of prompts that it has not seen. A fit that is worse than the
    one in use is not written, unless --force.

    Example: chitta calibrate tests/eval/golden --notes tests/eval/til/notes.jsonl --dry-run
    """
    if (golden is None) != from_feedback:
        raise Misuse("give either a folder of golden prompts or --from-feedback", "see `chitta calibrate --help`")
    own = forget_own_settings()
    make_ready(report)
    target = output_file or Path(own.home, "calibration.json")
    with measuring(), Meter() as meter:
        if golden is None:
            fields, facts, worse = _from_feedback(own, report)
        else:
            fields, facts, worse = _from_golden(own, golden, notes, own_store, realm, report, meter)
    if as_json:
        output.as_json({"calibration": fields, "comparison": facts, "worse": worse, "file": str(target)})
    else:
        output.table(facts[0], facts[1:])
    if report:
        output.tell(f"chitta: the report is in {report}")
    if dry_run:
        output.tell("chitta: nothing was written (--dry-run)")
    elif worse and not force:
        raise Failure(f"not written: {worse}", "--force writes it all the same; --report shows the diagram")
    else:
        from chitta.evaluate.calibration_file import write

        write(target, fields)
        output.tell(f"chitta: written to {target}")


def _from_golden(
    own: Settings, folder: Path, notes: Path | None, own_store: bool, realm: str, report: Path | None, meter: Meter
) -> tuple[dict[str, Any], list[list[str]], str]:
    from chitta.admission import calibration
    from chitta.evaluate import fitting
    from chitta.evaluate import report as pages
    from chitta.evaluate.calibration_file import as_fields
    from chitta.evaluate.golden import ANSWERABLE, UNANSWERABLE
    from chitta.evaluate.labels import label_all
    from chitta.models.registry import embedder_name

    cases, store = golden_store(folder, notes, own if own_store else None, realm, meter)
    labelled = label_all(store, cases.of(ANSWERABLE, UNANSWERABLE), cases.realm, meter)
    fit = fitting.fit(labelled, name=cases.name, model=embedder_name(store))
    after, before = fitting.held_out(labelled), fitting.as_is(labelled, calibration.load(own))
    answerable = sum(one.answerable for one in labelled)
    rows = _quality_rows(before, after)
    if report:
        pages.calibration_page(report, cases.name, before, after, rows, model=fit.model)
    fields = as_fields(
        fit,
        date=time.strftime("%Y-%m-%d"),
        data=f"{cases.name}: {answerable} answerable prompts, {len(labelled) - answerable} unanswerable",
        counts={
            "prompts": len(labelled),
            "notes": sum(len(one.notes) for one in labelled),
            "notes_words_only": sum(len(one.words_only) for one in labelled),
        },
        quality={"ece": after.ece, "brier": after.brier, "relevance_auc": after.relevance_auc},
    )
    return fields, rows, _worse(before.ece, after.ece, before.brier, after.brier)


def _from_feedback(own: Settings, report: Path | None) -> tuple[dict[str, Any], list[list[str]], str]:
    from chitta import feedback
    from chitta.admission import calibration
    from chitta.evaluate import own_feedback
    from chitta.evaluate import report as pages
    from chitta.evaluate.calibration_file import as_fields

    refitted = own_feedback.refit(feedback.read(own.state_dir), calibration.load(own))
    rows = _feedback_rows(refitted)
    if report:
        pages.feedback_page(report, refitted, rows)
    fields = as_fields(
        refitted.calibration,
        date=time.strftime("%Y-%m-%d"),
        data=f"display fitted on own feedback on {refitted.blocks} blocks",
        counts={"blocks": refitted.blocks},
        quality={"ece": refitted.ece_after, "brier": refitted.brier_after},
    )
    worse = _worse(refitted.ece_before, refitted.ece_after, refitted.brier_before, refitted.brier_after)
    return fields, rows, worse


def _worse(ece_before: float, ece_after: float, brier_before: float, brier_after: float) -> str:
    """In what a new calibration is worse than the one in use, beyond the slack; or nothing."""
    found = []
    if brier_after > brier_before + BRIER_SLACK:
        found.append(f"Brier score {brier_after:.3f} against {brier_before:.3f}")
    if ece_after > ece_before + ECE_SLACK:
        found.append(f"calibration error {ece_after:.3f} against {ece_before:.3f}")
    return f"it is worse than the one in use ({', '.join(found)})" if found else ""


def _quality_rows(before: Quality, after: Quality) -> list[list[str]]:
    from chitta.evaluate.fitting import expected_error, noise_floor, without_display

    raw = expected_error(without_display(after.judged))
    return [
        ["measure", "in use", "new (out of fold)"],
        ["ECE of the displayed percent", f"{before.ece:.3f}", f"{after.ece:.3f}"],
        ["ECE that perfect percents would show with so few prompts", "", f"{noise_floor(after.judged):.3f}"],
        ["ECE of raw maxrel, were it displayed", "", f"{raw:.3f}"],
        ["Brier score of the displayed percent", f"{before.brier:.3f}", f"{after.brier:.3f}"],
        ["Brier score of raw maxrel", f"{before.relevance_brier:.3f}", f"{after.relevance_brier:.3f}"],
        ["area under the curve of raw maxrel", f"{before.relevance_auc:.3f}", f"{after.relevance_auc:.3f}"],
        [
            "folds in which KNOWN is right more often",
            f"{before.monotonic} of {before.folds}",
            f"{after.monotonic} of {after.folds}",
        ],
    ]


def _feedback_rows(refitted: Refit) -> list[list[str]]:
    return [
        ["measure", "in use", "new (out of fold)"],
        ["ECE of the displayed percent", f"{refitted.ece_before:.3f}", f"{refitted.ece_after:.3f}"],
        ["Brier score of the displayed percent", f"{refitted.brier_before:.3f}", f"{refitted.brier_after:.3f}"],
    ]
