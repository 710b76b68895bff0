from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest

from chitta import recall_log
from chitta import settings as table
from chitta.cli import doctor_store as checks
from chitta.cli.finding import FAIL, OK, WARN, Finding
from chitta.index import generation
from chitta.index.indexer import sync
from chitta.notes.note import Note
from chitta.notes.store import NoteStore
from chitta.settings import Settings

Run = Callable[..., Any]


@pytest.fixture
def home(own_home: Path) -> Path:
    path = own_home / ".chitta"
    path.mkdir(mode=0o700)
    return path


def found(check: Callable[[Settings], Iterable[Finding]]) -> list[Finding]:
    return list(check(table.load()))


def states(check: Callable[[Settings], Iterable[Finding]]) -> list[str]:
    return [finding.state for finding in found(check)]


# Home and run folder


def test_no_home_yet_is_in_order(own_home: Path) -> None:
    assert states(checks.home) == [OK] and states(checks.run_folder) == [OK]


def test_a_home_for_oneself_is_in_order_and_an_open_one_is_not(home: Path) -> None:
    assert states(checks.home) == [OK]
    home.chmod(0o755)
    (finding,) = found(checks.home)
    assert finding.state == WARN and finding.todo == f"chmod 700 {home}"


def test_a_home_that_is_a_file(own_home: Path) -> None:
    (own_home / ".chitta").write_text("")
    assert states(checks.home) == [FAIL]


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_home_that_cannot_be_written(home: Path) -> None:
    home.chmod(0o500)
    assert states(checks.home) == [FAIL]
    home.chmod(0o700)


def test_the_run_folder(home: Path) -> None:
    (home / "run").mkdir(mode=0o755)
    assert states(checks.run_folder) == [WARN]
    (home / "run").chmod(0o700)
    assert states(checks.run_folder) == [OK]
    (home / "run").rmdir()
    (home / "run").write_text("")
    assert states(checks.run_folder) == [FAIL]


# Daemon


