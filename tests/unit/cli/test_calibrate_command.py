"""`chitta calibrate`: what it prints, what it writes, and what it refuses to write."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from chitta import feedback
from chitta import settings as table
from chitta.admission import calibration
from chitta.cli import calibrate_command
from chitta.cli.calibrate_command import BRIER_SLACK, ECE_SLACK
from chitta.evaluate import fitting, labels, own_feedback
from chitta.evaluate.calibration_file import as_fields, write
from chitta.evaluate.fitting import NOTE_SIGNALS, PROMPT_SIGNALS, WORDS_ONLY_SIGNALS, Quality
from chitta.evaluate.golden import ANSWERABLE, UNANSWERABLE, Case, Golden
from chitta.evaluate.labels import Labelled
from chitta.feedback import Judgement

Run = Callable[..., Any]


@pytest.fixture(scope="module", autouse=True)
def one_thread() -> Iterator[None]:
    """Fits of so few prompts are slowed down many times by threads where the cores are busy."""
    import sklearn.linear_model  # noqa: F401  (what is limited has to be loaded)
    from threadpoolctl import threadpool_limits

    with threadpool_limits(1):
        yield


def opinions(low: float, high: float, each: int = 20) -> None:
    """Feedback on blocks at a low and a high maxrel, of which these shares helped."""
    given = []
    for half, (value, share) in enumerate(((0.3, low), (0.7, high))):
        for place in range(each):
            block = f"{half * each + place:012x}"
            verdict = "up" if place < round(share * each) else "down"
            given.append(Judgement("2026-01-02T03:04:05Z", block, "s", "n", verdict, value, value, "sem"))
    feedback.record(table.load().state_dir, given)


@pytest.fixture
def own(own_home: Path) -> Path:
    """Where the store's own calibration is written to."""
    return own_home / ".chitta" / "calibration.json"


