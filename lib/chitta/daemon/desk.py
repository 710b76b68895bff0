"""Where people's questions stand in line: a few at once, the same question once, its answer good for a moment.

A question runs the whole pipeline, the reranker with it, so only a few run together; the rest wait for a place and
are told when there is none. Two that are the same share one run, and the answer is given again for a few seconds, as
long as nothing has been written. Prompts never stand here. Numbers: SuperLocalMemory's.
"""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from typing import Any, NamedTuple

#: Questions that run at once.
PLACES = 3
#: Seconds that a question waits for a place.
PATIENCE_S = 12.0
#: Seconds for which an answer is given again.
GOOD_FOR_S = 8.0
KEPT = 64

Answer = dict[str, Any]


class Busy(Exception):
    """Every place stayed taken. ``again_in_s``: whole seconds after which to ask again."""

    def __init__(self, again_in_s: int) -> None:
        super().__init__("other questions are being answered right now")
        self.again_in_s = again_in_s


class _Given(NamedTuple):
    """An answer, when it was given, and the state of the store that it was read from."""

    answer: Answer
    at: float
    state: object


class _Run:
    """One run that others may wait for, and the state of the store when it began."""

    __slots__ = ("state", "ended", "answer", "problem")

    def __init__(self, state: object) -> None:
        self.state = state
        self.ended = threading.Event()
        self.answer: Answer | None = None
        self.problem: Exception | None = None


class Desk:
    """Gives out places. Safe to share between threads."""

    def __init__(self, places: int = PLACES, patience_s: float = PATIENCE_S) -> None:
        self._patience_s = patience_s
        self._places = threading.Semaphore(places)
        self._lock = threading.Lock()
        self._given: OrderedDict[str, _Given] = OrderedDict()
        self._runs: dict[str, _Run] = {}
        self._usual_s = 1.0

    def answer(
        self, question: str, state: object, run: Callable[[], Answer], complete: Callable[[Answer], bool]
    ) -> Answer:
        """The answer to ``question``, from ``run`` or from whoever asks or asked the same.

        ``state`` stands for the store as it is: another one means that something was written, and nothing is
        shared across it. Only what is ``complete`` is given again. Raises :class:`Busy`, and what ``run`` raises.
        """
        with self._lock:
            given = self._given.get(question)
            if given is not None and given.state is state and time.monotonic() - given.at < GOOD_FOR_S:
                return given.answer
            current = self._runs.get(question)
            leads = current is None or current.state is not state
            if leads:
                current = self._runs[question] = _Run(state)
        assert current is not None
        return self._lead(question, current, run, complete) if leads else self._follow(current)

    def _lead(
        self, question: str, current: _Run, run: Callable[[], Answer], complete: Callable[[Answer], bool]
    ) -> Answer:
        try:
            current.answer = answer = self._placed(run)
            if complete(answer):
                self._keep(question, _Given(answer, time.monotonic(), current.state))
            return answer
        except Exception as problem:
            current.problem = problem
            raise
        finally:
            with self._lock:
                if self._runs.get(question) is current:
                    del self._runs[question]
            current.ended.set()

    def _placed(self, run: Callable[[], Answer]) -> Answer:
        if not self._places.acquire(timeout=self._patience_s):
            raise Busy(max(1, round(self._usual_s)))
        began = time.monotonic()
        try:
            return run()
        finally:
            self._usual_s = 0.7 * self._usual_s + 0.3 * (time.monotonic() - began)
            self._places.release()

    @staticmethod
    def _follow(current: _Run) -> Answer:
        current.ended.wait()
        if current.answer is None:
            raise current.problem or RuntimeError("the run that this question waited for ended without an answer")
        return current.answer

    def _keep(self, question: str, given: _Given) -> None:
        with self._lock:
            self._given.pop(question, None)
            self._given[question] = given
            while len(self._given) > KEPT:
                self._given.popitem(last=False)
