"""`chitta evaluate`: how well recall ranks, what enters the context, and what each lane is worth."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from chitta.cli import output
from chitta.cli.failure import Misuse
from chitta.cli.measuring import (
    AskedRealm,
    GoldenFolders,
    NotesFile,
    OwnStore,
    ReportFolder,
    TriedSettings,
    forget_own_settings,
    golden_store,
    make_ready,
    measuring,
    tried,
)
from chitta.cli.progress import Meter
from chitta.cli.realm_options import AsJson

#: Points of the curve over band thresholds.
THRESHOLDS = tuple(step / 40 for step in range(41))

#: Prompts that did not go as they should, on the screen; the report has all of them.
FAILURES = 8

app = typer.Typer(
    help="Measure what recall finds and what enters the context, on golden sets or your own store.\n\n"
    "Example: chitta evaluate admission tests/eval/golden --notes tests/eval/til/notes.jsonl",
    no_args_is_help=True,
    rich_markup_mode=None,
)


@app.command()
def retrieval(
    datasets: Annotated[list[str], typer.Argument(metavar="DATASET", help="Folders, or FOLDER:SPLIT.")],
    system: Annotated[
        list[str] | None,
        typer.Option("--system", help="keyword, semantic, fused and hybrid by default; or an arm."),
    ] = None,
    runs: Annotated[
        Path | None, typer.Option("--runs", metavar="DIR", help="Keep the runs as TREC run files.", file_okay=False)
    ] = None,
    against: Annotated[
        Path | None,
        typer.Option("--against", metavar="DIR", help="Compare with runs kept before.", file_okay=False, exists=True),
    ] = None,
    report: ReportFolder = None,
    settings: TriedSettings = None,
    as_json: AsJson = False,
) -> None:
    """Score how well each strategy ranks. Recall, hit@3, nDCG and MRR with 95 % bootstrap
    intervals. A folder without documents is asked of your own store. docs/measuring.md shows the formats.

    Example: chitta evaluate retrieval tests/eval/til --system fused --runs runs
    """
    changes = tried(settings)
    own = forget_own_settings()
    make_ready(report, runs)
    with measuring(), Meter() as meter:
        from chitta.evaluate import report as pages
        from chitta.evaluate import retrieval as measurement
        from chitta.evaluate.bench_store import build_store, with_changes
        from chitta.evaluate.golden import dataset_at
        from chitta.evaluate.runs import write_run

        systems = list(dict.fromkeys(system or measurement.USUAL))
        unknown = [name for name in systems if name not in measurement.SYSTEMS]
        if unknown:
            raise Misuse(f"{unknown[0]!r} is no system", f"systems are {', '.join(measurement.SYSTEMS)}")
        measured, recorded, remarks = [], [], []
        for place in datasets:
            dataset = dataset_at(place)
            store = build_store(dataset.name, dataset.notes, meter) if dataset.notes else own
            measured += measurement.measure(with_changes(store, changes), dataset, systems, meter)
            remarks += _remarks(dataset)
            for one in measured[len(measured) - len(systems) :]:
                name = f"{one.dataset}.{one.system}.run"
                recorded.append(_recorded(against / name if against else None, dataset, remarks))
                if runs:
                    write_run(runs / name, one.run, f"chitta-{one.system}")
        changed = pages.change_table(measured, recorded)
        model = _model(own)
        if report:
            pages.retrieval_page(report, measured, model=model, remarks=remarks, changes=changed)
    if as_json:
        output.as_json([_ranking_facts(one, before) for one, before in zip(measured, recorded, strict=True)])
        return
    _print(measurement.table(measured))
    for remark in remarks:
        output.paragraph(remark, style="dim")
    if changed:
        output.say("\nAgainst the recorded runs:", "bold")
        _print(changed)
    elif against:
        output.tell(f"chitta: {against} has no run of these data sets and systems")
    output.say()
    _print(measurement.speed_table(measured))
    _say_where(report)


@app.command()
def switches(
    datasets: Annotated[list[str], typer.Argument(metavar="DATASET", help="Folders, FOLDER:SPLIT, or golden sets.")],
    report: ReportFolder = None,
    as_json: AsJson = False,
) -> None:
    """Show what each switch of ranking is worth. Every arm, boost, filter and fusion turned the other way, one at a
    time, and the change in nDCG@10, recall@10 and hit@3 with its 95 % interval. Before the reranker, which
    `chitta evaluate retrieval` measures.

    Example: chitta evaluate switches tests/eval/til
    """
    own = forget_own_settings()
    make_ready(report)
    with measuring(), Meter() as meter:
        from chitta.evaluate import report as pages
        from chitta.evaluate import switches as measurement
        from chitta.evaluate.bench_store import build_store
        from chitta.evaluate.golden import dataset_at

        measured = []
        for place in datasets:
            dataset = dataset_at(place)
            store = build_store(dataset.name, dataset.notes, meter) if dataset.notes else own
            measured += measurement.measure(store, dataset, meter)
        if report:
            pages.switches_page(report, measured, model=_model(own))
    rows = measurement.table(measured)
    if as_json:
        output.as_json([dict(zip(rows[0], line, strict=True)) for line in rows[1:]])
        return
    _print(rows)
    _say_where(report)


@app.command()
def admission(
    golden: GoldenFolders,
    notes: NotesFile = None,
    own_store: OwnStore = False,
    realm: AskedRealm = "",
    report: ReportFolder = None,
    settings: TriedSettings = None,
    as_json: AsJson = False,
) -> None:
    """Score what enters the context. Golden prompts go through the real hook: hits, precision, false injection
    by kind, corrections, two-turn prompts, characters, time. Lanes get a minute each, so that a busy machine changes
    the times but never the scores.

    Example: chitta evaluate admission tests/eval/golden --notes tests/eval/til/notes.jsonl --report report
    """
    changes = tried(settings)
    own = forget_own_settings()
    make_ready(report)
    facts = []
    for folder in golden:
        with measuring(), Meter() as meter:
            from chitta.admission import calibration
            from chitta.evaluate import admission as measurement
            from chitta.evaluate import report as pages
            from chitta.evaluate.bench_store import with_changes
            from chitta.evaluate.golden import ANSWERABLE, UNANSWERABLE
            from chitta.evaluate.replay import curve, recall_all

            cases, store = golden_store(folder, notes, own if own_store else None, realm, meter)
            scores = measurement.evaluate(store, cases, changes=changes, progress=meter)
            name = cases.name if len(golden) == 1 else f"{folder.resolve().parent.name}/{cases.name}"
            if report:
                trying = with_changes(store, changes)
                fit = calibration.load(trying)
                recalled = recall_all(trying, cases.of(ANSWERABLE, UNANSWERABLE), cases.realm, meter)
                points = curve(recalled, trying, fit, THRESHOLDS)
                place = report if len(golden) == 1 else report / name
                pages.admission_page(place, name, scores, points, threshold=fit.threshold, model=_model(store))
        if as_json:
            facts.append(_admission_facts(name, scores))
            continue
        output.say(name, "bold")
        _print(measurement.table(scores))
        _print_parts(measurement.hits_table(scores), measurement.failures_table(scores), report)
        median, high = measurement.times(scores)
        output.say(f"\nwhole hook: p50 {median:.0f} ms, p95 {high:.0f} ms over {len(scores.answers)} prompts")
    if as_json:
        output.as_json(facts)
    _say_where(report)


@app.command()
def ablation(
    golden: Annotated[
        Path, typer.Argument(metavar="GOLDEN", help="A folder of golden prompts.", file_okay=False, exists=True)
    ],
    notes: NotesFile = None,
    own_store: OwnStore = False,
    realm: AskedRealm = "",
    report: ReportFolder = None,
    as_json: AsJson = False,
) -> None:
    """Show what each lane is worth. The golden prompts with each lane left out and with each alone
    (CHITTA_ABLATE_LANES), and the change in hit, precision and false injection with its 95 % interval. Takes some
    minutes.

    Example: chitta evaluate ablation tests/eval/golden --notes tests/eval/til/notes.jsonl
    """
    own = forget_own_settings()
    make_ready(report)
    with measuring(), Meter() as meter:
        from chitta.evaluate import ablation as measurement
        from chitta.evaluate import report as pages

        cases, store = golden_store(golden, notes, own if own_store else None, realm, meter)
        rows = measurement.evaluate(store, cases, meter)
        if report:
            pages.ablation_page(report, cases.name, rows, model=_model(store))
    if as_json:
        cells = measurement.table(rows)
        output.as_json([dict(zip(cells[0], line, strict=True)) for line in cells[1:]])
        return
    _print(measurement.table(rows))
    _say_where(report)


def _print_parts(hits: Sequence[Sequence[str]], failures: Sequence[Sequence[str]], report: Path | None) -> None:
    """Hits by kind, and the first prompts that did not go as they should."""
    if len(hits) > 1:
        output.say()
        _print(hits)
    if len(failures) > 1:
        output.say()
        for part, name, prompt, shown, wanted in failures[1 : 1 + FAILURES]:
            output.say(output.one_line(f"{part} {name}: {prompt}", output.width()))
            output.say(output.one_line(f"  shown {shown}; right would be {wanted}", output.width()), "dim")
        if len(failures) > 1 + FAILURES:
            more = len(failures) - 1 - FAILURES
            where = f"{report}/admission.md" if report else "--report DIR"
            output.say(f"… and {more} more: {where}", "dim")


def _recorded(path: Path | None, dataset: Any, remarks: list[str]) -> dict[str, dict[str, float]] | None:
    """The scores of a run kept before; None where there is none of these queries."""
    from chitta.evaluate.runs import read_run
    from chitta.evaluate.scores import per_query

    if path is None or not path.is_file():
        return None
    run = read_run(path)
    strange = sum(query not in run for query in dataset.judgements)
    if strange == len(dataset.judgements):
        remarks.append(f"{path} knows none of these queries and was left out.")
        return None
    if strange:
        remarks.append(f"{path} lacks {strange} of these queries; they count 0 there.")
    return per_query(run, dataset.judgements)


def _remarks(dataset: Any) -> list[str]:
    remarks = []
    if dataset.titles_left_out:
        remarks.append(f"{dataset.name}: the queries are the notes' titles, so the notes were indexed without them.")
    realms = {query.realm for query in dataset.queries if query.realm is not None}
    if realms:
        remarks.append(f"{dataset.name}: each query searches its own conversation, of {len(realms)}.")
    if dataset.unjudged:
        remarks.append(f"{dataset.name}: {dataset.unjudged} queries without a judgement were left out.")
    return remarks


def _model(settings: Any) -> str:
    from chitta.models.registry import embedder_name

    return embedder_name(settings)


def _print(rows: Sequence[Sequence[str]]) -> None:
    output.table(rows[0], rows[1:])


def _say_where(report: Path | None) -> None:
    if report:
        output.tell(f"chitta: the report is in {report}")


def _ranking_facts(one: Any, before: Any) -> dict[str, Any]:
    facts: dict[str, Any] = {"dataset": one.dataset, "system": one.system, "queries": len(one.run)}
    facts["scores"] = {name: one.score(name)._asdict() for name in one.values}
    facts["per_second"] = round(one.per_second, 1)
    if before is not None:
        facts["changes"] = {name: one.change(name, before)._asdict() for name in one.values}
    return facts


def _admission_facts(name: str, scores: Any) -> dict[str, Any]:
    from chitta.evaluate.admission import table, times

    median, high = times(scores)
    rows = [dict(zip(("measure", "value", "of"), row, strict=True)) for row in table(scores)[1:]]
    prompts = [
        {"id": answer.case.id, "part": answer.case.part, "kind": answer.case.kind, "shown": answer.shown}
        | {"maxrel": answer.maxrel, "percent": answer.percent, "gold": sorted(answer.case.gold)}
        for answer in scores.answers
    ]
    return {"golden": name, "scores": rows, "hook_ms": {"p50": round(median), "p95": round(high)}, "prompts": prompts}
