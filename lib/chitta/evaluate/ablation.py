"""What each lane is worth: the golden set with lanes left out by CHITTA_ABLATE_LANES, against all of them.

The correction key cannot be left out, so it is there in every row.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from chitta.admission import policy
from chitta.evaluate.admission import Scores, is_hit, is_injected, is_there, judged
from chitta.evaluate.golden import ANSWERABLE, FIRE, QUIET, TWO_TURN, UNANSWERABLE, Golden
from chitta.evaluate.prompting import Answered, bench
from chitta.evaluate.scores import Interval, interval, ratio_difference
from chitta.index.indexer import Progress
from chitta.settings import Settings

ALL = "all lanes"


class Row(NamedTuple):
    """One line of the matrix: what was left out, its scores, and the changes against all lanes."""

    name: str
    scores: Scores
    hit: Interval
    precision: Interval
    false_injection: Interval
    two_turn: Interval
    fired: Interval
    misfired: Interval


def settings_matrix() -> list[tuple[str, str]]:
    """A name and the value of CHITTA_ABLATE_LANES for each row: all lanes, each left out, each alone."""
    tags = [lane.tag for lane in policy.LANES if lane.ablatable]
    rows = [(ALL, "")]
    rows += [(f"without {tag}", tag) for tag in tags]
    rows += [(f"{tag} alone", ",".join(other for other in tags if other != tag)) for tag in tags]
    return rows


def evaluate(store: Settings, golden: Golden, progress: Progress | None = None) -> list[Row]:
    """The matrix over one warm store, and a second one for the corrections."""
    parts = golden.of(ANSWERABLE, UNANSWERABLE, TWO_TURN)
    answers: dict[str, list[Answered]] = {name: [] for name, _ in settings_matrix()}
    for notes, cases in (((), parts), (golden.corrections, golden.of(FIRE, QUIET))):
        if not cases:
            continue
        with bench(store, golden.realm, notes=notes) as warm:
            for done, (name, ablated) in enumerate(settings_matrix(), start=1):
                answers[name] += warm.answer(cases, {"CHITTA_ABLATE_LANES": ablated})
                if progress:
                    progress("ablations", done, len(answers))
    whole = Scores(tuple(answers[ALL]))
    return [_row(name, Scores(tuple(found)), whole) for name, found in answers.items()]


def table(rows: Sequence[Row]) -> list[list[str]]:
    """Rows for people: values for all lanes, changes with their intervals for the others."""
    names = ("hit", "precision", "false injection", "two-turn hit", "corrections due", "corrections innocent")
    cells = [["lanes", *names]]
    for row in rows:
        if row.name == ALL:
            scores = row.scores
            values = (
                scores.hit,
                scores.precision,
                scores.false_injection,
                scores.two_turn,
                scores.fired,
                scores.misfired,
            )
            cells.append([row.name, *("-" if value is None else f"{value.mean:.3f}" for value in values)])
        else:
            changes = (row.hit, row.precision, row.false_injection, row.two_turn, row.fired, row.misfired)
            measured = [cell != "-" for cell in cells[1][1:]]
            cells.append([row.name, *(c.signed() if m else "-" for c, m in zip(changes, measured, strict=True))])
    return cells


def _row(name: str, scores: Scores, whole: Scores) -> Row:
    def change(part: str, holds: Callable[[Answered], bool] = is_hit) -> Interval:
        pairs = zip(scores.part(part), whole.part(part), strict=True)
        return interval([float(holds(now)) - float(holds(before)) for now, before in pairs])

    now, before = ([judged(answer) for answer in one.part(ANSWERABLE, UNANSWERABLE)] for one in (scores, whole))
    return Row(
        name,
        scores,
        hit=change(ANSWERABLE),
        precision=ratio_difference(now, before),
        false_injection=change(UNANSWERABLE, is_injected),
        two_turn=change(TWO_TURN, is_there),
        fired=change(FIRE),
        misfired=change(QUIET),
    )