@pytest.fixture
def golden(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A golden set whose prompts have made-up signals, and whose fits are judged by few folds."""
    dice = random.Random(3)
    names = sorted({*PROMPT_SIGNALS, *NOTE_SIGNALS, *WORDS_ONLY_SIGNALS})

    def signals(good: bool) -> dict[str, float]:
        return {name: 0.3 * good + 0.7 * dice.random() for name in names}

    found = []
    for number in range(60):
        good = number < 30
        case = Case(str(number), ANSWERABLE if good else UNANSWERABLE, "", ("?",))
        notes = tuple((signals(good and place == 0), good and place == 0) for place in range(2))
        found.append(Labelled(case, signals(good), good, good and number % 6 != 0, notes, notes))
    monkeypatch.setattr(fitting, "FOLDS", 5)
    monkeypatch.setattr(labels, "label_all", lambda store, cases, realm, meter: found)
    set_ = Golden("made-up", tuple(one.case for one in found))
    monkeypatch.setattr(calibrate_command, "golden_store", lambda *given: (set_, table.load({})))
    folder = tmp_path / "golden"
    folder.mkdir()
    return folder


def quality(ece: float, brier: float) -> Quality:
    return Quality(ece, brier, 0.1, 0.9, 5, 5, (fitting.Judged(0.5, 0.5, True, True, True, 0),))


@pytest.fixture
def compare(monkeypatch: pytest.MonkeyPatch) -> Callable[[Quality, Quality], None]:
    """Sets the quality of the calibration in use and of the new one."""

    def set_to(before: Quality, after: Quality) -> None:
        monkeypatch.setattr(fitting, "as_is", lambda labelled, current: before)
        monkeypatch.setattr(fitting, "held_out", lambda labelled: after)

    return set_to


# From a golden set


def test_what_is_written_is_used_from_then_on(chitta: Run, golden: Path, own: Path, tmp_path: Path) -> None:
    ran = chitta("calibrate", str(golden), "--force", "--report", str(tmp_path / "report"))
    assert ran.code == 0 and f"written to {own}" in ran.err
    for measure in ("ECE of the displayed percent", "Brier score of the displayed percent", "folds in which KNOWN"):
        assert measure in ran.out
    value = json.loads(own.read_text())
    assert value["data"] == "made-up: 30 answerable prompts, 30 unanswerable"
    assert value["counts"] == {"prompts": 60, "notes": 120, "notes_words_only": 120}
    fit = calibration.load(table.load())
    assert fit.name == "made-up" and fit != calibration.shipped() and set(fit.prompt.weights) == set(PROMPT_SIGNALS)
    page = (tmp_path / "report" / "calibration.md").read_text()
    assert f"{value['quality']['ece']:.3f}" in page and (tmp_path / "report" / "reliability.svg").is_file()


def test_a_dry_run_writes_nothing(chitta: Run, golden: Path, own: Path, compare: Any) -> None:
    compare(quality(0.2, 0.2), quality(0.1, 0.1))
    ran = chitta("calibrate", str(golden), "--dry-run", "--json")
    assert ran.code == 0 and "nothing was written" in ran.err and not own.exists()
    assert ran.value["file"] == str(own) and ran.value["worse"] == ""
    assert ran.value["calibration"]["quality"] == {"ece": 0.1, "brier": 0.1, "relevance_auc": 0.9}


def test_a_dry_run_of_a_worse_fit_is_no_failure(chitta: Run, golden: Path, own: Path, compare: Any) -> None:
    compare(quality(0.1, 0.1), quality(0.3, 0.3))
    assert chitta("calibrate", str(golden), "--dry-run").code == 0 and not own.exists()


@pytest.mark.parametrize(
    ("after", "said"),
    [
        (quality(0.1 + ECE_SLACK + 0.001, 0.1), "calibration error 0.121 against 0.100"),
        (quality(0.1, 0.1 + BRIER_SLACK + 0.001), "Brier score 0.111 against 0.100"),
    ],
)
def test_a_worse_fit_is_refused_unless_forced(
    chitta: Run, golden: Path, own: Path, compare: Any, after: Quality, said: str
) -> None:
    compare(quality(0.1, 0.1), after)
    ran = chitta("calibrate", str(golden))
    assert ran.code == 1 and said in ran.err and "--force" in ran.err and not own.exists()
    assert chitta("calibrate", str(golden), "--force").code == 0 and own.exists()


def test_a_fit_that_is_worse_within_the_slack_is_written(chitta: Run, golden: Path, own: Path, compare: Any) -> None:
    compare(quality(0.1, 0.1), quality(0.1 + ECE_SLACK - 0.001, 0.1 + BRIER_SLACK - 0.001))
    assert chitta("calibrate", str(golden)).code == 0 and own.exists()


def test_it_may_be_written_elsewhere(chitta: Run, golden: Path, own: Path, compare: Any, tmp_path: Path) -> None:
    compare(quality(0.2, 0.2), quality(0.1, 0.1))
    target = tmp_path / "new" / "fit.json"
    ran = chitta("calibrate", str(golden), "--output", str(target))
    assert ran.code == 0 and f"written to {target}" in ran.err and not own.exists()
    assert calibration.read(str(target)).name == "made-up"


def test_too_few_prompts_are_no_fit(chitta: Run, golden: Path, own: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(labels, "label_all", lambda store, cases, realm, meter: [])
    ran = chitta("calibrate", str(golden))
    assert (ran.code, ran.out) == (1, "") and "nothing can be fitted: it takes 20 of each" in ran.err
    assert not own.exists()


@pytest.mark.parametrize("words", [[], ["GOLDEN", "--from-feedback"], ["/no/such/folder"]])
def test_misuse(chitta: Run, golden: Path, own: Path, words: list[str]) -> None:
    ran = chitta("calibrate", *(str(golden) if word == "GOLDEN" else word for word in words))
    assert (ran.code, ran.out) == (2, "") and "hint: " in ran.err and not own.exists()


# From feedback


def test_from_feedback(chitta: Run, own: Path, tmp_path: Path) -> None:
    opinions(0.2, 0.6)
    ran = chitta("calibrate", "--from-feedback", "--report", str(tmp_path / "report"))
    assert ran.code == 0, ran.err
    value, fit = json.loads(own.read_text()), calibration.read(str(own))
    assert value["counts"] == {"blocks": 40} and value["data"] == "display fitted on own feedback on 40 blocks"
    assert fit._replace(display=calibration.shipped().display) == calibration.shipped()
    assert fit.percent(0.7) == pytest.approx(60, abs=10) and fit.percent(0.3) == pytest.approx(20, abs=10)
    assert (tmp_path / "report" / "reliability.svg").is_file()


def test_too_little_feedback_is_no_fit(chitta: Run, own: Path) -> None:
    ran = chitta("calibrate", "--from-feedback")
    assert (ran.code, ran.out) == (1, "") and "so far 0 helped and 0 did not" in ran.err
    assert not own.exists()


def test_feedback_that_makes_it_worse_is_refused(chitta: Run, own: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    opinions(0.2, 0.6)
    real = own_feedback.refit
    monkeypatch.setattr(own_feedback, "refit", lambda *given: real(*given)._replace(brier_before=0.0, ece_before=0.0))
    before = as_fields(calibration.shipped()._replace(name="mine"), date="", data="", counts={}, quality={})
    write(own, before)
    ran = chitta("calibrate", "--from-feedback")
    assert ran.code == 1 and "it is worse than the one in use" in ran.err
    assert calibration.read(str(own)).name == "mine"
    assert chitta("calibrate", "--from-feedback", "--force").code == 0
    fit = calibration.read(str(own))
    assert fit.name == "mine" and fit.display != calibration.shipped().display