def test_a_daemon_that_is_forbidden_is_a_warning(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CHITTA_NO_DAEMON", "1")
    assert states(checks.daemon) == [WARN]


def test_a_daemon_that_was_not_running_is_tried_and_stopped_again(home: Path) -> None:
    from chitta import daemon_client

    (finding,) = found(checks.daemon)
    assert finding.state == OK and "can be started" in finding.detail
    assert not daemon_client.running(table.load())


def test_a_daemon_that_cannot_start_is_broken(home: Path) -> None:
    (home / "run").write_text("a file in the way")
    (finding,) = found(checks.daemon)
    assert finding.state == FAIL and finding.todo


# Index


class Embedder:
    """Stands in for a model: its vectors are all the same, its name is what counts."""

    dim = 4
    instruction = ""

    def __init__(self, name: str) -> None:
        self.name = name

    def embed_query(self, text: str) -> Any:
        return self.embed_notes([text])[0]

    def embed_notes(self, texts: Any, progress: Any = None) -> Any:
        import numpy as np

        return np.full((len(texts), self.dim), 0.5, dtype=np.float32)


@pytest.fixture
def notes(home: Path) -> Path:
    place = home / "notes" / "global"
    place.mkdir(parents=True)
    (place / "one.md").write_text("# One\n\nsome words\n")
    return place


def index_with(name: str) -> None:
    sync(table.load(), Embedder(name))


def test_notes_that_wait_are_counted_and_many_are_worth_a_word(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert found(checks.review) == []
    settings = table.load()
    for number in range(2):
        NoteStore(settings.notes_dir).write(Note(f"n{number}", text="x", authority="captured"))
    sync(settings, None)
    (finding,) = found(checks.review)
    assert (finding.state, finding.detail) == (OK, "2 captured for you to look at")
    monkeypatch.setattr(checks, "MANY_WAITING", 2)
    assert states(checks.review) == [WARN]


def test_no_notes_and_no_index_is_in_order(home: Path) -> None:
    assert states(checks.index) == [OK]


def test_an_index_that_is_level_is_in_order(notes: Path) -> None:
    assert states(checks.index) == [WARN]
    index_with("bge-small-en")
    assert states(checks.index) == [OK]


def test_an_index_that_is_behind(notes: Path) -> None:
    index_with("bge-small-en")
    (notes / "two.md").write_text("more\n")
    assert states(checks.index) == [WARN]


def test_an_index_without_vectors_and_one_of_another_model(notes: Path) -> None:
    sync(table.load(), None)
    assert states(checks.index) == [WARN] and "by meaning" in found(checks.index)[0].detail
    index_with("another-model")
    assert FAIL in states(checks.index) and any("another-model" in finding.detail for finding in found(checks.index))


def test_fault_11_a_damaged_index_is_broken_and_mended_by_reindex(notes: Path) -> None:
    index_with("bge-small-en")
    current = generation.current(table.load().index_dir)
    assert current is not None
    Path(current.catalog).write_bytes(b"not a database")
    assert FAIL in states(checks.index)
    assert all(finding.todo for finding in found(checks.index) if finding.state == FAIL)
    sync(table.load(), Embedder("bge-small-en"), full=True)
    assert states(checks.index) == [OK]


# Prompts


def log(*lines: dict[str, Any]) -> None:
    for line in lines:
        recall_log.append(table.load().state_dir, line)


def prompt(state: str = "ok", **more: Any) -> dict[str, Any]:
    lanes = {"keyword": {"state": "ok"}, "hybrid": {"state": state}}
    return {"lanes": lanes, "admitted": [], "total_ms": 100.0, "degraded": [], **more}


NO_INTERPRETER = {"degraded": ["no interpreter: run install.sh"]}


def test_no_prompts_yet_and_prompts_that_went_well() -> None:
    assert states(checks.prompts) == [OK]
    log(*(prompt(total_ms=float(n)) for n in range(100)))
    (finding,) = found(checks.prompts)
    assert finding.state == OK and "half within 50 ms, 95% within 95 ms, 100 silent" in finding.detail


@pytest.mark.parametrize(
    ("bad", "state"),
    [(int(200 * checks.WARN_FROM), OK), (int(200 * checks.WARN_FROM) + 1, WARN), (int(200 * checks.FAIL_FROM), FAIL)],
)
def test_lanes_that_failed_count_by_their_share(bad: int, state: str) -> None:
    log(*(prompt("late") for _ in range(bad)), *(prompt() for _ in range(200 - bad)))
    assert states(checks.prompts) == [state]


def test_a_lane_is_judged_by_the_prompts_that_asked_it() -> None:
    short = {"lanes": {"correction-key": {"state": "ok"}}, "admitted": [], "total_ms": 9.0, "degraded": []}
    log(*(short for _ in range(150)), *(prompt() for _ in range(45)), *(prompt("late") for _ in range(5)))
    (finding,) = found(checks.prompts)
    assert finding.state == WARN and "hybrid was late in 5 of the last 50" in finding.detail
    assert "CHITTA_HYBRID_LIMIT_MS" in finding.todo


def test_only_the_last_prompts_count() -> None:
    log(*(prompt("crash") for _ in range(50)), *(prompt() for _ in range(checks.LAST_PROMPTS)))
    assert states(checks.prompts) == [OK]


def test_lanes_left_out_on_purpose_are_no_failure() -> None:
    log(*(prompt("ablated") for _ in range(10)))
    assert states(checks.prompts) == [OK]


def test_an_interpreter_that_was_missing_is_broken_until_a_prompt_went_well() -> None:
    log(NO_INTERPRETER)
    assert states(checks.prompts) == [FAIL]
    log(prompt())
    assert states(checks.prompts) == [WARN, OK]


def test_sessions_that_could_not_be_kept_are_told() -> None:
    log(prompt(degraded=["session not kept: Read-only file system"]))
    assert WARN in states(checks.prompts)


def test_a_log_of_anything_is_read() -> None:
    log({"lanes": []}, {"lanes": {"keyword": 3}}, {"degraded": None}, {})
    assert all(isinstance(finding, Finding) for finding in found(checks.prompts))
