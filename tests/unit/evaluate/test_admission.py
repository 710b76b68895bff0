"""What entered the context, scored: every number by hand over made-up answers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import pytest

from chitta.evaluate import admission
from chitta.evaluate.admission import Scores, evaluate, hits_table, is_hit, is_injected, judged, share, table, times
from chitta.evaluate.golden import ANSWERABLE, FIRE, OFF_DOMAIN, QUIET, TWO_TURN, UNANSWERABLE, Case, Golden
from chitta.evaluate.prompting import Answered
from chitta.notes.note import Note
from chitta.settings import load


def answer(
    part: str, shown: Sequence[str] = (), kind: str = "", wall: float = 100.0, late: Sequence[str] = ()
) -> Answered:
    gold = frozenset({"gold", "also gold"}) if part not in (UNANSWERABLE, OFF_DOMAIN) else frozenset[str]()
    case = Case("c", part, kind, ("?",), gold, frozenset({"maybe"}))
    return Answered(case, tuple(shown), 100 * len(shown), wall, None, None, tuple(late))


SCORES = Scores(
    (
        answer(ANSWERABLE, ["gold", "wrong"], "short"),
        answer(ANSWERABLE, ["maybe"], "short", wall=300.0),
        answer(ANSWERABLE, ["also gold", "gold", "maybe"], "long"),
        answer(ANSWERABLE),
        answer(UNANSWERABLE, ["wrong"], "chat"),
        answer(UNANSWERABLE, kind="chat"),
        answer(UNANSWERABLE, kind="elsewhere"),
        answer(OFF_DOMAIN, ["wrong"]),
        answer(TWO_TURN, ["gold"]),
        answer(TWO_TURN, ["wrong"]),
        answer(FIRE, ["gold"], late=["hybrid late"]),
        answer(QUIET, ["wrong"]),
    )
)


def mean(part: str) -> float:
    found = getattr(SCORES, part)
    assert found.low <= found.mean <= found.high
    return float(found.mean)


def test_hits_are_answerable_prompts_with_a_gold_note() -> None:
    assert mean("hit") == 2 / 4
    assert mean("two_turn") == 1 / 2


def test_precision_is_over_notes_and_maybe_counts_neither_way() -> None:
    good, counted = 1 + 0 + 2 + 0 + 0, 2 + 0 + 2 + 0 + 1
    assert mean("precision") == pytest.approx(good / counted)
    assert judged(SCORES.answers[0]) == (1, 2) and judged(SCORES.answers[1]) == (0, 0)
    assert judged(SCORES.answers[2]) == (2, 2)


def test_false_injection_is_any_note_where_silence_was_right() -> None:
    assert mean("false_injection") == pytest.approx(1 / 3) and mean("off_domain") == 1.0
    assert is_injected(answer(UNANSWERABLE, ["maybe"])) and not is_hit(answer(UNANSWERABLE, ["maybe"]))


def test_a_correction_counts_only_when_it_is_itself_shown() -> None:
    assert (mean("fired"), mean("misfired")) == (1.0, 0.0)


def test_what_has_no_cases_has_no_score() -> None:
    nothing = Scores(())
    for part in ("hit", "precision", "false_injection", "off_domain", "two_turn", "fired", "misfired"):
        assert getattr(nothing, part) is None
    assert Scores((answer(ANSWERABLE),)).precision is None, "nothing was shown, so nothing can be right or wrong"
    assert share([], is_hit) is None


def test_kinds_are_sorted_and_of_their_part() -> None:
    assert {kind: len(found) for kind, found in SCORES.by_kind(ANSWERABLE).items()} == {"": 1, "long": 1, "short": 2}
    assert list(SCORES.by_kind(UNANSWERABLE)) == ["chat", "elsewhere"]


def test_the_table_has_a_row_for_each_part_that_has_cases() -> None:
    assert table(SCORES)[0][2] == "of"
    rows = {name: (value, of) for name, value, of in table(SCORES)}
    assert rows["hit"] == (str(SCORES.hit), "4 prompts") and rows["precision"] == (
        str(SCORES.precision),
        "5 notes shown",
    )
    chat, elsewhere = rows["false injection: chat"], rows["false injection: elsewhere"]
    assert chat[0].startswith("0.500") and (chat[1], elsewhere[1]) == ("2 prompts", "1 prompt")
    assert rows["characters shown"][0] == f"{(200 + 100 + 300 + 0 + 100 + 0 + 0) / 7:.0f}"
    assert rows["prompts with a lane late or failed"] == ("1", "12 prompts")
    few = {row[0] for row in table(Scores((answer(FIRE, ["gold"]),)))}
    assert few == {"measure", "corrections fired when due", "prompts with a lane late or failed"}


def test_hits_by_kind() -> None:
    assert hits_table(SCORES) == [
        ["kind", "hit", "prompts"],
        ["long", "1.000", "1"],
        ["short", "0.500", "2"],
    ]


def test_times_are_percentiles_of_the_whole_hook() -> None:
    walls = [float(place) for place in range(101)]
    assert times(Scores(tuple(answer(ANSWERABLE, wall=wall) for wall in walls))) == (50.0, 95.0)


# Which cases go to which store


class Bench:
    """Stands in for a warm store: says which notes and settings it was opened with."""

    opened: list[tuple[tuple[Note, ...], dict[str, str]]] = []

    def __init__(self, notes: tuple[Note, ...]) -> None:
        self.notes = notes

    def answer(self, cases: Sequence[Case], progress: object = None) -> list[Answered]:
        return [Answered(case, tuple(note.id for note in self.notes), 0, 1.0, None, None, ()) for case in cases]


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch) -> list[tuple[tuple[Note, ...], dict[str, str]]]:
    found: list[tuple[tuple[Note, ...], dict[str, str]]] = []

    @contextmanager
    def bench(
        store: Any, realm: str, *, notes: Sequence[Note] = (), changes: dict[str, str] | None = None
    ) -> Iterator[Bench]:
        found.append((tuple(notes), changes or {}))
        yield Bench(tuple(notes))

    monkeypatch.setattr(admission, "bench", bench)
    return found


def test_corrections_are_in_the_store_only_for_their_own_cases(opened: list[Any]) -> None:
    note = Note("corr", kind="correction")
    parts = (ANSWERABLE, UNANSWERABLE, TWO_TURN, OFF_DOMAIN, FIRE, QUIET)
    golden = Golden("g", tuple(Case(part, part, "", ("?",)) for part in parts), (note,))
    found = evaluate(load({}), golden, changes={"CHITTA_MAX_MEMORIES": "1"})
    assert [answer.case.part for answer in found.answers] == list(parts)
    assert [bool(answer.shown) for answer in found.answers] == [False] * 4 + [True] * 2
    assert opened == [((), {"CHITTA_MAX_MEMORIES": "1"}), ((note,), {"CHITTA_MAX_MEMORIES": "1"})]


def test_without_corrections_there_is_no_second_store(opened: list[Any]) -> None:
    golden = Golden("g", (Case("a", ANSWERABLE, "", ("?",)), Case("o", OFF_DOMAIN, "", ("?",))))
    assert [one.case.id for one in evaluate(load({}), golden, parts=[ANSWERABLE]).answers] == ["a"]
    assert len(opened) == 1


def test_every_prompt_that_went_wrong_is_listed() -> None:
    head, *rows = admission.failures_table(SCORES)
    assert head == ["part", "id", "prompt", "shown", "should have been"]
    assert [(row[0], row[3], row[4]) for row in rows] == [
        (ANSWERABLE, "maybe", "also gold, gold"),
        (ANSWERABLE, "nothing", "also gold, gold"),
        (UNANSWERABLE, "wrong", "silence"),
        (OFF_DOMAIN, "wrong", "silence"),
        (TWO_TURN, "wrong", "also gold, gold"),
    ]
    assert admission.failures_table(Scores((answer(QUIET, ["gold"]),)))[1][4] == "silence"
