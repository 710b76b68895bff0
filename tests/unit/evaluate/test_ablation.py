"""The matrix of lanes: which rows it has, and what its changes are."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import pytest

from chitta.admission import policy
from chitta.evaluate import ablation
from chitta.evaluate.ablation import ALL, evaluate, settings_matrix, table
from chitta.evaluate.golden import ANSWERABLE, FIRE, UNANSWERABLE, Case, Golden
from chitta.evaluate.prompting import Answered
from chitta.evaluate.scores import Interval
from chitta.notes.note import Note
from chitta.settings import load

TAGS = [lane.tag for lane in policy.LANES if lane.ablatable]


def left_out(value: str) -> set[str]:
    return set(policy.ablated(load({"CHITTA_ABLATE_LANES": value})))


def test_every_lane_that_can_be_left_out_is_so_once_and_once_alone() -> None:
    everything = {lane.lane for lane in policy.LANES if lane.ablatable}
    rows = [left_out(value) for _, value in settings_matrix()]
    assert rows[0] == set() and len(rows) == 1 + 2 * len(everything)
    assert sorted(lane for row in rows[1 : 1 + len(everything)] for lane in row) == sorted(everything)
    alone = [everything - row for row in rows[1 + len(everything) :]]
    assert sorted(lane for row in alone for lane in row) == sorted(everything) and all(len(row) == 1 for row in alone)


def test_the_correction_key_is_in_every_row() -> None:
    kept = {lane.lane for lane in policy.LANES if not lane.ablatable}
    assert kept == {"correction-key"}
    for _, value in settings_matrix():
        assert not kept & left_out(value) and "corrk" not in value.split(",")


def test_rows_have_names_of_their_own() -> None:
    names = [name for name, _ in settings_matrix()]
    assert names[0] == ALL and len(set(names)) == len(names)
    assert names[1:] == [f"without {tag}" for tag in TAGS] + [f"{tag} alone" for tag in TAGS]


class Bench:
    """Stands in for a warm store, where only the semantic lane brings gold and only the keyword lane noise."""

    def __init__(self, notes: Sequence[Note]) -> None:
        self.notes = notes

    def answer(self, cases: Sequence[Case], changes: Mapping[str, str]) -> list[Answered]:
        without = set(changes["CHITTA_ABLATE_LANES"].split(","))
        found = [name for name, tag in (("gold", "sem"), ("noise", "kw")) if tag not in without]
        shown = [*found, *(note.id for note in self.notes)]
        return [Answered(case, tuple(shown), 0, 1.0, None, None, ()) for case in cases]


@pytest.fixture
def benches(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, ...]]:
    opened: list[tuple[str, ...]] = []

    @contextmanager
    def bench(store: Any, realm: str, *, notes: Sequence[Note] = ()) -> Iterator[Bench]:
        opened.append(tuple(note.id for note in notes))
        yield Bench(notes)

    monkeypatch.setattr(ablation, "bench", bench)
    return opened


GOLDEN = Golden(
    "g",
    (
        Case("a1", ANSWERABLE, "", ("?",), frozenset({"gold"})),
        Case("a2", ANSWERABLE, "", ("?",), frozenset({"not there"})),
        Case("u1", UNANSWERABLE, "", ("?",)),
    ),
)
CORRECTIONS = Golden("g", (Case("f", FIRE, "", ("?",), frozenset({"corr"})),), (Note("corr"),))


def test_changes_are_against_all_lanes_over_the_same_prompts(benches: list[tuple[str, ...]]) -> None:
    steps: list[tuple[int, int]] = []
    rows = {row.name: row for row in evaluate(load({}), GOLDEN, lambda stage, done, total: steps.append((done, total)))}
    assert list(rows) == [name for name, _ in settings_matrix()] and len(benches) == 1
    assert steps == [(place, len(rows)) for place in range(1, len(rows) + 1)]
    whole = rows[ALL].scores
    assert whole.hit is not None and whole.hit.mean == 1 / 2
    assert whole.precision is not None and whole.precision.mean == pytest.approx(1 / 6)
    assert rows["without sem"].hit.mean == (-1 + 0) / 2
    assert rows["without sem"].precision.mean == pytest.approx(0 / 3 - 1 / 6)
    assert rows["without sem"].false_injection == Interval(0.0, 0.0, 0.0), "the keyword lane still brings noise"
    assert rows["without kw"].precision.mean == pytest.approx(1 / 3 - 1 / 6)
    assert rows["hyb alone"].false_injection == Interval(-1.0, -1.0, -1.0)
    assert rows["without hyb"].hit == rows["without hyb"].two_turn == rows[ALL].hit == Interval(0.0, 0.0, 0.0)


def test_corrections_are_measured_in_a_store_of_their_own(benches: list[tuple[str, ...]]) -> None:
    rows = evaluate(
        load({}), GOLDEN._replace(cases=(*GOLDEN.cases, *CORRECTIONS.cases), corrections=CORRECTIONS.corrections)
    )
    assert benches == [(), ("corr",)] and {row.fired for row in rows} == {Interval(0.0, 0.0, 0.0)}
    assert rows[0].scores.fired == Interval(1.0, 1.0, 1.0)


def test_a_set_of_corrections_alone(benches: list[tuple[str, ...]]) -> None:
    rows = evaluate(load({}), CORRECTIONS)
    assert benches == [("corr",)] and rows[0].scores.hit is None
    assert table(rows)[1] == [ALL, "-", "-", "-", "-", "1.000", "-"]


def test_the_table_shows_values_then_changes(benches: list[tuple[str, ...]]) -> None:
    cells = table(evaluate(load({}), GOLDEN))
    assert len({len(row) for row in cells}) == 1
    assert cells[1][:4] == [ALL, "0.500", "0.167", "1.000"] and cells[1][4:] == ["-", "-", "-"]
    (without,) = (row for row in cells if row[0] == "without ctx")
    assert without[1:] == ["same"] * 3 + ["-"] * 3
    (alone,) = (row for row in cells if row[0] == "kw alone")
    assert alone[1].startswith("-0.500 [") and alone[3] == "same"
