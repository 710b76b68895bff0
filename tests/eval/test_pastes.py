"""Golden prompts in the middle of pasted output bring what they bring by themselves."""

from __future__ import annotations

import pytest
import recorded

from chitta.admission import calibration
from chitta.evaluate import replay
from chitta.evaluate.bench_store import build_store
from chitta.evaluate.golden import ANSWERABLE, UNANSWERABLE, Case, read_golden, read_notes

PASTES: dict[str, list[str]] = {
    "log": [
        f"2026-11-30 12:{minute:02}:07,{minute * 37 % 999:03} INFO  [app.worker] {words} id={minute * 7919 % 10_000}"
        for minute, words in enumerate(["user session refreshed", "batch flushed", "cache reloaded", "job queued"] * 5)
    ],
    "composed": [f"web-{number % 2 + 1}  | worker {number} heartbeat ok" for number in range(16)],
    "python": [
        "Traceback (most recent call last):",
        *(
            line
            for number, name in enumerate(["errors", "base", "routing", "sessions", "connectionpool"] * 3)
            for line in (
                f'  File "/venv/lib/python3.12/site-packages/starlette/{name}.py", line {number * 53}, in call',
                "    await self.app(scope, receive, _send)",
            )
        ),
    ],
}


@pytest.fixture(scope="module")
def golden() -> dict[str, list[Case]]:
    found = read_golden(recorded.HERE / "golden")
    return {part: list(found.of(part)) for part in (ANSWERABLE, UNANSWERABLE)}


def shown(cases: list[Case]) -> list[tuple[str, ...]]:
    store = build_store("til-with-titles", read_notes(recorded.HERE / "til" / "notes.jsonl"))
    fit = calibration.shipped()
    return [replay.shown(one, store, fit) for one in replay.recall_all(store, cases)]


@pytest.fixture(scope="module")
def alone(golden: dict[str, list[Case]]) -> dict[str, list[tuple[str, ...]]]:
    return {part: shown(cases) for part, cases in golden.items()}


@pytest.mark.parametrize("kind", PASTES)
def test_what_is_pasted_around_a_prompt_changes_little(
    golden: dict[str, list[Case]], alone: dict[str, list[tuple[str, ...]]], kind: str
) -> None:
    def pasted(case: Case) -> Case:
        return case._replace(turns=("\n".join([*PASTES[kind], case.turns[-1], *PASTES[kind]]),))

    within = {part: shown([pasted(case) for case in cases]) for part, cases in golden.items()}
    hits = [
        sum(bool(set(ids) & case.gold) for ids, case in zip(found[ANSWERABLE], golden[ANSWERABLE], strict=True))
        for found in (alone, within)
    ]
    injected = [sum(map(bool, found[UNANSWERABLE])) for found in (alone, within)]
    assert hits[0] > len(golden[ANSWERABLE]) / 2, "nothing is compared where nothing is found"
    assert hits[1] >= hits[0] - 1, hits
    assert injected[1] <= injected[0] + 1, injected
