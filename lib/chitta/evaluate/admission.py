"""What entered the context, scored against a golden set.

**hit**: answerable prompts with a gold note among those shown. **precision**: notes shown, over answerable and
unanswerable prompts, that are gold; `maybe` notes count neither way. **false injection**: unanswerable prompts for
which anything was shown. **two-turn hit**: a gold note shown by the
second turn. **corrections**: the correction itself shown, when due and when it was only mentioned.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from chitta.evaluate.golden import ANSWERABLE, FIRE, OFF_DOMAIN, QUIET, TWO_TURN, UNANSWERABLE, Golden
from chitta.evaluate.prompting import Answered, bench
from chitta.evaluate.scores import Interval, interval, ratio_interval
from chitta.index.indexer import Progress
from chitta.notes.note import one_line
from chitta.settings import Settings

#: Parts whose prompts must be met with silence; of a correction that is only mentioned, that of the correction.
SILENT = (UNANSWERABLE, OFF_DOMAIN, QUIET)
#: Characters of a prompt in a list of them.
PROMPT_CHARS = 100


class Scores(NamedTuple):
    """The answers to one golden set, and the numbers made of them. A part that has no cases scores None."""

    answers: tuple[Answered, ...]

    def part(self, *parts: str) -> list[Answered]:
        return [answer for answer in self.answers if answer.case.part in parts]

    @property
    def hit(self) -> Interval | None:
        return share(self.part(ANSWERABLE), is_hit)

    @property
    def precision(self) -> Interval | None:
        counted = [judged(answer) for answer in self.part(ANSWERABLE, UNANSWERABLE)]
        return ratio_interval([good for good, _ in counted], [all_ for _, all_ in counted])

    @property
    def false_injection(self) -> Interval | None:
        return share(self.part(UNANSWERABLE), is_injected)

    @property
    def off_domain(self) -> Interval | None:
        return share(self.part(OFF_DOMAIN), is_injected)

    @property
    def two_turn(self) -> Interval | None:
        return share(self.part(TWO_TURN), is_there)

    @property
    def two_turn_new(self) -> Interval | None:
        return share(self.part(TWO_TURN), is_hit)

    @property
    def fired(self) -> Interval | None:
        return share(self.part(FIRE), is_hit)

    @property
    def misfired(self) -> Interval | None:
        return share(self.part(QUIET), is_hit)

    def by_kind(self, part: str) -> dict[str, list[Answered]]:
        kinds: dict[str, list[Answered]] = {}
        for answer in self.part(part):
            kinds.setdefault(answer.case.kind, []).append(answer)
        return dict(sorted(kinds.items()))


def is_hit(answer: Answered) -> bool:
    return any(name in answer.case.gold for name in answer.shown)


def is_there(answer: Answered) -> bool:
    """Whether a gold note is in the context by the last turn: shown then, or at a turn before it."""
    return any(name in answer.case.gold for name in (*answer.earlier, *answer.shown))


def is_injected(answer: Answered) -> bool:
    return bool(answer.shown)


def judged(answer: Answered) -> tuple[int, int]:
    """Notes shown that are gold, and notes shown that count."""
    counted = [name for name in answer.shown if name not in answer.case.maybe]
    return sum(name in answer.case.gold for name in counted), len(counted)


def share(answers: Sequence[Answered], holds: Callable[[Answered], bool]) -> Interval | None:
    """The share of answers for which something holds; None of none."""
    return interval([float(holds(answer)) for answer in answers]) if answers else None


def evaluate(
    store: Settings,
    golden: Golden,
    *,
    changes: dict[str, str] | None = None,
    parts: Sequence[str] = (ANSWERABLE, UNANSWERABLE, TWO_TURN, OFF_DOMAIN),
    progress: Progress | None = None,
) -> Scores:
    """Every case through the hook, the corrections' own over a second copy of the store that holds them too."""
    with bench(store, golden.realm, changes=changes) as plain:
        answers = plain.answer(golden.of(*parts), progress=progress)
    return Scores((*answers, *_corrections(store, golden, changes, progress)))


