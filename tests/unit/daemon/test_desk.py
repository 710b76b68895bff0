"""Questions: shared runs, answers given again until something is written, an honest no where all places are taken."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from chitta.daemon import desk
from chitta.daemon.desk import Busy, Desk

PATIENCE_S = 120
STORE, CHANGED = object(), object()


class Pipeline:
    """Counts its runs; each waits at the gate."""

    def __init__(self, opened: bool = True) -> None:
        self.runs = 0
        self.gate = threading.Event()
        self.begun = threading.Semaphore(0)
        if opened:
            self.gate.set()

    def __call__(self) -> dict[str, Any]:
        self.runs += 1
        number = self.runs
        self.begun.release()
        assert self.gate.wait(PATIENCE_S)
        return {"run": number}


def ask(at: Desk, run: Pipeline, question: str = "q", state: object = STORE, complete: bool = True) -> dict[str, Any]:
    return at.answer(question, state, run, lambda answer: complete)


def test_an_answer_is_given_again_until_something_is_written() -> None:
    at, run = Desk(), Pipeline()
    assert [ask(at, run)["run"], ask(at, run)["run"]] == [1, 1]
    assert ask(at, run, question="another")["run"] == 2
    assert ask(at, run, state=CHANGED)["run"] == 3


def test_an_answer_grows_old(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [100.0]
    monkeypatch.setattr("chitta.daemon.desk.time.monotonic", lambda: now[0])
    at, run = Desk(), Pipeline()
    ask(at, run)
    now[0] += desk.GOOD_FOR_S - 0.01
    assert ask(at, run)["run"] == 1
    now[0] += 0.02
    assert ask(at, run)["run"] == 2


def test_an_incomplete_answer_is_not_given_again() -> None:
    at, run = Desk(), Pipeline()
    assert [ask(at, run, complete=False)["run"], ask(at, run)["run"]] == [1, 2]


def test_the_same_question_at_the_same_moment_runs_once_but_not_across_a_write() -> None:
    at, run = Desk(places=8), Pipeline(opened=False)
    with ThreadPoolExecutor(8) as pool:
        first = pool.submit(ask, at, run)
        assert run.begun.acquire(timeout=PATIENCE_S)
        others = [pool.submit(ask, at, run) for _ in range(4)]
        after = pool.submit(ask, at, run, state=CHANGED)
        assert run.begun.acquire(timeout=PATIENCE_S)
        run.gate.set()
        assert {one.result(PATIENCE_S)["run"] for one in (first, *others)} == {1}
        assert after.result(PATIENCE_S)["run"] == 2


def test_a_failure_reaches_everyone_who_waited_and_is_not_kept() -> None:
    at, begun, gate = Desk(), threading.Event(), threading.Event()

    def fails() -> dict[str, Any]:
        begun.set()
        gate.wait(PATIENCE_S)
        raise ValueError("no")

    with ThreadPoolExecutor(2) as pool:
        asked = [pool.submit(at.answer, "q", STORE, fails, lambda answer: True)]
        assert begun.wait(PATIENCE_S)
        asked.append(pool.submit(at.answer, "q", STORE, fails, lambda answer: True))
        gate.set()
        for one in asked:
            with pytest.raises(ValueError, match="no"):
                one.result(PATIENCE_S)
    assert ask(at, Pipeline())["run"] == 1


def test_when_every_place_is_taken_one_is_told_so_and_the_places_come_free_again() -> None:
    at, run = Desk(places=2, patience_s=0.05), Pipeline(opened=False)
    with ThreadPoolExecutor(2) as pool:
        held = [pool.submit(ask, at, run, question=name) for name in ("a", "b")]
        for _ in held:
            assert run.begun.acquire(timeout=PATIENCE_S)
        with pytest.raises(Busy) as told:
            ask(at, run, question="c")
        assert told.value.again_in_s >= 1
        run.gate.set()
        assert sorted(one.result(PATIENCE_S)["run"] for one in held) == [1, 2]
    assert ask(at, run, question="c")["run"] == 3


def test_few_answers_are_kept() -> None:
    at, run = Desk(), Pipeline()
    for number in range(desk.KEPT + 1):
        ask(at, run, question=str(number))
    assert ask(at, run, question=str(desk.KEPT))["run"] == desk.KEPT + 1
    assert ask(at, run, question="0")["run"] == desk.KEPT + 2
