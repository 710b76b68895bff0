"""The figures of a report, as SVG: equal numbers give equal bytes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from chitta.evaluate.ablation import ALL, Row
from chitta.evaluate.fitting import reliability
from chitta.evaluate.replay import Point
from chitta.evaluate.retrieval import Measured
from chitta.evaluate.scores import Interval

#: Okabe and Ito's colours, which people with any kind of colour vision can tell apart.
COLOURS = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00")
_STYLE: Any = {
    "svg.hashsalt": "chitta",
    "svg.fonttype": "path",
    "font.size": 10,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "grid.alpha": 0.25,
    "axes.axisbelow": True,
    "legend.frameon": False,
    "figure.constrained_layout.use": True,
}


def ranking_dots(path: Path, measured: Sequence[Measured], measure: str) -> None:
    """One measure of every system on every data set, with its interval."""
    datasets = list(dict.fromkeys(one.dataset for one in measured))
    systems = list(dict.fromkeys(one.system for one in measured))
    with _figure(path, (7.0, 0.75 * len(datasets) + 1.2)) as axes:
        for place, system in enumerate(systems):
            mine = [one for one in measured if one.system == system]
            offset = (place - (len(systems) - 1) / 2) * 0.17
            heights = [datasets.index(one.dataset) + offset for one in mine]
            _dots(axes, [one.score(measure) for one in mine], heights, COLOURS[place % len(COLOURS)], system)
        axes.set_yticks(range(len(datasets)), datasets)
        axes.invert_yaxis()
        axes.set_xlim(0, 1.02)
        axes.set_xlabel(f"{measure}, 95 % interval")
        axes.legend(loc="lower left")


def reliability_diagram(path: Path, curves: Sequence[tuple[str, Sequence[tuple[float, bool]]]]) -> None:
    """What was told against what was true, for each named list of (probability, was right)."""
    with _figure(path, (5.2, 5.0)) as axes:
        axes.plot([0, 1], [0, 1], color="0.6", linestyle="--", linewidth=1, label="perfect")
        for place, (name, points) in enumerate(curves):
            bins = reliability(points)
            colour = COLOURS[place % len(COLOURS)]
            axes.plot([told for told, _, _ in bins], [true for _, true, _ in bins], color=colour, label=name)
            sizes = [12 + 3 * count for _, _, count in bins]
            axes.scatter([told for told, _, _ in bins], [true for _, true, _ in bins], s=sizes, color=colour, alpha=0.6)
        axes.set_xlim(-0.02, 1.02)
        axes.set_ylim(-0.02, 1.02)
        axes.set_xlabel("told: a right memory is in the three shown")
        axes.set_ylabel("share that was right (area: prompts)")
        axes.legend(loc="upper left")


def threshold_curve(path: Path, points: Sequence[Point], current: float) -> None:
    """Hit and precision against false injection as the band threshold moves, and where it stands now."""
    with _figure(path, (6.4, 4.4)) as axes:
        for place, name in enumerate(("hit", "precision")):
            values = [getattr(point, name) for point in points]
            axes.plot([point.threshold for point in points], values, color=COLOURS[place], label=name)
        false = [point.false_injection for point in points]
        axes.plot([point.threshold for point in points], false, color=COLOURS[5], label="false injection")
        axes.axvline(current, color="0.5", linestyle=":", linewidth=1.2)
        axes.annotate(f" in use: {current:g}", (current, 0.97), color="0.35")
        axes.set_xlim(0, 1)
        axes.set_ylim(0, 1.02)
        axes.set_xlabel("band threshold on raw maxrel")
        axes.set_ylabel("share")
        axes.legend(loc="center left")


def latency_histogram(path: Path, walls: Sequence[float], median: float, high: float) -> None:
    """Milliseconds of the whole hook as a process."""
    with _figure(path, (6.4, 3.2)) as axes:
        axes.hist(walls, bins=40, color=COLOURS[0], alpha=0.8)
        for value, name in ((median, "p50"), (high, "p95")):
            axes.axvline(value, color="0.3", linestyle=":", linewidth=1.2)
            axes.annotate(f" {name} {value:.0f} ms", (value, 0.92), xycoords=("data", "axes fraction"), color="0.3")
        axes.set_xlabel("whole hook, ms")
        axes.set_ylabel("prompts")


def times_by_size(path: Path, sizes: Sequence[int], lines: Mapping[str, Sequence[tuple[float, float]]]) -> None:
    """Each named line's median against the number of notes, with a band up to its 95th percentile; milliseconds."""
    with _figure(path, (7.0, 4.2)) as axes:
        for name, values in lines.items():
            medians, high = [value[0] for value in values], [value[1] for value in values]
            axes.plot(sizes, medians, marker="o", label=name)
            axes.fill_between(sizes, medians, high, alpha=0.15)
        axes.set(xscale="log", yscale="log", xlabel="notes in the store", ylabel="whole hook, ms")
        axes.legend(frameon=False)


def ablation_bars(path: Path, rows: Sequence[Row]) -> None:
    """The change in hit, precision and false injection against all lanes, with intervals."""
    ablated = [row for row in rows if row.name != ALL]
    parts = (("hit", "hit"), ("precision", "precision"), ("false_injection", "false injection"))
    with _figure(path, (9.0, 0.32 * len(ablated) + 1.2), columns=len(parts)) as axes:
        for place, (field, name) in enumerate(parts):
            changes = [getattr(row, field) for row in ablated]
            heights = range(len(ablated))
            axes[place].barh(heights, [change.mean for change in changes], color=COLOURS[place], alpha=0.75)
            axes[place].errorbar(
                [change.mean for change in changes],
                heights,
                xerr=_errors(changes),
                fmt="none",
                ecolor="0.25",
                elinewidth=1,
            )
            axes[place].axvline(0, color="0.3", linewidth=0.8)
            axes[place].set_title(f"change in {name}", fontsize=10)
            axes[place].set_yticks(heights, [row.name for row in ablated] if place == 0 else [""] * len(ablated))
            axes[place].invert_yaxis()


def _dots(axes: Any, scores: Sequence[Interval], heights: Sequence[float], colour: str, name: str) -> None:
    axes.errorbar(
        [score.mean for score in scores],
        heights,
        xerr=_errors(scores),
        fmt="o",
        markersize=4,
        color=colour,
        elinewidth=1,
        label=name,
    )


def _errors(scores: Sequence[Interval]) -> list[list[float]]:
    """How far an interval reaches below and above its mean; a bootstrap's edge may lie on the mean."""
    below = [max(score.mean - score.low, 0.0) for score in scores]
    return [below, [max(score.high - score.mean, 0.0) for score in scores]]


@contextmanager
def _figure(path: Path, size: tuple[float, float], columns: int = 1) -> Iterator[Any]:
    """A figure's axes (or its row of them), written to ``path`` afterwards."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    with matplotlib.rc_context(_STYLE):
        figure, axes = pyplot.subplots(1, columns, figsize=size)
        try:
            yield axes
            path.parent.mkdir(parents=True, exist_ok=True)
            figure.savefig(path, format="svg", metadata={"Date": None, "Creator": None})
        finally:
            pyplot.close(figure)