def _corrections(
    store: Settings, golden: Golden, changes: dict[str, str] | None, progress: Progress | None
) -> list[Answered]:
    cases = golden.of(FIRE, QUIET)
    if not cases:
        return []
    with bench(store, golden.realm, notes=golden.corrections, changes=changes) as corrected:
        return corrected.answer(cases, progress=progress)


def table(scores: Scores) -> list[list[str]]:
    """Rows for people: measure, value with its interval, and what it is a share of."""
    asked = scores.part(ANSWERABLE, UNANSWERABLE)
    kinds = [(kind, found) for kind, found in scores.by_kind(UNANSWERABLE).items() if kind]
    named: list[tuple[str, Interval | None, str]] = [
        ("hit", scores.hit, _prompts(scores.part(ANSWERABLE))),
        ("precision", scores.precision, f"{sum(judged(answer)[1] for answer in asked)} notes shown"),
        ("false injection", scores.false_injection, _prompts(scores.part(UNANSWERABLE))),
        *((f"false injection: {kind}", share(found, is_injected), _prompts(found)) for kind, found in kinds),
        ("false injection: off-domain set", scores.off_domain, _prompts(scores.part(OFF_DOMAIN))),
        ("two-turn hit: in context by the second turn", scores.two_turn, _prompts(scores.part(TWO_TURN))),
        ("two-turn: shown at the second turn itself", scores.two_turn_new, _prompts(scores.part(TWO_TURN))),
        ("corrections fired when due", scores.fired, _prompts(scores.part(FIRE))),
        ("corrections fired when innocent", scores.misfired, _prompts(scores.part(QUIET))),
    ]
    rows = [["measure", "value [95 % interval]", "of"]]
    rows += [[name, str(value), of] for name, value, of in named if value is not None]
    if asked:
        characters = sum(answer.characters for answer in asked) / len(asked)
        rows.append(["characters shown", f"{characters:.0f}", "a prompt, on average"])
    late = sum(bool(answer.late) for answer in scores.answers)
    rows.append(["prompts with a lane late or failed", str(late), _prompts(scores.answers)])
    return rows


def _prompts(answers: Sequence[Answered]) -> str:
    return "1 prompt" if len(answers) == 1 else f"{len(answers)} prompts"


def hits_table(scores: Scores) -> list[list[str]]:
    """Hits by kind of answerable prompt; nothing below the heading where the set names no kinds."""
    rows = [["kind", "hit", "prompts"]]
    for kind, found in scores.by_kind(ANSWERABLE).items():
        if kind:
            rows.append([kind, f"{sum(map(is_hit, found)) / len(found):.3f}", str(len(found))])
    return rows


def failures_table(scores: Scores) -> list[list[str]]:
    """Every prompt that did not go as it should: what was missed, what was shown where silence was right."""
    rows = [["part", "id", "prompt", "shown", "should have been"]]
    for answer in scores.answers:
        silent = answer.case.part in SILENT
        if silent and (is_hit(answer) if answer.case.part == QUIET else is_injected(answer)):
            wanted = "silence"
        elif not silent and not is_there(answer):
            wanted = ", ".join(sorted(answer.case.gold))
        else:
            continue
        prompt = one_line(" / ".join(answer.case.turns))
        prompt = prompt if len(prompt) <= PROMPT_CHARS else f"{prompt[: PROMPT_CHARS - 1]}…"
        rows.append([answer.case.part, answer.case.id, prompt, ", ".join(answer.shown) or "nothing", wanted])
    return rows


def times(scores: Scores) -> tuple[float, float]:
    """Median and 95th percentile of the whole hook as a process, in ms; never the same twice."""
    import numpy as np

    walls = [answer.wall_ms for answer in scores.answers]
    return float(np.percentile(walls, 50)), float(np.percentile(walls, 95))
